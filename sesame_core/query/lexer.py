"""Splits a query into its words, phrases, fields, parentheses and operators."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..dataclass import dataclass
from . import fields

#: Operators, in upper case only.
OPERATORS = ("AND", "OR", "NOT")

_QUOTED = re.compile(r'([+-]?)(?:([A-Za-z]+):)?"([^"]*)("|$)')
_GROUP = re.compile(r"([+-]?)\(")
_RAW = re.compile(r"\S+")
#: A word that looks like a field.
FIELD = re.compile(r"([A-Za-z]+):(.+)")


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a query."""

    #: "word", "phrase", "field", "(", ")" or an operator.
    kind: str
    text: str = ""
    sign: str = ""
    field: str = ""
    #: Where it stands in the query, with its sign and its quotes.
    start: int = 0
    end: int = 0


def tokens(text: str) -> Iterator[Token]:
    """Split a query where its words, phrases, fields and parentheses begin.

    A quote that is not closed makes a phrase only at the beginning of the query, and the value of a field anywhere.
    """
    position = depth = 0
    while position < len(text):
        start = position
        if text[position].isspace():
            position += 1
        elif match := _QUOTED.match(text, position):
            sign, field, phrase, last = match.groups()
            position = match.end()
            is_field = bool(field) and field.lower() in fields.KEYS
            is_open = not last and not is_field and bool(text[:start].strip())
            if is_field:
                yield Token("field", phrase, sign, field, start, position)
                continue
            if field:
                yield Token("word", f"{field}:", sign, "", start, match.start(3) - 1)
            if is_open:
                position = match.start(3)
            else:
                yield Token("phrase", phrase, sign, "", start, position)
        elif match := _GROUP.match(text, position):
            depth += 1
            position = match.end()
            yield Token("(", "", match[1], "", start, position)
        elif depth and text[position] == ")":
            depth -= 1
            position += 1
            yield Token(")", "", "", "", start, position)
        else:
            raw = _RAW.match(text, position)
            assert raw is not None
            word = _within(raw[0]) if depth else raw[0]
            position += len(word)
            yield _word_token(word, start)


def _within(raw: str) -> str:
    """Return a word up to a parenthesis that it does not open itself: all of `main()`, `dog` of `dog)`."""
    opened = 0
    for position, character in enumerate(raw):
        opened += (character == "(") - (character == ")")
        if opened < 0:
            return raw[:position]
    return raw


def _word_token(raw: str, start: int) -> Token:
    end = start + len(raw)
    if raw in OPERATORS:
        return Token(raw, "", "", "", start, end)
    sign = raw[0] if len(raw) > 1 and raw[0] in "+-" and raw[1] not in "+-" else ""
    text = raw[len(sign) :]
    match = FIELD.fullmatch(text)
    if match and match[1].lower() in fields.KEYS:
        return Token("field", match[2].replace('"', ""), sign, match[1], start, end)
    return Token("word", text, sign, "", start, end)


def nesting(tokens: Iterable[Token]) -> int:
    """Return the maximum nesting depth of the parentheses."""
    depth = deepest = 0
    for token in tokens:
        depth += (token.kind == "(") - (token.kind == ")")
        deepest = max(deepest, depth)
    return deepest
