"""Writes filters as SQL conditions for SQLite: on `sessions AS s`, and on `chunks_fts AS f`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import reduce
from operator import itemgetter

from sesame_core.sdk.sql import STANDING, Dialect, on_kind
from sesame_core.sdk.where import TRUE, Where, ending, like
from sesame_core.types.query import AllOf, AnyOf, Condition, Filters, Has, Not, Word

from . import fts, rows
from .numbers import EVERYTHING, Numbers
from .schema import SESSION_SHIFT

__all__ = [
    "DIALECT",
    "STANDING",
    "TRUE",
    "Dialect",
    "Remembering",
    "Where",
    "like",
    "on_chunks",
    "on_kind",
    "said_within",
    "whole",
]

_CWD = "replace(s.cwd, '\\', '/')"


class _Sqlite(Dialect):
    mark = "?"
    like = "LIKE"
    each = "json_each"
    # A path without its longest prefix that ends with a slash is its last part.
    last_of_cwd = f"replace({_CWD}, rtrim({_CWD}, replace({_CWD}, '/', '')), '')"
    workstation = "substr(s.key, 1, instr(s.key, ':') - 1)"
    weight_class = "f.rowid & 3"
    role = "c.role"
    tool = "lower(c.tool_name)"
    session_of_chunk = f"c.id >> {SESSION_SHIFT}"
    chunks_of_session = f"c.id >= s.id << {SESSION_SHIFT} AND c.id < (s.id + 1) << {SESSION_SHIFT}"

    def time(self, time: datetime) -> int | None:
        return rows.to_ms(time)

    def of_chunk(self, sql: str) -> str:
        return f"(SELECT {sql} FROM chunks AS c INDEXED BY chunks_facts WHERE c.id = f.rowid)"

    def holding(self, words: Sequence[Word], chunk: Where = TRUE) -> Where:
        sql = f"SELECT f.rowid >> {SESSION_SHIFT} FROM chunks_fts AS f WHERE chunks_fts MATCH ?{chunk.where('AND')}"
        return Where(f"s.id IN ({sql})", (fts.any_of(words), *chunk.values))

    def having(self, chunk: Where) -> Where:
        sql = chunk.sql.replace("f.rowid", "f.id")
        bounds = f"f.id >= s.id << {SESSION_SHIFT} AND f.id < (s.id + 1) << {SESSION_SHIFT}"
        found = f"SELECT 1 FROM chunks AS f INDEXED BY chunks_facts WHERE {bounds} AND {sql}"
        return Where(f"EXISTS ({found})", chunk.values)

    def touching(self, path: str) -> Where:
        sql = "SELECT session FROM paths WHERE '/' || replace(path, '\\', '/') LIKE ? ESCAPE '\\'"
        return Where(f"s.id IN ({sql})", (ending(path.replace("\\", "/")),))

    def said_within(self, filters: Filters) -> Where:
        """Return the condition on `chunks_fts AS f` that a chunk has no time, or one between `after` and `before`."""
        is_within = self.within("c.timestamp", filters)
        return Where(
            f"(SELECT c.timestamp IS NULL OR ({is_within.sql}) FROM chunks AS c WHERE c.id = f.rowid)", is_within.values
        )


class Remembering(_Sqlite):
    """The dialect for one state of the index: it looks up the sessions with a word once."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        #: The sessions with an expression, by it.
        self.sessions: dict[str, frozenset[int]] = {}

    def holding(self, words: Sequence[Word], chunk: Where = TRUE) -> Where:
        """Return the condition, with the numbers of the sessions unless it is on their chunks, too."""
        return super().holding(words, chunk) if chunk.sql else self._with_any(words).on("s.id")

    def meeting(self, condition: Condition | None) -> Where:
        """Return the condition, with the numbers of the sessions if it is on words alone."""
        numbers = self.numbers(condition)
        return super().meeting(condition) if numbers is None else numbers.on("s.id")

    def numbers(self, condition: Condition | None) -> Numbers | None:
        """Return the sessions that meet a condition; None if it is not about words alone."""
        match condition:
            case Has(word):
                return self._with_any([word])
            case Not(part):
                found = self.numbers(part)
                return found and found.not_()
            case AllOf(parts):
                sides = [side for part in parts if (side := self.numbers(part))]
                return reduce(Numbers.and_, sides or [EVERYTHING]) if len(sides) == len(parts) else None
            case AnyOf(parts):
                found = self.numbers(AllOf(tuple(map(Not, parts))))
                return found and found.not_()
            case _:
                return None

    def _with_any(self, words: Iterable[Word]) -> Numbers:
        first, *others = (self._with(fts.any_of([word])) for word in words)
        return Numbers(first.union(*others) if others else first)

    def _with(self, match: str) -> frozenset[int]:
        if match not in self.sessions:
            sql = f"SELECT DISTINCT rowid >> {SESSION_SHIFT} FROM chunks_fts WHERE chunks_fts MATCH ?"
            self.sessions[match] = frozenset(map(itemgetter(0), self._db.execute(sql, (match,))))
        return self.sessions[match]


DIALECT = _Sqlite()
on_chunks, said_within, whole = DIALECT.on_chunks, DIALECT.said_within, DIALECT.whole
