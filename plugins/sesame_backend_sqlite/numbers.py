"""Sets of sessions, which conditions on words are about."""

from __future__ import annotations

import json
import sqlite3
from functools import lru_cache

from sesame_core.dataclass import dataclass
from sesame_core.sdk.where import FALSE, TRUE, Where

from .schema import SESSION_SHIFT

#: Highest session number up to which a set is also written with a byte for each number; above, it would take longer to
#: write than to look up.
DENSE = 1 << 22


@dataclass(frozen=True, slots=True)
class Numbers:
    """Some sessions, or all but some, by number."""

    listed: frozenset[int]
    #: Whether those are meant that are not listed.
    is_rest: bool = False

    def and_(self, other: Numbers) -> Numbers:
        """Return the sessions that are in both sets."""
        if other == EVERYTHING:
            return self
        match self.is_rest, other.is_rest:
            case False, False:
                return Numbers(self.listed & other.listed)
            case False, True:
                return Numbers(self.listed - other.listed)
            case True, False:
                return Numbers(other.listed - self.listed)
            case _:
                return Numbers(self.listed | other.listed, is_rest=True)

    def not_(self) -> Numbers:
        """Return all other sessions."""
        return Numbers(self.listed, not self.is_rest)

    def count(self, db: sqlite3.Connection) -> int:
        """Return how many sessions of an index these are."""
        if not self.is_rest:
            return len(self.listed)
        (total,) = db.execute("SELECT count(*) FROM sessions").fetchone()
        return int(total) - len(self.listed)

    def on(self, column: str) -> Where:
        """Return the condition that a column has the number of one of the sessions.

        :param column: an expression; with a plus sign SQLite does not query a full-text table once per session.
        """
        sql = f"{column} {'NOT ' if self.is_rest else ''}IN (SELECT value FROM json_each(?))"
        return Where(sql, (json.dumps(sorted(self.listed)),))

    def among(self, number: str) -> Where:
        """Return the condition that the number of each of many rows is one of the sessions.

        It costs half of `on`, whose tree of numbers is built first and searched for each row, but no index is used.

        :param number: an expression that is never negative.
        """
        if not self.listed:
            return TRUE if self.is_rest else FALSE
        if max(self.listed) >= DENSE:
            return self.on(f"+({number})")
        return Where(f"substr(?, ({number}) + 1, 1) {'<>' if self.is_rest else '='} x'01'", (_flags(self.listed),))

    def on_chunks(self) -> Where:
        """Return the condition on `chunks_fts AS f` that a chunk is in one of the sessions."""
        is_among = self.among(f"f.rowid >> {SESSION_SHIFT}")
        if self.is_rest or not self.listed:
            return is_among
        # The bounds keep FTS5 from scanning ranges without any of them.
        first, last = min(self.listed), max(self.listed)
        bounds = (first << SESSION_SHIFT, (last + 1) << SESSION_SHIFT)
        return Where("f.rowid >= ? AND f.rowid < ?", bounds).and_(is_among)


@lru_cache(maxsize=1)
def _flags(numbers: frozenset[int]) -> bytes:
    """Return a byte for each number up to the last one: 1 for those in the set."""
    flags = bytearray(max(numbers) + 1)
    for number in numbers:
        flags[number] = 1
    return bytes(flags)


EVERYTHING = Numbers(frozenset(), is_rest=True)
