"""Serializes a query as a string that parses to an equal one."""

from __future__ import annotations

import re

from ..text.tokens import pieces
from ..text.words import word_of
from ..types.query import AllOf, AnyOf, Condition, Has, Is, Not, Query, Word
from . import fields
from .boolean import parts_of, positive_words, some
from .filters import asked
from .lexer import OPERATORS
from .parser import STOP_WORDS

_BARE = re.compile(r"\w+(?:[./@#-]+\w+)*\*?")


def unparse(query: Query) -> str:
    """Return a string that parses to an equal query; equal queries give the same string."""
    needed = set(positive_words(query.condition))
    extra = [Has(word) for word in query.words if word not in needed]
    facts = [*([Is(query.filters)] if asked(query.filters) else []), *some(query.condition)]
    if all(_bare(has.word) for has in extra):
        words = " ".join(has.word.text for has in extra)
    else:
        words = _written(AnyOf(tuple(extra)))
        words = f"({words})" if facts else words
    return " ".join(filter(None, [words, *(_item(part) for part in parts_of(AllOf, facts))]))


def _written(condition: Condition) -> str:
    """Return a condition as a list, or as lists joined by OR."""
    match condition:
        case Has(word):
            return word.text if _bare(word) else f'"{word.text}"'
        case Is(filters):
            return " ".join(fields.written(filters))
        case AllOf(parts):
            return " ".join(map(_item, parts))
        case AnyOf(parts):
            return " OR ".join(f"({_written(p)})" if isinstance(p, AllOf) else _written(p) for p in parts)
        case Not():
            return _item(condition)


def _item(condition: Condition) -> str:
    """Return a condition as an item of a list that must be met."""
    match condition:
        case Has():
            return f"+{_written(condition)}"
        case Not(part):
            text = _written(part)
            is_one = isinstance(part, Has) or (isinstance(part, Is) and len(list(fields.written(part.filters))) == 1)
            return f"-{text}" if is_one else f"-({text})"
        case AnyOf():
            return f"+({_written(condition)})"
        case _:
            return _written(condition)


def _bare(word: Word) -> bool:
    """Return whether a word parses to itself without quotes."""
    text = word.text
    is_plain = _BARE.fullmatch(text) is not None and text not in OPERATORS and text.casefold() not in STOP_WORDS
    stem = text.rstrip("*")
    return is_plain and pieces(stem) == [stem] and word == word_of(text)
