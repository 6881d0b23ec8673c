"""Every question is answered by indexes: what PostgreSQL says of its plans, with Sesame's settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from itertools import combinations
from typing import Any

import psycopg
import pytest

from sesame_backend_postgres import budget
from sesame_backend_postgres.asking import Asking
from sesame_backend_postgres.reader import PostgresReader
from sesame_core.plugin.backend import IndexReader, StorageBackend
from sesame_core.plugin.manager import PluginManager
from sesame_core.query.filters import asked
from sesame_core.query.parser import parse
from sesame_core.testing import a_call, a_chunk, a_file, a_query, a_session
from sesame_core.testing.builders import NOON
from sesame_core.types.index import Chunk
from sesame_core.types.query import Filters, Query, Word

from .schemas import a_schema

pytestmark = pytest.mark.once

SESSIONS, CHUNKS = 150, 20
#: The headless ones among them: of these only `tool1` and `tool11` have calls.
HEADLESS = range(11, SESSIONS, 10)
#: Tables with a row for each chunk, and those with one or more for each session.
OF_CHUNKS = {"chunks", "texts", "commands"}
OF_SESSIONS = {"sessions", "heads", "conversations", "vocabularies", "paths", "files"}

#: Indexes that list only some rows of their tables.
LISTS = {"chunks_failed", "texts_prompts", "sessions_headless"}

#: Each filter, with the index that answers it; None where a part of a name is looked for, which takes a look at each
#: session that the other conditions leave.
FILTERS: dict[str, tuple[Filters, str | None]] = {
    "workstation": (Filters(workstation="ws7"), "sessions_pkey"),
    "owner": (Filters(owner="Owner7"), "sessions_owner"),
    "host": (Filters(host="host7"), "sessions_host"),
    "cwd": (Filters(cwd="/w/app7"), "sessions_cwd"),
    "after": (Filters(after=NOON + timedelta(hours=SESSIONS - 5)), "sessions_modified"),
    # What began by then may have ended at any time.
    "before": (Filters(before=NOON + timedelta(hours=5)), None),
    "agents": (Filters(agents=("agent7",)), "sessions_agent"),
    "path": (Filters(path="src/file7.py"), "paths_reversed"),
    "cmd": (Filters(cmd="run number7"), "commands_words"),
    "is_error": (Filters(is_error=True), "chunks_failed"),
    "tool": (Filters(tool="tool7"), "texts_tool"),
    "role": (Filters(role="user"), "texts_prompts"),
    "tools_only": (Filters(tools_only=True), "texts_words"),
    "repo": (Filters(repo="repo7"), None),
    "branch": (Filters(branch="branch7"), None),
    "model": (Filters(model="model7"), None),
    "exclude": (Filters(exclude=("s7",)), None),
}


@pytest.fixture(scope="module")
def options(postgres: str) -> Iterator[dict[str, Any]]:
    """The options of a backend whose index PostgreSQL has statistics of."""
    with a_schema(postgres) as options:
        with closing(PluginManager().backend("postgres", options)) as backend:
            fill(backend)
        with psycopg.connect(postgres, autocommit=True) as db:
            db.execute(f"SET search_path = {options['schema']}")  # type: ignore[arg-type]
            for table in sorted(OF_CHUNKS | OF_SESSIONS):
                db.execute(f"VACUUM ANALYZE {table}")  # type: ignore[arg-type]
        yield options


def fill(backend: StorageBackend) -> None:
    with backend.writer() as writer:
        for number in range(SESSIONS):
            chunks: list[str | Chunk] = [f"a common prompt of session{number}"]
            for place in range(CHUNKS):
                text = f"word{place} common number{number}"
                chunks.append(a_chunk(text, role="assistant"))
                tool = f"tool{number % 20}"
                chunks.append(a_call(text, tool=tool, paths=(f"/w/src/file{number}.py",)))
            chunks.append(a_call(f"run number{number}", tool="bash"))
            if number % 30 == 0:
                chunks.append(a_chunk("failed", kind="tool_result", role="tool", tool_name="bash", is_error=True))
            session = a_session(
                *chunks,
                id=f"s{number}",
                kind="headless" if number in HEADLESS else "interactive",
                key=f"ws{number % 20}:p{number}:s{number}",
                cwd=f"/w/app{number}",
                agent=f"agent{number % 20}",
                owner=f"owner{number % 20}",
                host=f"host{number % 20}",
                repository=f"example.org/repo{number}",
                git_branch=f"branch{number}",
                model=f"model{number}",
                title=f"the title of session{number}",
                modified=NOON + timedelta(hours=number),
                tool_counts={f"tool{number % 20}": CHUNKS, "bash": 1},
            )
            writer.replace(a_file(f"/{number}.jsonl"), session)
        writer.finish(synced_at=None)


class Plans:
    """A reader, and the nodes of the plans of all it has asked."""

    def __init__(self, reader: IndexReader) -> None:
        self.reader = reader
        self.nodes: list[dict[str, Any]] = []
        #: Answer the questions too.
        self.answers = True

    def add(self, node: dict[str, Any]) -> None:
        self.nodes += below(node)

    def indexes(self) -> set[str]:
        """Indexes that were asked for something, or list nothing else."""
        return {node["Index Name"] for node in self.nodes if "Index Cond" in node or node.get("Index Name") in LISTS}

    def whole(self) -> set[str]:
        """Tables that were read from one end to the other, through an index or not."""
        reads = ("Seq Scan", "Index Scan", "Index Only Scan")
        return {
            node.get("Relation Name", "")
            for node in self.nodes
            if node["Node Type"] in reads and "Index Cond" not in node and node.get("Index Name") not in LISTS
        }


@pytest.fixture
def plans(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Plans]:
    backend = PluginManager().backend("postgres", options)
    plans = Plans(backend.reader())
    ask: Callable[..., Any] = Asking.rows

    def asking(self: Asking, sql: str, values: Sequence[Any] = ()) -> Any:
        # ANALYZE leaves out what is never executed, as one of two ways.
        ((plan,),) = ask(self, f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}", values)
        plans.add(plan[0]["Plan"])
        return ask(self, sql, values) if plans.answers else []

    monkeypatch.setattr(Asking, "rows", asking)
    monkeypatch.setattr(Asking, "together", lambda self, *questions: [self.rows(*one) for one in questions])
    yield plans
    backend.close()


def executed(plans: Plans) -> Plans:
    """Leave only what was executed."""
    plans.nodes = [node for node in plans.nodes if node["Actual Loops"]]
    return plans


def below(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a node and all below it."""
    yield node
    for each in node.get("Plans", ()):
        yield from below(each)


