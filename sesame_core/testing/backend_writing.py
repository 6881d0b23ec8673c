"""What the write half of a storage backend promises about the content of files."""

from __future__ import annotations

import pytest

from sesame_core.plugin.backend import StorageBackend

from .backend_base import BackendBase, ParserDiedError, broken, found, store, texts, the
from .builders import a_file, a_session


class WritingConformance(BackendBase):
    """Replace, append and forget."""

    # -- replace ------------------------------------------------------------------------------------------

    def test_finds_what_was_stored(self, backend: StorageBackend) -> None:
        """The number of chunks comes back; the words are found."""
        assert store(backend, a_file(), a_session("the quick brown fox", "a second one")) == 2
        assert found(backend, "fox") == {"s1"}
        assert found(backend, "unicorn") == set()

    def test_replace_forgets_what_the_file_said_before(self, backend: StorageBackend) -> None:
        """Chunks, titles and whole sessions that are not in the file any more are gone."""
        store(backend, a_file(), a_session("old", title="kettle"), a_session("gone", id="s2"))
        store(backend, a_file(version=2), a_session("new", title="teapot"))
        assert [found(backend, word) for word in ("old", "kettle", "gone")] == [set()] * 3
        assert found(backend, "new") == found(backend, "teapot") == {"s1"}
        assert texts(backend, "s1") == ["new"]
        assert backend.reader().statistics().sessions == 1

    def test_replace_leaves_other_files_alone(self, backend: StorageBackend) -> None:
        """The unit of replacement is the file."""
        store(backend, a_file("/a"), a_session("fox", id="a"))
        store(backend, a_file("/b"), a_session("fox", id="b"))
        store(backend, a_file("/b", version=2), a_session("dog", id="b"))
        assert found(backend, "fox") == {"a"}

    def test_a_session_may_be_described_after_its_chunks_again(self, backend: StorageBackend) -> None:
        """The last `Session` of an id counts."""
        first, chunk = a_session("fox", title=None)
        last, _ = a_session("", title="kettle")
        store(backend, a_file(), [first, chunk, last])
        assert the(backend, "s1").session.title == "kettle"
        assert found(backend, "kettle") == {"s1"}

    @pytest.mark.parametrize("padding", [0, 6000])
    def test_a_failed_replace_changes_nothing(self, backend: StorageBackend, padding: int) -> None:
        """Neither this file nor one that was stored before it in the same run; the run can go on."""
        store(backend, a_file(), a_session("whole"))
        with backend.writer() as writer:
            writer.replace(a_file("/before"), a_session("earlier", id="s0"))
            with pytest.raises(ParserDiedError):
                writer.replace(a_file(version=2), broken(*a_session("half", id="s2"), padding=padding))
            writer.replace(a_file("/after"), a_session("later", id="s3"))
        assert found(backend, "whole") == {"s1"}
        assert found(backend, "half padding") == set()
        assert found(backend, "earlier later") == {"s0", "s3"}
        with backend.writer() as writer:
            assert writer.files()[a_file().path].mtime_ns == a_file().mtime_ns

    def test_a_file_may_hold_many_sessions(self, backend: StorageBackend) -> None:
        """Their chunks may be interleaved."""
        one, first, third = a_session("fox one", "fox three", id="s1")
        two, second = a_session("fox two", id="s2")
        store(backend, a_file(), [one, first, two, second, third])
        assert found(backend, "fox") == {"s1", "s2"}
        assert texts(backend, "s1") == ["fox one", "fox three"]
        assert texts(backend, "s2") == ["fox two"]

    def test_two_files_may_hold_the_same_session(self, backend: StorageBackend) -> None:
        """Copies are kept apart; uniting them is the core's work."""
        store(backend, a_file("/a"), a_session("fox"))
        store(backend, a_file("/b"), a_session("fox", "dog"))
        copies = backend.reader().find_sessions("s1")
        assert sorted((copy.path, copy.chunk_count) for copy in copies) == [("/a", 1), ("/b", 2)]
        store(backend, a_file("/b", version=2))
        assert [copy.path for copy in backend.reader().find_sessions("s1")] == ["/a"]

    # -- append -------------------------------------------------------------------------------------------

    def test_append_adds_and_counts_on(self, backend: StorageBackend) -> None:
        """Positions go on where they stopped, and the session is described anew."""
        store(backend, a_file(), a_session("one", "two"))
        with backend.writer() as writer:
            assert writer.append(a_file(version=2), a_session("three", title="kettle", message_count=3)) == 1
        stored = the(backend, "s1")
        chunks = backend.reader().chunks(stored.number)
        assert [(chunk.seq, chunk.text) for chunk in chunks] == [(0, "one"), (1, "two"), (2, "three")]
        assert (stored.session.title, stored.session.message_count, stored.chunk_count) == ("kettle", 3, 3)
        assert found(backend, "one") == found(backend, "three") == found(backend, "kettle") == {"s1"}

    def test_append_may_bring_a_new_session(self, backend: StorageBackend) -> None:
        """A file of many sessions grows by whole ones."""
        store(backend, a_file(), a_session("one"))
        with backend.writer() as writer:
            writer.append(a_file(version=2), a_session("two", id="s2"))
        assert (texts(backend, "s1"), texts(backend, "s2")) == (["one"], ["two"])

    def test_a_failed_append_changes_nothing(self, backend: StorageBackend) -> None:
        """The next run appends from the old checkpoint again."""
        store(backend, a_file(), a_session("one"))
        with backend.writer() as writer, pytest.raises(ParserDiedError):
            writer.append(a_file(version=2), broken(*a_session("two")))
        assert texts(backend, "s1") == ["one"]
        with backend.writer() as writer:
            assert writer.files()[a_file().path].size == 1

    # -- forget -------------------------------------------------------------------------------------------

    def test_a_forgotten_session_does_not_come_back(self, backend: StorageBackend) -> None:
        """Its neighbours in the file stay."""
        content = [*a_session("fox", "fox", id="s1", title="kettle"), *a_session("fox", id="s2")]
        store(backend, a_file(), content)
        number = the(backend, "s1").number
        with backend.writer() as writer:
            assert writer.forget(number) == 2
        assert found(backend, "fox") == {"s2"}
        store(backend, a_file(version=2), content)
        assert found(backend, "fox kettle") == {"s2"}
        assert backend.reader().find_sessions("s1") == []
        assert backend.reader().statistics().forgotten == 1

    def test_forgetting_what_is_not_there_deletes_nothing(self, backend: StorageBackend) -> None:
        """Two people may forget the same session."""
        store(backend, a_file(), a_session("fox"))
        with backend.writer() as writer:
            assert writer.forget(the(backend, "s1").number + 1000) == 0
        assert found(backend, "fox") == {"s1"}
