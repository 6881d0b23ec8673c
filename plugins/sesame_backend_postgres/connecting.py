"""Connections to the server: options, environment, and the settings that Sesame needs."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sesame_core.errors import BackendError, ConfigError
from sesame_core.sdk.options import COUNT, TEXT

from .failures import LostError, explained
from .prepared import Prepared

if TYPE_CHECKING:
    from sqlalchemy.pool import QueuePool

#: Environment variable with the server's address, used when the configuration names none.
DSN_VARIABLE = "SESAME_POSTGRES_DSN"
#: Most seconds of a read; a write has no limit.
READ_SECONDS = 30
#: Most seconds of waiting for a lock: no one waits longer for what another one does.
LOCK_SECONDS = 5
#: Milliseconds without an answer after which a connection counts as lost.
SILENCE_MS = 15_000

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,40}")
#: Settings of every connection: one schema, one time zone, and no plans that only pay for long queries.
_SETTINGS = (
    ("TimeZone", "UTC"),
    ("client_min_messages", "error"),
    ("jit", "off"),
    # The rows with a common word of a million chunks are a bitmap of 8 MB.  A bitmap that does not fit becomes lossy:
    # it has pages only, and all of their rows are checked.
    ("work_mem", "32MB"),
    ("enable_seqscan", "off"),
    ("max_parallel_workers_per_gather", "0"),
    # Prepared statements (`prepared.Alike`) need no separate plan for each value.
    ("plan_cache_mode", "force_generic_plan"),
    ("lock_timeout", f"{LOCK_SECONDS}s"),
)


#: The backend's options in config.jsonc, fields of `Settings`.
OPTIONS = {
    "dsn": TEXT,
    "service": TEXT,
    "schema": TEXT,
    "connect_timeout": COUNT,
    "sslmode": TEXT,
    "pool": COUNT,
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The backend's options in config.jsonc.

    :raises ConfigError: the schema or the dsn is not valid; the message never quotes a dsn.
    """

    #: A libpq connection string or URL; without one, that of the environment (`SESAME_POSTGRES_DSN`, `PGHOST` …).
    dsn: str | None = None
    #: A section of `pg_service.conf`.
    service: str | None = None
    #: The schema with Sesame's tables.
    schema: str = "sesame"
    #: Seconds to wait for the server.
    connect_timeout: int = 5
    #: libpq's `sslmode`; None leaves it to the dsn.
    sslmode: str | None = None
    #: Most connections of readers in one process.
    pool: int = 4

    def __post_init__(self) -> None:
        if not _SCHEMA.fullmatch(self.schema):
            raise ConfigError(
                "the postgres backend's option 'schema' must be a lower-case name of letters, digits and _"
            )
        self.conninfo()

    def conninfo(self) -> dict[str, Any]:
        """Return libpq's parameters.

        :raises ConfigError: the dsn cannot be parsed.
        """
        dsn = self.dsn or os.environ.get(DSN_VARIABLE) or ""
        # SQLAlchemy's form.
        dsn = re.sub(r"^postgresql\+\w+:", "postgresql:", dsn)
        try:
            found: dict[str, Any] = dict(conninfo_to_dict(dsn))
        except psycopg.Error:
            raise ConfigError(
                "the postgres backend's dsn cannot be read; it is like postgresql://role@host:5432/database"
            ) from None
        for name, value in (("service", self.service), ("sslmode", self.sslmode)):
            if value is not None:
                found[name] = value
        return found


class Server:
    """A database on a server: opens connections, and keeps some open for readers.

    A single-threaded program needs one connection.  That one is kept here, all others in SQLAlchemy's pool, which
    takes longer to load than a search takes.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._conninfo = settings.conninfo()
        self._first: psycopg.Connection[Any] | None = None
        self._is_first_free = threading.Semaphore()
        self._pool: QueuePool | None = None
        self._lock = threading.Lock()
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
    def place(self) -> str:
        """The name of the database for people, without a password."""
        known = self._conninfo
        if self._settings.service:
            return f"PostgreSQL (service {self._settings.service})"
        host = known.get("host") or os.environ.get("PGHOST") or "localhost"
        port = known.get("port") or os.environ.get("PGPORT") or "5432"
        name = known.get("dbname") or os.environ.get("PGDATABASE") or "its default database"
        return f"PostgreSQL at {host}:{port}/{name}"

    def connect(self, *, read_seconds: int = 0) -> psycopg.Connection[Any]:
        """Open a connection in autocommit mode.

        :param read_seconds: seconds after which a statement is cancelled; 0 for never.
        :raises BackendError: the server cannot be reached or refuses the connection.
        """
        settings = (*_SETTINGS, ("search_path", f"{self.schema},pg_catalog"), ("statement_timeout", f"{read_seconds}s"))
        ours = " ".join(f"-c {name}={value}" for name, value in settings)
        given = {
            "connect_timeout": self._settings.connect_timeout,
            "application_name": application_name(),
            "keepalives_idle": 30,
            "tcp_user_timeout": SILENCE_MS,
        }
        try:
            db: psycopg.Connection[Any] = psycopg.connect(
                make_conninfo(
                    "", **{**given, **self._conninfo, "options": f"{self._conninfo.get('options', '')} {ours}"}
                ),
                autocommit=True,
                cursor_factory=psycopg.ClientCursor,
            )
        except psycopg.Error as error:
            raise explained(error, self.place, self.role) from None
        self.role = db.info.user
        return db

    @contextmanager
    def reading(self) -> Iterator[psycopg.Connection[Any]]:
        """Yield a connection for reading; one that the server has closed is replaced.

        :raises BackendError: the server cannot be reached, or all connections are in use for `READ_SECONDS`.
        """
        if self._is_first_free.acquire(timeout=READ_SECONDS if self._settings.pool == 1 else 0):
            try:
                if self._first is None or _is_lost(self._first):
                    self._drop_first()
                    self._first = self.connect(read_seconds=READ_SECONDS)
                yield self._first
            except LostError:
                self._drop_first()
                raise
            finally:
                self._is_first_free.release()
            return
        if self._settings.pool == 1:
            raise BackendError(f"{self.place}: the only connection is in use; raise the option 'pool'")
        pooled = self._others().connect()
        if _is_lost(pooled.driver_connection):
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
                    lambda: self.connect(read_seconds=READ_SECONDS),  # type: ignore[arg-type]
                    pool_size=self._settings.pool - 1,
                    max_overflow=0,
                    timeout=READ_SECONDS,
                    reset_on_return=None,
                )
            return self._pool


def _is_lost(db: Any) -> bool:
    """Return, without a query, whether the server has closed a connection."""
    import select

    if db.closed:
        return True
    readable, _, _ = select.select([db.fileno()], [], [], 0)
    # No query is pending: anything to read is the end of the stream, or the server's last message.
    return bool(readable)


def application_name() -> str:
    """Return the name of this process on the server; the error of a locked writer names it."""
    import socket

    program = os.path.basename(sys.argv[0]) or "python"
    return f"sesame: {program} {' '.join(sys.argv[1:2])[:12]} on {socket.gethostname()[:20]}, process {os.getpid()}"[
        :63
    ]
