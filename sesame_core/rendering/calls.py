"""The call of a tool as it is read: an edit as a diff, and which lines take something out of a file or put it in.

Whether a line is one of a diff follows from where it stands: the item of a list begins with the same sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..text.readable import is_shell, readable, tool_of
from ..tool_calls.form import Field, fields

#: Unchanged lines around a change.
CONTEXT = 2
#: What stands between two changes.
_GAP = "…"
#: The label of a patch whose file is named by another field: its lines may begin without more.
_PATCH = re.compile(r" *(?:- )?patch:")
_BEGIN = re.compile(r"@@(?: |$)|\*\*\* (?:Begin Patch|(?:Add|Update|Delete) File: )")
_END = "*** End Patch"
#: How lines of a patch begin that are not empty.
_SIGNS = tuple("-+ @*\\")


class Line(NamedTuple):
    """A line of a chunk as it is read."""

    text: str
    #: "-" of what an edit removes, "+" of what it adds, "" of any other line.
    side: str = ""


def call_lines(text: str) -> list[Line]:
    """Return the lines of a call: those that say what it is as people write them, then edits as diffs, patches as such.

    :param text: of the call's chunk.
    """
    changes = list(_changes(text))
    position = changes[0][0].start if changes else len(text)
    lines = _with_sides(readable(text[:position], "tool_call").strip("\n").split("\n"))
    for number, (first, *others) in enumerate(changes):
        if between := text[position : first.start].strip("\n"):
            lines += _with_sides(between.split("\n"))
        elif number:
            lines.append(Line(_GAP))
        position = [first, *others][-1].end
        if first.role == "patch":
            label, *patch = text[first.start : position].rstrip("\n").split("\n")
            lines += [Line(label), *_with_sides(patch, is_patch=_PATCH.fullmatch(label) is not None)]
        else:
            sides = {field.role: field.lines for field in (first, *others)}
            lines += _diff(sides.get("old", []), sides.get("new", []))
    rest = text[position:].strip("\n")
    return lines + (_with_sides(rest.split("\n")) if rest else [])


def _changes(text: str) -> Iterator[list[Field]]:
    """Yield the fields of each change: a patch, or a text and what replaced it, of which one may be missing."""
    if is_shell(tool_of(text)):
        return
    old: Field | None = None
    for field in fields(text):
        if old is not None and field.role != "new":
            yield [old]
        if field.role == "new":
            yield [old, field] if old is not None else [field]
        elif field.role == "patch" and not field.is_inline:
            yield [field]
        old = field if field.role == "old" else None
    if old is not None:
        yield [old]


def _with_sides(lines: Sequence[str], *, is_patch: bool = False) -> list[Line]:
    """Return lines with the sides of those that are in a patch.

    :param is_patch: the first line is in one.
    """
    found, before = [], ""
    for line, following in zip(lines, (*lines[1:], ""), strict=True):
        is_name = _are_names(line, following) or _are_names(before, line)
        if is_name or _BEGIN.match(line):
            is_patch = True
        elif line.startswith(_END) or (line and not line.startswith(_SIGNS)):
            is_patch = False
        found.append(Line(line, line[:1] if is_patch and not is_name and line[:1] in ("-", "+") else ""))
        before = line
    return found


def _are_names(line: str, following: str) -> bool:
    """Return whether two lines name the file before and after a change, as those above a unified diff do."""
    return line.startswith("--- ") and following.startswith("+++ ")


def _diff(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    """Yield a unified diff without the names of files and the numbers of lines, which nobody knows."""
    from difflib import unified_diff

    for number, line in enumerate(unified_diff(old, new, n=CONTEXT, lineterm="")):
        if line.startswith("@@"):
            if number > 2:
                yield Line(_GAP)
        elif number > 1:
            yield Line(line, line[0].strip())
