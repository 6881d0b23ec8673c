"""Sessions as a list on a screen: a line for the name, and as many of what else is known as there is room for.

The first entry is the best one or the latest, so that it must not scroll away: the rest has less room before it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...dataclass import dataclass, field
from ...text.cells import cells
from ...types.answer import Snippet
from ..text import ago
from .layout import fitted, focused, safe, wrapped
from .style import DIM, NARROWEST, TITLE, Screen

#: Columns before what belongs to an entry.
INDENT = "  "
#: Lines of a passage at most.
PASSAGE = 2
#: Columns of a screen on which the name of the project stands beside the age.
WIDE = 60
#: Columns of a project's name at most.
PROJECT = 20


@dataclass(slots=True, kw_only=True)
class Entry:
    """What a list tells of one session."""

    #: What to type for it: `35ea950f:21`.
    place: str
    title: Snippet
    #: The directory's last component.
    project: str
    modified: datetime | None
    #: Directory, agent and what is unusual.
    about: str
    #: The passage that matched, or the beginning.
    passage: Snippet | None = None
    #: Lines that were asked for, and that are all shown: windows, further passages, explanations.
    asked: Sequence[Snippet] = field(default_factory=tuple)


def age(moment: datetime | None, now: datetime | None = None) -> str:
    """Return how long ago a time was, in its largest unit: `5 mo`; "" when it is not known."""
    if moment is None:
        return ""
    found = ago(moment, now)
    return "now" if found is None else f"{found[0]} {found[1]}"


def framed(top: Sequence[str], entries: Sequence[Entry], below: Sequence[str], screen: Screen) -> str:
    """Return a list with what stands above and below it, apart by blank rows, and a row left for the prompt."""
    room = screen.height - 1 - len(top) - len(below) - (2 if below else 1)
    lines = listed(entries, screen, room)
    return "\n".join([*top, *(["", *lines] if lines else []), *(["", *below] if below else [])])


def listed(entries: Sequence[Entry], screen: Screen, room: int) -> list[str]:
    """Return the lines of a list.

    :param room: lines that it may take.  Each entry has at least one, and all that was asked for.
    """
    blocks = [_lines(entry, screen) for entry in entries]
    full = sum(map(len, blocks))
    if full + len(blocks) - 1 <= room or any(entry.asked for entry in entries):
        return [line for block in blocks for line in ("", *block)][1:]
    most = [min(2, len(block)) for block in blocks]
    for place in reversed(range(len(blocks))):
        if sum(most) > room:
            most[place] = 1
    for place, block in enumerate(blocks):
        most[place] += max(0, min(len(block) - most[place], room - sum(most)))
    return [line for entry, lines in zip(entries, most, strict=True) for line in _lines(entry, screen, lines)]


def _lines(entry: Entry, screen: Screen, most: int | None = None) -> list[str]:
    """Return the lines of an entry, the first ones the most telling.

    :param most: most lines.
    """
    room = screen.width - len(INDENT)
    lines = [_heading(entry, screen)]
    if entry.passage is not None and most != 1:
        rows = PASSAGE if most is None else min(most - 1, PASSAGE)
        passage = focused(safe(entry.passage), room * rows)
        lines += [INDENT + screen.marked(line) for line in wrapped(passage, room, most=rows)]
    for asked in entry.asked:
        lines += [INDENT + screen.marked(line) for line in wrapped(safe(asked), room)]
    about = entry.about if _stands_above(entry.place, screen) else f"{entry.place} · {entry.about}"
    about = fitted(safe(Snippet(about)), room).text
    return [*lines, INDENT + screen.styled(about, DIM)][:most]


def _heading(entry: Entry, screen: Screen) -> str:
    """Return the line of an entry's name: its place on the left, project and age on the right."""
    project = fitted(safe(Snippet(entry.project)), PROJECT).text if screen.width >= WIDE else ""
    right = " · ".join(filter(None, (project, age(entry.modified))))
    left = f"{safe(Snippet(entry.place)).text}  " if _stands_above(entry.place, screen) else ""
    room = screen.width - cells(left) - (cells(right) + len(INDENT) if right else 0)
    if room < NARROWEST // 2:
        right, room = "", screen.width - cells(left)
    title = fitted(safe(entry.title), room)
    gap = " " * (room - cells(title.text) + len(INDENT)) if right else ""
    return f"{left}{screen.marked(title, TITLE)}{gap}{screen.styled(right, DIM)}"


def _stands_above(place: str, screen: Screen) -> bool:
    """Return whether a place leaves room for a title beside it; a subagent's has two ids."""
    return cells(place) <= max(screen.width // 3, NARROWEST - len(INDENT) * 2)
