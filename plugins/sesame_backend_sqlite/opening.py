"""Opens index files, and rejects those of other programs and of other versions."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

from sesame_core.dataclass import dataclass
from sesame_core.errors import BackendError
from sesame_core.sdk.migrations import older

from . import schema
from .failures import translated

#: Seconds a statement waits for another process's lock.
BUSY_SECONDS = 10.0

#: Pages that a reader keeps, in KiB.  A search of 100,000 chunks reads most of its pages again for the next word or
#: table, and with SQLite's 2 MB it spends 1.6 ms in the system for that, with these 0.6 ms; twice as much saves 0.1 ms.
READ_CACHE = 16_000
_OPTIONS: Any = {"timeout": BUSY_SECONDS, "isolation_level": None, "check_same_thread": False}


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection for reading one generation of the index."""

    db: sqlite3.Connection
    path: Path
    #: False while nothing has been written: an empty index in memory replaces it.
    is_made: bool


def is_absent(path: Path) -> bool:
    """Return whether the file does not exist.

    :raises BackendError: the directory cannot be read.
    """
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError as error:
        raise BackendError(f"cannot read {path}: {error.strerror or error}") from error
    return False


def for_reading(path: Path) -> Opened:
    """Open an index file; one that is missing, or not filled yet, reads as an empty index.

    :raises BackendError: the file is damaged, of another program, or of another version of this one.
    """
    if is_absent(path):
        return _empty(path)
    uri = path.absolute().as_uri() + "?mode=ro"
    with translated(path):
        try:
            db, found = _open_to_read(uri, path)
        except sqlite3.OperationalError:
            if os.access(path.parent, os.W_OK):
                raise
            # The directory is not writable, so no process writes a write-ahead log, and none can be created.
            db, found = _open_to_read(uri + "&immutable=1", path)
    if found == len(schema.MIGRATIONS):
        return Opened(db, path, is_made=True)
    db.close()
    if not found:
        return _empty(path)
    raise older(path, found)


def for_writing(path: Path) -> sqlite3.Connection:
    """Open an index file, created if it is missing, and upgrade it to the present schema.

    :raises BackendError: the file is damaged, of another program, or of a newer version of this one; it is not
        touched then.
    """
    if is_absent(path):
        _make_private(path)
    with translated(path):
        db: sqlite3.Connection = sqlite3.connect(path, **_OPTIONS)
        try:
            _version(db, path)
            db.execute("PRAGMA page_size = 8192")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA cache_size = -32768")
            schema.migrate(db)
        except BaseException:
            db.close()
            raise
    return db


def _make_private(path: Path) -> None:
    """Create an empty file for its owner alone, whatever the umask; SQLite gives the log the same permissions."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise BackendError(f"{path}: {error.strerror or error}") from error


def _open_to_read(uri: str, path: Path) -> tuple[sqlite3.Connection, int]:
    db: sqlite3.Connection = sqlite3.connect(uri, uri=True, **_OPTIONS)
    try:
        found = _version(db, path)
        db.execute(f"PRAGMA cache_size = -{READ_CACHE}")
        return db, found
    except BaseException:
        db.close()
        raise


def _empty(path: Path) -> Opened:
    db: sqlite3.Connection = sqlite3.connect(":memory:", **_OPTIONS)
    schema.migrate(db)
    return Opened(db, path, is_made=False)


def _version(db: sqlite3.Connection, path: Path) -> int:
    try:
        return schema.version(db)
    except BackendError as error:
        raise BackendError(f"{path}: {error}") from error
    except UnicodeDecodeError as error:
        # SQLite quotes the schema that it cannot read.
        raise sqlite3.DataError("its schema is not text") from error
