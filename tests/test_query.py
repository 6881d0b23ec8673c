"""How a query is read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesame_core.query import MAX_WORDS, STOP_WORDS, Query, parse


def told(query: Query) -> str:
    """Write a parsed query compactly: required words with +, excluded ones with -, alternatives in brackets."""
    words = [("+" if w.is_required else "") + "|".join(w.alternatives) for w in query.words]
    return " ".join(f"[{word}]" for word in words + ["-" + "|".join(w.alternatives) for w in query.excluded])


PARSED = {
    # nothing
    "": "",
    "   ": "",
    "*": "",
    "...": "",
    '""': "",
    '"': "",
    "+ - * ++ --": "",
    # words
    "fox": "[fox]",
    "quick brown fox": "[quick] [brown] [fox]",
    "fox FOX Fox": "[fox]",
    "+fox fox": "[+fox]",
    "fox dog +fox": "[+fox] [dog]",
    "the quick fox and the dog": "[quick] [fox] [dog]",
    "the": "[the]",
    "to be or not to be": "[to] [be] [or] [not]",
    "reconnectBackoff": "[reconnectBackoff|reconnect Backoff]",
    "package.json": "[package.json]",
    "src/main.rs": "[src/main.rs]",
    "snake_case": "[snake_case]",
    "C++": "[C++]",
    "a\0b": "[ab]",
    "日本語": "[日本 本語]",
    "用git": "[用*] [git]",
    # operators
    "+fox dog": "[+fox] [dog]",
    "fox -dog": "[fox] [-dog]",
    "-dog": "[-dog]",
    "+the fox": "[+the] [fox]",
    '"quick fox"': "[+quick fox]",
    '"quick fox" dog': "[+quick fox] [dog]",
    '-"quick fox" dog': "[dog] [-quick fox]",
    '+"quick fox"': "[+quick fox]",
    '"unfinished phrase': "[+unfinished phrase]",
    '"..." fox': "[fox]",
    "--limit": "[--limit]",
    "-": "",
    "-- x": "[x]",
    "well-known": "[well-known]",
    "1+1": "[1+1]",
    # prefixes
    "pre*": "[pre*]",
    "pre**": "[pre*]",
    "p*": "[p]",
    "+pre*": "[+pre*]",
    "-pre*": "[-pre*]",
    "a*b": "[a*b]",
    "日本*": "[日本*]",
    # what other query languages mean by it
    "fox AND dog": "[fox] [dog]",
    "NEAR(fox dog)": "[NEAR(fox] [dog)]",
    "content:fox": "[content:fox]",
    "fox^2": "[fox^2]",
    "(fox OR dog)": "[(fox] [dog)]",
    "'; DROP TABLE chunks; --": "[DROP] [TABLE] [chunks;]",
}


@pytest.mark.parametrize(("text", "expected"), PARSED.items(), ids=[repr(text) for text in PARSED])
def test_a_query_is_read_as_a_person_meant_it(text: str, expected: str) -> None:
    query = parse(text)
    assert told(query) == expected
    assert query.text == text


def test_only_so_many_words_are_looked_for() -> None:
    query = parse(" ".join(f"word{n} -no{n}" for n in range(100)))
    assert len(query.words) == len(query.excluded) == MAX_WORDS


def test_stop_words_are_left_out_whatever_their_case() -> None:
    assert told(parse("The FOX")) == "[FOX]"
    assert "fox" not in STOP_WORDS


def test_a_word_that_is_typed_is_named_as_typed() -> None:
    assert [word.text for word in parse('reconnectBackoff +dog "a phrase" pre*').words] == [
        "reconnectBackoff",
        "dog",
        "a phrase",
        "pre*",
    ]


@given(st.text() | st.text(alphabet='+-*" ab日\0\ud800"'))
def test_any_text_is_a_query(text: str) -> None:
    query = parse(text)
    for word in (*query.words, *query.excluded):
        assert word.alternatives
        for alternative in word.alternatives:
            assert any(character.isalnum() for character in alternative), word
            alternative.encode()


@given(st.text(max_size=50))
def test_reading_a_query_twice_gives_the_same(text: str) -> None:
    assert parse(text) == parse(text)
