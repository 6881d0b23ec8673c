"""The files that the text of a tool call names, and whether the call changes them.

The default formatter writes a call as `tool: Edit`, `path: …`, `old: …`, `new: …`; of tools that it does not know all
arguments, under their own names.  Commands of shells are read by `text.shells`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ..text.readable import is_shell
from .patches import patched_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Named(NamedTuple):
    """A file that a call names."""

    #: As the call writes it, with the directory to which the command changed before it.
    path: str
    is_changed: bool


#: Arguments that name a file, as tools of agents call them.
_PATH = (
    r"(?:path|file|file_?path|filePath|abs(?:olute)?_?path|target_?file|relative_?(?:workspace_)?path|notebook_path"
    r"|file_?name|(?:source|destination|old|new)_?(?:path|file)|src|dst|dest|uri)"
)
#: What a call has that changes a file: the formatter's labels, and the names that they replace.
_CHANGE = (
    r"(?:old|new|content|contents|source|patch|diff|unified_diff|text|file_?text|code_edit|insert(?:_line|_text|Line)?"
    r"|action|operations|replacements?|(?:old|new)_?(?:str|string|text|source|content|lines?|Str|String|Text)"
    r"|search|replace(?:ment)?)"
)
_FILE_LINE = re.compile(rf"^(?: {{0,4}}- | {{0,6}}){_PATH}: ([^\n]+)$", re.MULTILINE)
_CHANGE_LINE = re.compile(rf"^(?: {{0,4}}- | {{0,6}}){_CHANGE}:(?: |$)", re.MULTILINE)
#: What follows the name of a further file of a call with several.
_NEXT = re.compile(r"\n(?:old|new|patch):(?: |\n|\Z)|\n {4,}(?:old|new|patch|content|source|action|\w+_str\w*):")
#: An argument that is a patch, and names files of its own.
_PATCH_LINE = re.compile(r"^\s{0,6}(?:- )?(?:patch|diff|unified_diff|patch_?text|input):", re.MULTILINE | re.IGNORECASE)
#: Names of tools by which they change files although nothing else says so, and those that only read.
_WRITES = re.compile(r"write|edit|create|replace|patch|insert|append|delete|remove|rename|move", re.IGNORECASE)
_READS = re.compile(
    r"(?:^|[_\W])(?:read|view|open|get|list|search|grep|glob|find|cat|ls|diagnostics?|hover|symbols?)", re.IGNORECASE
)
#: A program as the argument, which calls other tools.
_CODE = re.compile(r"(?:code|script):[ \n]")
_DOING = re.compile(r"^command: (\w+)$", re.MULTILINE)


def files_of(text: str, directory: str | None = None) -> list[Named]:
    """Return the files that a call names, each once; changed if one of the mentions changes it.

    :param text: `Chunk.text` of a call.
    :param directory: where the commands of a shell start.
    """
    head, _, rest = text.partition("\n")
    tool = head.removeprefix("tool: ").strip()
    if rest.startswith("via: "):
        rest = rest.partition("\n")[2]
    found: dict[str, bool] = {}
    named: Iterable[tuple[str, bool]]
    if is_shell(tool):
        from .shell_files import files_of_command

        named = files_of_command(_command(rest), directory)
    elif code := _CODE.match(rest):
        from .script_files import files_of_script
        from .shell_files import files_of_command

        named = files_of_script(rest[code.end() :], lambda command: files_of_command(command, directory))
    else:
        named = _of_arguments(tool, rest)
    for path, is_changed in named:
        found[path] = found.get(path, False) or is_changed
    return [Named(path, is_changed) for path, is_changed in found.items()]


def _of_arguments(tool: str, text: str) -> Iterator[Named]:
    change = _CHANGE_LINE.search(text)
    doing = _DOING.search(text)
    name = doing[1] if doing else tool
    is_reading = bool(re.match(r"(?:view|read|undo)", name) if doing else _READS.search(name)) and not (
        not doing and _WRITES.search(name)
    )
    is_changing = not is_reading and bool(change or _WRITES.search(name))
    for line in _FILE_LINE.finditer(text):
        # What stands in a file that is written may look like an argument: further files are items of a list.
        if change is None or line.start() < change.start() or _is_item(text, line):
            yield Named(_clean(line[1]), is_changing)
    if is_changing and ("patch" in tool.lower() or _PATCH_LINE.search(text)):
        yield from (Named(path, True) for path in patched_files(text))


def _is_item(text: str, line: re.Match[str]) -> bool:
    """Return whether a line names a further file of a call: the first argument of an item, or one before a change."""
    return bool(re.match(r" +- ", line[0]) or _NEXT.match(text, line.end()))


def _command(text: str) -> str:
    """Return the command of a call of a shell: its text without the label, and without other arguments after it."""
    if not text.startswith("command:"):
        return text
    command = text.removeprefix("command:").lstrip(" \n")
    start, _, about = command.rpartition("\ndescription: ")
    return start if start and "\n" not in about else command


def _clean(path: str) -> str:
    return path.strip().removeprefix("file://").removeprefix("@").strip("'\"")
