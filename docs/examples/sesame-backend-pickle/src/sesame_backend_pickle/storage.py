"""The index, and the file in which it is stored."""

import io
import pickle
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from filelock import FileLock, Timeout

from sesame_core import BackendError, Chunk, IndexedFile, LockedError, StoredSession
from sesame_core.config.paths import write_private


@dataclass(slots=True)
class Entry:
    """A session of one file, its chunks by position, and the stems of each chunk."""

    stored: StoredSession
    chunks: list[Chunk] = field(default_factory=list)
    documents: list[tuple[str, ...]] = field(default_factory=list)


@dataclass(slots=True)
class Index:
    """Files by path, sessions by number, and the ids of forgotten sessions."""

    files: dict[str, IndexedFile] = field(default_factory=dict)
    entries: dict[int, Entry] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    last_number: int = 0
    last_sync: datetime | None = None

    def of_file(self, path):
        return [entry for entry in self.entries.values() if entry.stored.path == path]


class Storage:
    """The file.  It is replaced as a whole: a reader never waits, and never sees a part of a change."""

    def __init__(self, path):
        self.path = path
        self._last_read = (None, Index())

    def read(self):
        """Return the present index, for readers, which share the object."""
        status = self.path.stat() if self.path.exists() else None
        identity = status and (status.st_ino, status.st_mtime_ns, status.st_size)
        if self._last_read[0] != identity:
            self._last_read = (identity, self.load())
        return self._last_read[1]

    def load(self):
        """Return a new copy of the present index, for a writer, which changes it."""
        try:
            return pickle.loads(self.path.read_bytes()) if self.path.exists() else Index()
        except Exception as error:
            raise BackendError(f"{self.path} is damaged ({error!r}); move it away and run `sesame index`") from error

    def save(self, index):
        file = io.BytesIO()
        _Pickler(file).dump(index)
        write_private(self.path, file.getvalue())

    @contextmanager
    def lock(self):
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with FileLock(f"{self.path}.lock", timeout=0):
                yield
        except Timeout:
            raise LockedError(f"another process is writing to {self.path}; try again when it has ended") from None


class _Pickler(pickle.Pickler):
    """Writes Sesame's dataclasses field by field: one that they gain later has its default when it is read."""

    def reducer_override(self, value):
        if type(value).__module__.startswith("sesame_core."):
            return _restore, (type(value), {name: getattr(value, name) for name in value.__slots__})
        return NotImplemented


def _restore(kind, fields):
    return kind(**fields)
