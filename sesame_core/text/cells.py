"""How many cells of a terminal a text takes, and texts that fit into a number of cells.

Terminals disagree on the width of joined emoji, of variation selectors and of skin tones.  `steady` removes what they
disagree on, so that a text has one width everywhere.
"""

from __future__ import annotations

import functools
import re
import unicodedata

#: What takes the place of the rest of a text that does not fit.
ELLIPSIS = "…"
#: Cells up to the next multiple of which a tab goes.
TAB = 4
#: Vowels and final consonants of Hangul, which are drawn into the syllable before them.
_JAMO = range(0x1160, 0x1200)
_UNSTEADY = (
    r"[\u00ad\u200b\u200e\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff\U0001f3fb-\U0001f3ff"
    r"\U000e0001-\U000e007f\U000e0100-\U000e01ef]|(?<=\W)[\u200c\u200d]|[\u200c\u200d](?=\W|\Z)"
)


def steady(text: str) -> str:
    """Return a text without the invisible characters whose effect on its width depends on the terminal."""
    return text if text.isascii() else _unsteady().sub("", text)


@functools.cache
def _unsteady() -> re.Pattern[str]:
    return re.compile(_UNSTEADY)


@functools.lru_cache(maxsize=8192)
def cells_of(character: str) -> int:
    """Return the number of cells of a printable character: 0, 1 or 2."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or ord(character) in _JAMO:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cells(text: str) -> int:
    """Return the number of cells of a printable text."""
    return len(text) if text.isascii() else sum(map(cells_of, text))


def prefix(text: str, most: int) -> str:
    """Return the longest beginning of a text that takes at most this number of cells."""
    if text.isascii():
        return text[: max(most, 0)]
    taken = 0
    for place, character in enumerate(text):
        taken += cells_of(character)
        if taken > most:
            return text[:place]
    return text


def cut(text: str, most: int) -> str:
    """Return a text in at most this number of cells; of a longer one the beginning and an ellipsis."""
    if cells(text) <= most:
        return text
    return prefix(text, most - 1).rstrip() + ELLIPSIS if most > 0 else ""


def cut_left(text: str, most: int) -> str:
    """Return a text in at most this number of cells; of a longer one an ellipsis and the end."""
    if cells(text) <= most:
        return text
    if most <= 0:
        return ""
    start = len(text)
    taken = 1
    while start and taken + cells_of(text[start - 1]) <= most:
        start -= 1
        taken += cells_of(text[start])
    return ELLIPSIS + text[start:]


def filled(text: str, width: int) -> str:
    """Return a text in exactly this number of cells: cut, or with spaces after it."""
    text = cut(text, width)
    return text + " " * (width - cells(text))


def wrapped(line: str, width: int) -> list[tuple[int, int]]:
    """Return where each row of a line without line feeds starts and ends, when rows have this number of cells.

    Rows end at spaces, which belong to none; a longer word is divided.
    """
    width = max(width, 2)  # the widest character
    rows = []
    start = 0
    while True:
        room = len(prefix(line[start:] if start else line, width))
        end = start + room
        if end >= len(line):
            rows.append((start, len(line)))
            return rows
        space = line.rfind(" ", start + 1, end + 1)
        if space > start and line[start:space].strip():
            rows.append((start, space))
            start = space + 1
        else:
            rows.append((start, end))
            start = end
