"""Questions to the server: alone or in a snapshot, several in one round trip."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import psycopg
from psycopg.pq import TransactionStatus

from .connecting import Server
from .connection import Connection
from .failures import translated
from .foresight import Foresight

#: Values of a query, by position or by name.
Values: TypeAlias = Sequence[Any] | Mapping[str, Any]
#: A query and its values by position.
Question: TypeAlias = tuple[str, Sequence[Any]]


class Asking:
    """Asks a server; the questions of a snapshot go to one connection, in one transaction."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._local = threading.local()

    @property
    def foresight(self) -> Foresight | None:
        """The answers that this thread's snapshot has in advance; None outside one."""
        return getattr(self._local, "foresight", None)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Show one state of the index to the questions inside: that of the first."""
        if getattr(self._local, "db", None) is not None:
            yield
            return
        with self._server.reading() as db:
            self._local.db, self._local.foresight = db, Foresight()
            try:
                yield
            finally:
                self._local.db = self._local.foresight = None
                if not db.closed and db.info.transaction_status != TransactionStatus.IDLE:
                    db.roll_back()

    def rows(self, sql: str, values: Values = ()) -> list[Any]:
        """Return the rows of a query."""
        return self._asked(sql, values, 1)[0]

    def together(self, *questions: Question) -> list[list[Any]]:
        """Return the rows of each of several queries, in one round trip."""
        db = getattr(self._local, "db", None)
        if db is None or not _is_begun(db):
            # A pooler's settings are set, and a snapshot begun, by a question that is asked alone.
            return [self.rows(*question) for question in questions]
        sql = "; ".join(sql for sql, _ in questions)
        return self._asked(sql, [value for _, values in questions for value in values], len(questions))

    # -- implementation -----------------------------------------------------------------------------------

    def _asked(self, sql: str, values: Values, count: int) -> list[list[Any]]:
        """Return the rows of each query, on the connection of the snapshot if there is one."""
        db = getattr(self._local, "db", None)
        if db is None:
            with self._server.reading() as one, translated(self._server.place, self._server.role):
                return self._answers(one, sql, values, count, "")
        with translated(self._server.place, self._server.role):
            # Both in one round trip.
            begin = "" if _is_begun(db) else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
            return self._answers(db, sql, values, count, begin)

    def _answers(self, db: Connection, sql: str, values: Values, count: int, before: str) -> list[list[Any]]:
        try:
            # The next transaction of a pooled connection may be on a server's connection without the plan.
            asked = sql if db.is_pooled else self._server.prepared.asked(db, sql)
            cursor = db.execute(before + asked, values)
            try:
                return _fetched(cursor)[-count:]
            except psycopg.DataError:
                # Of this machine, not of the server: a row of before the schema's checks has a time like "infinity".
                from . import times

                times.accept_all(db)
                return _fetched(db.execute(asked, values))[-count:]
        except BaseException as error:
            self._server.prepared.forget(db)
            if isinstance(error, psycopg.errors.InsufficientPrivilege):
                from . import diagnosing

                db.execute("ROLLBACK")
                if lacking := diagnosing.unreadable(db, self._server.place, self._server.schema):
                    raise lacking from error
            raise


def _is_begun(db: Connection) -> bool:
    return db.info.transaction_status != TransactionStatus.IDLE


def _fetched(cursor: psycopg.Cursor[Any]) -> list[list[Any]]:
    """Return the rows of each result that has rows."""
    found = []
    while True:
        if cursor.description is not None:
            found.append(cursor.fetchall())
        if not cursor.nextset():
            return found
