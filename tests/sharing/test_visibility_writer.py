"""What passes a `VisibilityWriter`, and what it remembers of sessions that do not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sesame_core.plugin.backend import IndexWriter
from sesame_core.sharing.inheritance import VisibilityResolver
from sesame_core.sharing.private_files import PrivateFiles
from sesame_core.sharing.rules import Rule, Sharing
from sesame_core.sharing.visibility_writer import visibility_writer
from sesame_core.testing.builders import NOON, a_file, a_session
from sesame_core.testing.memory import MemoryBackend
from sesame_core.types.transcript import Session


class Shared:
    """An index that others read; what is about `/diary` is private."""

    def __init__(self) -> None:
        self.backend = MemoryBackend()
        self.private = PrivateFiles(None)

    @contextmanager
    def writer(self) -> Iterator[IndexWriter]:
        """Open it as each run does: what earlier runs have found is asked for anew."""
        private = {session.id: session for _, session in self.private.sessions()}
        resolver = VisibilityResolver(
            Sharing((Rule("/diary", "private"),), "shared"),
            lambda id: [private[id]] if id in private else [],
            lambda: (),
        )
        with self.backend.writer() as writer:
            yield visibility_writer(writer, resolver, self.private)

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
