"""The passage that shows why a session matched."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesame_core.query.parser import parse
from sesame_core.text.snippets import LEAD, LENGTH, snippet
from sesame_core.types.answer import Snippet


def marked(text: str, query: str) -> list[str]:
    found = snippet(text, parse(query))
    return [found.text[start:end] for start, end in found.marks]


def test_a_short_text_is_shown_whole_on_one_line() -> None:
    found = snippet("The quick\n\n  brown\tfox ", parse("fox"))
    assert found == Snippet("The quick brown fox", ((16, 19),))


def test_without_a_match_the_text_is_shown_from_its_start() -> None:
    found = snippet("word " * 100, parse("unicorn"))
    assert found.text.startswith("word word")
    assert found.text.endswith("…")
    assert found.marks == ()


@pytest.mark.parametrize("text", ["", "  \n "])
def test_nothing_shows_nothing(text: str) -> None:
    assert snippet(text, parse("fox")) == Snippet("")


def test_the_start_and_the_end_tell_what_was_left_out() -> None:
    found = snippet("before " * 100 + "fox" + " after" * 100, parse("fox"))
    assert found.text.startswith("…before")
    assert found.text.endswith("…")
    assert len(found.text) <= LENGTH + 2
    ((start, _),) = found.marks
    assert start <= LEAD + 1


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Fox FOX fox foxes foxtrot", "fox", ["Fox", "FOX", "fox", "foxes"]),
        ("simplify simplified simplification simple", "simplify", ["simplify", "simplified", "simplification"]),
        ("restructure the repos", "restructuring repo", ["restructure", "repos"]),
        ("call reconnectBackoff()", "reconnectBackoff", ["reconnectBackoff"]),
        ("the backoff of a reconnect", "reconnectBackoff", ["backoff", "reconnect"]),
        ("a precious preset", "pre*", ["precious", "preset"]),
        ("say a phrase here", '"a phrase"', ["a", "phrase"]),
        ("snake_case", "case", ["case"]),
        ("a café in Zürich", "cafe zurich", ["café", "Zürich"]),
        ("cafe zurich", "café Zürich", ["cafe", "zurich"]),
        ("Über", "uber", ["Über"]),
        ("naïveté", "naïveté", ["naïveté"]),
        ("Ёлка Йод", "елка", ["Ёлка"]),
        ("日記で東京を検索", "東京", ["東京"]),
        ("日本語検索", "日本語", ["日本語"]),
        ("用git提交", "git", ["git"]),
        ("C++ and C#", "C++", ["C", "C"]),
        ("regex (a|b)* [x] \\d", "(a|b)*", ["a", "b"]),
        ("a cat and a category", "cat", ["cat"]),
    ],
)
def test_words_that_matched_are_marked(text: str, query: str, expected: list[str]) -> None:
    assert marked(text, query) == expected


def test_the_window_with_the_most_different_words_is_chosen() -> None:
    text = "fox fox fox fox " + "x " * 500 + "quick fox dog " + "y " * 500 + "quick fox"
    assert set(marked(text, "quick fox dog")) == {"quick", "fox", "dog"}


def test_the_first_of_equal_windows_is_chosen() -> None:
    text = "one fox " + "x " * 500 + "two fox"
    assert "one fox" in snippet(text, parse("fox")).text


def test_the_same_is_marked_in_every_process() -> None:
    """Python's hashes differ from run to run; what people see must not."""
    code = (
        "from sesame_core.text.snippets import snippet; from sesame_core.query.parser import parse\n"
        "print(snippet('日本語検索 reconnectBackoff reconnect', parse('日本語検索 reconnectBackoff')).marks)"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(seen) == 1


@given(
    text=st.text(max_size=600) | st.lists(st.sampled_from("fox dog 日本 é Å x \n . foxDog".split(" "))).map(" ".join),
    query=st.text(max_size=30) | st.sampled_from(["fox dog", "日本", "e a", "fo*", '"fox dog"']),
    length=st.integers(1, 300),
)
def test_marks_lie_inside_the_text_in_order(text: str, query: str, length: int) -> None:
    found = snippet(text, parse(query), length=length)
    assert len(found.text) <= length + 2
    assert not set("\n\t\r") & set(found.text)
    position = 0
    for start, end in found.marks:
        assert position <= start < end <= len(found.text)
        position = end


@pytest.mark.once
@pytest.mark.parametrize("unit", ["fox ", "x", "fox dog é ", "日本", "foxDog", " "])
def test_a_long_text_is_fast(unit: str) -> None:
    text = unit * (300_000 // len(unit))
    started = time.process_time()
    snippet(text, parse("fox dog foxDog 日本 x*"))
    assert time.process_time() - started < 5
