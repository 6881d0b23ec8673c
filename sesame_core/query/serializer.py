"""Serializes a query as a string that parses to an equal one."""

from __future__ import annotations

import re

from ..text.tokens import pieces
from ..text.words import word_of
from ..types.query import AllOf, AnyOf, Condition, Has, Is, Not, Query, Word
from . import fields
from .boolean import parts_of, positive_words, some
from .filters import asked
from .lexer import OPERATORS, tokens
from .parser import STOP_WORDS, meant

_BARE = re.compile(r"\w+(?:[./@#-]+\w+)*\*?")


def unparse(query: Query) -> str:
    """Return a string that parses to an equal query; equal queries give the same string."""
    text = _text(query, is_quoted=False)
    read = list(tokens(text))
    # Beside an option or a command, a word with a sign would be an option.
    return text if meant(read)[0] == read else _text(query, is_quoted=True)


def _text(query: Query, *, is_quoted: bool) -> str:
    """Return a query as a string.

    :param is_quoted: whether all words with a sign, and all values of fields, are in quotes.
    """
    needed = set(positive_words(query.condition))
    extra = [Has(word) for word in query.words if word not in needed]
    facts = [*([Is(query.filters)] if asked(query.filters) else []), *some(query.condition)]
    if all(_bare(has.word) for has in extra):
        words = " ".join(has.word.text for has in extra)
    else:
        words = _written(AnyOf(tuple(extra)), is_quoted)
        words = f"({words})" if facts else words
    return " ".join(filter(None, [words, *(_item(part, is_quoted) for part in parts_of(AllOf, facts))]))


def _written(condition: Condition, is_quoted: bool, *, is_signed: bool = False) -> str:
    """Return a condition as a list, or as lists joined by OR."""
    match condition:
        case Has(word):
            return word.text if _bare(word) and not (is_quoted and is_signed) else f'"{word.text}"'
        case Is(filters):
            return " ".join(fields.written(filters, is_quoted=is_quoted))
        case AllOf(parts):
            return " ".join(_item(part, is_quoted) for part in parts)
        case AnyOf(parts):
            return " OR ".join(
                f"({_written(p, is_quoted)})" if isinstance(p, AllOf) else _written(p, is_quoted) for p in parts
            )
        case Not():
            return _item(condition, is_quoted)


def _item(condition: Condition, is_quoted: bool) -> str:
    """Return a condition as an item of a list that must be met."""
    match condition:
        case Has():
            return f"+{_written(condition, is_quoted, is_signed=True)}"
        case Not(part):
            text = _written(part, is_quoted, is_signed=True)
            is_one = isinstance(part, Has) or (isinstance(part, Is) and len(list(fields.written(part.filters))) == 1)
            return f"-{text}" if is_one else f"-({text})"
        case AnyOf():
            return f"+({_written(condition, is_quoted)})"
        case _:
            return _written(condition, is_quoted)


def _bare(word: Word) -> bool:
    """Return whether a word parses to itself without quotes."""
    text = word.text
    is_plain = _BARE.fullmatch(text) is not None and text not in OPERATORS and text.casefold() not in STOP_WORDS
    stem = text.rstrip("*")
    return is_plain and pieces(stem) == [stem] and word == word_of(text)
