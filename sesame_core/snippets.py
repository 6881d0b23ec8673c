"""Picks the part of a chunk that shows why it matched, and marks the words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .query import Query

#: Characters of a snippet, before the ellipses.
LENGTH = 240
#: Characters shown before the first mark.
LEAD = 60

_WORD = re.compile(r"[^\W_]+")
_SPACE = re.compile(r"\s+")
_ENDINGS = (
    "ations",
    "ation",
    "ingly",
    "edly",
    "ings",
    "ying",
    "ied",
    "ies",
    "ing",
    "ers",
    "ed",
    "er",
    "es",
    "ly",
    "s",
    "y",
    "e",
)
#: Letters that must be left when an ending is taken off.
_STEM = 3


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a chunk on one line."""

    text: str
    #: (start, end) of each word that matched, in `text`.
    marks: tuple[tuple[int, int], ...] = ()


def snippet(text: str, query: Query, *, length: int = LENGTH) -> Snippet:
    """Return the stretch of the text with the most different words of the query; its start if none is found."""
    pattern = _pattern(query)
    found = [(m.start(), m.end(), _stem(m[0])) for m in pattern.finditer(text)] if pattern else []
    start = max(0, _densest(found, length) - LEAD) if found else 0
    if start:
        space = text.find(" ", start, start + LEAD)
        start = space + 1 if space > 0 else start
    end = min(len(text), start + length)
    inside = [(s, e) for s, e, _ in found if s >= start and e <= end]
    return _on_one_line(text, start, end, inside)


def _densest(found: list[tuple[int, int, str]], length: int) -> int:
    """Return where the window with the most different words begins."""
    best, where, first = 0, found[0][0], 0
    for last, (_, end, _) in enumerate(found):
        while end - found[first][0] > length - LEAD:
            first += 1
        distinct = len({stem for _, _, stem in found[max(first, last - 20) : last + 1]})
        if distinct > best:
            best, where = distinct, found[first][0]
    return where


def _on_one_line(text: str, start: int, end: int, marks: list[tuple[int, int]]) -> Snippet:
    out = "…" if text[:start].strip() else ""
    placed = []
    position = start
    for s, e in marks:
        out += _SPACE.sub(" ", text[position:s])
        placed.append((len(out), len(out) + e - s))
        out += text[s:e]
        position = e
    out += _SPACE.sub(" ", text[position:end]).rstrip()
    return Snippet(out + ("…" if text[end:].strip() else ""), tuple(placed))


def _pattern(query: Query) -> re.Pattern[str] | None:
    parts = []
    for word in query.words:
        for alternative in {*word.alternatives, word.text}:
            for token in _WORD.findall(alternative):
                if not token.isascii():
                    parts.append(re.escape(token))
                    continue
                stem = _stem(token)
                ending = "[^\\W_]*" if len(stem) > _STEM or alternative.endswith("*") else "s?(?![^\\W_])"
                parts.append(f"(?<![^\\W_]){re.escape(stem)}{ending}")
    return re.compile("|".join(dict.fromkeys(parts)), re.IGNORECASE) if parts else None


def _stem(word: str) -> str:
    word = word.lower()
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word[: -len(ending)]
    return word
