"""How near a text comes to a query, without an index."""

from __future__ import annotations

import pytest

from sesame_core.query.parser import parse
from sesame_core.search.nearness import OTHER_FORM, PAIRS, PHRASE, Level, Typed


def typed(text: str, *idf: float) -> Typed:
    query = parse(text)
    return Typed(query, idf or [1.0] * len(query.words))


@pytest.mark.parametrize(
    ("query", "text", "level"),
    [
        ("loose wire", "it was a loose wire, after all", Level.CHARACTERS),
        ("Loose  Wire", "it was a loose\n\twire", Level.CHARACTERS),
        ("loose wire", "it was a loose-wire", Level.WORDS),
        ("loose wire", "loose was the wire", Level.NONE),
        ("loose wire", "the wire was loose", Level.NONE),
        ("loose wire", "looser wires", Level.NONE),
        ("loose wire", "loosewire", Level.NONE),
        ("wire", "a wire", Level.NONE),
        ("the wire is loose", "the wire is loose", Level.CHARACTERS),
        ("the wire is loose", "a wire was loose", Level.NONE),
        ("drwxr-xr-x@  4 ann  staff", "drwxr-xr-x@  4 ann  staff   128 Feb", Level.CHARACTERS),
        ("drwxr-xr-x@  4 ann  staff", "drwxr-xr-x   4 ann  staff   128 Feb", Level.WORDS),
        ("ate total = changes.redu", "const updateTotal = 1; create total = changes.reduce(1)", Level.CUT),
        ("gh pr create", "gh pr created_at", Level.CUT),
        ("src/app.ts \\", "cat src/app.ts \\\n  src/b.ts", Level.CHARACTERS),
        ("Straße nach Łódź", "die STRASSE nach Łódź", Level.NONE),
        ("café créme brûlée", "a CAFÉ CRÉME BRÛLÉE", Level.CHARACTERS),
        ("修复搜索功能的错误", "请修复搜索功能的错误。", Level.CHARACTERS),
        ("修复搜索功能的错误", "修复功能", Level.NONE),
        ("a -b c", "a -b c", Level.CHARACTERS),
    ],
)
def test_a_text_that_has_the_whole_query_has_a_level(query: str, text: str, level: Level) -> None:
    assert typed(query).nearness(text).level is level


def test_a_word_as_typed_counts_more_than_another_form_of_it() -> None:
    same, other, none = (typed("create").nearness(text).share for text in ("create", "createdAt creates", "x"))
    assert (same, other, none) == (1.0, OTHER_FORM, 0.0)


def test_words_count_by_their_rarity_and_pairs_by_their_commoner_word() -> None:
    near = typed("fox elk owl", 3.0, 2.0, 1.0)
    assert near.nearness("fox").share == pytest.approx((1 - PAIRS) * 3 / 6)
    assert near.nearness("elk then fox").share == pytest.approx((1 - PAIRS) * 5 / 6)
    assert near.nearness("fox and elk").share == pytest.approx((1 - PAIRS) * 5 / 6 + PAIRS * 2 / 3)
    assert near.nearness("fox and the elk").share == pytest.approx((1 - PAIRS) * 5 / 6)
    assert near.nearness("fox elk owl").share == pytest.approx(1.0)


def test_a_word_without_weight_divides_by_nothing() -> None:
    assert typed("fox elk", 0.0, 0.0).nearness("fox elk").share == 0.0


@pytest.mark.parametrize(
    ("query", "phrase"),
    [
        ("loose wire", "loose wire"),
        ("the wire is", "the wire is"),
        ("wire", None),
        ("", None),
        ("*", None),
        ("修复搜索功能的错误", None),
        ("cut one two rare3 four five six ends", "two rare3 four five"),
    ],
)
def test_the_phrase_to_look_up_is_the_rarest_part(query: str, phrase: str | None) -> None:
    words = [
        10.0 if "3" in word.text else 5.0 if word.text in ("two", "four", "five") else 1.0
        for word in parse(query).words
    ]
    found = typed(query, *words).phrase()
    assert (found.text if found else None) == phrase
    assert found is None or len(found.text.split()) <= PHRASE


def test_the_phrase_of_a_long_text_avoids_stop_words() -> None:
    found = typed("when it is in the panic recovery handler process that we are").phrase()
    assert found is not None
    assert found.text == "panic recovery handler process"


def test_only_the_beginning_of_a_long_text_is_compared_unless_all_of_it_is_asked_for() -> None:
    near, text = typed("loose wire"), "x " * 10_000 + "loose wire"
    assert near.nearness(text).level is Level.NONE
    assert near.nearness(text, is_whole=True).level is Level.CHARACTERS
