"""Conformance tests of a storage backend's reader: sessions and chunks as they were stored."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sesame_core.plugin.backend import Abbreviating, Lineage, StorageBackend, Turns
from sesame_core.sdk.ingest import MAX_CHUNKS
from sesame_core.types.index import Chunk, ChunkRange
from sesame_core.types.transcript import Session

from ..builders import NOON, a_call, a_chunk, a_file, a_session
from .base import EVERYTHING, BackendBase, chunks, store, the


class ReadingConformance(BackendBase):
    """Tests what is read of a session by its id or its number: itself, its chunks, where its turns end, its forks."""

    def test_a_session_comes_back_as_it_was_stored(self, backend: StorageBackend) -> None:
        """Every field, with non-ASCII text and the number of its chunks."""
        session = Session(
            id="parent/child",
            agent="pi",
            kind="subagent",
            parent_id="parent",
            cwd="/w/Übung",
            directories=("/z/Übung", "/a"),
            title="the \N{TEAPOT} kettle",
            summary="line one\nline two",
            git_branch="main",
            repository="example.org/a/b",
            model="some-model",
            created=NOON - timedelta(hours=1),
            abandoned=(1, 3),
            modified=NOON,
            message_count=7,
            exchange_count=3,
            tool_counts={"bash": 4},
            prompts=("first", "second\nline"),
            first_origin=2**62 + 5,
            key="host:project:parent/child",
        )
        store(backend, a_file("/a.jsonl"), [session, a_chunk("fox", session_id=session.id)])
        stored = the(backend, session.id)
        assert stored.session == session
        assert (stored.path, stored.chunk_count, stored.missing_since) == ("/a.jsonl", 1, None)
        assert list(backend.reader().sessions([stored.number, stored.number + 99])) == [stored]

    @pytest.mark.parametrize(
        ("prefix", "expected"),
        [
            ("ab", ["abc", "abc/sub", "abd"]),
            ("abc", ["abc"]),
            ("abc/", ["abc/sub"]),
            ("a_c", []),
            ("%", []),
            ("b", []),
            ("abcd", []),
            ("", []),
        ],
    )
    def test_finds_sessions_by_a_prefix_of_an_id(
        self, backend: StorageBackend, prefix: str, expected: list[str]
    ) -> None:
        """A whole id means its own sessions only, and "" none.  Wildcards are taken literally."""
        store(backend, a_file(), *(a_session("x", id=id) for id in ("abc", "abc/sub", "abd", "xab")))
        assert sorted(stored.session.id for stored in backend.reader().find_sessions(prefix)) == expected, (
            "`find_sessions` returns the sessions of exactly this id, or else those whose ids begin with it"
        )

    def test_many_sessions_are_found_by_their_ids_at_once(self, backend: StorageBackend) -> None:
        """By full ids, including copies."""
        store(backend, a_file("/a"), a_session("x", id="s1"), a_session("x", id="s2"), a_session("x", id="s2/child"))
        store(backend, a_file("/b"), a_session("x", id="s1"))
        reader = backend.reader()
        found = sorted((stored.session.id, stored.path) for stored in reader.find_by_id(["s2", "s1", "s", "unknown"]))
        assert found == [("s1", "/a"), ("s1", "/b"), ("s2", "/a")], (
            "`find_by_id` compares full ids, and returns a session in two files twice"
        )
        assert reader.find_by_id(["unknown"]) == reader.find_by_id([]) == []

    def test_shortens_ids_as_far_as_they_stay_unique(self, backend: StorageBackend) -> None:
        """All of a list at once, each to the first of some lengths; only if the reader has the ability."""
        reader = backend.reader()
        if not isinstance(reader, Abbreviating):
            pytest.skip("the backend does not shorten the ids of a list")
        ids = ["abc-1", "abc-1/sub", "abc-2", "abd-1", "abd-1x", "%_%_-1", "ab", "日本語-1", "日本語-2"]
        store(backend, a_file(), *(a_session("x", id=id) for id in ids))
        assert backend.reader().find_sessions("ab")
        expected = ["abc-1", "abc-1/sub", "abc-2", "abd-1", "abd-1x", "%_%", "ab", "日本語-1", "日本語-2"]
        assert reader.abbreviated(ids, (3, 5)) == expected, "the beginning that only a session and its subagents have"
        assert reader.abbreviated(["abc-2", "abc-2", "not there"], (4,)) == ["abc-2", "abc-2", "not "]
        assert reader.abbreviated([], (3,)) == []

    def test_finds_what_was_made_from_a_session(self, backend: StorageBackend) -> None:
        """The sessions that name it as their parent, and the origins of its chunks; only with the ability."""
        reader = backend.reader()
        if not isinstance(reader, Lineage):
            pytest.skip("the backend does not find what was made from a session")
        copied = [a_chunk(f"copied {n}", origin=2**62 + n) for n in range(2)]
        store(backend, a_file(), a_session(*copied, "own", id="root"))
        store(
            backend,
            a_file("/sessions/2.jsonl"),
            a_session(*copied, id="fork", parent_id="root"),
            a_session("fox", id="root/a", kind="subagent", parent_id="root"),
            a_session("fox", id="other", parent_id="elsewhere"),
            a_session("fox", id="none"),
        )
        assert set(reader.children("root")) == {the(backend, "fork").number, the(backend, "root/a").number}
        assert reader.children("") == reader.children("roo") == []
        assert reader.origins(the(backend, "root").number) == [2**62, 2**62 + 1, None]
        assert reader.origins(the(backend, "fork").number) == [2**62, 2**62 + 1]
        assert reader.origins(2**31) == []

    def test_a_chunk_comes_back_as_it_was_stored(self, backend: StorageBackend) -> None:
        """Every field that is shown."""
        chunk = Chunk(
            kind="tool_result",
            text="日本語\n\ttabs and \N{TEAPOT}",
            role="tool",
            tool_name="bash",
            call_id="c1",
            is_error=True,
            cut=12,
            timestamp=NOON + timedelta(milliseconds=250),
            entry_id="e1",
            source_type="toolResult",
            segment=2,
            origin=2**62 + 9,
        )
        store(backend, a_file(), a_session("first", chunk))
        stored = chunks(backend, "s1")[1]
        for field in Chunk.__slots__:
            if field not in ("paths", "subwords", "seq"):
                assert getattr(stored, field) == getattr(chunk, field), f"`chunks` returns `Chunk.{field}` as it was"
        assert (stored.seq, stored.session_id) == (1, "s1")

    def test_gives_windows_of_a_session_in_order(self, backend: StorageBackend) -> None:
        """From any position, any number of chunks, of this session only."""
        store(backend, a_file(), a_session(*(f"text {n}" for n in range(9))), a_session("other", id="s2"))
        assert [chunk.seq for chunk in chunks(backend, "s1")] == list(range(9)), "a count of None is to the end"
        assert [chunk.text for chunk in chunks(backend, "s1", 3, 2)] == ["text 3", "text 4"]
        assert [chunk.seq for chunk in chunks(backend, "s1", 7, 10)] == [7, 8], "a range may reach beyond the end"
        assert [chunk.seq for chunk in chunks(backend, "s1", 7)] == [7, 8]
        assert chunks(backend, "s1", 9) == []
        assert chunks(backend, "s1", 0, 0) == []

    @pytest.mark.parametrize("first", [2, MAX_CHUNKS, MAX_CHUNKS + 1, 3 * MAX_CHUNKS, 2**31, 2**63])
    def test_a_range_behind_the_last_chunk_is_empty(self, backend: StorageBackend, first: int) -> None:
        """However large its first position is, and a page of sessions behind the last one is, too."""
        for id in ("s1", "s2", "s3", "s4"):
            store(backend, a_file(f"/{id}"), a_session("fox", "dog", id=id))
        reader = backend.reader()
        numbers = [the(backend, id).number for id in ("s1", "s2", "s3", "s4")]
        assert reader.chunks([(number, first, None) for number in numbers]) == [[], [], [], []]
        assert reader.chunks([(number, first, 5) for number in numbers]) == [[], [], [], []]
        assert reader.list_sessions(EVERYTHING, limit=10, offset=first + 2) == ([], 4)

    def test_many_ranges_are_read_at_once(self, backend: StorageBackend) -> None:
        """Of several sessions, in any order, including empty ones: one list for each range, in their order."""
        store(backend, a_file(), a_session(*(f"text {n}" for n in range(5))), a_session("other", id="s2"))
        reader = backend.reader()
        one, two = the(backend, "s1").number, the(backend, "s2").number
        expected: dict[ChunkRange, list[str]] = {
            (one, 3, 2): ["text 3", "text 4"],
            (two, 0, None): ["other"],
            (one, 0, 1): ["text 0"],
            (one, 3, None): ["text 3", "text 4"],
            (one, 3, 1): ["text 3"],
            (one, 9, 1): [],
            (one, 1, 0): [],
            (two + 99, 0, 5): [],
        }
        read = reader.chunks([*expected])
        assert [[chunk.text for chunk in found] for found in read] == [*expected.values()], (
            "`chunks` returns one list for each range, in the order of the ranges"
        )
        assert [chunk.session_id for found in read[:2] for chunk in found] == ["s1", "s1", "s2"]
        assert reader.chunks([]) == []

    def test_finds_what_closes_a_turn(self, backend: StorageBackend) -> None:
        """The first message of the assistant before a prompt or the end of the session; an interruption closes none."""
        reader = backend.reader()
        if not isinstance(reader, Turns):
            pytest.skip("the backend does not know where turns end")
        assert reader.closings([]) == []
        assert reader.closings([(1, 0), (2, 9)]) == [None, None]

        def said(text: str) -> Chunk:
            return a_chunk(text, role="assistant")

        def result(text: str) -> Chunk:
            return a_chunk(text, kind="tool_result", role="tool", tool_name="bash")

        title = a_chunk("a title", kind="metadata", role="metadata")
        turns: list[str | Chunk] = [
            "fix it",
            said("I look"),
            a_call("ls"),
            result("a b"),
            said("one"),
            said("fixed"),
            title,
        ]
        interrupted: list[str | Chunk] = ["and now", said("I look again"), a_call("cat a")]
        last: list[str | Chunk] = ["stop, this", a_chunk("reminder", role="system"), said("done"), "thanks"]
        store(backend, a_file("/1"), a_session(*turns, *interrupted, *last))
        store(backend, a_file("/2"), a_session("x", said("y"), id="s2"), a_session(said("z"), id="s3"))
        reader = backend.reader()
        assert isinstance(reader, Turns)
        number = the(backend, "s1").number
        places = [(number, position) for position in range(16)]
        assert reader.closings(places) == [*[5] * 6, *[12] * 7, None, None, None]
        others = [(the(backend, "s2").number, 0), (the(backend, "s3").number, 0), (10**9, 0)]
        assert reader.closings(others) == [1, 0, None]
