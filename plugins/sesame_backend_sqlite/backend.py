"""Where the index lives, who may write it, and how a rebuilt one takes its place.

The index is `index.sqlite` in the data directory.  A rebuild fills a file beside it and then renames that to
`index.<n>.sqlite`; the highest number is the present generation.  A database file is never replaced under its
own name, because a reader could pair the new file with the old write-ahead log.
"""

from __future__ import annotations

import difflib
import os
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sesame_core.errors import BackendError, ConfigError, LockedError
from sesame_core.protocols import Options

from . import carry, schema
from .failures import translated
from .reader import SqliteReader
from .writer import SqliteWriter

#: Seconds a statement waits for another process's lock.
BUSY_SECONDS = 10.0
#: FTS5 settings of a rebuild: large in-memory batches, then one segment; and of daily work.
BULK_HASHSIZE = 2 << 20
HASHSIZE = 1 << 20

_GENERATION = re.compile(r"index(?:\.(\d+))?\.sqlite")
_SIDES = ("", "-wal", "-shm")


class SqliteBackend:
    """One index in one directory.

    :param directory: where the index file lives; made when something is written.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._connections: list[sqlite3.Connection] = []

    @classmethod
    def from_options(cls, options: Options) -> SqliteBackend:
        """Make a backend from its options in config.jsonc: `directory`."""
        for name in options:
            if name != "directory":
                near = difflib.get_close_matches(name, ["directory"], n=1)
                hint = f"; did you mean {near[0]!r}?" if near else "; it knows 'directory'"
                raise ConfigError(f"the sqlite backend has no option {name!r}{hint}")
        directory = options.get("directory")
        if directory is None:
            from sesame_core import paths

            return cls(paths.data_dir())
        if not isinstance(directory, (str, os.PathLike)):
            raise ConfigError("the sqlite backend's option 'directory' must be a path")
        return cls(Path(directory).expanduser())

    # -- reading ------------------------------------------------------------------------------------------

    def reader(self) -> SqliteReader:
        """Open for reading."""
        return SqliteReader(self._connect, lambda path: path == str(self._present()))

    def close(self) -> None:
        """Close every connection."""
        for db in self._connections:
            db.close()
        self._connections.clear()

    def _present(self) -> Path:
        """Return the path of the present generation, whether it exists or not."""
        newest, name = -1, "index.sqlite"
        with suppress(FileNotFoundError, NotADirectoryError):
            for entry in os.listdir(self._directory):
                match = _GENERATION.fullmatch(entry)
                if match and (number := int(match[1] or 0)) > newest:
                    newest, name = number, entry
        return self._directory / name

    def _connect(self) -> tuple[sqlite3.Connection, str]:
        path = self._present()
        with translated(path):
            db = _open_for_reading(path)
        self._connections.append(db)
        return db, str(path)

    # -- writing ------------------------------------------------------------------------------------------

    @contextmanager
    def writer(self) -> Iterator[SqliteWriter]:
        """Open for writing."""
        with self._lock():
            path = self._present()
            self._remove_leftovers(path)
            with translated(path):
                is_new = not path.exists()
                db = _open_for_writing(path)
                try:
                    _check(db, path)
                    schema.migrate(db)
                    if is_new:
                        _configure(db, hashsize=HASHSIZE)
                    yield from _writing(db)
                finally:
                    db.close()

    @contextmanager
    def rebuild(self) -> Iterator[SqliteWriter]:
        """Open an empty index that takes the present one's place at the end."""
        with self._lock():
            old = self._present()
            self._remove_leftovers(old)
            building = self._directory / "rebuild.sqlite"
            with translated(building):
                db = _open_for_writing(building)
                try:
                    schema.migrate(db)
                    _configure(db, hashsize=BULK_HASHSIZE)
                    is_readable = not old.exists() or _undamaged(carry.copy_tombstones, db, old)
                    yield from _writing(db)
                    is_readable = is_readable and (not old.exists() or _undamaged(carry.carry_over, db, old))
                    for table in ("chunks_fts", "heads_fts"):
                        db.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
                    _configure(db, hashsize=HASHSIZE)
                    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                finally:
                    db.close()
                number = int((_GENERATION.fullmatch(old.name) or ["", "0"])[1] or 0)
                os.replace(building, self._directory / f"index.{number + 1}.sqlite")
                if not is_readable:
                    os.replace(old, old.with_name(f"damaged-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.sqlite"))
                self._remove_leftovers(self._present())

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Hold the right to write; the operating system takes it back when the process dies."""
        from filelock import FileLock, Timeout

        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._directory / "index.lock", timeout=0, is_singleton=False)
            lock.acquire()
        except Timeout:
            raise LockedError(f"the index is being written by {self._holder()}; try again when it is done") from None
        except OSError as error:
            raise BackendError(f"cannot write to {self._directory}: {error.strerror or error}") from error
        note = self._directory / "index.holder"
        try:
            note.write_text(f"{' '.join(sys.argv)[:200]} (process {os.getpid()}, since {datetime.now():%H:%M:%S})")
            yield
        except OSError as error:
            raise BackendError(f"cannot write to {self._directory}: {error.strerror or error}") from error
        finally:
            with suppress(OSError):
                note.unlink()
            lock.release()

    def _holder(self) -> str:
        try:
            return (self._directory / "index.holder").read_text()
        except OSError:
            return "another process"

    def _remove_leftovers(self, present: Path) -> None:
        """Delete older generations and what a killed rebuild left; a file that is in use waits for the next time."""
        for entry in os.listdir(self._directory):
            base = entry.removesuffix("-wal").removesuffix("-shm")
            if base == "rebuild.sqlite" or (_GENERATION.fullmatch(base) and base != present.name):
                with suppress(OSError):
                    (self._directory / entry).unlink()


def _writing(db: sqlite3.Connection) -> Iterator[SqliteWriter]:
    """Yield a writer; commit what it wrote, unless the block raises."""
    writer = SqliteWriter(db)
    try:
        yield writer
    except BaseException:
        writer.rollback()
        raise
    writer.commit()


def _open_for_reading(path: Path) -> sqlite3.Connection:
    options: Any = {"uri": True, "timeout": BUSY_SECONDS, "isolation_level": None, "check_same_thread": False}
    if not path.exists():
        db: sqlite3.Connection = sqlite3.connect(":memory:", **options)
        schema.migrate(db)
        return db
    uri = path.absolute().as_uri() + "?mode=ro"
    db = sqlite3.connect(uri, **options)
    try:
        found = schema.version(db)
    except sqlite3.OperationalError:
        db.close()
        if os.access(path.parent, os.W_OK):
            raise
        # Nobody can write here, so there is no write-ahead log to wait for and none can be made.
        db = sqlite3.connect(uri + "&immutable=1", **options)
        found = schema.version(db)
    if found < len(schema.MIGRATIONS):
        db.close()
        raise BackendError(f"{path} has an older schema ({found}): upgrade it with: sesame index")
    return db


def _open_for_writing(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA page_size = 8192")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -32768")
    except BaseException:
        db.close()
        raise
    return db


def _configure(db: sqlite3.Connection, *, hashsize: int) -> None:
    for table in ("chunks_fts", "heads_fts"):
        db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('hashsize', ?)", (hashsize,))


def _check(db: sqlite3.Connection, path: Path) -> None:
    try:
        schema.version(db)
    except BackendError as error:
        raise BackendError(f"{path}: {error}") from error


def _undamaged(step: Callable[[sqlite3.Connection, Path], None], db: sqlite3.Connection, old: Path) -> bool:
    """Take a step that reads the old index; tell whether it could be read."""
    try:
        step(db, old)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        return False
    return True
