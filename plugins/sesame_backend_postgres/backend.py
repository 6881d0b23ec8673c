"""The backend: connections, the write lock of a workstation, and rebuilds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import psycopg

from sesame_core.errors import BackendError, SesameError
from sesame_core.plugin.backend import IndexWriter
from sesame_core.plugin.provider import Options
from sesame_core.sdk.ingest import committing
from sesame_core.sdk.options import check

from . import opening
from .connecting import Server
from .connection import Connection
from .failures import translated
from .opening import Workstation
from .reader import PostgresReader
from .settings import OPTIONS, Settings

if TYPE_CHECKING:
    from .writer import PostgresWriter


class PostgresBackend:
    """One schema of one database, shared by many workstations.

    :param dsn: a libpq connection string or URL; without one, that of the environment.
    :param service: a section of `pg_service.conf`.
    :param schema: the schema with Sesame's tables.
    :param connect_timeout: seconds to wait for the server.
    :param sslmode: libpq's; None leaves it to the dsn.
    :param pool: most connections of readers in one process.
    :raises ConfigError: one of them is not valid.
    """

    def __init__(
        self,
        *,
        dsn: str | None = None,
        service: str | None = None,
        schema: str = "sesame",
        connect_timeout: int = 5,
        sslmode: str | None = None,
        pool: int = 4,
    ) -> None:
        self._server = Server(
            Settings(
                dsn=dsn,
                service=service,
                schema=schema,
                connect_timeout=connect_timeout,
                sslmode=sslmode,
                pool=pool,
            ).check()
        )
        self._db: Connection | None = None

    def __repr__(self) -> str:
        return f"<PostgresBackend {self._server.place}>"

    @classmethod
    def from_options(cls, options: Options) -> PostgresBackend:
        """Make a backend from its options in config.jsonc."""
        check("the postgres backend", options, OPTIONS)
        return cls(**options)

    def audience(self) -> str:
        """The server and the schema, which its roles can read whole."""
        return self._server.audience

    def reader(self) -> PostgresReader:
        """Open for reading."""
        return PostgresReader(self._server)

    def close(self) -> None:
        """Close every connection."""
        self._drop()
        self._server.close()

    def prepare(self) -> None:
        """Create or upgrade the schema, and check the rows that an upgrade has left unchecked.

        :raises BackendError: the schema is upgraded, and some rows of before do not meet its rules.
        """
        with translated(self._server.place, self._server.role):
            db, place, schema = self._connection(), self._server.place, self._server.schema
            opening.check_writable(db, place, schema, is_to_prepare=True)
            left = opening.migrate(db, place, schema) or opening.unchecked(db)
        if left:
            raise BackendError(
                f"{self._server.place} is upgraded, but {'; '.join(left)}: correct or delete these rows, "
                "and run sesame workstations --prepare again"
            )

    def claim(self) -> None:
        """Take over this workstation's sessions from another installation of Sesame."""
        with self._opened(claim=True):
            pass

    @contextmanager
    def writer(self) -> Iterator[PostgresWriter]:
        """Open this workstation's rows for writing."""
        from .writer import PostgresWriter

        with (
            self._opened() as (db, workstation),
            committing(PostgresWriter(db, self._server.place, workstation)) as writer,
        ):
            yield writer

    @contextmanager
    def rebuild(self, wrap: Callable[[IndexWriter], IndexWriter] | None = None) -> Iterator[IndexWriter]:
        """Open an empty index that replaces this workstation's part at the end; others see the old one until then.

        It is one transaction, so that readers see the old rows until the new ones are complete.
        """
        from .writer import PostgresWriter

        with self._opened() as (db, workstation), db.transaction():
            writer = PostgresWriter(db, self._server.place, workstation, is_rebuild=True)
            first = wrap(writer) if wrap else writer
            yield first
            writer.commit()
            writer.take_over(first)
            writer.commit()

    @contextmanager
    def _opened(self, *, claim: bool = False) -> Iterator[tuple[Connection, Workstation]]:
        """Yield a connection that holds the write lock of this workstation's rows."""
        from .locking import lock

        with translated(self._server.place, self._server.role):
            try:
                db, place, schema = self._connection(), self._server.place, self._server.schema
                opening.check_writable(db, place, schema)
                opening.migrate(db, place, schema)
                workstation = opening.this_workstation(db, place, claim=claim)
                lock(self._keeper(db), workstation)
                yield db, workstation
                self._unlock()
            except BaseException as error:
                if self._db is not None and not isinstance(error, psycopg.Error | SesameError):
                    # The connection works: unlock it, so that the next writer need not wait for the server to close it.
                    with suppress(psycopg.Error):
                        self._unlock()
                # Otherwise the lock is released with the connection, whatever its state is.
                self._drop()
                raise

    def _connection(self) -> Connection:
        """Return the connection for writing, reused from one run to the next."""
        if self._db is not None and (self._db.closed or not _answers(self._db)):
            self._drop()
        if self._db is None:
            self._db = self._server.connect()
        return self._db

    def _keeper(self, db: Connection) -> Connection:
        """Return the connection that keeps the lock: this one, or behind a pooler another one in a transaction.

        A pooler gives a transaction one of the server's connections until it ends, in each of its modes.
        """
        if not db.is_pooled:
            return db
        db.keeper = self._server.connect()
        db.keeper.execute("BEGIN")
        return db.keeper

    def _unlock(self) -> None:
        assert self._db is not None
        if self._db.keeper is None:
            self._db.execute("SELECT pg_advisory_unlock_all()")
            return
        self._db.keeper.execute("SELECT pg_advisory_unlock_all()")
        self._db.keeper.execute("COMMIT")
        self._db.keeper.close()
        self._db.keeper = None

    def _drop(self) -> None:
        if self._db is not None:
            if self._db.keeper is not None:
                self._db.keeper.close()
            self._db.close()
        self._db = None


def _answers(db: Connection) -> bool:
    try:
        db.execute("SELECT 1")
    except psycopg.Error:
        return False  # the server was restarted since; a new connection shows whether it is up again
    return True
