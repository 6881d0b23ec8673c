"""Conformance tests of a storage backend's writer: the content of files."""

from __future__ import annotations

import dataclasses

import pytest

from sesame_core.plugin.backend import StorageBackend
from sesame_core.types.index import IndexedFile
from sesame_core.types.transcript import Checkpoint

from ..builders import a_file, a_session
from .base import BackendBase, ParserDiedError, broken, chunks, found, store, texts, the


class WritingConformance(BackendBase):
    """Tests replace, append and forget."""

    # -- replace ------------------------------------------------------------------------------------------

    def test_finds_what_was_stored(self, backend: StorageBackend) -> None:
        """By its words."""
        store(backend, a_file(), a_session("the quick brown fox", "a second one"))
        assert found(backend, "fox") == {"s1"}
        assert found(backend, "unicorn") == set()

    def test_replace_forgets_what_the_file_said_before(self, backend: StorageBackend) -> None:
        """Chunks, titles and sessions that are not in the file any more are deleted."""
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
        """Neither this file nor one that was stored before it in the same run; the run can continue."""
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
        """Copies are stored separately; the core merges them."""
        store(backend, a_file("/a"), a_session("fox"))
        store(backend, a_file("/b"), a_session("fox", "dog"))
        copies = backend.reader().find_sessions("s1")
        assert sorted((copy.path, copy.chunk_count) for copy in copies) == [("/a", 1), ("/b", 2)]
        store(backend, a_file("/b", version=2))
        assert [copy.path for copy in backend.reader().find_sessions("s1")] == ["/a"]

    # -- append -------------------------------------------------------------------------------------------

    def test_append_adds_and_counts_on(self, backend: StorageBackend) -> None:
        """Positions continue from the last one, and the session's facts are updated."""
        store(backend, a_file(), a_session("one", "two"))
        with backend.writer() as writer:
            writer.append(a_file(version=2), a_session("three", title="kettle", message_count=3))
        stored = the(backend, "s1")
        assert [(c.seq, c.text) for c in chunks(backend, "s1")] == [(0, "one"), (1, "two"), (2, "three")]
        assert (stored.session.title, stored.session.message_count, stored.chunk_count) == ("kettle", 3, 3)
        assert found(backend, "one") == found(backend, "three") == found(backend, "kettle") == {"s1"}

    def test_append_may_bring_a_new_session(self, backend: StorageBackend) -> None:
        """A file with many sessions grows by whole sessions."""
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

    # -- positions ----------------------------------------------------------------------------------------

    def test_replace_returns_the_positions_of_what_it_stored(self, backend: StorageBackend) -> None:
        """By session id; a session without stored chunks is absent."""
        one, first, third = a_session("fox one", "fox three", id="s1")
        two, second = a_session("fox two", id="s2")
        content = [one, first, two, second, third, *a_session(id="s3")]
        assert store(backend, a_file(), content) == {"s1": range(2), "s2": range(1)}, (
            "`replace` returns the range of positions by session id; a session without chunks is absent"
        )
        with backend.writer() as writer:
            writer.forget(the(backend, "s1").number)
        assert store(backend, a_file(version=2), content) == {"s2": range(1)}, (
            "a session with a tombstone is not stored, and absent from the positions"
        )
        assert store(backend, a_file(version=3)) == {}

    def test_append_returns_the_positions_of_what_it_added(self, backend: StorageBackend) -> None:
        """They continue from the session's last one, for each session of the file."""
        store(backend, a_file(), a_session("one", "two"), a_session("one", id="s2"))
        with backend.writer() as writer:
            more = [*a_session("three"), *a_session("two", "three", id="s2"), *a_session("one", id="s3")]
            assert writer.append(a_file(version=2), more) == {
                "s1": range(2, 3),
                "s2": range(1, 3),
                "s3": range(1),
            }, "`append` returns only the positions of the chunks of this call"
            assert writer.append(a_file(version=3), a_session("four")) == {"s1": range(3, 4)}
        assert texts(backend, "s2") == ["one", "two", "three"]

    def test_chunks_are_not_changed_by_a_writer(self, backend: StorageBackend) -> None:
        """Their positions are returned; the caller's objects stay as they are."""
        made = a_session("one", "two")
        before = [dataclasses.replace(item) for item in made]
        store(backend, a_file(), made)
        with backend.writer() as writer:
            writer.append(a_file(version=2), made)
        assert made == before, "a writer does not change the sessions and chunks that it is given"

    # -- delete_file --------------------------------------------------------------------------------------

    def test_a_deleted_file_leaves_no_trace(self, backend: StorageBackend) -> None:
        """Its sessions, chunks and heads are deleted, and the file counts as new."""
        store(backend, a_file("/a"), a_session("fox", "dog", title="kettle"), a_session("fox", id="s2"))
        store(backend, a_file("/b"), a_session("fox", id="s3"))
        with backend.writer() as writer:
            assert writer.delete_file("/a") == 3, "`delete_file` returns the number of deleted chunks"
            assert writer.file("/a") is None
            assert [*writer.files()] == ["/b"]
            assert writer.file_sessions("/a") == []
        assert found(backend, "fox dog kettle") == {"s3"}
        statistics = backend.reader().statistics()
        assert (statistics.files, statistics.sessions, statistics.chunks) == (1, 1, 1)

    def test_a_deleted_file_may_be_stored_again(self, backend: StorageBackend) -> None:
        """Without a tombstone, also in the same run."""
        store(backend, a_file(), a_session("fox"))
        with backend.writer() as writer:
            writer.delete_file(a_file().path)
            assert writer.replace(a_file(version=2), a_session("fox", "dog")) == {"s1": range(2)}
            writer.delete_file(a_file().path)
        assert found(backend, "fox dog") == set()
        store(backend, a_file(version=3), a_session("fox"))
        assert found(backend, "fox") == {"s1"}, "`delete_file` leaves no tombstone"
        assert backend.reader().statistics().forgotten == 0

    def test_deleting_a_file_that_is_not_there_deletes_nothing(self, backend: StorageBackend) -> None:
        """And is not an error."""
        store(backend, a_file(), a_session("fox"))
        with backend.writer() as writer:
            assert writer.delete_file("/not/there") == 0
        assert found(backend, "fox") == {"s1"}

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

    def test_of_a_forgotten_session_no_state_of_its_parser_is_kept(self, backend: StorageBackend) -> None:
        """It contains text; neither is it stored again, nor are hashes of the file."""
        content = [*a_session("fox", id="s1"), *a_session("fox", id="s2")]

        def told() -> IndexedFile:
            at = Checkpoint(offset=9, line=2, state={"title": "kettle"})
            return a_file(checkpoint=at, head_hash=b"h", tail_hash=b"t", recent_origins=(7,))

        store(backend, told(), content)
        with backend.writer() as writer:
            writer.forget(the(backend, "s1").number)
            files = [writer.file(a_file().path)]
            writer.replace(told(), content)
            files.append(writer.file(a_file().path))
        for file in files:
            assert file is not None
            assert (file.checkpoint, file.head_hash, file.tail_hash, file.recent_origins) == (None, b"", b"", ()), (
                "a file with a forgotten session has no checkpoint and no hashes (`IndexedFile.drop_content`)"
            )

    def test_copies_and_subagents_are_forgotten_with_a_session(self, backend: StorageBackend) -> None:
        """All its chunks are deleted, whichever copy was named."""
        store(backend, a_file("/a"), a_session("fox", id="s1"), a_session("fox", id="s1/agent"))
        store(backend, a_file("/b"), a_session("fox", id="s1"), a_session("fox", id="s10"))
        number = next(s.number for s in backend.reader().find_by_id(["s1"]) if s.path == "/a")
        with backend.writer() as writer:
            assert writer.forget(number) == 3, "the chunks of copies and of subagents' sessions are deleted too"
        assert found(backend, "fox") == {"s10"}

    def test_forgetting_what_is_not_there_deletes_nothing(self, backend: StorageBackend) -> None:
        """Two people may forget the same session."""
        store(backend, a_file(), a_session("fox"))
        with backend.writer() as writer:
            assert writer.forget(the(backend, "s1").number + 1000) == 0
        assert found(backend, "fox") == {"s1"}
