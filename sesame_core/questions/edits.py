"""What a tool call wrote: the lines that it added to each file and removed from it, read from its chunk.

The index stores no edits of their own, since the text of a call has them: docs/hooks.md says in which form a formatter
writes `path`, `old`, `new`, `content`, `source`, `patch`, `command` and `code`.  Calls of unknown tools have the names
that agents give these arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .changes import Edit, added, changed, whole
from .patch_text import patched
from .shell_edits import commanded

#: The role of each label.  Those of the default formatter are first.
_LABELS = {
    **dict.fromkeys(("path", "file_path", "filePath", "absolute_path", "notebook_path", "filename", "file"), "path"),
    **dict.fromkeys(("old", "oldText", "old_text", "old_string", "old_str", "oldString", "search"), "old"),
    **dict.fromkeys(("new", "newText", "new_text", "new_string", "new_str", "newString", "insert_text"), "new"),
    **dict.fromkeys(("content", "contents", "file_text", "fileText"), "content"),
    **dict.fromkeys(("source", "new_source"), "source"),
    **dict.fromkeys(("patch", "patchText", "input", "diff", "unified_diff"), "patch"),
    **dict.fromkeys(("command", "cmd", "script"), "command"),
    **dict.fromkeys(("code",), "code"),
    "action": "action",
}
_LABEL = re.compile(rf"( *)(- )?({'|'.join(_LABELS)}):(?: (.*))?")
_TOOL = "tool: "
#: A list of changes, whose fields are indented.
_LIST = re.compile(r"^(?:edits|files|changes|operations):$", re.MULTILINE)
#: Lines at the end of a call that say something about it: a formatter writes them after what is changed.
_ABOUT = re.compile(r"(?:\n(?:instruction|explanation|cell_id|edit_mode|cell_type): .*)+\Z")
_NEXT_NEW = re.compile(r"^(?:  (?:- |  )?)?new(?:Text|_text|_string|_str|String)?:(?: |$)")


class _Field(NamedTuple):
    role: str
    lines: list[str]
    #: Its value is on the line of its label.
    is_inline: bool
    is_nested: bool


def edits(text: str) -> list[Edit]:
    """Return what a tool call wrote, in order; nothing for one that only reads.

    :param text: of the call's chunk.
    """
    if not text.startswith(_TOOL):
        return []
    text = _ABOUT.sub("", text)
    found = list(_assembled(list(_fields(text))))
    # A tool may name the file after the change.
    last = next((edit.path for edit in reversed(found) if edit.path), "") or "".join(names(text)[-1:])
    return [edit if edit.path or edit.way == "script" else edit._replace(path=last) for edit in found]


def names(text: str) -> list[str]:
    """Return the files that a call's arguments name, in order; of a command of a shell none."""
    matches = (_LABEL.fullmatch(line) for line in text.split("\n"))
    return [match[4].strip() for match in matches if match and _LABELS[match[3]] == "path" and match[4]]


def _fields(text: str) -> Iterator[_Field]:
    """Yield the labelled values of a call."""
    lines = text.split("\n")[1:]
    has_list = _LIST.search(text) is not None
    field: _Field | None = None
    has_path = False
    for number, line in enumerate(lines):
        match = _LABEL.fullmatch(line)
        if match is not None and _begins(match, field, has_list, has_path, lines, number):
            if field is not None:
                yield field
            role, value = _LABELS[match[3]], match[4]
            has_path = has_path or role == "path"
            is_nested = bool(match[1] or match[2])
            field = _Field(role, [] if value is None else [value], value is not None, is_nested)
        elif field is not None and not field.is_inline:
            field.lines.append(line)
    if field is not None:
        yield field


def _begins(
    match: re.Match[str], field: _Field | None, has_list: bool, has_path: bool, lines: Sequence[str], number: int
) -> bool:
    """Return whether a line that looks like a label is one, and not a line of the value before."""
    role, is_nested = _LABELS[match[3]], bool(match[1] or match[2])
    if is_nested and not has_list:
        return False
    if field is None or field.is_inline:
        return True
    if not field.lines:
        return False
    if role == "path":
        return (is_nested and bool(match[2])) or not has_path
    if field.role == "old":
        return role == "new"
    if field.role == "new":
        return role == "old" and any(map(_NEXT_NEW.match, lines[number + 1 :]))
    return bool(match[2]) and is_nested and role == "old"


def _assembled(fields: Sequence[_Field]) -> Iterator[Edit]:
    """Yield the edits that fields describe: a path holds for what follows it."""
    path, old, moved = "", None, ""
    for number, (role, lines, is_inline, is_nested) in enumerate(fields):
        if old is not None and role != "new":
            yield changed(path, old, ())
            old = None
        if role == "path":
            former, path = path, (lines[0] if lines else "").strip().removeprefix("@")
            # A patch that moves a file is followed by the file's new name alone.
            if moved and is_nested and [field.role for field in fields[number + 1 : number + 2]] in ([], ["path"]):
                yield Edit(path, former=former)
            moved = ""
            continue
        moved = ""
        if role == "old":
            old = lines
        elif role == "new":
            yield changed(path, old or (), lines)
            old = None
        elif role == "content":
            yield whole(path, lines)
        elif role == "source":
            yield added(path, lines)
        elif role == "action" and lines[:1] == ["delete"]:
            yield whole(path, ())
        elif role == "patch":
            yield from patched(lines, path)
            moved = path if is_nested else ""
        elif role == "command" and not (is_inline and path):
            yield from commanded("\n".join(lines))
        elif role == "code":
            yield added("", lines, "script")
    if old is not None:
        yield changed(path, old, ())
