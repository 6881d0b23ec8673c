"""What a search asks for: the words, and the filters."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from .tokens import alternatives, clean, pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word or phrase of a query."""

    #: As it was typed, for messages.
    text: str
    #: Texts that count as this word, each a phrase whose words follow each other; a final `*` is a prefix.
    alternatives: tuple[str, ...]
    #: A session without it is no answer.
    is_required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A parsed query: words are alternatives and ranked; required and excluded ones decide."""

    text: str
    words: tuple[Word, ...] = ()
    #: A session that has one of these is no answer.
    excluded: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What an answer must be, apart from its words.  Every field narrows; None and empty leave open."""

    #: The session's directory or one below it.
    cwd: str | None = None
    #: Bounds of the session's modified time, both inclusive, timezone-aware.
    after: datetime | None = None
    before: datetime | None = None
    agents: tuple[str, ...] = ()
    #: Search only tool calls and their results …
    tools_only: bool = False
    #: … or only those of this tool (which implies `tools_only`).
    tool: str | None = None
    #: Sessions in which a tool call named this file: a path, or the last parts of one.
    path: str | None = None
    #: Session ids that are no answer.
    exclude: tuple[str, ...] = ()
    #: Headless sessions too.
    all_kinds: bool = False


def cleaned(filters: Filters) -> Filters:
    """Return filters whose texts every database takes; what is indexed was cleaned alike."""
    changed: dict[str, Any] = {}
    for field in fields(filters):
        value = getattr(filters, field.name)
        if isinstance(value, str):
            changed[field.name] = clean(value)
        elif isinstance(value, tuple):
            changed[field.name] = tuple(map(clean, value))
    return replace(filters, **changed)


#: Words that say nothing about a session; left out of a query unless nothing else is in it.
STOP_WORDS = frozenset(
    "a about after all am an and any are as at be been before being but by can could did do does doing down for from "
    "had has have having he her here him his how i if in into is it its just me more most my no nor not now of off on "
    "once only or other our out over own same she should so some such than that the their them then there these they "
    "this those through to too under until up very was we were what when where which while who whom why will with "
    "would you your".split()
)
#: Letters a prefix needs; a shorter one would match nearly everything and is read as a word.
MIN_PREFIX = 2
#: Words of one query that are looked for; more only cost time.
MAX_WORDS = 32

_TOKEN = re.compile(r'([+-]?)"([^"]*)(?:"|$)|(\S+)')


def parse(text: str) -> Query:
    """Read a query as a person typed it; any text is a query.

    Words are alternatives; `"a phrase"` and `+word` are required, `-word` and `-"a phrase"` excluded, `pre*` is
    a prefix.  `*` alone, like nothing at all, asks for no word.
    """
    words: dict[str, Word] = {}
    excluded: list[Word] = []
    for sign, phrase, word in _TOKEN.findall(clean(text)):
        if word and len(word) > 1 and word[0] in "+-" and word[1] not in "+-":
            sign, word = word[0], word[1:]
        if phrase:
            found = [_word(phrase, is_required=True)] if any(c.isalnum() for c in phrase) else []
        else:
            found = [_word(piece, is_required=sign == "+") for piece in _pieces(word)]
        if sign == "-":
            excluded += found
        else:
            for w in found:
                # Required once is required.
                if w.is_required or w.text.casefold() not in words:
                    words[w.text.casefold()] = w
    telling = [w for w in words.values() if w.is_required or w.text.casefold() not in STOP_WORDS]
    return Query(
        text=text,
        words=tuple((telling or list(words.values()))[:MAX_WORDS]),
        excluded=tuple(excluded[:MAX_WORDS]),
    )


def _pieces(word: str) -> list[str]:
    star = "*" if word.endswith("*") else ""
    found = pieces(word.rstrip("*"))
    if found and star:
        found[-1] += star
    return found


def _word(text: str, *, is_required: bool) -> Word:
    stem = text.rstrip("*")
    if stem != text and len(stem) >= MIN_PREFIX:
        return Word(text=text, alternatives=(f"{stem}*",), is_required=is_required)
    return Word(text=stem, alternatives=alternatives(stem), is_required=is_required)
