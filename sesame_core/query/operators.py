"""Which operators of a query keep sessions out, as they were typed, and what the query is as a text without them."""

from __future__ import annotations

from collections.abc import Sequence

from ..dataclass import dataclass, replace
from ..text.tokens import clean, has_word
from ..types.query import Query
from .lexer import Token, tokens
from .parser import meant, read_tokens

#: What an exclusion applies to.
_OPERANDS = ("word", "phrase", "(")


@dataclass(frozen=True, slots=True)
class Used:
    """The operators of a query that keep sessions out because of words."""

    #: As typed: `-websocket`, `NOT NULL`, `-(a b)`, or `AND` if that is all.
    typed: tuple[str, ...]
    #: Whether they exclude.
    is_exclusion: bool
    #: The query with these operators read as words.
    as_text: Query


def used(query: Query) -> Used | None:
    """Return the exclusions of words in a query, or else its `AND`; None if it has neither, or they have no effect."""
    text = clean(query.text)
    if query.condition is None or not ("-" in text or "NOT" in text or "AND" in text):
        return None
    read, _ = meant(tokens(text))
    exclusions = tuple(_exclusions(read, text))
    if exclusions:
        return Used(exclusions, True, read_tokens(query.text, _included(read)))
    if any(token.kind == "AND" for token in read):
        return Used(("AND",), False, read_tokens(query.text, [token for token in read if token.kind != "AND"]))
    return None


def used_fields(query: Query) -> Used | None:
    """Return the fields of a query that stand among words, without a sign or quotes, and the query with them as words.

    Each is typed with the word before it or after it.
    """
    text = clean(query.text)
    read, _ = meant(tokens(text))
    typed, words = [], []
    for place, token in enumerate(read):
        if token.kind != "field" or token.sign or '"' in text[token.start : token.end]:
            words.append(token)
            continue
        first, last = token.start, token.end
        if place and read[place - 1].kind == "word":
            first = read[place - 1].start
        elif place + 1 < len(read) and read[place + 1].kind == "word":
            last = read[place + 1].end
        else:
            return None
        typed.append(text[first:last])
        words.append(replace(token, kind="word", text=f"{token.field}:{token.text}", field=""))
    return Used(tuple(typed), False, read_tokens(query.text, words)) if typed else None


def _exclusions(read: Sequence[Token], text: str) -> list[str]:
    """Return what is excluded, with the operator; a double negation is none."""
    found = []
    for place, token in enumerate(read):
        before = read[place - 1].kind if place else ""
        is_something = token.kind == "(" or has_word(token.text)
        if token.kind in _OPERANDS and is_something and (token.sign == "-") != (before == "NOT"):
            start = token.start if before != "NOT" else read[place - 1].start
            found.append(" ".join(text[start : read[_end(read, place)].end].split()))
    return found


def _end(read: Sequence[Token], place: int) -> int:
    """Return the place of the parenthesis that closes the one at a place; the place of any other token itself."""
    if read[place].kind != "(":
        return place
    depth = 0
    for end in range(place, len(read)):
        depth += (read[end].kind == "(") - (read[end].kind == ")")
        if not depth:
            return end
    return len(read) - 1


def _included(read: Sequence[Token]) -> list[Token]:
    """Return the tokens without exclusions, but for those of fields."""
    found = []
    for place, token in enumerate(read):
        after = read[place + 1].kind if place + 1 < len(read) else ""
        if token.kind == "NOT" and after in _OPERANDS:
            continue
        found.append(replace(token, sign="") if token.kind in _OPERANDS and token.sign == "-" else token)
    return found
