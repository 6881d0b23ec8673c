"""The connections of one process to a database."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors

from sesame_core.errors import BackendError

from . import opening, settings
from .connection import Connection
from .failures import LostError, refused, translated
from .prepared import Prepared
from .reaching import UnansweredError, reached
from .settings import Settings

if TYPE_CHECKING:
    from sqlalchemy.pool import QueuePool

#: Most seconds of a read; a write has no limit.
READ_SECONDS = 30
#: Seconds for which a server that was silent is not asked again: one command asks several times.
SILENT_SECONDS = 1
#: What libpq is told, whatever the dsn says: every text must be one that can be sent.
_ENCODING = {"client_encoding": "utf-8"}
#: What libpq is told, unless the dsn says otherwise.  A connection counts as lost when the network has acknowledged
#: nothing for 15 s, or when three questions of the system, 10 s apart, had no answer.
_NETWORK = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}


class Server:
    """A database on a server: opens connections, and keeps some open for readers.

    A single-threaded program needs one connection.  That one is kept here, all others in SQLAlchemy's pool, which
    takes longer to load than a search takes.
    """

    def __init__(self, given: Settings) -> None:
        self._settings = given
        self._conninfo = given.conninfo()
        self._seconds = given.seconds(self._conninfo)
        #: The name of the database for people, without a password.
        self.place = settings.place(self._conninfo)
        self._first: Connection | None = None
        self._is_first_free = threading.Semaphore()
        self._pool: QueuePool | None = None
        self._lock = threading.Lock()
        #: The time until which the server counts as silent, and the error that says so.
        self._silent: tuple[float, BackendError] | None = None
        #: The prepared statements of its connections.
        self.prepared = Prepared()
        #: The role of the last connection, for messages.
        self.role = str(self._conninfo.get("user") or "")

    def __repr__(self) -> str:
        return f"<Server {self.place}>"

    @property
    def schema(self) -> str:
        """The schema with the tables."""
        return self._settings.schema

    @property
    def audience(self) -> str:
        """The readers of the schema (`settings.audience`) at this time: a service may lead elsewhere later."""
        return settings.audience(self._conninfo, self.schema)

    def connect(self) -> Connection:
        """Open a connection for writing, in autocommit mode.

        :raises BackendError: the server cannot be reached within `connect_timeout`, refuses the connection, or its
            database is not one for Sesame.
        """
        db = self._reached()
        with self._closed_by_an_error(db):
            db.settle(self.schema, 0)
            opening.check_encoding(db, self.place)
        return db

    def connect_to_read(self) -> Connection:
        """Open a connection for reading a schema that is there and this Sesame's.

        :raises BackendError: as `connect`, or the schema is another one, or the role may not read it.
        """
        db = self._reached()
        with self._closed_by_an_error(db):
            try:
                found = db.settle(self.schema, READ_SECONDS, opening.version_of(self.schema))
            except (errors.UndefinedTable, errors.InvalidSchemaName, errors.InsufficientPrivilege):
                found = None
                db.settle(self.schema, READ_SECONDS)
            opening.check_encoding(db, self.place)
            opening.check_readable(db, self.place, self.schema, None if found is None else found[0])
        return db

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection for reading; one that the server has closed is replaced.

        :raises BackendError: as `connect_to_read`, or all connections are in use for `READ_SECONDS`.
        """
        if self._is_first_free.acquire(timeout=READ_SECONDS if self._settings.pool == 1 else 0):
            try:
                if self._first is None or self._first.is_lost():
                    self._drop_first()
                    self._first = self.connect_to_read()
                yield self._first
                self._silent = None
            except LostError:
                self._drop_first()
                raise
            finally:
                self._is_first_free.release()
            return
        if self._settings.pool == 1:
            raise BackendError(f"{self.place}: the only connection is in use; raise the option 'pool'")
        pooled = self._others().connect()
        if pooled.driver_connection.is_lost():  # type: ignore[union-attr]
            pooled.invalidate()
            pooled = self._others().connect()
        try:
            yield pooled.driver_connection  # type: ignore[misc]
        except LostError:
            pooled.invalidate()
            raise
        finally:
            pooled.close()

    def close(self) -> None:
        """Close the readers' idle connections."""
        if self._is_first_free.acquire(blocking=False):
            self._drop_first()
            self._is_first_free.release()
        with self._lock:
            if self._pool is not None:
                self._pool.dispose()
            self._pool = None

    # -- implementation -----------------------------------------------------------------------------------

    def _reached(self) -> Connection:
        """Connect, unless the server has just kept this process waiting."""
        if self._silent is not None and time.monotonic() < self._silent[0]:
            raise self._silent[1]
        try:
            db = reached(self._parameters(), self._seconds)
        except psycopg.Error as error:
            raise self._refused(error) from None
        self._silent = None
        self.role = db.info.user
        db.is_answering = lambda: self._is_answering(db)
        return db

    def _parameters(self) -> dict[str, Any]:
        """Return libpq's parameters of a connection."""
        return {**_NETWORK, "application_name": application_name(), **self._conninfo, **_ENCODING}

    @contextmanager
    def _closed_by_an_error(self, db: Connection) -> Iterator[None]:
        try:
            with translated(self.place, self.role):
                yield
        except BaseException:  # raised again, Ctrl-C too: nobody else holds the connection
            db.close()
            raise

    def _is_answering(self, db: Connection) -> bool:
        """Return whether the host of a connection says anything to a new one, if only a refusal."""
        host = {"host": db.info.host, "port": db.info.port, "hostaddr": None}
        try:
            with reached({**self._parameters(), **host}, self._seconds) as other:
                other.read_seconds = 1
                other.execute("SELECT 1")  # a pooler answers without its server
        except psycopg.Error as error:
            self._refused(error)
            return "FATAL" in str(error)
        return True

    def _refused(self, error: psycopg.Error) -> BackendError:
        """Return why a connection was not made, and remember a server that was silent."""
        told = refused(error, self.place, self.role, str(self._conninfo.get("dbname") or self.role))
        if isinstance(error, UnansweredError | errors.ConnectionTimeout):
            self._silent = (time.monotonic() + SILENT_SECONDS, told)
        return told

    def _drop_first(self) -> None:
        if self._first is not None:
            self._first.close()
        self._first = None

    def _others(self) -> QueuePool:
        """Return the pool of further connections for reading."""
        from sqlalchemy.pool import QueuePool

        with self._lock:
            if self._pool is None:
                self._pool = QueuePool(
                    self.connect_to_read,  # type: ignore[arg-type]
                    pool_size=self._settings.pool - 1,
                    max_overflow=0,
                    timeout=READ_SECONDS,
                    reset_on_return=None,
                )
            return self._pool


def application_name() -> str:
    """Return the name of this process on the server; the error of a locked writer names it."""
    import socket

    program = os.path.basename(sys.argv[0]) or "python"
    return f"sesame: {program} {' '.join(sys.argv[1:2])[:12]} on {socket.gethostname()[:20]}, process {os.getpid()}"[
        :63
    ]
