"""Converts errors of the server and of the driver into one line that says what to do, never with a password."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

import psycopg
from psycopg import errors

from sesame_core.errors import BackendError

#: The message by SQLSTATE, or by its class; `{role}`, `{place}` and `{message}` are placeholders.
_ADVICE = {
    "28P01": "{place} refuses the password of {role}: check the dsn, PGPASSWORD or ~/.pgpass",
    "28": "{place} refuses {role}: {message}",
    "3D000": "{place}: {message}; create it first, or check the dsn",
    "53300": "{place} has no connection left: try again later, or raise its max_connections",
    "53": "{place} has run out of something: {message}; nothing was lost, run it again later",
    "57P03": "{place} is starting up or shutting down; try again in a moment",
    "57014": "{place} took too long for a statement, which was cancelled; try again, or narrow the search",
    "55P03": "{place}: another connection holds a lock that is needed; try again, or see docs/team.md who it is",
    "25006": "{place} is read-only (a replica?): index into the primary server",
    "42501": "{role} may not do that at {place}: {message}; see the roles in docs/team.md",
    "40": "{place}: {message}; nothing was stored, run it again",
    "XX": "{place} reports damage: {message}; ask whoever runs it",
}


class LostError(BackendError):
    """The server cannot be reached, or closed the connection."""


@contextmanager
def translated(place: str, role: str) -> Iterator[None]:
    """Convert the driver's errors inside the block into `BackendError`.

    :param place: the server and the database, for the message.
    :param role: the connected role, for the message.
    """
    try:
        yield
    except psycopg.Error as error:
        raise explained(error, place, role) from error


class _HasPlace(Protocol):
    @property
    def place(self) -> str: ...

    @property
    def role(self) -> str: ...


S = TypeVar("S", bound=_HasPlace)
P = ParamSpec("P")
T = TypeVar("T")


def translating(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Wrap a method of an object that has `place` and `role`, so that the driver's errors become `BackendError`s."""

    @wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with translated(self.place, self.role):
            return method(self, *args, **kwargs)

    return call


def explained(error: psycopg.Error, place: str, role: str) -> BackendError:
    """Return the error with the message for people."""
    state = error.sqlstate or ""
    message = _first_line(error)
    if not state and "password authentication failed" in str(error):
        state = "28P01"  # without a connection, the driver's error has only a text
    elif not state and "no password supplied" in str(error):
        state = "28P01"
    elif not state and "too many clients" in str(error):
        state = "53300"
    elif not state and ("starting up" in str(error) or "shutting down" in str(error)):
        state = "57P03"
    elif not state and 'database "' in str(error) and "does not exist" in str(error):
        state = "3D000"
    advice = _ADVICE.get(state) or _ADVICE.get(state[:2])
    if advice is not None:
        return BackendError(advice.format(place=place, role=f"role {role!r}" if role else "this role", message=message))
    is_lost = state[:2] == "08" or state in ("57P01", "57P02")
    if is_lost or (not state and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)):
        return LostError(f"{place} cannot be reached: {message}")
    if isinstance(error, errors.UndefinedTable | errors.UndefinedFunction | errors.UndefinedColumn):
        return BackendError(f"{place} has another schema than this Sesame's ({message}): upgrade it with: sesame index")
    return BackendError(f"{place}: {message}")


def _first_line(error: psycopg.Error) -> str:
    primary = error.diag.message_primary if error.diag else None
    lines = (primary or str(error)).strip().splitlines() or [type(error).__name__]
    # The driver names each address that it tried; the error comes after the last "failed: ".
    text = lines[0].removeprefix("connection failed: ")
    if text.startswith("connection to server") and "failed: " in text:
        text = text.split("failed: ", 1)[1] or text
    return text.removeprefix("FATAL: ").strip()
