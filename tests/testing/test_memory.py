"""The backend in memory passes the kit, and finds and scores what SQLite does."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sesame_core.plugin.backend import Annotating, Counting, StorageBackend, TracksFiles, Vocabulary
from sesame_core.plugin.manager import PluginManager
from sesame_core.testing import BackendConformance, a_call, a_chunk, a_file, a_query, a_session
from sesame_core.testing.memory import MemoryBackend, MemoryPlugin
from sesame_core.text.words import word_of
from sesame_core.types.index import Candidates
from sesame_core.types.query import Filters, Query
from sesame_core.types.transcript import Notes

EVERYTHING = Filters(all_kinds=True)


class TestConformance(BackendConformance):
    name = "memory"

    @pytest.fixture
    def plugins(self) -> PluginManager:
        plugins = PluginManager()
        plugins.register(MemoryPlugin(), "memory")
        return plugins

    @pytest.fixture
    def options(self) -> dict[str, Any]:
        return {"index": "a test's own"}

    def test_naming_it_loads_nothing_heavy(self) -> None:
        pytest.skip("it belongs to the kit: nothing names it in a process that did not register it")


def test_it_has_the_abilities_of_an_index_on_one_machine() -> None:
    backend = MemoryBackend()
    assert isinstance(backend.reader(), TracksFiles)
    assert isinstance(backend.reader(), Vocabulary)
    assert isinstance(backend.reader(), Counting)
    with backend.writer() as writer:
        assert isinstance(writer, Annotating)


def test_plugins_do_not_share_their_indexes() -> None:
    one, other = (PluginManager(), PluginManager())
    for plugins in (one, other):
        plugins.register(MemoryPlugin(), "memory")
    with one.backend("memory").writer() as writer:
        writer.replace(a_file(), a_session("fox"))
    assert one.backend("memory").reader().statistics().sessions == 1
    assert one.backend("memory", {"index": "second"}).reader().statistics().sessions == 0
    assert other.backend("memory").reader().statistics().sessions == 0


def test_what_a_run_wrote_before_it_failed_is_not_seen() -> None:
    backend = MemoryBackend()

    def write_and_fail() -> None:
        with backend.writer() as writer:
            writer.replace(a_file("/a"), a_session("fox", id="a"))
            writer.finish(synced_at=None)
            writer.replace(a_file("/b"), a_session("fox", id="b"))
            raise InterruptedError

    with pytest.raises(InterruptedError):
        write_and_fail()
    assert [stored.session.id for stored in backend.reader().find_by_id(["a", "b"])] == ["a"]


# -- the same as SQLite ----------------------------------------------------------------------------------------

WORDS = "fox foxes running run reconnectBackoff don't foo-bar C++ ÜBER Gruß naïve 日本語 v1.2 the 401 🐛".split()
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
asked = st.one_of(
    st.lists(st.sampled_from([*WORDS, "reconn*", "unicorn", "fo*"]), min_size=1, max_size=4).map(
        lambda words: a_query(" ".join(words))
    ),
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=3).map(
        lambda words: Query(text="", words=(word_of(" ".join(words)),))
    ),
)
sessions = st.lists(
    st.fixed_dictionaries(
        {
            "said": st.lists(texts, max_size=3),
            "answered": texts,
            "called": texts,
            "title": st.none() | texts,
            "summary": st.none() | texts,
            "prompts": st.lists(texts, max_size=2).map(tuple),
            "notes": st.none() | st.builds(Notes, name=texts, description=texts, summary=texts, tags=st.just(("a",))),
            "kind": st.sampled_from(["interactive", "headless"]),
        }
    ),
    max_size=5,
)


def fill(backend: StorageBackend, made: list[dict[str, Any]]) -> None:
    with backend.writer() as writer:
        for number, facts in enumerate(made):
            facts = dict(facts)
            said, answered, called = facts.pop("said"), facts.pop("answered"), facts.pop("called")
            chunks = [*said, a_chunk(answered, role="assistant"), a_call(called)]
            writer.replace(a_file(f"/{number}"), a_session(*chunks, id=f"s{number}", **facts))
        writer.finish(synced_at=None)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("indexes")


def comparable(found: Candidates) -> dict[str, Any]:
    return {
        "chunks": {(c.session, c.seq, c.weight_class): pytest.approx(c.score) for c in found.chunks},
        "heads": {number: pytest.approx(score) for number, score in found.heads.items()},
        "conversations": {number: pytest.approx(score) for number, score in found.conversations.items()},
        "counts": (found.document_frequencies, found.chunk_total, found.session_total, found.left_out, found.scanned),
    }


@settings(deadline=None, max_examples=25, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(made=sessions, queries=st.lists(asked, min_size=1, max_size=4), narrow=st.sampled_from([None, "bash"]))
def test_scores_are_those_of_sqlite(
    place: Path, made: list[dict[str, Any]], queries: list[Query], narrow: str | None
) -> None:
    directory = place / str(len(list(place.iterdir())))
    with ExitStack() as stack:
        sqlite = stack.enter_context(closing(PluginManager().backend("sqlite", {"directory": str(directory)})))
        memory = MemoryBackend()
        for backend in (sqlite, memory):
            fill(backend, made)
        places = [(number, seq) for number in range(1, len(made) + 1) for seq in range(3)]
        for query in queries:
            for filters in (EVERYTHING, Filters(tool=narrow)):
                expected = comparable(sqlite.reader().candidates(query, filters))
                assert comparable(memory.reader().candidates(query, filters)) == expected
            assert memory.reader().matching(query, places) == sqlite.reader().matching(query, places)
        for prefix in ("", "r", "fo"):
            assert dict(memory.reader().terms(prefix, 99)) == dict(sqlite.reader().terms(prefix, 99))
