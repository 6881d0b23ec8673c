"""Converts the database's errors into ones that say what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from sesame_core.errors import BackendError

#: SQLite's codes for errors of the machine, or temporary ones, that do not mean that the file is damaged.
_ELSEWHERE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}
_NO_SPACE = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}


class DamagedError(BackendError):
    """An index file is damaged."""


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Convert SQLite's errors inside the block into `BackendError`.

    :param path: the index file, for the message.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        # Python's own errors about undecodable text have no code.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code not in _ELSEWHERE:
            raise DamagedError(
                f"{path} is damaged ({error}); rebuild it with: sesame index --full (the damaged file is kept aside)"
            ) from error
        hint = "; nothing was lost: free some space and run it again" if code in _NO_SPACE else ""
        raise BackendError(f"{path}: {error}{hint}") from error


class _HasPath(Protocol):
    @property
    def path(self) -> Path: ...


S = TypeVar("S", bound=_HasPath)
P = ParamSpec("P")
T = TypeVar("T")


def translating(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Wrap a method of an object that has a `path`, so that SQLite's errors become `BackendError`s."""

    @wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with translated(self.path):
            return method(self, *args, **kwargs)

    return call
