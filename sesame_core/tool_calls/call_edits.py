"""What a tool call wrote: the lines that it added to each file and removed from it, read from its chunk.

The index stores no edits of their own, since the text of a call has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..text.readable import is_shell, tool_of
from .changes import Edit, added, changed, whole
from .form import Field, clean, command_in, fields, names
from .patches import patched
from .shell_edits import commanded


def edits(text: str) -> list[Edit]:
    """Return what a tool call wrote, in order; nothing for one that only reads.

    :param text: of the call's chunk.
    """
    tool = tool_of(text)
    if tool is None:
        return []
    if is_shell(tool):
        return list(commanded(command_in(text, tool) or ""))
    found = list(_assembled(list(fields(text))))
    # A tool may name the file after the change.
    last = next((edit.path for edit in reversed(found) if edit.path), "") or "".join(names(text)[-1:])
    return [edit if edit.path or edit.way == "script" else edit._replace(path=last) for edit in found]


def _assembled(fields: Sequence[Field]) -> Iterator[Edit]:
    """Yield the edits that fields describe: a path holds for what follows it."""
    path, old, moved = "", None, ""
    for number, (role, lines, is_inline, is_nested, *_) in enumerate(fields):
        if old is not None and role != "new":
            yield changed(path, old, ())
            old = None
        if role == "path":
            former, path = path, clean(lines[0] if lines else "")
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
