"""Pieces of text with a style, and rows of a screen made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from ..text.cells import cells, cut, wrapped

#: A text and the name of its style, of `STYLES`; "" is plain.
Span: TypeAlias = "tuple[str, str]"
Row: TypeAlias = "list[Span]"

#: SGR codes by style; with colours, and without.
STYLES = {
    "": ("", ""),
    "bold": ("1", "1"),
    "dim": ("2", "2"),
    "mark": ("1;33", "1;4"),
    "prompt": ("1;36", "1"),
    "speaker": ("36", "1"),
    "error": ("31", "1"),
    "removed": ("31", ""),
    "added": ("32", ""),
    "current": ("7", "7"),
}
#: The style of a selected row, added to each of its spans.
SELECTED = "7"
_RESET = "\x1b[0m"


def has_colour(environ: Mapping[str, str]) -> bool:
    """Return whether colours are wanted, by the variables that people set for all programs."""
    return not environ.get("NO_COLOR") and environ.get("CLICOLOR") != "0"


def clipped(row: Iterable[Span], width: int) -> Row:
    """Return a row in at most this number of cells, with an ellipsis where it was cut."""
    kept: Row = []
    room = width
    for text, style in row:
        taken = cells(text)
        if taken > room:
            if room > 0:
                kept.append((cut(text, room), style))
            elif kept:
                last, of = kept[-1]
                kept[-1] = cut(last + "  ", cells(last)), of
            return kept
        kept.append((text, style))
        room -= taken
    return kept


def painted(row: Iterable[Span], width: int, *, colour: bool, selected: bool = False) -> str:
    """Return a row of exactly this number of cells, as a terminal takes it."""
    out = []
    room = width
    for text, style in [*clipped(row, width), ("", "fill")]:
        if style == "fill":
            text, style = " " * max(room, 0), ""
        room -= cells(text)
        codes = ";".join(filter(None, (STYLES[style][not colour], SELECTED if selected else "")))
        out.append(f"\x1b[{codes}m{text}{_RESET}" if codes and text else text)
    return "".join(out)


def marked(text: str, marks: Sequence[tuple[int, int]], style: str = "") -> Row:
    """Return a text as spans, with the style `mark` from each start to its end; the places are in order."""
    row: Row = []
    position = 0
    for start, end in marks:
        row += [(text[position:start], style), (text[start:end], "mark")]
        position = end
    return [span for span in [*row, (text[position:], style)] if span[0]]


def wrapped_row(text: str, marks: Sequence[tuple[int, int]], width: int, style: str = "") -> list[Row]:
    """Return a line without line feeds as rows of at most this number of cells."""
    rows = []
    for first, last in wrapped(text, width):
        inside = [
            (max(start, first) - first, min(end, last) - first) for start, end in marks if first < end and start < last
        ]
        rows.append(marked(text[first:last], inside, style))
    return rows
