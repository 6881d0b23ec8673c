"""Conformance tests of a storage backend: facts about files, and notes of sessions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from sesame_core.plugin.backend import Annotating, StorageBackend, TracksFiles
from sesame_core.plugin.shared import Granted, Monitored
from sesame_core.types.index import NOTES, UNREAD, Chunk, Freshness, KnownFile
from sesame_core.types.transcript import Checkpoint, Notes, Session

from ..builders import NOON, a_chunk, a_file, a_session
from .base import BackendBase, found, store, the

WRITTEN = Notes(
    name="Zucchini", description="The aubergine.", summary="## Goal\nA radish, 日本語.", tags=("garden", "ticket:123")
)


class RememberingConformance(BackendBase):
    """Tests stored files in every state, and notes."""

    # -- files --------------------------------------------------------------------------------------------

    def test_a_file_comes_back_as_it_was_stored(self, backend: StorageBackend) -> None:
        """`file` returns it with its checkpoint."""
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
        """The checkpoint is known only at the end of the content."""
        file = a_file()

        def content() -> Iterator[Session | Chunk]:
            yield from a_session("fox")
            file.checkpoint = Checkpoint(offset=9, line=1)

        with backend.writer() as writer:
            writer.replace(file, content())
            assert writer.file(file.path) == file, "`replace` stores the file as it is when the iterable has ended"

    def test_a_missing_file_keeps_its_sessions(self, backend: StorageBackend) -> None:
        """They are marked; the checkpoint stays, so that a file that is restored is not read again."""
        file = a_file(checkpoint=Checkpoint(offset=1, line=1))
        store(backend, file, a_session("fox"))
        with backend.writer() as writer:
            writer.update_files([dataclasses.replace(writer.files()[file.path], missing_since=NOON)])
        assert found(backend, "fox") == {"s1"}
        assert the(backend, "s1").missing_since == NOON
        assert backend.reader().statistics().missing == 1
        with backend.writer() as writer:
            assert writer.file(file.path) == dataclasses.replace(file, missing_since=NOON), (
                "`update_files` keeps the stored checkpoint of a file that it is given without one"
            )
            writer.update_files([file])
        assert the(backend, "s1").missing_since is None

    def test_a_file_that_could_not_be_read_again_keeps_its_sessions_and_its_checkpoint(
        self, backend: StorageBackend
    ) -> None:
        """Nothing of its content has changed: when it is back after it was gone, reading can go on from there."""
        file = a_file(checkpoint=Checkpoint(offset=1, line=1))
        store(backend, file, a_session("fox"))
        with backend.writer() as writer:
            writer.update_files([dataclasses.replace(file, error="no permission", checkpoint=None)])
            assert writer.file(file.path) == dataclasses.replace(file, error="no permission"), (
                "`update_files` keeps the stored checkpoint of a file whose last read failed"
            )
        assert found(backend, "fox") == {"s1"}

    def test_what_is_known_of_files_is_told_without_writing(self, backend: StorageBackend) -> None:
        """For searches, which compare it with the files there are; only where a reader has the ability."""
        files = [a_file(path=f"/{name}", mtime_ns=7) for name in ("read", "failed", "missing")]
        for file in files:
            store(backend, file, [])
        files[1].error, files[2].missing_since = "no", NOON
        with backend.writer() as writer:
            writer.update_files(files)
        reader = backend.reader()
        if isinstance(reader, TracksFiles):
            parser, version = files[0].parser, files[0].parser_version
            known = reader.known_files()
            assert {path: of[:4] for path, of in known.items()} == {
                "/read": (7, parser, version, False),
                "/failed": (UNREAD, parser, version, False),
                "/missing": (7, parser, version, True),
            }
            sizes = {of[4] for of in known.values() if len(of) == 5}
            assert sizes <= {files[0].size}, "the fifth value, if there is one, is the file's size"

    def test_known_files_are_reported_within_bounds_of_time(self, backend: StorageBackend) -> None:
        """Both bounds are inclusive; a file that could not be read is always reported."""
        for time in (6, 7, 8, 9):
            store(backend, a_file(path=f"/{time}", mtime_ns=time), [])
        with backend.writer() as writer:
            writer.update_files([a_file("/failed", mtime_ns=1, error="no")])
        reader = backend.reader()
        if isinstance(reader, TracksFiles):
            known = reader.known_files()

            def only(*paths: str) -> dict[str, KnownFile]:
                return {path: known[path] for path in paths}

            assert reader.known_files(7, 8) == only("/7", "/8", "/failed"), "both bounds are inclusive"
            assert reader.known_files(first_ns=8) == only("/8", "/9", "/failed"), "a bound of None does not limit"
            assert reader.known_files(last_ns=6) == only("/6", "/failed")
            assert reader.known_files(0, 2**63 - 1) == known

    def test_freshness_is_that_of_the_last_sync(self, backend: StorageBackend) -> None:
        """With the number of files that could not be read; only if the reader has the ability."""
        reader = backend.reader()
        if not isinstance(reader, TracksFiles):
            pytest.skip("the backend does not track files")
        assert reader.freshness() == Freshness(), "an index that does not exist yet has no time"
        with backend.writer() as writer:
            writer.update_files([a_file("/bad", error="no permission")])
            writer.finish(synced_at=NOON)
        assert reader.freshness() == Freshness(last_sync=NOON, unreadable=1)

    def test_a_server_reports_its_state(self, backend: StorageBackend) -> None:
        """A new index has no problem."""
        reader = backend.reader()
        if not isinstance(reader, Monitored):
            pytest.skip("the backend has no server")
        state = reader.server_state()
        assert state.version
        assert state.size > 0
        assert 0 < state.connections <= state.max_connections
        assert (state.unvalidated, state.orphans) == ((), ())

    def test_who_writes_may_write(self, backend: StorageBackend) -> None:
        """It is asked of the login, not of what it does at the time."""
        reader = backend.reader()
        if not isinstance(reader, Granted):
            pytest.skip("whoever reads the index may write it")
        with backend.writer() as writer:
            writer.finish(synced_at=NOON)
        with reader.snapshot():
            assert reader.may_write()
        assert reader.may_write()

    def test_a_scan_cache_goes_with_one_index_only(self, backend: StorageBackend) -> None:
        """Its path changes when another index replaces the index."""
        reader = backend.reader()
        if not isinstance(reader, TracksFiles):
            pytest.skip("the backend does not track files")
        assert reader.scan_cache_path() is None, "an index that does not exist yet has no scan cache"
        store(backend, a_file(), a_session("fox"))
        if place := reader.scan_cache_path():
            Path(place).write_text("")
            with backend.rebuild():
                pass
            assert reader.scan_cache_path() != place, "a rebuilt index has a scan cache of its own"
            assert not Path(place).exists()

    def test_a_file_that_never_could_be_read_is_remembered(self, backend: StorageBackend) -> None:
        """With the reason, for `sesame status`."""
        with backend.writer() as writer:
            writer.update_files([a_file("/bad", error="no permission")])
        assert tuple(backend.reader().statistics().failed) == (("/bad", "no permission"),)

    def test_returns_the_sessions_of_a_file(self, backend: StorageBackend) -> None:
        """An append continues their counts."""
        session, chunk = a_session("fox", tool_counts={"bash": 2}, exchange_count=4, prompts=("fox", "dog"))
        store(backend, a_file(), [session, chunk])
        with backend.writer() as writer:
            (stored,) = writer.file_sessions(a_file().path)
            assert writer.file_sessions("/not/there") == []
        assert isinstance(session, Session)
        for field in ("id", "agent", "message_count", "exchange_count", "tool_counts", "prompts", "modified"):
            assert getattr(stored, field) == getattr(session, field)

    # -- notes --------------------------------------------------------------------------------------------

    def test_notes_come_back_and_are_ranked_with_the_title(self, backend: StorageBackend) -> None:
        """Name, description, summary and tags; the name only if there is no title.  Only if the writer can."""
        store(backend, a_file("/a"), a_session("fox", id="a"), a_session("fox", id="b", title="kettle"))
        with backend.writer() as writer:
            if not isinstance(writer, Annotating):
                pytest.skip("the backend stores no notes")
            assert (writer.annotate("a", WRITTEN), writer.annotate("b", WRITTEN)) == (1, 1)
            assert (writer.annotate("a", WRITTEN), writer.annotate("nobody", WRITTEN)) == (0, 0)
        assert the(backend, "a").session.notes == the(backend, "b").session.notes == WRITTEN
        assert (the(backend, "a").session.name, the(backend, "b").session.name) == ("Zucchini", "kettle")
        assert found(backend, "zucchini") == {"a"}
        for word in ("aubergine", "radish", "tickets 123", "日本"):
            assert found(backend, word) == {"a", "b"}

    def test_what_a_person_wrote_comes_back_and_is_found(self, backend: StorageBackend) -> None:
        """A name and a note in notes with a description and without one."""
        own = dataclasses.replace(WRITTEN, title="Marrow", note="ask the gardener")
        alone = Notes(name="", description="", summary="", tags=("Kale",), title="", note="dig here")
        store(backend, a_file("/a"), a_session("fox", id="a", title="kettle"), a_session("fox", id="b"))
        with backend.writer() as writer:
            if not isinstance(writer, Annotating):
                pytest.skip("the backend stores no notes")
            assert (writer.annotate("a", own), writer.annotate("b", alone)) == (1, 1)
            assert (writer.annotate("a", own), writer.annotate("b", alone)) == (0, 0)
        assert (the(backend, "a").session.notes, the(backend, "b").session.notes) == (own, alone)
        assert (the(backend, "a").session.name, the(backend, "b").session.name) == ("Marrow", None)
        for word in ("marrow", "kettle", "gardener", "aubergine"):
            assert found(backend, word) == {"a"}, word
        assert found(backend, "kale") == found(backend, "dig") == {"b"}

    def test_other_notes_take_the_place_of_the_former(self, backend: StorageBackend) -> None:
        """Without new notes, the former ones are deleted."""
        store(backend, a_file(), a_session("fox"))
        with backend.writer() as writer:
            if not isinstance(writer, Annotating):
                pytest.skip("the backend stores no notes")
            writer.annotate("s1", WRITTEN)
            assert writer.annotate("s1", Notes(name="Cress", description="", summary="")) == 1
        assert (found(backend, "cress"), found(backend, "zucchini aubergine")) == ({"s1"}, set())
        with backend.writer() as writer:
            assert isinstance(writer, Annotating)
            assert writer.annotate("s1", None) == 1
        assert the(backend, "s1").session.notes is None
        assert (found(backend, "cress"), found(backend, "fox")) == (set(), {"s1"})

    def test_notes_stay_when_a_session_grows_and_when_it_is_carried_over(self, backend: StorageBackend) -> None:
        """A session is stored with its notes; each copy has its own."""
        session, chunk = a_session("fox", notes=WRITTEN)
        store(backend, a_file("/gone"), [session, chunk])
        with backend.writer() as writer:
            if not isinstance(writer, Annotating):
                pytest.skip("the backend stores no notes")
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
        """Notes would reveal the texts."""
        store(backend, a_file(), a_session(id="s1", visibility="metadata"))
        with backend.writer() as writer:
            if not isinstance(writer, Annotating):
                pytest.skip("the backend stores no notes")
            assert writer.annotate("s1", WRITTEN) == 0
        assert the(backend, "s1").session.notes is None

    def test_files_of_notes_count_as_no_files_of_sessions(self, backend: StorageBackend) -> None:
        """Only as failed ones, when they are invalid."""
        store(backend, a_file("/a"), a_session("fox"))
        with backend.writer() as writer:
            writer.update_files([a_file("/good", parser=NOTES), a_file("/gone", parser=NOTES, missing_since=NOON)])
            writer.update_files([a_file("/bad", parser=NOTES, error="no object")])
        statistics = backend.reader().statistics()
        assert (statistics.files, statistics.missing, statistics.failed) == (1, 0, (("/bad", "no object"),))
