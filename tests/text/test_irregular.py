"""Irregular forms of English words."""

from __future__ import annotations

import string

import pytest

from sesame_core.text.irregular import other_forms


@pytest.mark.parametrize("word", [*string.ascii_letters, "ss", "es", "ing", "ed", "s'", "SS", "Xs", ""])
@pytest.mark.parametrize("is_rare", [False, True])
def test_a_word_that_is_an_ending_has_no_other_forms(word: str, is_rare: bool) -> None:
    assert other_forms(word, is_rare=is_rare) == ()


def test_forms_find_each_other() -> None:
    assert "indices" in other_forms("index")
    assert "index" in other_forms("Indices")
    assert "went" in other_forms("go", is_rare=True)
