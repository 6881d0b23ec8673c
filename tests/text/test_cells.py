"""How wide texts are on a terminal."""

from __future__ import annotations

import pytest
from wcwidth import wcswidth

from sesame_core.text.cells import cells, cut, cut_left, filled, prefix, steady, wrapped

WIDTHS = [
    ("abc", 3),
    ("日記アプリ", 10),
    ("e\u0301", 1),
    ("한국어", 6),
    ("\u1112\u1161\u11ab", 2),
    ("🎉", 2),
    ("ﾊﾝｶｸ", 4),
    ("Ａ", 2),
    ("नमक है", 5),
    ("…", 1),
    ("", 0),
]


@pytest.mark.parametrize(("text", "width"), WIDTHS)
def test_a_text_is_as_wide_as_terminals_draw_it(text: str, width: int) -> None:
    assert cells(text) == wcswidth(text) == width


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("👩‍👩‍👧", "👩👩👧"),  # joined, it is 2 cells in some terminals and 6 in others
        ("❤\ufe0f", "❤"),
        ("👍🏽 done", "👍 done"),
        ("a\u200bb\u00adc\ufeff", "abc"),
        ("abc\u200f", "abc"),
        ("می\u200cخواهم", "می\u200cخواهم"),  # without it, the letters are drawn otherwise
        ("1\ufe0f\u20e3", "1\u20e3"),
    ],
)
def test_what_terminals_disagree_on_is_removed(text: str, shown: str) -> None:
    assert steady(text) == shown


def test_a_text_is_cut_between_characters_of_two_cells() -> None:
    assert cut("日記アプリ", 10) == "日記アプリ"
    assert cut("日記アプリ", 9) == "日記アプ…"
    assert cut("日記アプリ", 8) == "日記ア…"
    assert cut("日記", 1) == "…"
    assert cut("日記", 0) == ""
    assert cut_left("日記アプリ", 6) == "…プリ"
    assert cut_left("abcdef", 3) == "…ef"
    assert cut_left("abc", 0) == ""
    assert prefix("日記", 3) == "日"
    assert filled("日記アプリ", 8) == "日記ア… "
    assert filled("ab", 4) == "ab  "


def test_an_accent_stays_with_its_letter() -> None:
    assert prefix("e\u0301e\u0301e\u0301", 2) == "e\u0301e\u0301"


@pytest.mark.parametrize("width", range(1, 12))
@pytest.mark.parametrize(
    "line", ["", "one two  three", "日記 アプリ日記アプリ", "x" * 30, " indented line here", "a 日b"]
)
def test_rows_are_no_wider_than_they_may_be_and_lose_only_spaces(line: str, width: int) -> None:
    rows = [line[start:end] for start, end in wrapped(line, width)]
    assert all(cells(row) <= max(width, 2) for row in rows)
    assert "".join(rows).replace(" ", "") == line.replace(" ", "")


def test_a_line_is_divided_at_its_spaces() -> None:
    line = "the quick brown fox"
    assert [line[start:end] for start, end in wrapped(line, 10)] == ["the quick", "brown fox"]
