"""What the write half of a storage backend promises."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from sesame_core.errors import LockedError
from sesame_core.protocols import Annotating, Noting, Recalling, Remembering, StorageBackend
from sesame_core.types import NOTES, UNREAD, Checkpoint, Chunk, IndexedFile, Notes, Session

from .backend_base import BackendBase, found, store, texts, the
from .builders import NOON, a_chunk, a_file, a_session

WRITTEN = Notes(
    name="Zucchini", description="The aubergine.", summary="## Goal\nA radish, 日本語.", tags=("garden", "ticket:123")
)


def on_disk(path: Path) -> IndexedFile:
    """Return a file that is really there, so that a rebuild does not take it for missing."""
    path.touch()
    return a_file(str(path))


class ParserDiedError(Exception):
    """Raised in the middle of a file's content."""


def broken(*items: Session | Chunk, padding: int = 0) -> Iterator[Session | Chunk]:
    """Yield some content and fail."""
    yield from items
    for number in range(padding):
        yield a_chunk(f"padding {number}", session_id=items[0].id if isinstance(items[0], Session) else "")
    raise ParserDiedError


class WritingConformance(BackendBase):
    """Replace, append, forget, rebuild, and what is remembered about files."""

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

    # -- what is remembered about files -------------------------------------------------------------------

    def test_a_file_comes_back_as_it_was_stored(self, backend: StorageBackend) -> None:
        """With its checkpoint when asked for by path."""
        file = a_file(
            checkpoint=Checkpoint(offset=512, line=7, state={"id": "s1", "open": ["c1"], "n": 3}),
            head_hash=b"\x00\xff",
            tail_hash=b"\x01\x02",
            skipped={"damaged": 2},
        )
        store(backend, file, a_session("fox"))
        with backend.writer() as writer:
            assert writer.file(file.path) == file
            assert writer.file("/not/there") is None
            listed = writer.files()
        assert list(listed) == [file.path]
        assert dataclasses.replace(listed[file.path], checkpoint=file.checkpoint) == file

    def test_a_file_may_be_filled_in_while_it_is_read(self, backend: StorageBackend) -> None:
        """The checkpoint is known only when the content has ended."""
        file = a_file()

        def content() -> Iterator[Session | Chunk]:
            yield from a_session("fox")
            file.checkpoint = Checkpoint(offset=9, line=1)

        with backend.writer() as writer:
            writer.replace(file, content())
            assert writer.file(file.path) == file

    def test_a_missing_file_keeps_its_sessions(self, backend: StorageBackend) -> None:
        """They are marked; the checkpoint survives, so that a file that comes back is not read again."""
        file = a_file(checkpoint=Checkpoint(offset=1, line=1))
        store(backend, file, a_session("fox"))
        with backend.writer() as writer:
            writer.update_files([dataclasses.replace(writer.files()[file.path], missing_since=NOON)])
        assert found(backend, "fox") == {"s1"}
        assert the(backend, "s1").missing_since == NOON
        assert backend.reader().statistics().missing == 1
        with backend.writer() as writer:
            assert writer.file(file.path) == dataclasses.replace(file, missing_since=NOON)
            writer.update_files([file])
        assert the(backend, "s1").missing_since is None

    def test_what_is_known_of_files_is_told_without_writing(self, backend: StorageBackend) -> None:
        """For searches, which compare it with the files there are; only where a reader has the ability."""
        files = [a_file(path=f"/{name}", mtime_ns=7) for name in ("read", "failed", "missing")]
        for file in files:
            store(backend, file, [])
        files[1].error, files[2].missing_since = "no", NOON
        with backend.writer() as writer:
            writer.update_files(files)
        reader = backend.reader()
        if isinstance(reader, Remembering):
            parser, version = files[0].parser, files[0].parser_version
            assert reader.known_files() == {
                "/read": (7, parser, version, False),
                "/failed": (UNREAD, parser, version, False),
                "/missing": (7, parser, version, True),
            }

    def test_what_is_known_of_some_files_is_told_by_their_times(self, backend: StorageBackend) -> None:
        """Both ends of the time count; a file that could not be read is always told of."""
        for time in (6, 7, 8, 9):
            store(backend, a_file(path=f"/{time}", mtime_ns=time), [])
        with backend.writer() as writer:
            writer.update_files([a_file("/failed", mtime_ns=1, error="no")])
        reader = backend.reader()
        if isinstance(reader, Recalling):
            assert isinstance(reader, Remembering)
            told = {path: reader.known_files()[path] for path in ("/7", "/8", "/failed")}
            assert reader.known_between(7, 8) == told
            assert reader.known_between(0, 2**63 - 1) == reader.known_files()

    def test_a_note_goes_with_one_index_only(self, backend: StorageBackend) -> None:
        """Where it may lie is another place when another index takes its place."""
        store(backend, a_file(), a_session("fox"))
        reader = backend.reader()
        if isinstance(reader, Noting) and (place := reader.note_path()):
            Path(place).write_text("")
            with backend.rebuild():
                pass
            assert reader.note_path() != place
            assert not Path(place).exists()

    def test_a_file_that_never_could_be_read_is_remembered(self, backend: StorageBackend) -> None:
        """With the reason, for `sesame status`."""
        with backend.writer() as writer:
            writer.update_files([a_file("/bad", error="no permission")])
        assert tuple(backend.reader().statistics().failed) == (("/bad", "no permission"),)

    def test_tells_the_sessions_of_a_file(self, backend: StorageBackend) -> None:
        """An append continues their counts."""
        session, chunk = a_session("fox", tool_counts={"bash": 2}, exchange_count=4, prompts=("fox", "dog"))
        store(backend, a_file(), [session, chunk])
        with backend.writer() as writer:
            (stored,) = writer.file_sessions(a_file().path)
            assert writer.file_sessions("/not/there") == []
        assert isinstance(session, Session)
        for field in ("id", "agent", "message_count", "exchange_count", "tool_counts", "prompts", "modified"):
            assert getattr(stored, field) == getattr(session, field)

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

    # -- notes -----------------------------------------------------------------------------------------

    def test_notes_come_back_and_are_ranked_with_the_title(self, backend: StorageBackend) -> None:
        """Name, description, summary and tags; the name only where there is no title.  For writers that can."""
        store(backend, a_file("/a"), a_session("fox", id="a"), a_session("fox", id="b", title="kettle"))
        with backend.writer() as writer:
            if not isinstance(writer, Annotating):
                pytest.skip("the backend keeps no notes")
            assert (writer.annotate("a", WRITTEN), writer.annotate("b", WRITTEN)) == (1, 1)
            assert (writer.annotate("a", WRITTEN), writer.annotate("nobody", WRITTEN)) == (0, 0)
        assert the(backend, "a").session.notes == the(backend, "b").session.notes == WRITTEN
        assert (the(backend, "a").session.name, the(backend, "b").session.name) == ("Zucchini", "kettle")
        assert found(backend, "zucchini") == {"a"}
        for word in ("aubergine", "radish", "tickets 123", "日本"):
            assert found(backend, word) == {"a", "b"}

    def test_other_notes_take_the_place_of_the_former(self, backend: StorageBackend) -> None:
        """And without any, nothing is left of them."""
        store(backend, a_file(), a_session("fox"))
        with backend.writer() as writer:
            if not isinstance(writer, Annotating):
                pytest.skip("the backend keeps no notes")
            writer.annotate("s1", WRITTEN)
            assert writer.annotate("s1", Notes(name="Cress", description="", summary="")) == 1
        assert (found(backend, "cress"), found(backend, "zucchini aubergine")) == ({"s1"}, set())
        with backend.writer() as writer:
            assert isinstance(writer, Annotating)
            assert writer.annotate("s1", None) == 1
        assert the(backend, "s1").session.notes is None
        assert (found(backend, "cress"), found(backend, "fox")) == (set(), {"s1"})

    def test_notes_stay_when_a_session_grows_and_when_it_is_carried_over(self, backend: StorageBackend) -> None:
        """A session is stored with its notes; those of a copy are its own."""
        session, chunk = a_session("fox", notes=WRITTEN)
        store(backend, a_file("/gone"), [session, chunk])
        with backend.writer() as writer:
            if not isinstance(writer, Annotating):
                pytest.skip("the backend keeps no notes")
            (stored,) = writer.file_sessions("/gone")
            assert stored.notes == WRITTEN
            stored.title = "kettle"
            writer.append(a_file("/gone", version=2), [stored, a_chunk("dog", session_id="s1")])
        assert (found(backend, "zucchini"), found(backend, "kettle aubergine")) == (set(), {"s1"})
        with backend.rebuild():
            pass
        assert the(backend, "s1").session.notes == WRITTEN
        assert found(backend, "aubergine") == found(backend, "kettle") == {"s1"}

    def test_a_session_whose_texts_are_not_stored_gets_no_notes(self, backend: StorageBackend) -> None:
        """They would tell of what was said."""
        store(backend, a_file(), a_session(id="s1", visibility="metadata"))
        with backend.writer() as writer:
            if not isinstance(writer, Annotating):
                pytest.skip("the backend keeps no notes")
            assert writer.annotate("s1", WRITTEN) == 0
        assert the(backend, "s1").session.notes is None

    def test_files_of_notes_count_as_no_files_of_sessions(self, backend: StorageBackend) -> None:
        """Only as failed ones, when they cannot be understood."""
        store(backend, a_file("/a"), a_session("fox"))
        with backend.writer() as writer:
            writer.update_files([a_file("/good", parser=NOTES), a_file("/gone", parser=NOTES, missing_since=NOON)])
            writer.update_files([a_file("/bad", parser=NOTES, error="no object")])
        statistics = backend.reader().statistics()
        assert (statistics.files, statistics.missing, statistics.failed) == (1, 0, (("/bad", "no object"),))

    # -- rebuild ------------------------------------------------------------------------------------------

    def test_a_rebuild_replaces_everything_at_once(
        self, backend: StorageBackend, other: StorageBackend, tmp_path: Path
    ) -> None:
        """Readers, in this process and in others, see the old index until the new one is complete."""
        store(backend, on_disk(tmp_path / "old"), a_session("fox", id="old"))
        with backend.rebuild() as writer:
            assert writer.files() == {}
            writer.replace(a_file("/new"), a_session("fox", id="new"))
            writer.finish(synced_at=None)
            assert found(backend, "fox") == found(other, "fox") == {"old"}
        assert found(backend, "fox") == found(other, "fox") == {"new"}
        assert store(other, a_file("/more"), a_session("fox", id="more")) == 1
        assert found(backend, "fox") == {"new", "more"}

    def test_a_failed_rebuild_keeps_the_old_index(self, backend: StorageBackend, tmp_path: Path) -> None:
        """Writing goes on afterwards, and so does another attempt."""
        store(backend, on_disk(tmp_path / "old"), a_session("fox"))
        with pytest.raises(ParserDiedError), backend.rebuild() as writer:
            writer.replace(a_file("/new"), broken(*a_session("dog", id="new")))
        assert found(backend, "fox dog") == {"s1"}
        with backend.rebuild() as writer:
            writer.replace(a_file("/new"), a_session("cow", id="new"))
        assert found(backend, "fox dog cow") == {"new"}

    def test_a_rebuild_carries_sessions_of_missing_files_over(self, backend: StorageBackend) -> None:
        """What the agent deleted can not be read again."""
        store(backend, a_file("/gone"), a_session("fox", "dog", id="gone", title="kettle"))
        with backend.writer() as writer:
            writer.update_files([a_file("/gone", missing_since=NOON)])
        with backend.rebuild() as writer:
            writer.replace(a_file("/new"), a_session("fox", id="new"))
        assert found(backend, "fox") == {"gone", "new"}
        assert found(backend, "kettle") == {"gone"}
        assert texts(backend, "gone") == ["fox", "dog"]
        assert the(backend, "gone").missing_since == NOON

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

    def test_a_second_writer_is_told_of_the_first(self, backend: StorageBackend, other: StorageBackend) -> None:
        """And gets its turn when the first has finished."""
        with backend.writer(), pytest.raises(LockedError), other.writer():
            pass
        assert store(other, a_file(), a_session("fox")) == 1

    def test_reading_goes_on_while_a_writer_is_open(self, backend: StorageBackend, other: StorageBackend) -> None:
        """With what was stored before, or with what has been stored since."""
        store(backend, a_file(), a_session("fox"))
        with backend.writer() as writer:
            writer.replace(a_file("/b"), a_session("fox", id="s2"))
            assert "s1" in found(backend, "fox")
            assert "s1" in found(other, "fox")
        assert found(other, "fox") == {"s1", "s2"}

    def test_can_be_opened_again_after_it_was_closed(self, backend: StorageBackend) -> None:
        """Closing releases; it does not end."""
        store(backend, a_file(), a_session("fox"))
        backend.close()
        assert found(backend, "fox") == {"s1"}
        assert store(backend, a_file("/b"), a_session("fox", id="s2")) == 1
