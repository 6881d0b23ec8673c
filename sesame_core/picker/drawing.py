"""Makes the rows of a screen from the state of a picker."""

from __future__ import annotations

import operator
import os
from typing import TYPE_CHECKING

from ..text.cells import cells, cut, cut_left, steady, wrapped
from .bindings import BINDINGS, SHOWN, short, title
from .layout import GAP, Area, Layout
from .spans import Row, clipped, marked, painted

if TYPE_CHECKING:
    from ..types.answer import Hit
    from .finder import Loaded
    from .preview import Preview
    from .state import State

PROMPT = "> "
#: Columns of a list from which on it names the agent, and the directory.
WITH_AGENT, WITH_DIRECTORY = 60, 44
#: Columns of an agent's name, and most of a directory's as a part of the list.
AGENT, DIRECTORY = 12, 0.28


def screen(state: State, of: Layout, *, colour: bool) -> tuple[list[str], tuple[int, int]]:
    """Return the rows of the screen, and where its cursor is."""
    typed, column = _typed(state, of.columns)
    rows = [painted(typed, of.columns, colour=colour), painted(_told(state), of.columns, colour=colour)]
    height = of.rows - len(rows) - of.has_keys
    if state.help is not None:
        body = [painted(row, of.columns, colour=colour) for row in _help(state, height, of.columns)]
    else:
        body = _body(state, of, colour=colour)
    rows += (body + [" " * of.columns] * height)[: max(height, 0)]
    if of.has_keys:
        rows.append(painted(_keys(of.columns), of.columns, colour=colour))
    return rows[: of.rows], (0, min(column, of.columns - 1))


def _typed(state: State, columns: int) -> tuple[Row, int]:
    """Return the row that is typed, of a long one the part around the cursor, and the column of the cursor."""
    line = state.line
    room = max(columns - len(PROMPT) - 1, 1)
    before = cut_left(line.text[: line.cursor], room)
    after = cut(line.text[line.cursor :], max(columns - len(PROMPT) - cells(before), 0))
    return [(PROMPT, "prompt"), (before + after, "")], len(PROMPT) + cells(before)


def _told(state: State) -> Row:
    """Return the row that says what was found, what an action did, or what can be completed."""
    if state.completion is not None:
        row: Row = []
        for number, candidate in enumerate(state.completion.candidates):
            row += [(candidate, "current" if number == state.completion.at else ""), ("  ", "")]
        return row
    if state.message:
        return [(state.message, "error" if state.is_failure else "bold")]
    parts = [counted(state)]
    parts += ["indexing …"] if state.is_indexing else []
    return [(" · ".join([*parts, *state.notes]), "dim")]


def counted(state: State) -> str:
    """Return how many sessions were found: `50 of 452 sessions`."""
    if state.error is not None:
        return "no answer"
    answer = state.answer
    if answer is None:
        return "opening the index …"
    total = ("at least " if answer.is_truncated else "") + str(answer.total)
    noun = "session" if answer.total == 1 else "sessions"
    shown = f"{len(answer.hits)} of {total} {noun}" if len(answer.hits) < answer.total else f"{total} {noun}"
    weak = " · weak match" if answer.is_weak and answer.hits else ""
    return f"{shown}, latest first" if answer.mode == "browse" and answer.hits else shown + weak


def _body(state: State, of: Layout, *, colour: bool) -> list[str]:
    """Return the rows of the list and the preview."""
    listed = _list(state, of.list, colour=colour)
    if of.preview is None:
        return listed
    shown = [painted(row, of.preview.width, colour=colour) for row in preview_rows(state, of.preview)]
    if of.is_wide:
        gap = painted([(" │ ", "dim")], GAP, colour=colour)
        return [left + gap + right for left, right in zip(listed, shown, strict=True)]
    return [*listed, painted([("─" * of.columns, "dim")], of.columns, colour=colour), *shown]


def _list(state: State, area: Area, *, colour: bool) -> list[str]:
    _scroll(state, area.height)
    rows = []
    for number in range(state.top, min(state.top + area.height, len(state.hits))):
        rows.append(_listed(state, number, area.width, colour=colour))
    told = [state.error] if state.error is not None else list(state.notes) if len(rows) < area.height else []
    for text in told:
        style = "error" if state.error is not None else "dim"
        rows += [painted([(text[a:b], style)], area.width, colour=colour) for a, b in wrapped(text, area.width)]
    return (rows + [" " * area.width] * area.height)[: area.height]


