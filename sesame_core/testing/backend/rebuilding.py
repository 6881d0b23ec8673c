"""Conformance tests of a storage backend: rebuilds, and concurrent use."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from sesame_core.errors import LockedError
from sesame_core.plugin.backend import IndexWriter, Positions, StorageBackend
from sesame_core.types.index import Chunk, IndexedFile
from sesame_core.types.transcript import Session

from ..builders import NOON, a_file, a_session
from .base import BackendBase, ParserDiedError, broken, found, store, texts, the


def on_disk(path: Path) -> IndexedFile:
    """Return a file that exists, so that a rebuild does not count it as missing."""
    path.touch()
    return a_file(str(path))


class Shouting:
    """A writer around another one that converts texts to upper case."""

    def __init__(self, writer: IndexWriter) -> None:
        self._writer = writer

    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Store the content of a file, in upper case."""
        return self._writer.replace(file, map(self._shouted, content))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)

    @staticmethod
    def _shouted(item: Session | Chunk) -> Session | Chunk:
        return dataclasses.replace(item, text=item.text.upper()) if isinstance(item, Chunk) else item


class RebuildingConformance(BackendBase):
    """Tests rebuilds, one writer, many readers."""

    # -- rebuild ------------------------------------------------------------------------------------------

    def test_a_rebuild_replaces_everything_at_once(
        self, backend: StorageBackend, other: StorageBackend, tmp_path: Path
    ) -> None:
        """Readers in this process and in others see the old index until the new one is complete."""
        store(backend, on_disk(tmp_path / "old"), a_session("fox", id="old"))
        with backend.rebuild() as writer:
            assert writer.files() == {}
            writer.replace(a_file("/new"), a_session("fox", id="new"))
            writer.finish(synced_at=None)
            assert found(backend, "fox") == found(other, "fox") == {"old"}
        assert found(backend, "fox") == found(other, "fox") == {"new"}
        assert store(other, a_file("/more"), a_session("fox", id="more")) == {"more": range(1)}
        assert found(backend, "fox") == {"new", "more"}

    def test_a_failed_rebuild_keeps_the_old_index(self, backend: StorageBackend, tmp_path: Path) -> None:
        """Later writes work, and so does another rebuild."""
        store(backend, on_disk(tmp_path / "old"), a_session("fox"))
        with pytest.raises(ParserDiedError), backend.rebuild() as writer:
            writer.replace(a_file("/new"), broken(*a_session("dog", id="new")))
        assert found(backend, "fox dog") == {"s1"}
        with backend.rebuild() as writer:
            writer.replace(a_file("/new"), a_session("cow", id="new"))
        assert found(backend, "fox dog cow") == {"new"}

    def test_a_rebuild_carries_sessions_of_missing_files_over(self, backend: StorageBackend) -> None:
        """A file that the agent deleted cannot be read again."""
        store(backend, a_file("/gone"), a_session("fox", "dog", id="gone", title="kettle"))
        with backend.writer() as writer:
            writer.update_files([a_file("/gone", missing_since=NOON)])
        with backend.rebuild() as writer:
            writer.replace(a_file("/new"), a_session("fox", id="new"))
        assert found(backend, "fox") == {"gone", "new"}
        assert found(backend, "kettle") == {"gone"}
        assert texts(backend, "gone") == ["fox", "dog"]
        assert the(backend, "gone").missing_since == NOON

    def test_what_a_rebuild_takes_over_is_written_through_the_wrapped_writer(
        self, backend: StorageBackend, tmp_path: Path
    ) -> None:
        """The core wraps the writer so that no secret and no private session is stored."""
        store(backend, a_file("/gone"), a_session("fox", "dog", id="gone"))
        store(backend, on_disk(tmp_path / "old"), a_session("fox", id="old"))
        with backend.rebuild(Shouting) as writer:
            assert isinstance(writer, Shouting), "the context yields the writer that `wrap` made"
            writer.replace(a_file("/new"), a_session("fox", id="new"))
        assert found(backend, "fox") == {"gone", "new"}
        assert texts(backend, "new") == ["FOX"]
        assert texts(backend, "gone") == ["FOX", "DOG"], (
            "carried-over content is written through the writer that `wrap` made"
        )
        assert the(backend, "gone").missing_since is not None, "a deleted file is marked as missing"

    def test_a_rebuild_brings_no_forgotten_session_back(self, backend: StorageBackend) -> None:
        """Tombstones are carried over."""
        store(backend, a_file(), a_session("fox"))
        with backend.writer() as writer:
            writer.forget(the(backend, "s1").number)
        with backend.rebuild() as writer:
            writer.replace(a_file(), [*a_session("fox"), *a_session("fox", id="s2")])
        assert found(backend, "fox") == {"s2"}

    def test_a_rebuild_of_nothing_makes_an_empty_index(self, backend: StorageBackend) -> None:
        """The first `sesame index --full` has nothing to replace."""
        with backend.rebuild():
            pass
        assert backend.reader().statistics().sessions == 0

    # -- one writer, many readers -------------------------------------------------------------------------

    def test_a_second_writer_is_refused(self, backend: StorageBackend, other: StorageBackend) -> None:
        """It succeeds when the first has finished."""
        with backend.writer(), pytest.raises(LockedError), other.writer():
            pass
        assert store(other, a_file(), a_session("fox")) == {"s1": range(1)}

    def test_reading_goes_on_while_a_writer_is_open(self, backend: StorageBackend, other: StorageBackend) -> None:
        """It sees the content from before or after the write."""
        store(backend, a_file(), a_session("fox"))
        with backend.writer() as writer:
            writer.replace(a_file("/b"), a_session("fox", id="s2"))
            assert "s1" in found(backend, "fox")
            assert "s1" in found(other, "fox")
        assert found(other, "fox") == {"s1", "s2"}

    def test_can_be_opened_again_after_it_was_closed(self, backend: StorageBackend) -> None:
        """`close` releases resources; later calls open them again."""
        store(backend, a_file(), a_session("fox"))
        backend.close()
        assert found(backend, "fox") == {"s1"}
        assert store(backend, a_file("/b"), a_session("fox", id="s2")) == {"s2": range(1)}
