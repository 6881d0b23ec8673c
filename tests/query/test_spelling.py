"""Rare words of a query are looked for in other spellings, and the answer says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesame_core.api.sesame import Sesame
from sesame_core.query.parser import parse
from sesame_core.query.spelling import distance, expand

from ..support.transcripts import Pi, library, write


class Terms:
    """A vocabulary of these terms, each in two chunks."""

    def __init__(self, *terms: str) -> None:
        self._terms = terms

    def terms(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        return [(term, 2) for term in self._terms if term.startswith(prefix)][:limit]


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [
        ("receive", "receive", 0),
        ("recieve", "receive", 1),
        ("token", "tokens", 1),
        ("colour", "color", 1),
        ("abcd", "wxyz", 4),
    ],
)
def test_a_swap_of_neighbours_is_one_edit(one: str, other: str, edits: int) -> None:
    assert distance(one, other, 9) == edits
    assert distance(other, one, 9) == edits


@given(st.text("abc", max_size=8), st.text("abc", max_size=8), st.integers(0, 3))
def test_counting_stops_beyond_the_bound(one: str, other: str, most: int) -> None:
    exact = distance(one, other, 99)
    bounded = distance(one, other, most)
    assert bounded == exact if exact <= most else bounded > most


@pytest.mark.parametrize(
    ("typed", "terms", "found"),
    [
        ("recieve", ("receiv",), ["receiv"]),
        ("recieving", ("receiv",), ["receiv"]),
        ("databse", ("databas",), ["database"]),
        ("notariz", ("notarize",), ["notariz*"]),
        ("behaviour", ("behavior",), ["behavior"]),
        ("abc", ("abcd",), []),
        ("x_y_z", ("x_y_z1",), []),
    ],
)
def test_the_spellings_that_are_added(typed: str, terms: tuple[str, ...], found: list[str]) -> None:
    query, added = expand(parse(typed), [0], Terms(*terms))
    assert added.get(typed, []) == found
    assert query.words[0].alternatives[-len(found) :] == tuple(found) if found else not added


def test_a_word_that_is_not_rare_stays_as_it_is() -> None:
    query = parse("recieving")
    assert expand(query, [2], Terms("receiv")) == (query, {})


@pytest.fixture
def sesame(tmp_path: Path) -> Iterator[Sesame]:
    pi = Pi("a")
    texts = ("The notarization of the archive failed", "colours in the terminal", "it is everywhere in the database")
    write(tmp_path / "sessions" / "a.jsonl", pi.header(), *(pi.user(text) for text in texts))
    with library(tmp_path / "sessions", tmp_path / "data", parser="pi") as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize("typed", ["archve terminla", "colors in terminal", "archiv", "colour"])
def test_a_misspelt_query_finds_its_session_and_the_answer_tells(sesame: Sesame, typed: str) -> None:
    answer = sesame.search(typed)
    assert [hit.session.id for hit in answer.hits] == ["a"]
    assert not answer.is_weak


@pytest.mark.parametrize(
    ("typed", "word"), [("databse", "database"), ("every*", "everywhere"), ("everywere", "everywhere")]
)
def test_a_word_whose_stem_would_be_stemmed_once_more_is_found(sesame: Sesame, typed: str, word: str) -> None:
    answer = sesame.search(typed)
    assert answer.corrections == {typed: [word]}
    assert [hit.session.id for hit in answer.hits] == ["a"]


def test_a_correction_is_reported(sesame: Sesame) -> None:
    answer = sesame.search("terminla")
    assert answer.hits
    assert answer.words_not_found == ["terminla"]
    assert list(answer.corrections) == ["terminla"]
