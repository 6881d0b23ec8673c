"""The answer as agents get it: evidence, few bytes, and a limit that holds whatever sessions contain."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sesame_core import Sesame
from sesame_core.rendering import brief, budget
from sesame_core.rendering.brief import brief_json

from ..support.transcripts import Claude, Pi, write

pytestmark = pytest.mark.once

#: Texts whose size as JSON is not their number of characters.
HOSTILE = {
    "plain": "word " * 4_000,
    "one long word": "x" * 20_000,
    "Japanese": "日本語の文章です。" * 2_000,
    "emoji": "🦊" * 5_000,
    "joined emoji": "👩‍👩‍👧‍👦" * 2_000,
    "quotes": '"\\' * 8_000,
    "control characters": "\x01\x02\x7f\x9b" * 4_000,
    "escape sequences": "\x1b[31mred\x1b[0m " * 2_000,
    "right to left": "\u202eعربى " * 2_000,
    "lines": "\n\n\t fox" * 4_000,
    "separators": "\u2028\u2029" * 5_000,
    "accents": "e\u0301tude " * 1_500,
    "beyond the basic plane": "𝔘𝔫𝔦 " * 1_000,
}

Search = Callable[..., dict[str, Any]]


@pytest.fixture
def search(home: object) -> Iterator[Search]:
    with Sesame() as sesame:
        indexed: list[Any] = []

        def run(query: str, *, max_bytes: int = brief.BYTES, **asked: Any) -> dict[str, Any]:
            indexed.append(indexed or sesame.index())
            wanted = {"limit": 5, "passages": 2, "passage_bytes": brief.PASSAGE, "context": (4, 4), **asked}
            value: Any = brief_json(sesame.search(query, **wanted), sesame.as_it_is(), max_bytes=max_bytes)
            assert json.loads(budget.sent(value)) == value
            return dict(value)

        yield run


def hostile(text: str, count: int = 5) -> None:
    """Write sessions that have a text everywhere: title, directory, tool, prompts, results, answers."""
    for number in range(count):
        pi = Pi(f"{number:08x}-0000-4000-8000-00000000000f")
        path = pi.path
        name = "".join(c for c in text if c.isprintable() and c not in '/"\\')[:60] or "dir"
        pi.cwd = f"/home/bo/{name * 3}"
        turns = [
            record
            for n in range(4)
            for record in (
                pi.user(f"numbat {n} {text}"),
                pi.call(f"tool{name[:30]}", command=text),
                pi.result(f"numbat {text}"),
                pi.answer(f"numbat {text}"),
            )
        ]
        write(path, pi.header(), *turns)


def size(value: dict[str, Any]) -> int:
    return len(budget.sent(value))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_default_answer_is_never_cut(text: str, search: Search) -> None:
    hostile(text)
    value = search("numbat")
    assert len(value["results"]) == 5
    assert "cutToBudget" not in value
    assert size(value) <= brief.BYTES < 20_000
    for number, result in enumerate(value["results"]):
        assert len(result["passages"]) == 2
        assert 3 <= len(result["around"]) <= 8
        assert all(len(budget.sent(line)) - 2 <= budget.WINDOW for line in result["around"])
        sizes = [len(budget.sent(passage["text"])) - 2 for passage in result["passages"]]
        assert all(0 < size <= brief.PASSAGE for size in sizes)
        assert sum(sizes) <= (brief.BOTH if number < brief.LIKELY else brief.BOTH_LATER + brief.FURTHER)


@pytest.mark.parametrize(
    "text", [HOSTILE["plain"], HOSTILE["emoji"], HOSTILE["quotes"]], ids=["plain", "emoji", "quotes"]
)
def test_an_answer_of_any_number_of_sessions_keeps_to_its_bytes(text: str, search: Search) -> None:
    hostile(text, 22)
    for limit in (1, 2, 6, 10, 20):
        value = search("numbat", limit=limit, context=(8, 8), passages=3)
        assert size(value) <= brief.BYTES
        assert len(value["results"]) == limit, "every session that was asked for, with less about each"
        assert all(result["passages"] for result in value["results"])
        assert value["nextOffset"] == limit
    for most in (0, 10, 100, 500, 2_000, 5_000, 10_000):
        value = search("numbat", limit=20, max_bytes=most)
        assert value["cutToBudget"] is True
        assert value["nextOffset"] == len(value["results"])
        assert size(value) <= max(most, 100)
        # What was left out fits no more.
        assert most < 500 or size(search("numbat", limit=20, max_bytes=2 * most)) > size(value)


def test_windows_shrink_first_then_passages_go_then_they_get_shorter_then_sessions_go(search: Search) -> None:
    hostile(HOSTILE["plain"], 12)
    whole = search("numbat", limit=12, max_bytes=10**6)
    assert "cutToBudget" not in whole
    stages: list[str] = []
    for most in range(size(whole) - 500, 500, -1_000):
        results = search("numbat", limit=12, max_bytes=most)["results"]
        items = sum(len(result.get("around", ())) for result in results)
        passages = sum(len(result["passages"]) for result in results)
        longest = max((len(result["passages"][0]["text"]) for result in results), default=0)
        if len(results) < 12:
            assert (items, passages) == (0, len(results))
            assert longest <= budget.SHORTER[-1]
            stages.append("sessions")
        elif longest <= budget.SHORTER[0]:
            assert (items, passages) == (0, 12)
            stages.append("texts")
        elif passages < 24:
            assert items == 0
            stages.append("passages")
        else:
            stages.append("windows")
    assert list(dict.fromkeys(stages)) == ["windows", "passages", "texts", "sessions"]


def test_pages_follow_one_another_where_an_answer_was_cut(search: Search) -> None:
    hostile("fox", 12)
    found: list[str] = []
    offset: int | None = 0
    while offset is not None:
        value = search("numbat", limit=5, offset=offset, max_bytes=2_500)
        found += [result["session"] for result in value["results"]]
        offset = value.get("nextOffset")
    assert len(found) == len(set(found)) == 12


def test_what_says_nothing_is_left_out(search: Search) -> None:
    pi = Pi()
    write(pi.path, pi.header(), pi.user("the quokka"), pi.answer("gone"))
    value = search("quokka")
    (result,) = value["results"]
    assert list(value) == ["total", "index", "results"]
    assert value["index"] == {"refreshed": False}
    assert result == {
        "session": pi.session,
        "title": "the quokka",
        "cwd": pi.cwd,
        "agent": "pi",
        "day": "2026-08-01",
        "score": 1.0,
        "passages": [{"at": 0, "by": "user", "text": "the quokka"}, {"at": 1, "by": "assistant", "text": "gone"}],
    }


def test_a_passage_says_who_said_it_and_a_line_its_position(search: Search) -> None:
    claude = Claude()
    write(
        claude.path,
        claude.user("why"),
        claude.call("Bash", command="make quokka"),
        claude.result("no rule for quokka"),
        claude.answer("there is none"),
    )
    (result,) = search("make quokka rule", passages=3, context=(1, 2))["results"]
    by = {passage["at"]: passage["by"] for passage in result["passages"]}
    assert by == {1: "Bash", 2: "Bash result", 3: "assistant"}
    (line,) = result["around"]
    assert line == "0 user: why"


def test_a_list_of_sessions_has_neither_scores_nor_passages(search: Search) -> None:
    pi = Pi()
    write(pi.path, pi.header(), pi.user("the quokka"), pi.answer("gone"))
    (result,) = search("")["results"]
    assert list(result) == ["session", "title", "cwd", "agent", "day"]


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("fox", 3, "fox"),
        ("foxes", 4, "f…"),
        ('"' * 9, 10, '"""…'),
        ("日本語", 9, "日本語"),
        ("日本語x", 9, "日本…"),
        ("🦊🦊🦊", 11, "🦊🦊…"),
        ("fox   and", 8, "fox…"),
        ("fox…", 5, "fo…"),
        ("\x01\x01", 9, "\x01…"),
        ("a\ud800b", 9, "a\ud800b"),
        ("", 0, ""),
    ],
)
def test_a_text_fits_as_it_is_sent(text: str, most: int, expected: str) -> None:
    assert budget.fitting(text, most) == expected


# -- the command line --------------------------------------------------------------------------------------------


def test_the_command_line_prints_it_on_one_line_with_the_defaults_of_agents(
    demo_sessions: object, cli: Callable[..., Any]
) -> None:
    ran = cli("search", "--brief", "reconnect", "backoff")
    assert ran.out.count("\n") == 1
    (first, *_) = ran.json["results"]
    assert len(first["passages"]) == 2
    assert len(ran.json["results"]) <= brief.RESULTS
    assert "around" not in cli("search", "--brief", "-C", "0", "reconnect").json["results"][0]
    assert len(cli("search", "--brief", "--hits", "1", "-n", "1", "backoff").json["results"][0]["passages"]) == 1
    assert cli("search", "--brief", "--max-bytes", "0", "backoff").json["results"] == []


def test_the_json_of_the_command_line_keeps_its_shape(demo_sessions: object, cli: Callable[..., Any]) -> None:
    (result, *_) = cli("search", "--json", "backoff").json["results"]
    assert {"sessionId", "matchedSnippet", "matchedPosition", "toolCounts", "copies"} <= set(result)
    assert "passages" not in result
