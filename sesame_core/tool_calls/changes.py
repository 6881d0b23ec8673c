"""One change of one file: the lines that it added, and those that it removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

#: How a call changed a file: by a tool that edits, by a shell, or possibly, by a program whose text has the lines.
Way: TypeAlias = Literal["edit", "command", "script"]


class Edit(NamedTuple):
    """One change of one file."""

    #: As the call names it; "" when a script does not say which file it changes.
    path: str
    #: Lines that the file has afterwards, in order: the changed place, or the whole file.
    block: tuple[str, ...] = ()
    #: Positions in `block` of the lines that were not there before.
    fresh: frozenset[int] = frozenset()
    #: Lines that the changed place had before, and positions of those that are not there any more.
    before: tuple[str, ...] = ()
    gone: frozenset[int] = frozenset()
    #: `block` is all that the file has.
    is_whole: bool = False
    #: The file's name before, when it was renamed.
    former: str = ""
    #: Strings that were replaced wherever they occurred, each with what replaced it.
    replaced: tuple[tuple[str, str], ...] = ()
    way: Way = "edit"


def changed(path: str, old: Sequence[str], new: Sequence[str], way: Way = "edit") -> Edit:
    """Return the change of one place: its lines before, and after."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    gone: dict[str, list[int]] = {}
    for position in range(len(old) - end - 1, start - 1, -1):
        gone.setdefault(old[position].strip(), []).append(position)
    fresh = []
    for position in range(start, len(new) - end):
        if same := gone.get(new[position].strip()):
            same.pop()
        else:
            fresh.append(position)
    left = frozenset(position for positions in gone.values() for position in positions)
    # A single line may be a part of one.
    parts = ((old[0], new[0]),) if len(old) == len(new) == 1 and old[0].strip() != new[0].strip() else ()
    return Edit(path, tuple(new), frozenset(fresh), tuple(old), left, replaced=parts, way=way)


def whole(path: str, lines: Sequence[str], way: Way = "edit") -> Edit:
    """Return the change that makes some lines all that a file has."""
    return Edit(path, tuple(lines), frozenset(range(len(lines))), is_whole=True, way=way)


def added(path: str, lines: Sequence[str], way: Way = "edit") -> Edit:
    """Return the change that adds lines somewhere in a file."""
    return Edit(path, tuple(lines), frozenset(range(len(lines))), way=way)
