"""Text fits into columns, whatever its characters are, and what matched stays marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesame_core.rendering.screen.layout import fitted, focused, safe, wrapped
from sesame_core.text.cells import ELLIPSIS, cells
from sesame_core.types.answer import Snippet

TEXTS = st.text(alphabet=st.sampled_from("ab ÀÖé日本語🐹e\N{COMBINING ACUTE ACCENT}한"), max_size=80)


def words(text: str, *found: str) -> Snippet:
    """Return a text in which these words are marked."""
    return Snippet(text, tuple((text.index(word), text.index(word) + len(word)) for word in found))


def lines(snippet: Snippet, columns: int, most: int | None = None) -> list[str]:
    return [line.text for line in wrapped(snippet, columns, most=most)]


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        ("the quick brown fox", 10, ["the quick", "brown fox"]),
        ("the quick brown fox", 9, ["the quick", "brown fox"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("a /very/long/path/without/spaces b", 12, ["a /very/long", "/path/withou", "t/spaces b"]),
        ("日本語の文", 4, ["日本", "語の", "文"]),
        ("日本語", 5, ["日本", "語"]),
    ],
)
def test_a_text_is_broken_between_words_where_there_are_any(text: str, columns: int, expected: list[str]) -> None:
    assert lines(Snippet(text), columns) == expected


@given(TEXTS, st.integers(2, 30), st.integers(1, 3))
def test_no_line_is_wider_than_the_screen_and_nothing_is_lost(text: str, columns: int, most: int) -> None:
    whole = lines(safe(Snippet(text)), columns)
    assert all(cells(line) <= columns for line in whole)
    assert "".join(whole).replace(" ", "") == text.replace(" ", "")
    assert all(cells(line) <= columns for line in lines(safe(Snippet(text)), columns, most))


def test_a_text_that_is_too_long_ends_in_an_ellipsis() -> None:
    assert fitted(Snippet("the quick brown fox"), 12).text == f"the quick{ELLIPSIS}"
    assert fitted(Snippet("日本語の文"), 5).text == f"日本{ELLIPSIS}"
    assert fitted(Snippet("fox"), 12).text == "fox"
    assert lines(Snippet("one two three four"), 8, most=2) == ["one two", f"three{ELLIPSIS}"]


def test_marks_stay_on_their_words() -> None:
    marked = words("the quick brown fox jumps", "quick", "fox")
    found = [line.text[start:end] for line in wrapped(marked, 11) for start, end in line.marks]
    assert found == ["quick", "fox"]
    (line,) = wrapped(words("a tab\tbell\a fox", "fox"), 40)
    assert [safe(line).text[s:e] for s, e in safe(line).marks] == ["fox"]
    assert safe(Snippet("a\tb\nc\x1b[31md")).text == "a b cd"


def test_a_word_that_is_broken_is_marked_on_both_lines() -> None:
    first, second = wrapped(words("abcdefgh", "abcdefgh"), 4)
    assert (first.marks, second.marks) == (((0, 4),), ((0, 4),))


def test_a_line_begins_where_most_of_the_words_are() -> None:
    text = "fox " + "x" * 60 + " and then the fox met an elk near the den"
    first, last = text.index("fox"), text.rindex("fox")
    elk = text.index("elk")
    shown = focused(Snippet(text, ((first, first + 3), (last, last + 3), (elk, elk + 3))), 40)
    assert shown.text.startswith(ELLIPSIS)
    assert [shown.text[start:end] for start, end in shown.marks] == ["fox", "elk"]
    assert focused(words("fox and elk", "fox"), 40).text == "fox and elk"
    assert focused(Snippet("x" * 90), 40).text == "x" * 90
