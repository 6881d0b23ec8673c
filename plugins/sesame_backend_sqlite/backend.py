"""The files of the index, and its replacement by a rebuilt one.

The index is `index.sqlite` in the data directory.  A rebuild fills a file next to it and then renames that to
`index.<n>.sqlite`; the highest number is the present generation.  A database file is never replaced under its
own name, because a reader could pair the new file with the old write-ahead log.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sesame_core.errors import BackendError
from sesame_core.plugin.provider import Options
from sesame_core.sdk.ingest import committing
from sesame_core.sdk.options import PATH, check

from . import opening, schema
from .failures import DamagedError, translated
from .opening import Opened
from .reader import SqliteReader

if TYPE_CHECKING:
    from sesame_core.plugin.backend import IndexWriter

    from .locking import WriteLock
    from .writer import SqliteWriter

#: Bytes of terms that FTS5 holds in memory before it writes a segment; small appends never fill it.
HASHSIZE = 4 << 20
#: Segments of a level at which FTS5 begins to merge them; its default of 4 costs a tenth more when indexing.
AUTOMERGE = 8

_GENERATION = re.compile(r"index(?:\.(\d+))?\.sqlite")
#: Suffixes of the files that SQLite, and `reader.scan_cache_path`, put next to a database.
_SIDE = r"-(wal|shm|journal|looked)$"


class SqliteBackend:
    """One index in one directory.

    :param directory: the directory of the index file; created at the first write.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._connections: list[sqlite3.Connection] = []
        self._kept: tuple[tuple[str, int, int], sqlite3.Connection] | None = None
        self._lock: WriteLock | None = None

    @classmethod
    def from_options(cls, options: Options) -> SqliteBackend:
        """Make a backend from its options in config.jsonc: `directory`."""
        check("the sqlite backend", options, {"directory": PATH})
        directory = options.get("directory")
        if directory is None:
            from sesame_core.config import paths

            return cls(paths.data_dir())
        return cls(Path(directory).expanduser())

    # -- reading ------------------------------------------------------------------------------------------

    def reader(self) -> SqliteReader:
        """Open for reading."""
        return SqliteReader(self._connect, self._is_current)

    def close(self) -> None:
        """Close every connection."""
        for db in self._connections:
            db.close()
        self._connections.clear()
        self._close_writable()
        if self._lock is not None:
            self._lock.close()

    def _present(self) -> Path:
        """Return the path of the present generation, whether it exists or not."""
        try:
            entries = os.listdir(self._directory)
        except (FileNotFoundError, NotADirectoryError):
            entries = []
        except OSError as error:
            raise BackendError(f"cannot read {self._directory}: {error.strerror or error}") from error
        newest, name = -1, "index.sqlite"
        for entry in entries:
            match = _GENERATION.fullmatch(entry)
            if match and (number := int(match[1] or 0)) > newest:
                newest, name = number, entry
        return self._directory / name

    def _connect(self) -> Opened:
        while True:
            path = self._present()
            try:
                opened = opening.for_reading(path)
            except BackendError:
                if path == self._present():
                    raise
                continue
            self._connections.append(opened.db)
            # A rebuild that ended in the meantime has deleted the file that was just opened, or not found any more.
            if path == self._present():
                return opened

    def _is_current(self, opened: Opened) -> bool:
        present = self._present()
        return opened.path == present and (opened.is_made or opening.is_absent(present))

    # -- writing ------------------------------------------------------------------------------------------

    @contextmanager
    def writer(self) -> Iterator[SqliteWriter]:
        """Open for writing."""
        from .writer import SqliteWriter

        with self._locked():
            path = self._present()
            with translated(path):
                try:
                    with committing(SqliteWriter(self._writable(path), path)) as writer:
                        yield writer
                except BaseException:
                    self._close_writable()
                    raise

    def _writable(self, path: Path) -> sqlite3.Connection:
        """Return a connection for writing, reused from one run to the next: opening one costs more than an append."""
        is_new = opening.is_absent(path)
        if self._kept is not None and not is_new and self._kept[0] == _identity(path):
            return self._kept[1]
        self._close_writable()
        self._remove_leftovers(path)
        db = opening.for_writing(path)
        if is_new:
            _configure(db)
        self._kept = _identity(path), db
        return db

    def _close_writable(self) -> None:
        if self._kept is not None:
            self._kept[1].close()
        self._kept = None

    @contextmanager
    def rebuild(self, wrap: Callable[[IndexWriter], IndexWriter] | None = None) -> Iterator[IndexWriter]:
        """Open an empty index that replaces the present one at the end."""
        from . import carry
        from .writer import SqliteWriter

        with self._locked():
            self._close_writable()
            old = self._present()
            self._remove_leftovers(old)
            building = self._directory / "rebuild.sqlite"
            is_absent = opening.is_absent(old)
            has_old = not is_absent and _can_be_read(lambda: opening.for_writing(old).close())
            is_whole = is_absent or (has_old and _can_be_read(lambda: _look_through(old)))
            try:
                with translated(building), closing(opening.for_writing(building)) as db:
                    _configure(db)
                    writer = SqliteWriter(db, building)
                    if has_old:
                        is_whole &= _can_be_read(lambda: carry.copy_tombstones(db, old))
                    first = wrap(writer) if wrap else writer
                    with committing(writer):
                        yield first
                    if has_old:
                        is_whole &= _can_be_read(lambda: carry.carry_over(db, first, old))
                        writer.commit()  # keep what was read before the damage
                    for table in schema.FULL_TEXT:
                        db.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
                    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                number = int((_GENERATION.fullmatch(old.name) or ["", "0"])[1] or 0)
                os.replace(building, self._directory / f"index.{number + 1}.sqlite")
                if not is_whole:
                    os.replace(old, old.with_name(f"damaged-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.sqlite"))
            finally:
                self._remove_leftovers(self._present())

    def _locked(self) -> AbstractContextManager[None]:
        """Hold the write lock."""
        if self._lock is None:
            from .locking import WriteLock

            self._lock = WriteLock(self._directory)
        return self._lock.held()

    def _remove_leftovers(self, present: Path) -> None:
        """Delete older generations and files of a killed rebuild; one that is in use is left for the next time."""
        for entry in os.listdir(self._directory):
            base = re.sub(_SIDE, "", entry)
            if base == "rebuild.sqlite" or (_GENERATION.fullmatch(base) and base != present.name):
                with suppress(OSError):
                    (self._directory / entry).unlink()


def _look_through(path: Path) -> None:
    """Check every page of an index.

    :raises DamagedError: a page is damaged.
    """
    with closing(opening.for_writing(path)) as db:
        for (problem,) in db.execute("PRAGMA quick_check(1)"):
            if problem != "ok":
                raise DamagedError(f"{path} is damaged ({problem})")


def _identity(path: Path) -> tuple[str, int, int]:
    """Return values that differ between a file and another one that replaced it."""
    stat = path.stat()
    return str(path), stat.st_dev, stat.st_ino


def _configure(db: sqlite3.Connection) -> None:
    for table in schema.FULL_TEXT:
        db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('hashsize', ?)", (HASHSIZE,))
        db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('automerge', ?)", (AUTOMERGE,))


def _can_be_read(step: Callable[[], None]) -> bool:
    """Run a step that reads the old index; return whether it could be read."""
    try:
        step()
    except DamagedError:
        return False
    return True
