"""The typed line: editing, switches of filters, completion."""

from __future__ import annotations

import pytest

from sesame_core.picker.completion import completion
from sesame_core.picker.line import LONGEST, Line
from sesame_core.picker.toggles import TIMES, cycled, switched
from sesame_core.query.parser import parse

EDITS = [
    ("one two", ["left", "left"], "x", "one txwo"),
    ("one two", ["start"], "x", "xone two"),
    ("one two", ["word-left"], "x", "one xtwo"),
    ("one two ", ["word-left"], "x", "one xtwo "),
    ("one two", ["start", "word-right"], "x", "onex two"),
    ("one", ["start", "left", "end", "right"], "x", "onex"),
    ("日記", ["left"], "x", "日x記"),
]


@pytest.mark.parametrize(("text", "moves", "typed", "result"), EDITS)
def test_text_is_inserted_at_the_cursor(text: str, moves: list[str], typed: str, result: str) -> None:
    line = Line(text)
    for move in moves:
        line.move(move)
    line.insert(typed)
    assert line.text == result


@pytest.mark.parametrize(
    ("where", "rest"),
    [
        ("left", "one wo three"),
        ("right", "one to three"),
        ("word-left", "one wo three"),
        ("word-right", "one t three"),
        ("start", "wo three"),
        ("end", "one t"),
    ],
)
def test_text_is_deleted_from_the_cursor(where: str, rest: str) -> None:
    line = Line("one two three")
    line.replace(line.text, 5)
    line.delete(where)
    assert line.text == rest


@pytest.mark.parametrize(
    ("pasted", "text"),
    [
        ("two\nlines\there", "two lines here"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;owned\x07a\x00b", "ab"),
        ("\u202eevil", "evil"),
        ("x" * 9000, "x" * LONGEST),
    ],
)
def test_what_is_pasted_controls_nothing(pasted: str, text: str) -> None:
    assert Line(pasted).text == text


def test_a_key_goes_through_the_times_and_then_none() -> None:
    seen = [text := "fox"]
    for _ in range(len(TIMES) + 1):
        seen.append(text := cycled(text, "after", TIMES))
    assert seen == ["fox", "after:1d fox", "after:7d fox", "after:30d fox", "fox"]


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("", "agent:pi "),
        ("agent:other fox", "agent:pi fox"),
        ("fox agent:pi den", 'agent:"two words" fox den'),
        ('agent:"two words" fox', "fox"),
        ('agent:"two words', ""),
        ("AGENT:pi fox", 'agent:"two words" fox'),
        ("subagent:pi fox", "agent:pi subagent:pi fox"),
    ],
)
def test_a_key_replaces_the_field_that_is_there(text: str, result: str) -> None:
    assert cycled(text, "agent", ["pi", "two words"]) == result


def test_without_values_a_key_removes_the_field() -> None:
    assert cycled("agent:pi fox", "agent", []) == "fox"


def test_here_is_switched_on_and_off_and_leaves_other_properties() -> None:
    assert switched("fox is:error", "is:here") == "is:here fox is:error"
    assert switched("is:here fox is:error", "is:here") == "fox is:error"
    assert switched("fox is:here", "is:here") == "fox "
    assert switched("is:hereafter", "is:here") == "is:here is:hereafter"


VALUES = {
    "agents": ["claude-code", "pi"],
    "branch": ["main", "fix/two words", 'quo"ted'],
    "cwd": ["/w/den", "/w/burrow"],
}


def complete(text: str) -> list[str]:
    found = completion(text, len(text), lambda field: VALUES.get(field, []))
    return list(found.candidates) if found else []


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("ag", ["agent:"]),
        ("fox ag", ["agent:"]),
        ("-ag", ["agent:"]),
        ("(ag", ["agent:"]),
        ("agent:", ["agent:claude-code", "agent:pi"]),
        ("AGENT:P", ["AGENT:pi"]),
        ("agent:code", ["agent:claude-code"]),
        ("is:", ["is:here", "is:error"]),
        ("role:us", ["role:user"]),
        ("after:y", ["after:yesterday"]),
        ("before:last", ['before:"last week"', 'before:"last month"']),
        ("branch:fix", ['branch:"fix/two words"']),
        ('branch:"fix', ['branch:"fix/two words"']),
        ("branch:quo", []),
        ("cwd:/w/d", ["cwd:/w/den"]),
        ("in:/w/d", ["in:/w/den"]),
        ("in:h", ["in:here"]),
        ("cmd:git", []),
        ("nothing", []),
        ("unknown:x", []),
    ],
)
def test_a_field_and_its_value_are_completed(text: str, first: list[str]) -> None:
    assert complete(text)[: len(first)] == first
    assert bool(complete(text)) == bool(first)


def test_every_field_of_a_query_is_offered_for_nothing() -> None:
    assert {"agent:", "after:", "before:", "cwd:", "repo:", "is:", "in:", "role:"} <= set(complete(""))


@pytest.mark.parametrize("text", ["agent:", "branch:", "after:", "is:", "in:", "role:", "cwd:"])
def test_what_is_completed_is_read_as_the_field(text: str) -> None:
    for candidate in complete(text):
        query = parse(f"{candidate} fox")
        assert [word.text for word in query.words] == ["fox"], candidate
        assert query.hints == ()


def test_a_candidate_is_put_before_what_follows_the_cursor() -> None:
    found = completion("agent:p fox", 7, lambda field: VALUES[field])
    assert found is not None
    assert found.moved(1).line("agent:p fox") == ("agent:pi fox", 8)
    found = completion("x agent:", 8, lambda field: VALUES[field])
    assert found is not None
    assert found.moved(1).moved(1).line("x agent:") == ("x agent:pi ", 11)
    assert found.moved(-1).line("x agent:") == ("x agent:pi ", 11)
