"""Patches as text: those of `apply_patch`, and unified diffs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..dataclass import dataclass, field
from .changes import Edit, changed, whole

_SECTION = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+?)\s*")
_MOVE = re.compile(r"\*\*\* Move to: (.+?)\s*")
_AFTER = re.compile(r"\+\+\+ (?:b/)?([^\t]+?)(?:\t.*)?\s*")
_BEFORE = re.compile(r"--- (?:a/)?([^\t]+?)(?:\t.*)?\s*")
_RENAMED = re.compile(r"rename (from|to) (.+?)\s*")
_NOTHING = "/dev/null"


@dataclass(slots=True)
class _Section:
    """What a patch does with one file."""

    path: str
    #: Its name before, when the patch renames it.
    former: str = ""
    is_new: bool = False
    is_deleted: bool = False
    lines: list[str] = field(default_factory=list)


def patched(lines: Sequence[str], path: str = "") -> Iterator[Edit]:
    """Yield the changes of a patch, one for each place.

    :param path: the file, unless the patch names it.
    """
    for section in _sections(lines, path):
        if section.former:
            yield Edit(section.path, former=section.former)
        if section.is_deleted:
            yield whole(section.path, ())
        elif section.is_new:
            if new := [line[1:] for line in section.lines if line.startswith("+")]:
                yield whole(section.path, new)
        else:
            yield from _places(section)


def patched_files(text: str) -> Iterator[str]:
    """Yield the names of the files that the patches in a text change."""
    if "*** " in text or "+++ " in text or "rename to " in text:
        for section in _sections(text.split("\n"), ""):
            yield from (name for name in (section.path, section.former) if name)


def _sections(lines: Sequence[str], path: str) -> Iterator[_Section]:
    section = _Section(path)
    before, is_read = "", False
    for line, following in zip(lines, (*lines[1:], ""), strict=True):
        if is_read:
            is_read = False
        elif begun := _SECTION.fullmatch(line):
            yield section
            section = _Section(begun[2], is_new=begun[1] == "Add", is_deleted=begun[1] == "Delete")
        elif moved := _MOVE.fullmatch(line):
            section.path, section.former = moved[1], section.path
        elif renamed := _RENAMED.fullmatch(line):
            if renamed[1] == "to" and before:
                yield section
                section = _Section(renamed[2], former=before)
            before = renamed[2] if renamed[1] == "from" else ""
        elif (removed := _BEFORE.fullmatch(line)) and (after := _AFTER.fullmatch(following)):
            yield section
            name = removed[1] if after[1] == _NOTHING else after[1]
            section, before, is_read = _Section(name, is_new=removed[1] == _NOTHING), "", True
        else:
            section.lines.append(line)
    yield section


def _places(section: _Section) -> Iterator[Edit]:
    """Yield the changes of the places of a file."""
    old: list[str] = []
    new: list[str] = []
    for line in (*section.lines, "@@"):
        if line.startswith(("@@", "*** ")):
            if old or new:
                edit = changed(section.path, old, new)
                if edit.fresh or edit.gone:
                    yield edit
            old, new = [], []
        elif line.startswith("+"):
            new.append(line[1:])
        elif line.startswith("-"):
            old.append(line[1:])
        elif line.startswith((" ", "\t")) or not line:
            old.append(line[1:])
            new.append(line[1:])
        # Anything else is between files: `diff --git`, `index`, `new file mode`.
