"""Sets of sessions, which conditions on words are about."""

from __future__ import annotations

import json
import sqlite3

from sesame_core.dataclass import dataclass
from sesame_core.sdk.sql import FALSE, TRUE, Where

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
        last = max(self.listed)
        if last >= DENSE:
            return self.on(number)
        flags = bytearray(last + 1)
        for one in self.listed:
            flags[one] = 1
        return Where(f"substr(?, ({number}) + 1, 1) {'<>' if self.is_rest else '='} x'01'", (bytes(flags),))


EVERYTHING = Numbers(frozenset(), is_rest=True)