def _listed(state: State, number: int, width: int, *, colour: bool) -> str:
    """Return the row of a session, made again only when it has changed."""
    from .ages import age

    hit, is_selected = state.hits[number], number == state.selected
    made_of = (age(hit.session.modified), hit.session.notes, is_selected, width, colour)
    made = state.listed.get(number)
    if made is None or made[0] != made_of:
        row = _hit(state, hit, width, is_selected=is_selected)
        made = state.listed[number] = made_of, painted(row, width, colour=colour, selected=is_selected)
    return made[1]


def _scroll(state: State, height: int) -> None:
    """Let the selected session be among those that are shown."""
    last = max(0, len(state.hits) - height)
    state.top = max(min(state.top, state.selected, last), state.selected - height + 1, 0)


def _hit(state: State, hit: Hit, width: int, *, is_selected: bool) -> Row:
    from ..rendering.text import one_line, session_name
    from ..text.snippets import occurrences
    from .ages import WIDTH, age

    session = hit.session
    row: Row = [("> " if is_selected else "  ", "bold"), (age(session.modified).rjust(WIDTH) + " ", "dim")]
    if width >= WITH_AGENT:
        row.append((cut(one_line(session.agent), AGENT - 1).ljust(AGENT), "dim"))
    name = steady(session_name(hit.stored))
    where = ""
    if width >= WITH_DIRECTORY and session.cwd:
        where = steady(one_line(os.path.basename(session.cwd.replace("\\", "/").rstrip("/")) or session.cwd))
        where = cut(where, int(width * DIRECTORY))
    room = width - sum(cells(text) for text, _ in row) - (cells(where) + 1 if where else 0)
    query = state.answer.query if state.answer else None
    marks = [(start, end) for start, end, _ in occurrences(name, query)] if query and query.words else []
    titled = clipped(marked(name, marks), room)
    row += titled
    if where:
        gap = room - sum(cells(text) for text, _ in titled) + 1
        row += [(" " * gap, ""), (where, "dim")]
    return row


def preview_rows(state: State, area: Area) -> list[Row]:
    """Return the rows of the preview that are shown; scrolling stops at its ends."""
    from ..rendering.text import one_line
    from .preview import heading

    hit, loaded = state.hit, state.loaded
    rows: list[Row] = []
    if hit is not None:
        rows = [*heading(hit.stored, area.width), []][: area.height]
    if loaded is not None and hit is not None and loaded.hit.session.key == hit.session.key:
        height = max(area.height - len(rows), 0)
        if loaded.error is not None:
            rows.append(clipped([(steady(one_line(loaded.error)), "error")], area.width))
        elif height:
            shown, state.scrolled = _preview(state, loaded, area.width).window(state.scrolled, height)
            rows += shown
    return (rows + [[] for _ in range(area.height)])[: area.height]


def _preview(state: State, loaded: Loaded, width: int) -> Preview:
    """Return the preview, made again only when it has changed."""
    from ..types.query import Query
    from .preview import Preview

    made_of = (loaded, state.answer, width, state.is_unfolded)
    if state.made is None or not all(map(operator.is_, state.made[0], made_of)):
        query = state.answer.query if state.answer else Query(text="")
        made = Preview(loaded.chunks, query, width, position=loaded.position, is_unfolded=state.is_unfolded)
        state.made = made_of, made
    return state.made[1]


def _help(state: State, height: int, columns: int) -> list[Row]:
    width = max(cells(", ".join(map(title, binding.keys))) for binding in BINDINGS)
    width = min(width, columns // 2 - 2)
    rows: list[Row] = []
    for binding in BINDINGS:
        keys = cut(", ".join(map(title, binding.keys)), width)
        lines = [binding.help[a:b] for a, b in wrapped(binding.help, columns - width - 2)]
        rows.append([(keys.ljust(width + 2), "bold"), (lines[0], "")])
        rows += [[(" " * (width + 2) + line, "")] for line in lines[1:]]
    state.help = max(0, min(state.help or 0, len(rows) - height))
    return rows[state.help : state.help + height]


def _keys(columns: int) -> Row:
    """Return the row that names keys: as many as fit."""
    row: Row = []
    taken = 0
    for key, does in SHOWN:
        gap = "  " if row else ""
        taken += len(gap) + len(short(key)) + 1 + len(does)
        if taken > columns:
            break
        row += [(gap + short(key), "bold"), (f" {does}", "dim")]
    return row
