"""Reaches a server within a number of seconds, whatever takes long: a name, a host of several, a handshake."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from .connection import Connection

#: The least that psycopg waits for one address.
_LEAST_SECONDS = 2


class UnansweredError(psycopg.OperationalError):
    """Nothing answered in time."""


def reached(conninfo: dict[str, Any], seconds: float) -> Connection:
    """Connect to a server.

    It is done in a thread of its own: neither the system's look-up of a name nor several addresses, each with a time
    of its own, are bounded otherwise.

    :param conninfo: libpq's parameters.
    :param seconds: for everything together; each of several hosts gets its share.
    :raises UnansweredError: nothing answered in time.
    :raises psycopg.Error: the server refuses the connection, or the address does not exist.
    """
    hosts = max(str(conninfo.get(name) or "").count(",") for name in ("host", "hostaddr")) + 1
    share = max(_LEAST_SECONDS, int(seconds // hosts))
    attempt = _Attempt(make_conninfo("", **{**conninfo, "connect_timeout": share}))
    attempt.start()
    return attempt.result(seconds)


class _Attempt(threading.Thread):
    """Connects; a connection that comes too late is closed."""

    def __init__(self, conninfo: str) -> None:
        super().__init__(name="sesame-connect", daemon=True)
        self._conninfo = conninfo
        self._is_done = threading.Event()
        self._lock = threading.Lock()
        self._is_late = False
        self._made: Connection | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            try:
                made = Connection.connect(self._conninfo, autocommit=True, cursor_factory=psycopg.ClientCursor)
            except UnicodeError:  # of the codec for names of hosts: a part is empty, or longer than 63 characters
                raise psycopg.OperationalError("the host's name is not one that can be looked up") from None
            with self._lock:
                self._made = made
                if self._is_late:
                    made.close()
        except BaseException as error:  # noqa: BLE001 (raised again where it is waited for)
            import traceback

            # psycopg leaves a connection that is half made in its frames, which the errors of earlier addresses hold:
            # it would be open until the garbage collector finds the cycle.
            traceback.clear_frames(error.__traceback__)
            self._error = error.with_traceback(None)
        self._is_done.set()

    def result(self, seconds: float) -> Connection:
        try:
            self._is_done.wait(seconds)
        finally:
            with self._lock:
                self._is_late = not self._is_done.is_set() and self._made is None
        if self._error is not None and not self._is_late:
            if isinstance(self._error, psycopg.errors.ConnectionTimeout) and "\n" not in str(self._error):
                raise UnansweredError(f"no answer within {seconds:g} s") from None
            raise self._error from None
        if self._made is None:
            raise UnansweredError(f"no answer within {seconds:g} s") from None
        return self._made
