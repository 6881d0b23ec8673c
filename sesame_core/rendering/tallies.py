"""Counts of sessions: as text with bars, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..text.cells import cells, cut_left
from ..types.answer import Snippet
from .screen.layout import fitted, safe
from .screen.prose import fitted_lines
from .screen.style import DIM, TITLE, Screen
from .text import SCHEMA_VERSION, count, days, home, iso

if TYPE_CHECKING:
    from ..types.tally import Tallies, Tally
    from .schemas.tallies import TalliesJson, TallyJson

#: Columns of a group's name at most, and of a bar, for which further numbers are left out.
NAME, BAR = 40, 10
#: The columns of numbers: their heads, and the fields of a `Tally`; the first ones stay on a narrow screen.
COLUMNS = ("sessions", "messages", "prompts", "calls", "failures", "files")
#: What stands for the name of a group that is not known.
UNKNOWN = {"day": "undated", "week": "undated", "project": "(no directory)"}


def tallies_json(found: Tallies, limit: int) -> TalliesJson:
    """Return the JSON value of counts.

    :param limit: most groups.
    """
    return {
        "schemaVersion": SCHEMA_VERSION,
        "by": found.by,
        "first": iso(found.first),
        "last": iso(found.last),
        "total": _json(found.total),
        "groupCount": len(found.groups),
        "groups": [_json(tally) for tally in found.groups[:limit]],
    }


def tallies_text(found: Tallies, limit: int, screen: Screen, bar: str = "█", *, is_wrapped: bool = True) -> str:
    """Return counts as lines that fit a screen: all, then each group with a bar for its messages, or a tool's calls.

    :param limit: most groups.
    :param bar: the character of the bars.
    :param is_wrapped: break the first line between words where it is too long; elsewhere than on a terminal it is one.
    """
    shown = found.groups[:limit]
    top = fitted_lines(headline(found), screen.width) if is_wrapped else headline(found)
    if not shown:
        return top
    names = [_name(found, tally, screen) for tally in shown]
    wide = max(map(cells, names))
    columns = _columns(shown, screen.width - wide - BAR - 2)
    numbers = [[str(getattr(tally, column)) for column in columns] for tally in shown]
    widths = [max(map(len, column)) for column in zip(columns, *numbers, strict=True)]
    room = screen.width - wide - sum(width + 2 for width in widths) - 2
    lengths = [tally.calls if found.by == "tool" else tally.messages for tally in shown]
    most = max(lengths) or 1
    head = " " * wide + "".join(f"  {one:>{width}}" for one, width in zip(columns, widths, strict=True))
    lines = [*(screen.styled(line, TITLE) for line in top.split("\n")), "", screen.styled(head, DIM)]
    for name, row, length in zip(names, numbers, lengths, strict=True):
        drawn = bar * -(-length * room // most) if room >= BAR else ""
        padded = name + " " * (wide - cells(name))
        cols = "".join(f"  {one:>{width}}" for one, width in zip(row, widths, strict=True))
        lines.append(f"{padded}{cols}  {drawn}".rstrip())
    if rest := len(found.groups) - len(shown):
        lines += ["", screen.styled(f"… and {rest} more: --limit {len(found.groups)}", DIM)]
    return "\n".join(lines)


def headline(found: Tallies) -> str:
    """Return the counts of all sessions in words, with the days of the first and the last."""
    total = found.total
    if not total.sessions:
        return "No sessions found"
    parts = [count(total.sessions, "session"), count(total.messages, "message"), count(total.prompts, "prompt")]
    parts.append(count(total.calls, "tool call"))
    parts += [count(total.failures, "failure")] if total.failures is not None else []
    parts += [count(total.files, "file")] if total.files is not None else []
    return f"{', '.join(parts)}; {days(found.first, found.last)}"


def _json(tally: Tally) -> TallyJson:
    return {
        "group": tally.group,
        "sessions": tally.sessions,
        "messages": tally.messages,
        "prompts": tally.prompts,
        "toolCalls": tally.calls,
        "failures": tally.failures,
        "files": tally.files,
    }


def _name(found: Tallies, tally: Tally, screen: Screen) -> str:
    """Return the name of a group on one line; of a directory its end, which tells more than its beginning."""
    name = safe(Snippet(home(tally.group) or UNKNOWN.get(found.by, "unknown"))).text
    most = min(NAME, screen.width // 3)
    return cut_left(name, most) if found.by == "project" else fitted(Snippet(name), most).text


def _columns(shown: Sequence[Tally], room: int) -> list[str]:
    """Return the columns that are counted and for which there is room."""
    found: list[str] = []
    for column in COLUMNS:
        values = [getattr(tally, column) for tally in shown]
        if values[0] is None:
            continue
        room -= max(len(column), *(len(str(value)) for value in values)) + 2
        if found and room < 0:
            break
        found.append(column)
    return found
