"""One state of the index, in which each word is counted and scored, and each scope is looked up, once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, lru_cache
from typing import Any

from sesame_core.sdk.sql import REPEATED
from sesame_core.types.query import Condition, Filters, Word

from . import fts, rows
from .filters import STANDING, Remembering, on_kind
from .numbers import Numbers
from .schema import SESSION_SHIFT
from .scope import Scope, headless, scope
from .scores import Scores

#: Words that are counted, and sets of sessions that are looked up, until what is known of a state is forgotten.
COUNTED, LOOKED_UP = 10_000, 64


class View:
    """One state of the index, as one transaction, or several, read it.

    A search asks for the same words and conditions several times: to correct its spelling, to score, to find what
    stands word for word, and to tell what was left out.  Who types a query searches again with every key.

    :param db: a connection in a transaction.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.scores = Scores(db)
        self.dialect = Remembering(db)
        self._version = _version(db)
        self._total: int | None = None
        self._extent: tuple[int, int] | None = None
        #: Count, and the bound up to which was counted, by expression.
        self._counts: dict[str, tuple[int, int]] = {}
        #: The expression that was searched for last, with its scope, and all of its matches by row id.
        self._last: tuple[str, Condition | None, Filters] | None = None
        self._matches: Collection[int] = ()
        self._copies: frozenset[int] | None = None
        self._scopes: dict[tuple[Condition | None, Filters], Scope] = {}

    def is_of(self, db: sqlite3.Connection) -> bool:
        """Return whether a transaction reads this state, and little enough is known of it."""
        is_small = len(self._counts) <= COUNTED and len(self._scopes) + len(self.dialect.sessions) <= LOOKED_UP
        return db is self.db and is_small and _version(db) == self._version

    @cached_property
    def vocabulary(self) -> fts.Vocabulary:
        """The terms of the index."""
        return fts.Vocabulary(self.db)

    @cached_property
    def terms(self) -> Callable[[str, int], Sequence[tuple[str, int]]]:
        """`fts.Vocabulary.terms`, for a few prefixes kept: a word that is being typed keeps its beginning."""
        return lru_cache(maxsize=4)(self.vocabulary.terms)

    def chunks(self) -> int:
        """Return the number of all chunks."""
        if self._total is None:
            (total,) = self.db.execute("SELECT value FROM meta WHERE key = 'chunks'").fetchone()
            self._total = int(total)
        return self._total

    def frequency(self, word: Word, most: int) -> int:
        """Count the chunks with a word: exactly up to a number, beyond it estimated from the range of the newest ones.

        :param most: the number up to which is counted.
        """
        match = fts.any_of([word])
        count, counted = self._counts.get(match, (0, -1))
        if counted < min(count, most):
            # Of a prefix, a chunk with two of its words counts twice.
            count = min(self.chunks(), self._count(word, match, most))
            self._counts[match] = count, most
        return count

    def scope(self, condition: Condition | None, filters: Filters) -> Scope:
        """Return the scope of a search."""
        asked = condition, filters
        if asked not in self._scopes:
            first, last = self._first_and_last()
            self._scopes[asked] = scope(self.db, self.dialect, condition, filters, last - first + 1 if last else 1)
        return self._scopes[asked]

    def keep(self, match: str, condition: Condition | None, filters: Filters, rows: Collection[int]) -> None:
        """Keep the row ids of all chunks that match an expression in the scope of a search, until the next one."""
        self._last, self._matches = (match, condition, filters), rows

    def kept(self, match: str, condition: Condition | None, filters: Filters) -> Collection[int] | None:
        """Return the row ids that were kept; None if the expression was not the last one that was searched for."""
        return self._matches if self._last == (match, condition, filters) else None

    def listing(self, condition: Condition | None, filters: Filters) -> tuple[str, tuple[Any, ...]]:
        """Return the FROM and WHERE clauses of a list of sessions, with their values."""
        own = self.dialect
        wanted = own.on_sessions(filters).and_(own.meeting(condition), on_kind(filters), own.having_chunks(filters))
        wanted = wanted.and_(Numbers(self._represented()).not_().among("s.id"))
        return f"FROM {rows.STORED_FROM}{wanted.where()}", wanted.values

    def count(self, condition: Condition | None, filters: Filters) -> int:
        """Return the number of sessions in a list of them."""
        own = self.dialect
        if condition is not None and not (own.on_sessions(filters).sql or own.having_chunks(filters).sql):
            left_out = Numbers(headless(self.db, filters) | self._represented())
            if (numbers := own.numbers(condition)) is not None:
                return numbers.and_(left_out.not_()).count(self.db)
        sql, values = self.listing(condition, filters)
        (total,) = self.db.execute(f"SELECT count(*) {sql}", values).fetchone()
        return int(total)

    def _represented(self) -> frozenset[int]:
        """Return the numbers of the sessions that another one stands for, which was read from another file.

        Looking for all of them takes 4 ms in 20,000 sessions, and asking whether one is one of them 2 µs.
        """
        if self._copies is None:
            sql = f"SELECT s.id FROM {rows.STORED_FROM} WHERE s.key IN ({REPEATED}) AND {STANDING.not_().sql}"
            self._copies = frozenset(number for (number,) in self.db.execute(sql))
        return self._copies

    def _count(self, word: Word, match: str, most: int) -> int:
        vocabulary = self.vocabulary
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


def _version(db: sqlite3.Connection) -> int:
    """Return a number that changes with the index; the transaction reads the present state from then on."""
    (version,) = db.execute("PRAGMA data_version").fetchone()
    return int(version)
