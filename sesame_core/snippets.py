"""Picks the part of a chunk that shows why it matched, and marks the words."""

from __future__ import annotations

import functools
import re

from .dataclass import dataclass
from .folding import folded
from .query import Query
from .tokens import CJK, ENDINGS, STEM, has_cjk, light_stem, pictures

#: Characters of a snippet, before the ellipses.
LENGTH = 240
#: Characters shown before the first mark.
LEAD = 60

_WORD = re.compile(r"[^\W_]+")
#: Latin, Greek and Cyrillic blocks with letters that carry accents.
_ACCENTED = (*range(0xC0, 0x460), *range(0x1E00, 0x2000))
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a chunk on one line."""

    text: str
    #: (start, end) of each word that matched, in `text`.
    marks: tuple[tuple[int, int], ...] = ()


def snippet(text: str, query: Query, *, length: int = LENGTH) -> Snippet:
    """Return the stretch of the text with the most different words of the query; its start if none is found."""
    found = occurrences(text, query)
    start = max(0, _densest(found, length) - LEAD) if found else 0
    if start:
        space = text.find(" ", start, start + LEAD)
        start = space + 1 if space > 0 else start
    end = min(len(text), start + length)
    inside = [(s, e) for s, e, _ in found if s >= start and e <= end]
    return _on_one_line(text, start, end, inside)


def occurrences(text: str, query: Query) -> list[tuple[int, int, str]]:
    """Return (start, end, stem) of each place in a text where a word of the query stands."""
    # Letters of scripts without spaces end a word of another script.
    pattern = _pattern(query, f"[^\\W_{CJK}]" if has_cjk(text) else "[^\\W_]")
    return [(m.start(), m.end(), light_stem(m[0])) for m in pattern.finditer(_plain(text))] if pattern else []


def _densest(found: list[tuple[int, int, str]], length: int) -> int:
    """Return where the window with the most different words begins."""
    best, where, first = 0, found[0][0], 0
    inside: dict[str, int] = {}
    for last, (_, end, stem) in enumerate(found):
        inside[stem] = inside.get(stem, 0) + 1
        while first < last and end - found[first][0] > length - LEAD:
            left = found[first][2]
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
            first += 1
        if len(inside) > best:
            best, where = len(inside), found[first][0]
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


@functools.lru_cache(maxsize=8)
def _pattern(query: Query, letter: str) -> re.Pattern[str] | None:
    """Return what finds the query's words; `letter` is the expression for one letter of a word."""
    # By length: the first alternative that fits is taken, so longer ones come first.
    parts: dict[str, int] = {}
    for word in query.words:
        parts.update((re.escape(picture), len(picture)) for picture in pictures(word.text))
        for alternative in (*word.alternatives, word.text):
            for token in _WORD.findall(_plain(alternative)):
                if not token.isascii():
                    parts[re.escape(token)] = len(token)
                    continue
                stem = light_stem(token)
                if len(stem) > STEM or alternative.endswith("*"):
                    parts[f"(?<!{letter}){stem}{letter}*"] = len(stem)
                    continue
                # So short a beginning fits many words: only its own endings count, or those of the whole word.
                parts[f"(?<!{letter}){stem}(?:{'|'.join(ENDINGS)})?(?!{letter})"] = len(stem)
                if len(token) > STEM:
                    parts[f"(?<!{letter}){token}{letter}*"] = len(token)
    return re.compile("|".join(sorted(parts, key=lambda p: -parts[p])), re.IGNORECASE) if parts else None


def _plain(text: str) -> str:
    """Return the text with plain letters, each in its place."""
    return text if text.isascii() else text.translate(_unaccented())


@functools.cache
def _unaccented() -> dict[int, str]:
    plain = {code: folded(chr(code)) for code in _ACCENTED}
    return {code: letter for code, letter in plain.items() if len(letter) == 1}
