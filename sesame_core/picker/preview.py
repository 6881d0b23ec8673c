"""The preview of a session: its messages around the passage as rows, with tool output folded and words marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..rendering.calls import Line
from ..rendering.screen.folding import above, below, folded, is_said, lines_of, most_of
from ..rendering.sessions import spoken_by
from ..rendering.text import count, days, one_line, place, session_name
from ..text.cells import TAB, steady
from ..text.snippets import occurrences
from .spans import Row, clipped, marked, wrapped_row

if TYPE_CHECKING:
    from ..types.index import Chunk, StoredSession
    from ..types.query import Query

#: Lines that are shown of what was said: a preview is not for reading all of a long text.
SAID = 60
#: Characters of a chunk that are shown unfolded, and of a line.
UNFOLDED, LINE = 100_000, 2_000
_SIDES = {"-": "removed", "+": "added"}


def heading(stored: StoredSession, width: int) -> list[Row]:
    """Return what is said of a session: its name, and where and when it was."""
    session = stored.session
    facts = [session.agent, count(session.message_count, "message"), days(session.created, session.modified)]
    facts += ["file is gone"] if stored.missing_since else []
    facts += [f"#{tag}" for tag in (session.notes.tags if session.notes else ())]
    return [
        clipped([(steady(session_name(stored)), "bold")], width),
        clipped([(steady(place(session.cwd)), "dim")], width),
        clipped([(steady(one_line(" · ".join(facts))), "dim")], width),
    ]


class Preview:
    """The rows of a session's chunks, made as far as they are shown.

    :param position: the position of the passage, which is marked; None for the start.
    :param is_unfolded: show all lines of each chunk.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        query: Query,
        width: int,
        *,
        position: int | None = None,
        is_unfolded: bool = False,
    ) -> None:
        self._query = query
        self._width = width
        self._position = position
        self._is_unfolded = is_unfolded
        self._rest = list(reversed(chunks))
        self._rows: list[Row] = []
        #: The row at which the passage is.
        self.passage = 0
        while position is not None and self._rest and self._rest[-1].seq <= position:
            self._add(self._rest.pop())

    def rows(self, count: int) -> Sequence[Row]:
        """Return the first rows: this number, or more; fewer if there are no more."""
        while self._rest and len(self._rows) < count:
            self._add(self._rest.pop())
        return self._rows

    def _add(self, chunk: Chunk) -> None:
        is_passage = chunk.seq == self._position
        if self._rows:
            self._rows.append([])
        if is_passage:
            self.passage = len(self._rows)
        self._rows.append(clipped(_speaker(chunk, is_passage=is_passage), self._width))
        most = None if self._is_unfolded else SAID if is_said(chunk) else most_of(chunk, is_around=is_passage)
        shown, first = _body(chunk, self._query, self._width, most, is_passage=is_passage)
        if is_passage:
            self.passage += first
        self._rows += shown


def _speaker(chunk: Chunk, *, is_passage: bool) -> Row:
    time = f"  {chunk.timestamp.astimezone():%Y-%m-%d %H:%M}" if chunk.timestamp else ""
    arrow = "→" if is_passage else "#"
    error: Row = [(" error", "error")] if chunk.is_error else []
    return [(f"{arrow}{chunk.seq} ", "dim"), (steady(spoken_by(chunk)), "speaker"), *error, (time, "dim")]


def _body(chunk: Chunk, query: Query, width: int, most: int | None, *, is_passage: bool) -> tuple[list[Row], int]:
    """Return the rows of a chunk's text, and the one at which most words of the query are.

    :param most: the lines of it that are shown; None for all.
    """
    shown = _terminal_lines(lines_of(chunk))
    text = "\n".join(line.text for line in shown)
    marks = occurrences(text[:UNFOLDED], query) if query.words else []
    lines: list[tuple[Line, int]] = []
    position = 0
    for each in shown:
        lines.append((each, position))
        position += len(each.text) + 1
        if position > UNFOLDED:
            break
    first = 0
    if is_passage and marks and most is not None and len(lines) > most:
        # The lines with the most different words, and one before them.
        first = max(0, _best(lines, marks, most) - 1)
    kept = folded(len(lines), most, first=first)
    rows: list[Row] = []
    if kept.start:
        rows.append([(above(kept.start), "dim")])
    # A line of what is folded takes a row, but for the passage, whose words must be seen.
    is_brief = most is not None and not is_passage and not is_said(chunk)
    plain = "" if chunk.kind == "message" else "dim"
    best, at = 0, len(rows)
    for (line, side), start in lines[kept.start : kept.stop]:
        inside = [(s - start, e - start) for s, e, _ in marks if start <= s and e <= start + len(line[:LINE])]
        if len(inside) > best:
            best, at = len(inside), len(rows)
        style = _SIDES.get(side, plain)
        if is_brief:
            rows.append(clipped(marked(line[:LINE], inside, style), width))
            continue
        rows += wrapped_row(line[:LINE], inside, width, style)
        if len(line) > LINE:
            rows.append([(f"… {count(len(line) - LINE, 'more character')}", "dim")])
    if (hidden := len(lines) - kept.stop) or position <= len(text):
        rows.append([(below(hidden) if hidden else "… more", "dim")])
    return rows, at


def _terminal_lines(lines: Sequence[Line]) -> list[Line]:
    """Return lines as any terminal shows them: one on several if it has other separators of lines."""
    text = steady("\n".join(line.text for line in lines)).expandtabs(TAB)
    return [
        Line(part, side)
        for whole, (_, side) in zip(text.split("\n"), lines, strict=True)
        for part in re.split("[\u2028\u2029]", whole)
    ]


def _best(lines: Sequence[tuple[Line, int]], marks: Sequence[tuple[int, int, str]], most: int) -> int:
    """Return the first of those lines, as many as are shown, that have the most different words."""
    of_line: dict[int, set[str]] = {}
    number = 0
    for start, _, stem in marks:
        while number + 1 < len(lines) and lines[number + 1][1] <= start:
            number += 1
        of_line.setdefault(number, set()).add(stem)
    size = max(most - 1, 1)

    def words(first: int) -> int:
        return len(set().union(*(stems for at, stems in of_line.items() if first <= at < first + size)))

    return max(sorted(of_line)[:200], key=words)
