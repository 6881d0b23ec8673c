"""What was said around a passage: exact bounds, marks of truncation, and nothing of another session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sesame_core.api.sesame import Sesame
from sesame_core.errors import UnknownSessionError
from sesame_core.plugin.backend import StorageBackend
from sesame_core.rendering.answers import answer_json, answer_text
from sesame_core.rendering.text import as_json
from sesame_core.search.engine import search
from sesame_core.search.windows import MAX_SNIPPET_BYTES, MAX_WINDOW_ITEMS, cut, item, split_budget, window
from sesame_core.testing import a_call, a_chunk, a_file, a_session
from sesame_core.testing.memory import MemoryBackend
from sesame_core.types.answer import MAX_HITS, Answer, Page
from sesame_core.types.evidence import Window
from sesame_core.types.query import Filters


@pytest.fixture(scope="module")
def index() -> StorageBackend:
    """Thirty sessions in a row, each with its number in every chunk, and the word fox in one of each."""
    backend = MemoryBackend()
    with backend.writer() as writer:
        for number in range(30):
            length = 1 + number * 2 % 41
            texts = [f"s{number} line {place}" for place in range(length)]
            texts[length // 2] += " fox"
            writer.replace(a_file(f"/s/{number}.jsonl"), a_session(*texts, id=f"s{number}"))
    return backend


def ask(index: StorageBackend, text: str, filters: Filters | None = None, **page: Any) -> Answer:
    return search(index.reader(), text, filters or Filters(), Page(**page))


def windows(answer: Answer) -> list[Window]:
    return [hit.window for hit in answer.hits if hit.window]


# -- one item --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", 0),
        ("a" * 1024, 1024),
        ("a" * 1025, 1024),
        ("é" * 512, 1024),
        ("é" * 513, 1024),
        ("a" + "é" * 512, 1023),
        ("語" * 400, 1023),
        ("🦊" * 300, 1024),
        ("ab" + "🦊" * 300, 1022),
    ],
)
def test_an_item_is_cut_at_1024_bytes_between_characters_and_marked(text: str, size: int) -> None:
    shown = item(a_chunk(text))
    assert len(shown.snippet.encode()) == size
    assert text.startswith(shown.snippet)
    assert shown.is_truncated == (shown.snippet != text)


@given(st.text(st.characters(codec="utf-8")).map(lambda text: text * 40), st.integers(0, 1100))
def test_a_cut_text_is_the_longest_beginning_that_fits(text: str, size: int) -> None:
    shown = cut(text, size)
    assert text.startswith(shown)
    assert len(shown.encode()) <= size
    assert shown == text or len(text[: len(shown) + 1].encode()) > size


def test_an_item_tells_its_role_its_position_and_its_tool() -> None:
    shown = item(a_call("ls", tool="Bash"))
    assert (shown.role, shown.position, shown.tool) == ("assistant", 0, "Bash")


# -- one window ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("available", "kept"),
    [((0, 0), (0, 0)), ((4, 4), (4, 4)), ((8, 7), (8, 7)), ((8, 8), (8, 7)), ((9, 9), (8, 7)), ((4, 99), (4, 11)),
     ((99, 4), (11, 4)), ((99, 99), (8, 7)), ((0, 99), (0, 15)), ((99, 0), (15, 0))],
)  # fmt: skip
def test_both_sides_share_what_a_window_holds(available: tuple[int, int], kept: tuple[int, int]) -> None:
    assert split_budget(*available) == kept


@given(st.integers(0, 50), st.integers(0, 50))
def test_a_window_is_as_full_as_it_may_be(before: int, after: int) -> None:
    kept = split_budget(before, after)
    assert kept[0] <= before
    assert kept[1] <= after
    assert sum(kept) + 1 == min(MAX_WINDOW_ITEMS, before + after + 1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(number=st.integers(0, 29), at=st.floats(0, 1), before=st.integers(-1, 40), after=st.integers(-1, 40))
def test_a_window_never_holds_text_of_another_session(
    index: StorageBackend, number: int, at: float, before: int, after: int
) -> None:
    reader = index.reader()
    (stored,) = (s for s in reader.find_sessions(f"s{number}") if s.session.id == f"s{number}")
    position = min(stored.chunk_count - 1, int(at * stored.chunk_count))
    made = window(reader, stored.number, position, before=before, after=after)
    assert made is not None
    items = [*made.before, made.match, *made.after]
    assert all(shown.snippet.startswith(f"s{number} line {shown.position}") for shown in items)
    first = position - len(made.before)
    assert [shown.position for shown in items] == list(range(first, first + len(items)))
    assert made.match.position == position
    assert len(items) <= MAX_WINDOW_ITEMS
    assert len(made.before) <= max(0, before)
    assert len(made.after) <= max(0, after)


def test_a_position_that_is_not_there_has_no_window(index: StorageBackend) -> None:
    (stored,) = index.reader().find_sessions("s20")
    assert window(index.reader(), stored.number, stored.chunk_count, before=4, after=4) is None
    assert window(index.reader(), 10**6, 0, before=4, after=4) is None


def test_four_before_and_four_after_are_shown_when_nobody_says_how_many(demo_sessions: Path) -> None:
    with Sesame() as sesame:
        sesame.index()
        made = sesame.window("d6bc", 10)
        assert (len(made.before), len(made.after)) == (4, 4)
        assert made == sesame.window(sesame.get_session("d6bc"), 10, before=4, after=4)
        with pytest.raises(UnknownSessionError, match="no position 1000"):
            sesame.window("d6bc", 1000)


# -- an answer with windows ------------------------------------------------------------------------------------


def test_windows_are_made_only_when_asked_for(index: StorageBackend) -> None:
    assert windows(ask(index, "fox")) == []
    result = answer_json(ask(index, "fox"))["results"][0]
    assert not {"contextBefore", "contextAfter", "passages", "explain"} & result.keys()


def test_an_answer_with_windows_has_twenty_hits_at_most(index: StorageBackend) -> None:
    assert len(ask(index, "fox", limit=100).hits) == 30
    answer = ask(index, "fox", limit=100, context=(99, 99))
    assert (len(answer.hits), answer.total) == (MAX_HITS, 30)
    assert len(windows(answer)) == MAX_HITS
    assert max(1 + len(w.before) + len(w.after) for w in windows(answer)) == MAX_WINDOW_ITEMS
    assert len(ask(index, "*", limit=100, context=(1, 1)).hits) == MAX_HITS


def test_the_window_of_evidence_in_a_subagent_is_the_subagents() -> None:
    backend = MemoryBackend()
    with backend.writer() as writer:
        writer.replace(a_file("/1"), a_session("parent one", "parent two", "parent three", id="p"))
        writer.replace(
            a_file("/2"), a_session("sub one", "sub fox", "sub three", id="p/a", kind="subagent", parent_id="p")
        )
    answer = ask(backend, "fox", context=(5, 5))
    (hit,) = answer.hits
    assert hit.session.id == "p"
    assert [passage.subagent_id for passage in hit.passages] == ["p/a"]
    (made,) = windows(answer)
    assert [i.snippet for i in (*made.before, made.match, *made.after)] == ["sub one", "sub fox", "sub three"]


def test_windows_in_json_and_for_people() -> None:
    backend = MemoryBackend()
    long = "語" * 2000
    with backend.writer() as writer:
        writer.replace(a_file("/1"), a_session("first", long, "the fox", a_call("ls\n-la", tool="Ba\x1b[1msh"), id="s"))
    answer = ask(backend, "fox", context=(1, 1))
    (result,) = answer_json(answer)["results"]
    (before,), (after,) = result["contextBefore"], result["contextAfter"]
    assert before == {"role": "user", "position": 1, "snippet": "語" * 341, "truncated": True, "tool": None}
    assert (after["snippet"], after["truncated"], after["role"]) == ("ls\n-la", False, "assistant")
    lines = answer_text(answer, abbreviate=str).splitlines()
    assert [line.strip() for line in lines[4:]] == [
        f"#1 user: {'語' * 160}…",
        '→2 user: "the fox"',
        "#3 assistant Bash: ls -la",
    ]


# -- several passages ------------------------------------------------------------------------------------------


def test_a_session_shows_as_many_passages_as_asked_the_best_first() -> None:
    backend = MemoryBackend()
    with backend.writer() as writer:
        texts = ["nothing", "fox", "elk", "fox and elk", "fox and more", "fox and even more of it"]
        writer.replace(a_file("/1"), a_session(*texts, id="s"))
    positions = {
        count: [passage.chunk.seq for passage in ask(backend, "fox elk", passages=count).hits[0].passages]
        for count in (1, 3, 5, 100)
    }
    assert positions[1] == positions[3][:1]
    assert positions[3] == positions[5][:3]
    assert sorted(positions[5]) == sorted(positions[100]) == [1, 2, 3, 4, 5]
    (result,) = answer_json(ask(backend, "fox elk", passages=3))["results"]
    assert len(result["passages"]) == 3
    assert result["passages"][0]["snippet"] == result["matchedSnippet"]
    assert result["passages"][0]["position"] == result["matchedPosition"]
    shown = [passage.snippet.text for passage in ask(backend, "fox elk", passages=3).hits[0].passages]
    lines = answer_text(ask(backend, "fox elk", passages=3), abbreviate=str).splitlines()
    assert [line.strip() for line in lines[-3:]] == [f'"{text}"' for text in shown]


# -- the byte budget -------------------------------------------------------------------------------------------


def printed(value: dict[str, Any]) -> int:
    """Return the bytes that the results take in what is printed."""
    whole, without = as_json(value), as_json({**value, "results": 0})
    return len(whole.encode()) - len(without.encode()) + 1


def test_whatever_the_budget_the_results_keep_to_it_and_say_when_it_cost_something(index: StorageBackend) -> None:
    answer = ask(index, "fox", limit=6, context=(3, 3), passages=2)
    full = answer_json(answer)
    size = printed(full)
    assert "cutToBudget" not in full
    assert answer_json(answer, max_bytes=size) == {**full, "cutToBudget": False}
    before = size
    for budget in range(size - 1, -1, -37):
        value = answer_json(answer, max_bytes=budget)
        assert printed(value) <= max(budget, 2)  # the brackets of an empty list
        assert printed(value) <= before
        before = printed(value)
        assert value["cutToBudget"]
        assert value["resultCount"] == len(value["results"])
        assert value["total"] == full["total"]
    assert value["results"] == []


def test_what_is_farthest_from_a_match_goes_first_and_whole_results_last(index: StorageBackend) -> None:
    answer = ask(index, "fox", limit=4, context=(3, 3))
    full = answer_json(answer)["results"]
    smaller = answer_json(answer, max_bytes=printed(answer_json(answer)) - 1)["results"]
    assert len(smaller) == len(full)
    changed = [place for place, pair in enumerate(zip(full, smaller, strict=True)) if pair[0] != pair[1]]
    assert changed == [3]
    assert smaller[3]["contextBefore"] == full[3]["contextBefore"]
    assert smaller[3]["contextAfter"] == full[3]["contextAfter"][:-1]

    bare = [{**result, "contextBefore": [], "contextAfter": []} for result in full]
    size = printed({"results": bare})
    assert answer_json(answer, max_bytes=size)["results"] == bare
    assert answer_json(answer, max_bytes=size - 1)["results"] == bare[:-1]


# -- the command line ------------------------------------------------------------------------------------------


@pytest.fixture
def indexed(indexed_sessions: Path, cli: Any) -> Any:
    return lambda *words: json.loads(cli("search", "nix", "infrastructure", *words, "--json").out)


@pytest.mark.parametrize(
    ("options", "sides"),
    [
        (["--context", "2"], (2, 2)),
        (["-C", "2"], (2, 2)),
        (["-B", "1"], (1, 0)),
        (["-A", "3"], (0, 3)),
        (["-C", "1", "-A", "3"], (1, 3)),
        (["-C", "3", "--before-context", "0"], (0, 3)),
        (["--after-context=1", "--before-context=2"], (2, 1)),
        (["-C", "0"], (0, 0)),
    ],
)
def test_context_before_and_after_as_grep_has_them(indexed: Any, options: list[str], sides: tuple[int, int]) -> None:
    plain = indexed()["results"][0]
    result = indexed(*options)["results"][0]
    at = plain["matchedPosition"]
    assert [i["position"] for i in result["contextBefore"]] == list(range(max(0, at - sides[0]), at))
    assert [i["position"] for i in result["contextAfter"]] == list(range(at + 1, at + 1 + sides[1]))
    assert {name: result[name] for name in plain} == plain


def test_hits_and_max_bytes_on_the_command_line(indexed: Any, cli: Any) -> None:
    assert len(indexed("--hits", "2")["results"][0]["passages"]) == 2
    cut_short = indexed("--hits", "2", "-C", "4", "--max-bytes", "2000")
    assert cut_short["cutToBudget"]
    assert printed(cut_short) <= 2000
    ran = cli("search", "nix", "--max-bytes", "2000")
    assert (ran.code, ran.out) == (2, "")
    assert "--json" in ran.err


def test_the_fields_of_windows_and_passages_are_documented(indexed: Any) -> None:
    import re

    page = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text("utf-8")
    part = page.partition("### Windows")[2].partition("### Fields of a session")[0]
    value = indexed("-C", "1", "--hits", "2", "--explain", "--max-bytes", "100000")
    result = value["results"][0]
    plain = indexed()
    more = [
        value.keys() - plain.keys() - {"explain"},
        result.keys() - plain["results"][0].keys() - {"explain"},
        result["contextAfter"][0].keys(),
        result["passages"][0].keys(),
        value["explain"].keys(),
        value["explain"]["words"][0].keys(),
        result["explain"].keys(),
        result["explain"]["chunks"][0].keys(),
    ]
    named = set(re.findall(r"`(\w+)`", part))
    assert set.union(*map(set, more)) <= named
    assert MAX_SNIPPET_BYTES == 1024
    assert "1,024 bytes" in part
