"""The preview of a session: its messages around the passage as rows, with tool output folded and words marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..rendering.calls import Line
from ..rendering.screen.folding import above, below, folded, is_said, lines_of, most_of
from ..rendering.text import count, days, one_line, place, session_name
from ..rendering.transcripts import spoken_by
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
    """The rows of a session's chunks, made as far as they are shown: from the passage on, and before it.

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
        #: The chunks whose rows are not made: before those that are, in their order, and after them, the next one last.
        self._before = [chunk for chunk in chunks if position is not None and chunk.seq < position]
        self._after = [*reversed(chunks[len(self._before) :])]
        self._rows: list[Row] = []
        #: The row at which the passage is, among those that are made.
        self._passage = 0
        if position is not None and self._after and self._after[-1].seq == position:
            self._rows, first = self._of(self._after.pop())
            self._passage = first

    def window(self, scrolled: int, height: int) -> tuple[Sequence[Row], int]:
        """Return the rows that are shown, and by how many they are scrolled: scrolling stops at both ends.

        :param scrolled: rows from where the passage is at a third of the height.
        """
        lead = height // 3 if self._position is not None else 0
        below = height - lead + scrolled
        self._reach(self._passage + below)
        self._reach_back(max(lead, height - min(below, len(self._rows) - self._passage)))
        # With fewer rows before it, the passage is further up.
        start = max(0, self._passage - lead)
        self._reach(max(start + scrolled, 0) + height)
        last = max(0, len(self._rows) - height)
        scrolled = max(-start, min(scrolled, last - start))
        at = max(0, min(start + scrolled, last))
        return self._rows[at : at + height], scrolled

    def _reach(self, count: int) -> None:
        """Make rows, until there are as many, or no more."""
        while self._after and len(self._rows) < count:
            rows, _ = self._of(self._after.pop())
            self._rows += [[], *rows] if self._rows else rows

    def _reach_back(self, count: int) -> None:
        """Make rows before the passage, until there are as many, or no more."""
        while self._before and self._passage < count:
            rows, _ = self._of(self._before.pop())
            rows += [[]] if self._rows else []
            self._rows[:0] = rows
            self._passage += len(rows)

    def _of(self, chunk: Chunk) -> tuple[list[Row], int]:
        """Return the rows of a chunk, and the one of its text at which most words of the query are."""
        is_passage = chunk.seq == self._position
        most = None if self._is_unfolded else SAID if is_said(chunk) else most_of(chunk, is_around=is_passage)
        rows, first = _body(chunk, self._query, self._width, most, is_passage=is_passage)
        return [clipped(_speaker(chunk, is_passage=is_passage), self._width), *rows], first


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
