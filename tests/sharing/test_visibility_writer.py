"""What passes a `VisibilityWriter`, and what it remembers of sessions that do not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sesame_core.plugin.backend import IndexWriter
from sesame_core.sharing.inheritance import VisibilityResolver
from sesame_core.sharing.private_files import PrivateFiles
from sesame_core.sharing.rules import Rule, Sharing
from sesame_core.sharing.visibility_writer import visibility_writer
from sesame_core.testing.builders import NOON, a_file, a_session
from sesame_core.testing.memory import MemoryBackend
from sesame_core.types.index import UNREAD
from sesame_core.types.query import Filters
from sesame_core.types.transcript import Session


class Shared:
    """An index that others read; what is about `/diary` is private."""

    def __init__(self) -> None:
        self.backend = MemoryBackend()
        self.private = PrivateFiles(None)
        self.rules = (Rule("/diary", "private"),)

    @contextmanager
    def writer(self) -> Iterator[IndexWriter]:
        """Open it as each run does: what earlier runs have found is asked for anew."""
        with self.backend.writer() as writer:
            yield self._around(writer)

    def _around(self, writer: IndexWriter) -> IndexWriter:
        private = {session.id: (path, session) for path, session in self.private.sessions()}
        resolver = VisibilityResolver(
            Sharing(self.rules, "shared"),
            lambda id: [private[id]] if id in private else [],
            lambda: self.backend.reader().list_sessions(Filters(all_kinds=True), limit=99)[0],
        )
        return visibility_writer(writer, resolver, self.private)

    @contextmanager
    def rebuild(self) -> Iterator[IndexWriter]:
        with self.backend.rebuild(self._around) as writer:
            yield writer

    def stored(self, id: str) -> Session | None:
        return next((one.session for one in self.backend.reader().find_by_id([id])), None)


def test_a_session_of_which_metadata_was_stored_is_not_shown_whole_when_a_rebuild_takes_it_over() -> None:
    shared = Shared()
    session = Session(id="s1", agent="a", cwd="/work", title="kettle", visibility="metadata")
    with shared.writer() as writer:
        writer.replace(a_file(missing_since=NOON), [session])
    stored = shared.stored("s1")
    assert stored is not None
    assert (stored.visibility, stored.title) == ("metadata", None)


@pytest.mark.parametrize("trouble", [{"missing_since": NOON}, {"error": "no permission"}], ids=["missing", "failed"])
def test_a_file_that_a_rebuild_takes_over_has_the_private_sessions_that_it_had(trouble: dict[str, Any]) -> None:
    """The index has the others only, so what is taken over does not tell of them."""
    shared = Shared()
    open_session = a_session("fox", id="open", cwd="/work")
    with shared.writer() as writer:
        writer.replace(a_file(), [*open_session, *a_session("elk", id="mine", cwd="/diary")])
        writer.replace(a_file(**trouble), open_session)
    assert [session.id for _, session in shared.private.sessions()] == ["mine"]
    with shared.writer() as writer:
        writer.replace(a_file(), open_session)
    assert [*shared.private.sessions()] == [], "the file says so itself"


@pytest.mark.parametrize("trouble", [{"missing_since": NOON}, {"error": "no permission"}], ids=["missing", "failed"])
def test_a_subagent_stays_private_when_the_file_of_its_private_parent_is_missing_or_failed(
    trouble: dict[str, Any],
) -> None:
    shared = Shared()
    child = {"id": "child", "cwd": "/work", "kind": "subagent", "parent_id": "parent"}
    with shared.writer() as writer:
        writer.replace(a_file("/parent"), a_session("elk", id="parent", cwd="/diary"))
        writer.replace(a_file("/child"), a_session("fox", **child))
        assert writer.files().keys() == {"/parent", "/child"}
    with shared.writer() as writer:
        writer.update_files([a_file("/parent", **trouble)])
        assert writer.files().keys() == {"/child"}, "the parent is read when it can be"
    with shared.writer() as writer:
        writer.replace(a_file("/child"), a_session("fox", "dog", **child))
    assert shared.stored("child") is None
    assert {session.id for _, session in shared.private.sessions()} == {"parent", "child"}


def test_a_file_that_fails_in_a_rebuild_keeps_the_sessions_that_others_see(tmp_path: Path) -> None:
    """Of one with private sessions only, others do not learn that it failed."""
    shared = Shared()
    files = [a_file(str(tmp_path / name)) for name in ("open", "both", "private")]
    for file in files:
        Path(file.path).touch()
    mine = a_session("elk", id="mine", cwd="/diary")
    with shared.writer() as writer:
        writer.replace(files[0], a_session("fox", id="open", cwd="/work"))
        writer.replace(files[1], [*a_session("fox", id="half", cwd="/work"), *mine])
        writer.replace(files[2], a_session("elk", id="diary", cwd="/diary"))
    with shared.rebuild() as writer:
        writer.update_files([replace(file, mtime_ns=UNREAD, error="at 'elk'") for file in files])
    assert shared.stored("open") is not None
    assert shared.stored("half") is not None
    assert shared.stored("mine") is None
    assert {session.id for _, session in shared.private.sessions()} == {"mine", "diary"}
    failed = shared.backend.reader().statistics().failed
    assert failed == tuple(sorted((file.path, "it could not be read") for file in files[:2]))


def test_a_file_that_is_taken_back_and_then_fails_is_not_stored_as_failed() -> None:
    """Readers see it until the run is committed."""
    shared = Shared()
    with shared.writer() as writer:
        writer.replace(a_file(), a_session("fox", cwd="/work"))
    shared.rules = (Rule("/work", "private"),)
    with shared.writer() as writer:
        writer.delete_file(a_file().path)
        writer.update_files([a_file(mtime_ns=UNREAD, error="no permission")])
        assert writer.files() == {}
