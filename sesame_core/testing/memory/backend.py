"""The reference backend: the whole contract of `sesame_core.plugin.backend` in plain Python, in memory.

    plugins = PluginManager()
    plugins.register(MemoryPlugin(), "memory")
    Sesame(Config(sources=..., backend=Selection(name="memory")), plugins=plugins)

For tests that need an index and no database, and as an example for authors of backends.  It is slow for many sessions:
each search scans all chunks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from datetime import UTC, datetime

from ...errors import LockedError
from ...plugin.backend import IndexWriter, StorageBackend
from ...plugin.markers import hookimpl
from ...plugin.provider import Options, Provider
from ...sdk import ingest
from ...sdk.options import TEXT, check
from ...types.index import Chunk
from ...types.transcript import Session
from .index import State
from .reader import MemoryReader
from .writer import MemoryWriter


class _Index:
    """One index, and its write lock."""

    def __init__(self) -> None:
        self.state = State()
        self.lock = threading.Lock()


class MemoryBackend:
    """An index in memory.

    :param index: shared with other backends of the same index; a new one when None.
    """

    def __init__(self, index: _Index | None = None) -> None:
        self._index = index or _Index()

    def reader(self) -> MemoryReader:
        """Open for reading."""
        return MemoryReader(lambda: self._index.state)

    def close(self) -> None:
        """Do nothing: the index lives as long as its backends."""

    @contextmanager
    def writer(self) -> Iterator[MemoryWriter]:
        """Open for writing."""
        with self._lock():
            writer = MemoryWriter(self._index.state, self._publish)
            yield writer
            writer.publish()

    @contextmanager
    def rebuild(self, wrap: Callable[[IndexWriter], IndexWriter] | None = None) -> Iterator[IndexWriter]:
        """Open an empty index that replaces the present one at the end."""
        with self._lock():
            old, built = self._index.state, State()
            built.tombstones = set(old.tombstones)
            made: list[State] = []
            writer = MemoryWriter(built, made.append)
            first = wrap(writer) if wrap else writer
            yield first
            _carry_over(old, first)
            writer.publish()
            made[-1].synced_at = made[-1].synced_at or old.synced_at
            self._publish(made[-1])

    def _publish(self, state: State) -> None:
        self._index.state = state

    @contextmanager
    def _lock(self) -> Iterator[None]:
        if not self._index.lock.acquire(blocking=False):
            raise LockedError("the index is being written by this process; try again when it is done")
        try:
            yield
        finally:
            self._index.lock.release()


def _carry_over(old: State, writer: IndexWriter) -> None:
    """Store the sessions that can no longer be read from their files."""
    for path, known in old.files.items():
        rebuilt = writer.file(path)
        if not ingest.is_carried_over(path, rebuilt, is_missing=known.missing_since is not None):
            continue
        file = deepcopy(known)
        if rebuilt is not None:
            file.error = rebuilt.error
        else:
            file.missing_since = file.missing_since or datetime.now(UTC)
        content: list[Session | Chunk] = []
        for entry in old.entries.values():
            if entry.path == path:
                content += [deepcopy(entry.session), *map(copy, entry.chunks)]
        writer.replace(file, content)


class MemoryPlugin:
    """Provides the backend `memory`; backends of one plugin with the same option `index` share an index.

    Register it with `PluginManager.register(MemoryPlugin(), "memory")`: no distribution provides it.
    """

    def __init__(self) -> None:
        self._indexes: dict[str, _Index] = {}

    @hookimpl
    def sesame_register_backends(self) -> Iterable[Provider[StorageBackend]]:
        """Provide the backend."""
        return [Provider(name="memory", summary="In memory, gone with the process; for tests", create=self._create)]

    def _create(self, options: Options) -> StorageBackend:
        """Make a backend from its options: `index`, the name of one of several."""
        check("the memory backend", options, {"index": TEXT})
        return MemoryBackend(self._indexes.setdefault(options.get("index", ""), _Index()))
