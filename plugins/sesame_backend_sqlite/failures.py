"""Turns the database's errors into ones that tell a person what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sesame_core.errors import BackendError


@contextmanager
def translated(path: object) -> Iterator[None]:
    """Raise `BackendError` for what SQLite raises inside the block.

    :param path: the index file, for the message.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        if "full" in str(error) or "disk I/O" in str(error):
            raise BackendError(f"{path}: {error}; nothing was lost: free some space and run it again") from error
        raise BackendError(f"{path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise BackendError(
            f"{path} is damaged ({error}); rebuild it with: sesame index --full (the damaged file is kept aside)"
        ) from error
