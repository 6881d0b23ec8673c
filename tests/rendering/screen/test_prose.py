"""Reports on a screen: broken between words, never inside of one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesame_core.rendering.screen.prose import fitted_lines
from sesame_core.text.cells import cells


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("short", 20, "short"),
        ("", 20, ""),
        ("one two three four", 10, "one two\n  three\n  four"),
        ("  Plugins:\n    parser    pi    a long text", 20, "  Plugins:\n    parser    pi\n      a long text"),
        ("/a/path/that/is/longer/than/the/screen", 10, "/a/path/that/is/longer/than/the/screen"),
        ("see /a/path/that/is/longer now", 12, "see\n  /a/path/that/is/longer\n  now"),
        ("日本語 の テキスト です", 10, "日本語 の\n  テキスト\n  です"),
        ("one two  ", 7, "one two"),
        ("a\n\nb", 20, "a\n\nb"),
        ("  $ make all check\n", 10, "  $ make all check\n"),
        ("  21 $ make all check", 10, "  21 $ make all check"),
        ("costs $ 5 in all", 10, "costs $ 5\n  in all"),
        ("   \tif x:\n   \t\treturn\n   -\ty", 20, "       if x:\n           return\n   -   y"),
        ("\tone two three", 13, "    one two\n      three"),
    ],
)
def test_a_line_is_broken_between_words_below_its_indent(text: str, columns: int, shown: str) -> None:
    assert fitted_lines(text, columns) == shown


@given(st.text(alphabet="ab 日é\n", max_size=200), st.integers(min_value=1, max_value=40))
def test_no_word_is_lost_and_no_line_is_wider_but_for_a_word(text: str, columns: int) -> None:
    shown = fitted_lines(text, columns)
    assert shown.split() == text.split()
    assert all(cells(line.rstrip()) <= columns or len(line.split()) == 1 for line in shown.split("\n"))
