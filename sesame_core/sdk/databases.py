"""Reads an agent's SQLite database while the agent writes it, for parsers whose source is one.

What the agent has written last is in the write-ahead log next to the file, sometimes all of it.  So the file is opened
in place and read-only, and neither copied nor opened as immutable, which ignores the log.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

#: What `reading` yields, and what a statement raises that a table, or a value in it, does not suit.
Connection = sqlite3.Connection
StatementError = sqlite3.OperationalError
#: Seconds to wait for a writer, which blocks readers only without a write-ahead log; a search waits for it.
PATIENCE = 0.25
#: The first bytes of every database.
MAGIC = b"SQLite format 3\0"


def is_database(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is an SQLite database, by its first bytes.

    :raises OSError: it cannot be read.
    """
    with open(path, "rb", buffering=0) as file:
        return file.read(len(MAGIC)) == MAGIC


@contextmanager
def reading(path: str | os.PathLike[str], patience: float = PATIENCE) -> Iterator[Connection]:
    """Open a database for reading, as it is at one moment: all statements see the same state.

    :param patience: seconds to wait for a lock.
    :raises FileNotFoundError: it does not exist.
    :raises OSError: it cannot be read: locked, damaged, of another program.  Errors of the statements in the block are
        raised as such, too.
    """
    name = os.fspath(path)
    os.stat(name)
    db = None
    try:
        db = _opened(name, patience)
        yield db
    except sqlite3.Error as error:
        raise _told(name, error) from error
    finally:
        if db is not None:
            db.close()


def columns(db: Connection, table: str) -> frozenset[str]:
    """Return the names of a table's columns; none when it does not exist.  Versions of an agent have different ones."""
    return frozenset(name for _, name, *_ in db.execute(f"PRAGMA table_info({table})"))


def _opened(name: str, patience: float) -> Connection:
    try:
        return _begun(name, patience)
    except sqlite3.OperationalError:
        # A database with a log needs an index of it, which cannot be made on read-only media.
        if os.path.exists(f"{name}-wal") or os.access(os.path.dirname(name) or ".", os.W_OK):
            raise
        return _begun(name, patience, "&immutable=1")


def _begun(name: str, patience: float, option: str = "") -> Connection:
    address = f"file:{quote(os.path.abspath(name))}?mode=ro{option}"
    db = sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None)
    try:
        db.text_factory = _text
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        db.close()
        raise
    return db


def _text(content: bytes) -> str:
    """Return a text that a damaged row may have as other bytes."""
    return content.decode("utf-8", "replace")


def _told(name: str, error: sqlite3.Error) -> OSError:
    """Return what is wrong with a database, for people."""
    code = getattr(error, "sqlite_errorcode", None)
    busy = code is not None and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return OSError(errno.EBUSY if busy else errno.EIO, f"SQLite cannot read it: {error}", name)
