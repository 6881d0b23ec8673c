"""Conformance tests of a storage backend's reader: numbers of what is in the index."""

from __future__ import annotations

import pytest

from sesame_core.plugin.backend import (
    Counting,
    StorageBackend,
    Tallying,
    Values,
)
from sesame_core.plugin.shared import Withholding
from sesame_core.types.index import Chunk
from sesame_core.types.query import Filters, Word
from sesame_core.types.transcript import Session

from ..builders import NOON, a_call, a_chunk, a_file, a_query, a_session
from .base import EVERYTHING, BackendBase, store, the
from .searching import HOSTILE_TEXTS


class CountingConformance(BackendBase):
    """Tests what is counted without a search."""

    def test_counts_what_is_there(self, backend: StorageBackend) -> None:
        """For `sesame status`."""
        with backend.writer() as writer:
            writer.replace(a_file("/a", skipped={"damaged": 2}), a_session("x", "y", id="a", agent="pi"))
            writer.replace(a_file("/b", skipped={"damaged": 1, "oversized": 1}), a_session("x", id="b", agent="xyz"))
            writer.finish(synced_at=NOON)
        statistics = backend.reader().statistics()
        assert (statistics.sessions, statistics.chunks, statistics.messages, statistics.files) == (2, 3, 3, 2)
        assert {entry.agent: (entry.sessions, entry.messages) for entry in statistics.agents} == {
            "pi": (1, 2),
            "xyz": (1, 1),
        }
        assert dict(statistics.skipped or {}) == {"damaged": 3, "oversized": 1}
        assert statistics.last_sync == NOON
        assert statistics.size > 0
        assert (statistics.missing, statistics.failed, statistics.forgotten) == (0, (), 0)

    def test_a_session_in_several_files_counts_once(self, backend: StorageBackend) -> None:
        """As it is listed once."""
        store(backend, a_file("/a"), a_session("x", id="s1"))
        store(backend, a_file("/b"), a_session("x", id="s1"))
        statistics = backend.reader().statistics()
        assert (statistics.sessions, statistics.files) == (1, 2), "a session in several files counts once"
        assert [agent.sessions for agent in statistics.agents] == [1]

    def test_a_run_without_changes_does_not_move_the_last_sync(self, backend: StorageBackend) -> None:
        """Only the core decides what counts as a sync."""
        for synced_at in (NOON, None):
            with backend.writer() as writer:
                writer.finish(synced_at=synced_at)
        assert backend.reader().statistics().last_sync == NOON, "`finish` without a time leaves the last sync as it was"

    def test_counts_sessions_of_which_only_metadata_is_visible(self, backend: StorageBackend) -> None:
        """Filters on what they do not show select all of them, filters on what they show do not."""
        reader = backend.reader()
        if not isinstance(reader, Withholding):
            pytest.skip("the backend does not count sessions without texts")
        assert reader.withheld(EVERYTHING) == 0
        store(
            backend,
            a_file(),
            a_session("fox", id="open"),
            [Session(id="far", agent="pi", cwd="/w/far", visibility="metadata", modified=NOON, key="w:p:far")],
            [Session(id="near", agent="pi", cwd="/w/near", visibility="metadata", modified=NOON, key="w:p:near")],
            [Session(id="run", agent="pi", kind="headless", visibility="metadata", modified=NOON, key="w:p:run")],
        )
        reader = backend.reader()
        assert isinstance(reader, Withholding)
        assert reader.withheld(Filters()) == 2, "headless ones only with `all_kinds`"
        assert reader.withheld(Filters(all_kinds=True)) == 3
        assert reader.withheld(Filters(cwd="/w/near")) == 1
        assert reader.withheld(Filters(agents=("other",))) == 0
        assert reader.withheld(Filters(path="a.py", cmd="make", tool="bash", is_error=True, branch="main")) == 2

    def test_counts_failures_and_files_of_sessions(self, backend: StorageBackend) -> None:
        """Each file of a session once; only if the reader has the ability."""
        reader = backend.reader()
        if not isinstance(reader, Tallying):
            pytest.skip("the backend counts neither failures nor files")

        def failed() -> Chunk:
            return a_chunk("broken", kind="tool_result", role="tool", tool_name="bash", is_error=True)

        edits = [a_call("edit", paths=("/w/a.py", "/w/b.py")), a_call("edit", paths=("/w/a.py",))]
        store(
            backend,
            a_file(),
            a_session("fox", failed(), failed(), *edits, id="both"),
            a_session("fox", failed(), id="failed"),
            a_session("fox", id="neither"),
        )
        counted = reader.tallies()
        numbers = {id: the(backend, id).number for id in ("both", "failed", "neither")}
        assert {id: counted.get(number, (0, 0)) for id, number in numbers.items()} == {
            "both": (2, 2),
            "failed": (1, 0),
            "neither": (0, 0),
        }

    @pytest.mark.parametrize(
        ("field", "expected"),
        [
            ("agents", [("pi", 2), ("xyz", 1)]),
            ("branch", [("fix/login", 1), ("main", 1)]),
            ("cwd", [("/w/app", 2)]),
            ("host", [("box", 1)]),
            ("model", [("opus-5", 2)]),
            ("owner", [("Ann", 1)]),
            ("repo", [("example.org/ann/fox", 1)]),
            ("tool", [("Bash", 2), ("Read", 1)]),
            ("workstation", [("ws1", 2), ("ws2", 1)]),
        ],
    )
    def test_the_values_of_a_field_are_listed(
        self, backend: StorageBackend, field: str, expected: list[tuple[str, int]]
    ) -> None:
        """The commonest first; a session in two files counts once, and unknown values do not count."""
        reader = backend.reader()
        if not isinstance(reader, Values):
            pytest.skip("this backend does not list values")
        one = a_session(
            "fox",
            key="ws1:p:s1",
            agent="pi",
            git_branch="main",
            model="opus-5",
            repository="example.org/ann/fox",
            tool_counts={"Bash": 3},
            owner="Ann",
            host="box",
        )
        store(backend, a_file(), one)
        store(backend, a_file("/copy"), one)
        other = a_session(
            "fox", id="s2", key="ws1:p:s2", agent="pi", model="opus-5", tool_counts={"Read": 1, "Bash": 1}
        )
        third = a_session(
            "fox", id="s3", key="ws2:p:s3", agent="xyz", kind="headless", git_branch="fix/login", cwd=None
        )
        store(backend, a_file("/others"), other, third)
        assert reader.values(field, 9) == expected
        assert reader.values(field, 1) == expected[:1]

    def test_counts_the_chunks_of_many_words_without_a_search(self, backend: StorageBackend) -> None:
        """Hundreds of words, among them phrases and prefixes, in their order; also in an index that does not exist."""
        reader = backend.reader()
        if not isinstance(reader, Counting):
            pytest.skip("the backend cannot count words without a search")
        words = a_query("fox unicorn quick-fox wol*").words
        assert reader.frequencies(words) == [0, 0, 0, 0]
        store(backend, a_file(), a_session("the quick fox", "a fox", "wolves", "wolf and fox", "foxes quick"))
        reader = backend.reader()
        assert isinstance(reader, Counting)
        assert reader.frequencies(words) == [4, 0, 1, 2], "`frequencies` has one number for each word, in their order"
        assert reader.frequencies([]) == []
        many = [Word(text=text, alternatives=(text,)) for text in (*HOSTILE_TEXTS, *(f"w{n}" for n in range(400)))]
        assert len(reader.frequencies([*many, *words])) == len(many) + len(words)
        assert reader.frequencies([*many, *words])[-4:] == [4, 0, 1, 2]