def of_chunks(nodes: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return those of some nodes that read words of chunks, and were executed."""
    return [node for node in nodes if node.get("Relation Name") == "texts" and node["Actual Loops"]]


def both(one: Filters, other: Filters) -> Filters:
    return replace(one, **asked(other))


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_is_answered_by_its_index(plans: Plans, name: str) -> None:
    filters, index = FILTERS[name]
    found = plans.reader.candidates(a_query("common"), filters)
    assert found.chunks
    executed(plans)
    assert plans.whole().isdisjoint(OF_CHUNKS)
    if index is not None:
        assert index in plans.indexes()


@pytest.mark.parametrize("text", ["common", "number7", "word3 number7", "numb*", "unknown"])
def test_words_are_answered_by_their_indexes(plans: Plans, text: str) -> None:
    plans.reader.candidates(a_query(text), Filters())
    executed(plans)
    assert plans.whole().isdisjoint(OF_CHUNKS | OF_SESSIONS - {"sessions"})
    assert {"texts_words", "heads_words"} <= plans.indexes()


@pytest.mark.parametrize("query", [a_query("common", required=["number7"]), a_query("common", excluded=["number7"])])
def test_a_condition_is_answered_by_the_index_of_words(plans: Plans, query: Any) -> None:
    plans.reader.candidates(query, Filters())
    assert executed(plans).whole().isdisjoint(OF_CHUNKS)


@pytest.mark.parametrize("text", ["common AND number7", "number7 -common", "number7 OR (word3 AND common)"])
def test_required_words_are_checked_by_one_query_of_sessions_words(plans: Plans, text: str) -> None:
    plans.reader.candidates(parse(text), Filters())
    looks = [node for node in executed(plans).nodes if node.get("Relation Name") == "vocabularies"]
    assert looks
    assert {(node["Node Type"], node["Actual Loops"]) for node in looks} == {("Bitmap Heap Scan", 1)}
    assert "vocabularies_words" in plans.indexes()


def test_no_two_filters_together_read_a_table_of_chunks_from_end_to_end(plans: Plans) -> None:
    plans.answers = False
    for one, other in combinations(FILTERS, 2):
        plans.nodes.clear()
        plans.reader.candidates(a_query("common word3"), both(FILTERS[one][0], FILTERS[other][0]))
        assert executed(plans).whole().isdisjoint(OF_CHUNKS), (one, other)


@pytest.mark.parametrize("name", FILTERS)
def test_a_list_of_sessions_reads_no_table_of_chunks_from_end_to_end(plans: Plans, name: str) -> None:
    filters, index = FILTERS[name]
    assert plans.reader.list_sessions(filters, limit=10)[0]
    assert executed(plans).whole().isdisjoint(OF_CHUNKS)
    if index in (
        "sessions_owner",
        "sessions_host",
        "sessions_cwd",
        "sessions_agent",
        "paths_reversed",
        "chunks_failed",
    ):
        assert index in plans.indexes()


def test_what_is_read_of_sessions_is_answered_by_indexes(plans: Plans) -> None:
    reader = plans.reader
    (stored,) = reader.find_sessions("s77")
    assert reader.chunks([(stored.number, 3, 2)])[0]
    assert isinstance(reader, PostgresReader)
    assert reader.chunks([(stored.number, 1, 2), (stored.number - 1, 4, 1)])
    assert reader.find_by_id(["s7", "s8"])
    assert reader.matching(a_query("common"), [(stored.number, 2)])
    assert reader.sessions([stored.number])
    assert reader.terms("numb", 5)
    assert executed(plans).whole().isdisjoint(OF_CHUNKS | OF_SESSIONS)


def test_headless_calls_of_a_common_tool_are_counted_without_its_index(
    plans: Plans, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "SCORED", 50)
    monkeypatch.setattr(budget, "NEWEST", 20)
    found = plans.reader.candidates(a_query("common"), Filters(tool="tool1"))
    assert found.is_truncated
    assert found.left_out == {"headless": len(HEADLESS) // 2}
    looks = [node for node in executed(plans).nodes if node.get("Index Name") == "texts_tool"]
    assert [node["Actual Loops"] for node in looks] == [1], "once, to see how many calls there are"


@pytest.mark.parametrize("enough", [1, 10_000])
def test_older_chunks_with_all_words_are_read_only_if_there_are_too_few(
    plans: Plans, monkeypatch: pytest.MonkeyPatch, enough: int
) -> None:
    for name, value in (("SCORED", 50), ("FULL", 40), ("NEWEST", 20), ("PARTNERS", 0), ("FEW", 1), ("ENOUGH", enough)):
        monkeypatch.setattr(budget, name, value)
    plans.reader.candidates(a_query("common word3"), Filters())
    (older,) = [node for node in plans.nodes if node.get("Subplan Name") == "CTE older"]
    assert len(of_chunks(below(older))) == (enough > 1)


def test_of_any_of_several_common_words_a_few_chunks_are_read(plans: Plans) -> None:
    assert isinstance(plans.reader, PostgresReader)
    word = Word(text="common", alternatives=("common", "word3", "word4"))
    assert len(plans.reader.phrase(word, Filters(), None, CHUNKS)) == CHUNKS
    read = sum(node["Actual Rows"] * node["Actual Loops"] for node in of_chunks(plans.nodes))
    assert read < SESSIONS * CHUNKS / 5


def test_whether_a_tool_has_few_calls_is_known_from_its_index(plans: Plans) -> None:
    assert plans.reader.candidates(a_query("common"), Filters(tool="tool7", role="assistant")).chunks
    (extent,) = [node for node in plans.nodes if node.get("Subplan Name") == "CTE extent"]
    (look,) = of_chunks(below(extent))
    assert (look["Node Type"], look.get("Index Name")) == ("Index Only Scan", "texts_tool")


def test_a_word_in_several_forms_is_counted_once_in_a_snapshot(plans: Plans) -> None:
    assert isinstance(plans.reader, PostgresReader)
    forms = Word(text="number7", alternatives=("number7", "number8", "nowhere"))
    asked = (forms, Word(text="common", alternatives=("common",)))

    def looks() -> int:
        parts = [node for node in plans.nodes if node.get("Subplan Name") in ("CTE phrase", "CTE word")]
        return len(of_chunks(node for part in parts for node in below(part)))

    alone = plans.reader.candidates(Query(text="", words=asked), Filters()).document_frequencies
    with plans.reader.snapshot():
        counts = plans.reader.frequencies(asked)
        assert looks()
        plans.nodes.clear()
        assert plans.reader.candidates(Query(text="", words=asked), Filters()).document_frequencies == alone == counts
        assert not looks()
