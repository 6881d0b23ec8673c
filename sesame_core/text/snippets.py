"""Selects the part of a chunk that shows why it matched, and marks the words."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from ..types.answer import Snippet
from ..types.query import Query
from .folding import folded
from .tokens import CJK, ENDINGS, STEM, beyond_ascii, emoji, is_cjk, light_stem

#: Characters of a snippet, before the ellipses.
LENGTH = 240
#: Characters shown before the first mark.
LEAD = 60

_LETTER = r"[^\W_]"
_WORD = re.compile(f"{_LETTER}+")
#: Where a word begins: after no letter, or at an upper-case letter inside a name.
_START = f"(?:(?<!{_LETTER})|(?-i:(?=[A-Z])(?:(?<=[a-z0-9])|(?<=[A-Z])(?=.[a-z]))))"
#: Latin, Greek and Cyrillic blocks with letters that carry accents.
_ACCENTED = (range(0xC0, 0x460), range(0x1E00, 0x2000))
#: Where Unicode's two planes for private characters begin.
_PRIVATE = 0xF0000
_SPACE = re.compile(r"\s+")


def snippet(text: str, query: Query, *, length: int = LENGTH) -> Snippet:
    """Return the part of the text with the most different words of the query; its start if no word is found."""
    found = occurrences(text, query)
    start = max(0, _densest(found, length) - LEAD) if found else 0
    if start:
        space = text.find(" ", start, start + LEAD)
        start = space + 1 if space > 0 else start
    end = min(len(text), start + length)
    inside = [(s, e) for s, e, _ in found if s >= start and e <= end]
    return _on_one_line(text, start, end, inside)


def excerpt(text: str, query: Query, size: int) -> Snippet:
    """Return at most `size` bytes of UTF-8 of a text, on one line: its beginning, unless another part says more.

    That is the part with the most different words of the query.
    """
    text = _SPACE.sub(" ", text).strip()
    found = occurrences(text, query)
    length, start = len(text), 0
    if (whole := len(text.encode("utf-8", "surrogatepass"))) > size:
        # The characters of a part take about as many bytes as those of the whole.
        length = max(1, (size - 2 * len("…".encode())) * len(text) // whole)
        if found and _variety(found, 0, length) < _variety(found, where := _densest(found, length), where + length):
            start = min(max(0, where - LEAD), len(text) - length)
            start = max(start, text.find(" ", start, start + LEAD) + 1)
    end = min(len(text), start + length)
    return _on_one_line(text, start, end, [(s, e) for s, e, _ in found if s >= start and e <= end])


def _variety(found: list[tuple[int, int, str]], start: int, end: int) -> int:
    """Return the number of different words in a part of a text."""
    return len({stem for first, last, stem in found if first >= start and last <= end})


def occurrences(text: str, query: Query, *, is_plain: bool = False) -> list[tuple[int, int, str]]:
    """Return (start, end, stem) of each occurrence of a word of the query in a text.

    :param is_plain: `plain` has returned the text.
    """
    pattern = _pattern(query)
    folded = text if is_plain else plain(text)
    return [(m.start(), m.end(), light_stem(m[0])) for m in pattern.finditer(folded)] if pattern else []


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
def _pattern(query: Query) -> re.Pattern[str] | None:
    """Return a pattern for the query's words in folded text; None when there is nothing to find."""
    # By length: a pattern takes the first alternative that matches, so longer ones go first.
    words: dict[str, int] = {}
    others: dict[str, int] = {}
    for word in query.words:
        others.update((re.escape(one), len(one)) for one in emoji(word.text))
        for alternative in (*word.alternatives, word.text):
            for token in map(plain, _WORD.findall(alternative)):
                if not token.isascii():
                    others[re.escape(token)] = len(token)
                    continue
                stem = light_stem(token)
                if len(stem) > STEM or alternative.endswith("*"):
                    words[f"{stem}{_LETTER}*"] = len(stem)
                    continue
                # Such a short prefix matches many words: only its own endings count, or those of the whole word.
                words[f"{stem}(?:{'|'.join(ENDINGS)})?(?!{_LETTER})"] = len(stem)
                if len(token) > STEM:
                    words[f"{token}{_LETTER}*"] = len(token)
    # Few characters are the first of a word, and comparing them takes a third of the time of the rest.
    firsts = "".join(sorted({word[0] for word in words}))
    parts = [
        *([f"(?=[{firsts}]){_START}(?:{_either(words)})"] if words else []),
        *([_either(others)] if others else []),
    ]
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def _either(parts: Mapping[str, int]) -> str:
    return "|".join(sorted(parts, key=lambda part: -parts[part]))


def plain(text: str) -> str:
    """Return the text with each letter folded in place, so that offsets stay the same."""
    if text.isascii() or not _folded_letters().search(beyond_ascii(text)):
        return text
    return text.translate(_plain_letters)


@functools.cache
def _folded_letters() -> re.Pattern[str]:
    """Return a pattern for letters that are replaced; compiled at first use."""
    accented = "".join(f"{chr(block[0])}-{chr(block[-1])}" for block in _ACCENTED)
    return re.compile(f"[{accented}{CJK}]")


class _PlainLetters(dict[int, int | str]):
    """The replacement of each character; filled as characters occur.

    Letters lose their accents.  Letters of scripts without spaces become private-use characters, which are not part of
    a word: they end a word of another script, and a character class that excluded them would take longer to compile
    than a search.
    """

    def __missing__(self, code: int) -> int | str:
        letter: int | str = code
        if is_cjk(chr(code)):
            letter = code % 0x10000 + (_PRIVATE if code < 0x10000 else _PRIVATE + 0x10000)
        elif any(code in block for block in _ACCENTED) and len(plain := folded(chr(code))) == 1:
            letter = plain
        self[code] = letter
        return letter


_plain_letters = _PlainLetters()
