"""One state of the index, in which each word is counted, and each scope is looked up, once."""

from __future__ import annotations

import sqlite3
from typing import Any

from sesame_core.types.query import Condition, Filters, Word

from . import fts, rows
from .filters import STANDING, Remembering, on_kind
from .schema import SESSION_SHIFT
from .scope import Scope, scope


class View:
    """One state of the index, as a transaction reads it.

    A search asks for the same words and conditions several times: to correct its spelling, to score, to find what
    stands word for word, and to tell what was left out.

    :param db: a connection in a transaction.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.dialect = Remembering(db)
        self._extent: tuple[int, int] | None = None
        #: Count, and the bound up to which was counted, by expression.
        self._counts: dict[str, tuple[int, int]] = {}
        self._scopes: dict[tuple[Condition | None, Filters], Scope] = {}

    def chunks(self) -> int:
        """Return the number of all chunks."""
        (total,) = self.db.execute("SELECT value FROM meta WHERE key = 'chunks'").fetchone()
        return int(total)

    def frequency(self, word: Word, most: int) -> int:
        """Count the chunks with a word: exactly up to a number, beyond it estimated from the range of the newest ones.

        :param most: the number up to which is counted.
        """
        match = fts.any_of([word])
        count, counted = self._counts.get(match, (0, -1))
        if counted < min(count, most):
            count = self._count(word, match, most)
            self._counts[match] = count, most
        return count

    def scope(self, condition: Condition | None, filters: Filters) -> Scope:
        """Return the scope of a search."""
        asked = condition, filters
        if asked not in self._scopes:
            first, last = self._first_and_last()
            self._scopes[asked] = scope(self.db, self.dialect, condition, filters, last - first + 1 if last else 1)
        return self._scopes[asked]

    def listing(self, condition: Condition | None, filters: Filters) -> tuple[str, tuple[Any, ...]]:
        """Return the FROM and WHERE clauses of a list of sessions, with their values."""
        own = self.dialect
        wanted = own.on_sessions(filters).and_(own.meeting(condition), on_kind(filters), own.having_chunks(filters))
        wanted = wanted.and_(STANDING)
        return f"FROM {rows.STORED_FROM}{wanted.where()}", wanted.values

    def _count(self, word: Word, match: str, most: int) -> int:
        vocabulary = fts.Vocabulary(self.db)
        bound = sum(map(vocabulary.chunks, vocabulary.beginnings(word)))
        if bound > most:
            return bound
        sql = (
            "SELECT count(*), min(rowid) FROM "
            "(SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY rowid DESC LIMIT ?)"
        )
        count, oldest = self.db.execute(sql, (match, most + 1)).fetchone()
        if count > most:
            first, last = self._first_and_last()
            covered = last - (oldest >> SESSION_SHIFT) + 1
            count = round(count * max(1.0, (last - first + 1) / covered))
        return int(count)

    def _first_and_last(self) -> tuple[int, int]:
        """Return the numbers of the first and of the last session; None and None while there is no session."""
        if self._extent is None:
            sql = "SELECT (SELECT min(id) FROM sessions), (SELECT max(id) FROM sessions)"
            self._extent = self.db.execute(sql).fetchone()
        return self._extent
