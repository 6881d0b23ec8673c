"""Conformance tests of a storage backend."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from sesame_core.plugin.backend import Abbreviating, Lineage, StorageBackend, Tallying
from sesame_core.plugin.withholding import Withholding
from sesame_core.sdk.ingest import MAX_CHUNKS
from sesame_core.types.index import Chunk, ChunkRange
from sesame_core.types.query import AllOf, AnyOf, Condition, Filters, Not
from sesame_core.types.transcript import Session

from ..builders import NOON, a_call, a_chunk, a_file, a_query, a_session, a_word
from .base import EVERYTHING, chunks, found, store, the
from .filtering import FilteringConformance
from .rebuilding import RebuildingConformance
from .remembering import RememberingConformance
from .searching import SearchingConformance
from .sharing import SharingConformance
from .spelling import SpellingConformance
from .writing import WritingConformance


class BackendConformance(
    WritingConformance,
    RememberingConformance,
    RebuildingConformance,
    SearchingConformance,
    SpellingConformance,
    FilteringConformance,
    SharingConformance,
):
    """Subclass it, set `name`, override the fixture `options` with the options of an empty index for each test.

    The rules are the docstrings of `sesame_core.plugin.backend`; a failure names the broken one.  Tests of an ability
    (`Vocabulary`, `SearchesTerms`, `Phrases`, `Turns`, `Counting`, `Values`, `Directories`, `Abbreviating`, `Tallying`,
    `Lineage`, `Withholding`, `TracksFiles`, `Annotating`, `Fingerprinted`, `Belongings`, `Monitored`, `Granted`) are
    skipped for a backend without it.
    """

    def test_starts_empty(self, backend: StorageBackend) -> None:
        """An index that does not exist, or a shared one that was only prepared, reads as an empty one."""
        reader = backend.reader()
        candidates = reader.candidates(a_query("anything"), EVERYTHING)
        assert (candidates.chunks, candidates.heads, candidates.chunk_total) == ([], {}, 0)
        assert candidates.document_frequencies == [0]
        assert reader.list_sessions(EVERYTHING, limit=10) == ([], 0)
        assert reader.find_sessions("") == []
        assert list(reader.sessions([1, 2])) == []
        assert reader.find_by_id(["s1"]) == []
        assert reader.chunks([(1, 0, None)]) == [[]], "`chunks` returns an empty list for a session that does not exist"
        statistics = reader.statistics()
        assert (statistics.sessions, statistics.chunks, statistics.files, statistics.last_sync) == (
            0,
            0,
            0,
            None,
        )

    # -- sessions -----------------------------------------------------------------------------------------

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

    def test_lists_sessions_newest_first_in_stable_pages(self, backend: StorageBackend) -> None:
        """Also with equal times; the total counts all of them."""
        moments = [NOON - timedelta(hours=number // 3) for number in range(10)]
        sessions = [a_session("x", id=f"s{number}", modified=moment) for number, moment in enumerate(moments)]
        store(backend, a_file(), *sessions)
        reader = backend.reader()
        whole, total = reader.list_sessions(EVERYTHING, limit=100)
        assert total == 10
        times = [stored.session.modified for stored in whole]
        assert times == sorted(moments, reverse=True)
        pages = []
        for offset in range(0, 12, 3):
            page, total = reader.list_sessions(EVERYTHING, limit=3, offset=offset)
            assert total == 10
            pages += page
        assert [stored.number for stored in pages] == [stored.number for stored in whole]

    def test_lists_one_of_the_copies_of_a_session(self, backend: StorageBackend) -> None:
        """A session in several files has one key; the copy whose file exists, then the longest, represents it."""
        store(backend, a_file("/a"), a_session("fox"))
        store(backend, a_file("/b"), a_session("fox", "dog"))
        reader, rule = backend.reader(), "of sessions with one key, `list_sessions` returns and counts one"
        listed, total = reader.list_sessions(EVERYTHING, limit=9)
        assert ([stored.path for stored in listed], total) == (["/b"], 1), f"{rule}: the one with most chunks"
        with backend.writer() as writer:
            writer.update_files([a_file("/b", missing_since=NOON)])
        listed, total = reader.list_sessions(EVERYTHING, limit=9)
        assert ([stored.path for stored in listed], total) == (["/a"], 1), f"{rule}: the one whose file exists"

    def test_lists_what_another_agent_has_imported_only_without_the_original(self, backend: StorageBackend) -> None:
        """An import names itself as its parent (`Session.is_imported`), and may have more chunks than the original."""
        store(backend, a_file("/a"), a_session("fox", id="s1", agent="owl"))
        store(backend, a_file("/b"), a_session("fox", "dog", id="s1", agent="elk", parent_id="s1"))
        reader, rule = backend.reader(), "of the copies of a session, `list_sessions` returns the one not imported"
        listed, total = reader.list_sessions(EVERYTHING, limit=9)
        assert ([stored.session.agent for stored in listed], total) == (["owl"], 1), rule
        listed, total = reader.list_sessions(EVERYTHING, limit=9, condition=a_word("fox"))
        assert ([stored.session.agent for stored in listed], total) == (["owl"], 1), f"{rule}, under a condition"
        with backend.writer() as writer:
            writer.update_files([a_file("/a", missing_since=NOON)])
        listed, total = reader.list_sessions(EVERYTHING, limit=9)
        assert ([stored.path for stored in listed], total) == (["/b"], 1), f"{rule}, unless its file is missing"

    def test_lists_what_the_filters_leave(self, backend: StorageBackend) -> None:
        """In both page and total."""
        store(
            backend,
            a_file(),
            a_session("x", id="a", cwd="/w/app"),
            a_session("x", id="b", cwd="/w/app-v2"),
            a_session("x", id="c", cwd="/w/app", kind="headless"),
        )
        listed, total = backend.reader().list_sessions(Filters(cwd="/w/app"), limit=10)
        assert ([stored.session.id for stored in listed], total) == (["a"], 1)
        listed, total = backend.reader().list_sessions(Filters(cwd="/w/app", all_kinds=True), limit=1)
        assert (len(listed), total) == (1, 2)

    def test_lists_sessions_without_an_excluded_word(self, backend: StorageBackend) -> None:
        """In both page and total."""
        store(backend, a_file(), a_session("fox", id="a"), a_session("dog", "a quick fox", id="b"))
        condition = a_query(excluded=["quick fox", "unicorn"]).condition
        listed, total = backend.reader().list_sessions(EVERYTHING, limit=10, condition=condition)
        assert ([stored.session.id for stored in listed], total) == (["a"], 1), "a condition is about the whole session"

    def test_counts_one_of_the_copies_under_a_condition(self, backend: StorageBackend) -> None:
        """In page and total alike; without headless sessions."""
        store(backend, a_file("/a"), a_session("fox"))
        store(backend, a_file("/b"), a_session("fox", "dog"))
        store(backend, a_file("/c"), a_session("fox", id="c", kind="headless"))
        fox, dog, elk = map(a_word, ("fox", "dog", "elk"))
        rule = "`list_sessions` counts one of the copies of a session, whatever the condition"
        cases: list[tuple[Condition, Filters, int]] = [
            (fox, Filters(), 1),
            (fox, EVERYTHING, 2),
            (Not(elk), Filters(), 1),
            (Not(fox), EVERYTHING, 0),
            (AllOf((fox, dog)), Filters(), 1),
            (AllOf((fox, Not(elk))), EVERYTHING, 2),
            (AnyOf((dog, elk)), Filters(agents=("test", "pi")), 1),
        ]
        for condition, filters, expected in cases:
            for limit in (0, 9):
                listed, total = backend.reader().list_sessions(filters, limit=limit, condition=condition)
                assert (len(listed), total) == (min(limit, expected), expected), rule

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

    # -- chunks -------------------------------------------------------------------------------------------

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

    # -- the whole ----------------------------------------------------------------------------------------

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

    def test_one_reader_serves_four_threads(self, backend: StorageBackend) -> None:
        """A server runs several queries at once."""
        store(backend, a_file(), *(a_session("fox", f"dog {n}", id=f"s{n}") for n in range(20)))
        reader = backend.reader()

        def ask(number: int) -> tuple[int, int, int]:
            scored = reader.candidates(a_query("fox"), EVERYTHING).chunks
            listed, total = reader.list_sessions(EVERYTHING, limit=5, offset=number % 4)
            return len(scored), total, len(reader.chunks([(listed[0].number, 0, None)])[0])

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(ask, range(40)))
        assert answers == [(20, 20, 2)] * 40

    def test_a_snapshot_stands_still(self, backend: StorageBackend, other: StorageBackend) -> None:
        """Whatever a writer does at the same time; afterwards the changes are visible."""
        store(backend, a_file(), a_session("fox", "dog"))
        reader = backend.reader()
        with reader.snapshot():
            before = reader.list_sessions(EVERYTHING, limit=9)
            store(other, a_file(version=2), a_session("fox"), a_session("fox", id="s2"))
            assert reader.list_sessions(EVERYTHING, limit=9) == before, "inside of `snapshot` nothing changes"
            assert len(reader.chunks([(before[0][0].number, 0, None)])[0]) == 2
            assert reader.candidates(a_query("fox"), EVERYTHING).session_total == 1
        assert found(backend, "fox") == {"s1", "s2"}

    def test_two_readers_see_the_same(self, backend: StorageBackend, other: StorageBackend) -> None:
        """In this process and in another."""
        store(backend, a_file(), a_session("fox"))
        assert found(backend, "fox") == found(other, "fox") == {"s1"}
