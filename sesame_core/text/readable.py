"""The text of a chunk as people would write it: what an answer shows of it on one line.

A call of a shell becomes `$ npm test`, an edit `Edit src/socket.ts - old + new`; the numbers before the lines of a
file and the fences around code are left out.  The index keeps the text as it is.
"""

from __future__ import annotations

import re

from ..types.query import SHELLS

#: The first line of a call, and where it came from; `tool_calls.form` has the labelled values below them.
_TOOL, _VIA = "tool: ", "via: "
_COMMAND, _DESCRIPTION = "command:", "\ndescription: "
#: Arguments that are clear without their names, on one line, and the one with the rest of the text.
_FIELD = r"(?:path|pattern|glob|url|query|description): (.+)(?:\n|\Z)"
_BLOCK = r"(?:content|source|code|prompt):[ \n]"
_SIDE = r"^(old|new):(?: |\n|$)"
_FENCE = r"^[ \t>]*(?:```+|~~~+)[^`\n]*(?:\n|\Z)"
#: The number before a line of a file: `12→`, or with a tab as `cat -n` writes it.
_NUMBER = r"^[ \t]*(\d{1,6})(?:→|\t)"


def readable(text: str, kind: str = "message") -> str:
    """Return a chunk's text without the marks that only serve machines.

    :param kind: `Chunk.kind`.
    """
    if kind == "tool_call" and (tool := tool_of(text)) is not None:
        text = _call(tool, arguments_of(text))
    if "→" in text or "\t" in text:
        text = _without_numbers(text, is_file=kind == "tool_result")
    if "```" in text or "~~~" in text:
        # A fence alone stays: there is nothing else to show.
        text = re.sub(_FENCE, "", text, flags=re.MULTILINE) or text
    return text


def is_shell(tool: str | None) -> bool:
    """Return whether a tool runs commands."""
    return (tool or "").lower().replace("_", "").replace("-", "") in SHELLS


def tool_of(text: str) -> str | None:
    """Return the tool that a call names; None for a text that is no call."""
    return text.partition("\n")[0].removeprefix(_TOOL).strip() if text.startswith(_TOOL) else None


def arguments_of(text: str) -> str:
    """Return a call without its tool."""
    rest = text.partition("\n")[2]
    return rest.partition("\n")[2] if rest.startswith(_VIA) else rest


def _call(name: str, rest: str) -> str:
    if is_shell(name) and rest.startswith(_COMMAND):
        rest = rest.removeprefix(_COMMAND).lstrip()
        command, _, about = rest.rpartition(_DESCRIPTION)
        return f"$ {command}  # {about}" if command and "\n" not in about else f"$ {rest}"
    parts = [name]
    while field := re.match(_FIELD, rest):
        parts.append(field[1])
        rest = rest[field.end() :]
    if block := re.match(_BLOCK, rest):
        rest = rest[block.end() :]
    elif re.match(_SIDE, rest):
        rest = re.sub(_SIDE, lambda side: "- " if side[1] == "old" else "+ ", rest, flags=re.MULTILINE)
    return "\n".join([" ".join(parts), *([rest] if rest else [])])


def _without_numbers(text: str, *, is_file: bool) -> str:
    """Return the text without the numbers of its lines, which follow one another.

    :param is_file: an arrow after the number of a single line is enough.
    """
    found = [(match, int(match[1])) for match in re.finditer(_NUMBER, text, re.MULTILINE)]
    numbers = [number for _, number in found]
    kept, position = [], 0
    for place, (match, number) in enumerate(found):
        is_next = number - 1 in numbers[max(0, place - 1) : place] or number + 1 in numbers[place + 1 : place + 2]
        if is_next or (is_file and match[0].endswith("→")):
            kept.append(text[position : match.start()])
            position = match.end()
    return "".join([*kept, text[position:]])
