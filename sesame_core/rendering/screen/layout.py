"""Marked text in columns: cut to one line, wrapped to some."""

from __future__ import annotations

from collections.abc import Iterator

from ...text.cells import ELLIPSIS, cells, prefix, steady
from ...types.answer import Snippet
from ..text import printable

#: The part of a line, one in so many, that may stand before the first match.
LEAD = 8


def safe(snippet: Snippet) -> Snippet:
    """Return a marked text on one line that is safe to print."""
    out, marks, position = "", [], 0
    for start, end in snippet.marks:
        out += _flat(snippet.text[position:start])
        mark = _flat(snippet.text[start:end])
        marks.append((len(out), len(out) + len(mark)))
        out += mark
        position = end
    return Snippet(out + _flat(snippet.text[position:]), tuple(marks))


def fitted(snippet: Snippet, columns: int) -> Snippet:
    """Return a marked text on one line of at most so many columns; a longer one ends in an ellipsis."""
    return next(iter(wrapped(snippet, columns, most=1)), Snippet(""))


def wrapped(snippet: Snippet, columns: int, *, most: int | None = None) -> Iterator[Snippet]:
    """Yield a marked text as lines of at most so many columns, broken between words where there are spaces.

    :param most: most lines; the last one of a longer text ends in an ellipsis.
    """
    text, start, number = snippet.text, 0, 0
    while start < len(text):
        number += 1
        is_last = number == most
        end = _reach(text, start, columns)
        if end < len(text):
            if is_last:
                end = _between_words(text, start, _reach(text, start, columns - 1, least=0))
                yield _part(snippet, start, end, ELLIPSIS)
                return
            end = _between_words(text, start, end)
        yield _part(snippet, start, end)
        start = end
        while text[start : start + 1] == " ":
            start += 1


def focused(snippet: Snippet, columns: int) -> Snippet:
    """Return a marked text from where so many columns have the most different matches; from its start if it fits."""
    text = snippet.text
    if cells(text) <= columns or not snippet.marks:
        return snippet
    lead = columns // LEAD
    # Cells of wide characters are two: this is a choice between places, and the lines are measured afterwards.
    best, start = 0, 0
    for begin, _ in ((0, 0), *snippet.marks):
        end = max(begin - lead, 0) + columns - len(ELLIPSIS) * 2
        different = len({text[s:e].casefold() for s, e in snippet.marks if s >= begin and e <= end})
        if different > best:
            best, start = different, max(begin - lead, 0)
    start = text.find(" ", start, start + lead) + 1 or start if start else 0
    if start <= len(ELLIPSIS):
        return snippet
    before = len(ELLIPSIS)
    return Snippet(
        ELLIPSIS + text[start:], tuple((s - start + before, e - start + before) for s, e in snippet.marks if s >= start)
    )


def _flat(text: str) -> str:
    return steady(printable(text)).replace("\n", " ").replace("\t", " ")


def _reach(text: str, start: int, columns: int, least: int = 1) -> int:
    """Return where a line that begins at `start` must end.

    :param least: characters that it has even if they are wider.
    """
    # No character takes less than a column, but for those that combine with the one before them.
    room = len(prefix(text[start : start + 4 * max(columns, 1)], columns))
    return min(len(text), start + max(room, least))


def _between_words(text: str, start: int, end: int) -> int:
    """Return the last place up to `end` where a word ends; `end` when a single word fills most of the line."""
    if end >= len(text) or text[end] == " ":
        return end
    space = text.rfind(" ", start, end)
    return space if space - start > (end - start) // 2 else end


def _part(snippet: Snippet, start: int, end: int, more: str = "") -> Snippet:
    while end > start and snippet.text[end - 1] == " ":
        end -= 1
    marks = ((max(s, start) - start, min(e, end) - start) for s, e in snippet.marks if s < end and e > start)
    return Snippet(snippet.text[start:end] + more, tuple(marks))
