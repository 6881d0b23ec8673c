"""Patches as text: those of `apply_patch`, and unified diffs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .changes import Edit, changed, whole

_SECTION = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+?)\s*")
_MOVE = re.compile(r"\*\*\* Move to: (.+?)\s*")
_AFTER = re.compile(r"\+\+\+ (?:b/)?([^\t]+?)(?:\t.*)?\s*")
_BEFORE = re.compile(r"--- (?:a/)?([^\t]+?)(?:\t.*)?\s*")
_RENAMED = re.compile(r"rename (from|to) (.+?)\s*")


def patched(lines: Sequence[str], path: str = "") -> Iterator[Edit]:
    """Yield the changes of a patch, one for each place.

    :param path: the file, unless the patch names it.
    """
    old: list[str] = []
    new: list[str] = []
    is_new, before = False, ""

    def done() -> Iterator[Edit]:
        if is_new and new:
            yield whole(path, new)
        elif old or new:
            edit = changed(path, old, new)
            if edit.fresh or edit.gone:
                yield edit
        old.clear()
        new.clear()

    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if section := _SECTION.fullmatch(line):
            yield from done()
            path, is_new = section[2], section[1] == "Add"
            if section[1] == "Delete":
                yield whole(path, ())
        elif moved := _MOVE.fullmatch(line):
            yield Edit(moved[1], former=path)
            path = moved[1]
        elif renamed := _RENAMED.fullmatch(line):
            if renamed[1] == "to" and before:
                yield Edit(renamed[2], former=before)
            before = renamed[2] if renamed[1] == "from" else ""
        elif (removed := _BEFORE.fullmatch(line)) and _AFTER.fullmatch(following):
            yield from done()
            before, is_new = removed[1], removed[1] == "/dev/null"
        elif before and (after := _AFTER.fullmatch(line)):
            path, before = (before if after[1] == "/dev/null" else after[1]), ""
        elif line.startswith("@@") or line.startswith("*** "):
            yield from done() if not is_new else ()
        elif line.startswith("+"):
            new.append(line[1:])
        elif line.startswith("-"):
            old.append(line[1:])
        elif line.startswith((" ", "\t")) or not line:
            old.append(line[1:])
            new.append(line[1:])
        # Anything else is between files: `diff --git`, `index`, `new file mode`.
    yield from done()
