"""A connection with Sesame's settings: directly or through a pooler, and never waiting for a server that is silent."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import generators, sql
from psycopg.pq import TransactionStatus

#: Seconds without an answer after which it is found out whether the server still answers anyone.
PATIENCE = 5
#: The same behind a pooler, where a question can take long because others' statements do.
POOLED_PATIENCE = 120
#: Seconds that the server may take longer than `statement_timeout` to cancel a statement.
GRACE = 5

#: Settings of every connection: one schema, one time zone, and no plans that only pay for long queries.  Some are what
#: a role, a database or a cluster may have set otherwise.
_SETTINGS = {
    "TimeZone": "UTC",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "bytea_output": "hex",
    "array_nulls": "on",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "row_security": "on",
    "default_transaction_isolation": "read committed",
    "gin_fuzzy_search_limit": "0",
    "client_min_messages": "error",
    "jit": "off",
    # The rows with a common word of a million chunks are a bitmap of 8 MB.  A bitmap that does not fit becomes lossy:
    # it has pages only, and all of their rows are checked.
    "work_mem": "32MB",
    "enable_seqscan": "off",
    "enable_bitmapscan": "on",
    "enable_indexscan": "on",
    "max_parallel_workers_per_gather": "0",
    # Prepared statements (`prepared.Alike`) need no separate plan for each value.
    "plan_cache_mode": "force_generic_plan",
    # No one waits longer for what another one does.
    "lock_timeout": "5s",
}
#: The first version with `transaction_timeout`.
_HAS_TRANSACTION_TIMEOUT = 170_000


class SilentError(psycopg.OperationalError):
    """The server has not answered for so long that the connection was given up."""


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection in autocommit mode.

    Behind a pooler, statements of one connection may go to several of the server's.  There every transaction sets the
    settings for itself; nothing depends on an earlier one.  That is right in each of a pooler's modes, which a client
    cannot tell apart.
    """

    #: Whether another process than the server holds this end of the connection.
    is_pooled = False
    #: In a pooler, the connection whose open transaction has the locks that must outlive a transaction of this one.
    keeper: Connection | None = None
    #: Returns whether the server still answers anyone; None: nobody is asked.
    is_answering: Callable[[], bool] | None = None
    #: Seconds after which a statement is cancelled; 0 for never.
    read_seconds = 0
    #: The encoding of the database.
    encoding = ""
    #: The statement that sets the settings for a transaction.
    _settings = ""
    #: Whether the end of a transaction has been sent, and its answer not been read.
    _is_ending = False

    def settle(self, schema: str, read_seconds: int, then: str = "") -> tuple[Any, ...] | None:
        """Set the settings, in one round trip with another query; return its first row.

        :param schema: the only one whose names need not be qualified.
        :param read_seconds: seconds after which a statement is cancelled; 0 for never.
        :param then: the other query.
        """
        self.read_seconds = read_seconds
        values = {
            **_SETTINGS,
            "search_path": f"{schema},pg_catalog",
            "statement_timeout": f"{read_seconds}s",
            # As in pg_dump: a writer's transaction takes as long as there is to write.  A reader's waits for nobody.
            "idle_in_transaction_session_timeout": f"{2 * read_seconds}s",
        }
        if self.info.server_version >= _HAS_TRANSACTION_TIMEOUT:
            values["transaction_timeout"] = "0"
        listed = sql.SQL(", ").join(
            sql.SQL("set_config({}, {}, p.is_pooled)").format(name, value) for name, value in values.items()
        )
        query = sql.SQL("SELECT p.is_pooled, current_setting('server_encoding'), {} FROM (SELECT {} AS is_pooled) AS p")
        is_pooled = sql.SQL("pg_backend_pid() <> {}").format(self.info.backend_pid)
        made = query.format(listed, is_pooled).as_string(self)
        cursor = super().execute(f"{made}; {then}" if then else made)
        row = cursor.fetchone()
        assert row is not None
        self.is_pooled, self.encoding = row[:2]
        self._settings = query.format(listed, True).as_string(self)
        return cursor.fetchone() if cursor.nextset() else None

    def execute(self, query: Any, params: Any = None, **options: Any) -> psycopg.Cursor[tuple[Any, ...]]:
        """Execute a statement, in a pooler with the settings if it begins a transaction."""
        if not self.is_pooled:
            return super().execute(query, params, **options)
        if self.info.transaction_status != TransactionStatus.IDLE:
            if query == "COMMIT":
                self._check_keeper()
            return super().execute(query, params, **options)
        begin, _, rest = query.partition(";") if query.startswith("BEGIN") else ("", "", query)
        cursor = super().execute("; ".join(part for part in (begin, self._settings, rest.strip()) if part), params)
        while cursor.nextset():
            pass  # the result that the caller wants is the last
        return cursor

    def roll_back(self) -> None:
        """End a transaction that has only read: the answer is read when the connection is used again (`is_lost`)."""
        self.pgconn.send_query(b"ROLLBACK")
        self.pgconn.flush()
        self._is_ending = True

    def is_lost(self) -> bool:
        """Return, without a query, whether the server has closed the connection."""
        if self._is_ending:
            self._is_ending = False
            try:
                self.wait(generators.execute(self.pgconn))
            except psycopg.Error:
                return True
        if self.closed:
            return True
        readable, _, _ = select.select([self.fileno()], [], [], 0)
        # No query is pending: anything to read is the end of the stream, or the server's last message.
        return bool(readable)

    @contextmanager
    def transaction(self, *arguments: Any, **options: Any) -> Iterator[psycopg.Transaction]:
        """Run the block in a transaction, with the settings."""
        with super().transaction(*arguments, **options) as transaction:
            if self.is_pooled:
                super().execute(self._settings)
            yield transaction
            self._check_keeper()

    def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
        """Wait for the server as long as it is at work.

        :raises SilentError: it does not answer, and has not cancelled a statement that takes too long.
        """
        return super().wait(self._while_it_answers(gen), *arguments, **options)

    # -- implementation -----------------------------------------------------------------------------------

    def _while_it_answers(self, gen: Any) -> Any:
        """Pass on what a generator of psycopg waits for, until it has waited too long."""
        started = asked = time.monotonic()
        try:
            state = next(gen)
            while True:
                ready = yield state
                if ready:
                    asked = time.monotonic()
                elif (now := time.monotonic()) - asked >= PATIENCE:
                    self._ask(now - started)
                    asked = time.monotonic()
                state = gen.send(ready)
        except StopIteration as end:
            return end.value

    def _ask(self, waited: float) -> None:
        is_overdue = self.read_seconds and waited > self.read_seconds + GRACE
        is_due = self.is_answering is not None and (not self.is_pooled or waited > POOLED_PATIENCE)
        if is_overdue or (is_due and self.is_answering is not None and not self.is_answering()):
            # Closing says so to the server, and waits for nothing.
            self.pgconn.finish()
            raise SilentError(f"no answer for {waited:.0f} s, and the server does not take another connection")

    def _check_keeper(self) -> None:
        if self.keeper is not None and self.keeper.is_lost():
            raise psycopg.OperationalError("the pooler has ended the connection that held the lock of this workstation")
