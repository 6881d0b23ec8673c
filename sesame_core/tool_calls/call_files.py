"""The files that the text of a tool call names, and whether the call changes them.

`form` says what the text has; commands of shells are read by `shell_files`, programs by `script_files`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ..text.readable import arguments_of, is_shell, tool_of
from .form import CHANGES, clean, command_in, fields
from .patches import patched_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Named(NamedTuple):
    """A file that a call names."""

    #: As the call writes it, with the directory to which the command changed before it.
    path: str
    is_changed: bool


#: Names of tools by which they change files although nothing else says so, and those that only read.
_WRITES = re.compile(r"write|edit|create|replace|patch|insert|append|delete|remove|rename|move", re.IGNORECASE)
_READS = re.compile(
    r"(?:^|[_\W])(?:read|view|open|get|list|search|grep|glob|find|cat|ls|diagnostics?|hover|symbols?)", re.IGNORECASE
)
#: A program as the argument, which calls other tools.
_CODE = re.compile(r"(?:code|script):[ \n]")


def files_of(text: str, directory: str | None = None) -> list[Named]:
    """Return the files that a call names, each once; changed if one of the mentions changes it.

    :param text: `Chunk.text` of a call.
    :param directory: where the commands of a shell start.
    """
    tool = tool_of(text) or ""
    rest = arguments_of(text)
    found: dict[str, bool] = {}
    named: Iterable[tuple[str, bool]]
    if is_shell(tool):
        from .shell_files import files_of_command

        named = files_of_command(command_in(text, tool) or "", directory)
    elif code := _CODE.match(rest):
        from .script_files import files_of_script
        from .shell_files import files_of_command

        named = files_of_script(rest[code.end() :], lambda command: files_of_command(command, directory))
    else:
        named = _of_arguments(tool, text)
    for path, is_changed in named:
        found[path] = found.get(path, False) or is_changed
    return [Named(path, is_changed) for path, is_changed in found.items()]


def _of_arguments(tool: str, text: str) -> Iterator[Named]:
    has = list(fields(text))
    command = next((field.lines[0] for field in has if field.role == "command" and field.is_inline), "")
    doing = command if command.isidentifier() else ""
    is_reading = bool(re.match(r"(?:view|read|undo)", doing) if doing else _READS.search(tool)) and not (
        not doing and _WRITES.search(tool)
    )
    is_changed = any(field.role in CHANGES for field in has) or bool(_WRITES.search(doing or tool))
    is_changing = not is_reading and is_changed
    for field in has:
        if field.role == "path" and field.lines:
            yield Named(clean(field.lines[0]), is_changing)
        elif field.role == "patch" and is_changing:
            yield from (Named(path, True) for path in patched_files("\n".join(field.lines)))
