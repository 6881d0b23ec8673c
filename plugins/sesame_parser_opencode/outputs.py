"""The output of a tool without what OpenCode puts around it for the model: frames, numbers of lines, instructions."""

from __future__ import annotations

import re

import orjson

from .values import string

#: What a subagent answered: in 2, from 1.1 on, and before.
_ANSWERS = (
    re.compile(r"\s*<subagent\b[^>\n]*>\n(.*?)\n?</subagent>\s*\Z", re.DOTALL),
    re.compile(
        r"\s*<task\b[^>\n]*>\n(?:<task_(?:result|error)>\n)?(.*?)(?:\n</task_(?:result|error)>)?\n</task>\s*\Z",
        re.DOTALL,
    ),
    re.compile(r"(.*)<task_metadata>\n.*?</task_metadata>\s*\Z", re.DOTALL),
)
#: A file or a directory that was read: with its path, or only its lines.
_READ = re.compile(
    r"\s*(?:<path>[^\n]*</path>\n)?(?:<type>\w+</type>\n)?<(file|content|entries)>\n(.*)\n?</\1>(.*)\Z", re.DOTALL
)
#: The line below the others: how many there are, and how to read on.
_EXTENT = re.compile(r"\((?:End of file|File has more lines|Output capped|Output truncated|Showing |\d+ entries).*\)")
#: The number before each line, by the element that the lines are in.
_NUMBERS = {"file": re.compile(r"^\d{5,}\| ?", re.MULTILINE), "content": re.compile(r"^\d+: ?", re.MULTILINE)}
#: Instructions of the directory of a file that was read.
_REMINDER = re.compile(r"(?:\n\n)?<system-reminder>\n.*?\n</system-reminder>", re.DOTALL)
#: Marks around what the program itself says below the output of a command, and of a language server.
_MARKS = re.compile(
    r"^</?(?:bash_metadata|shell_metadata|diagnostics|file_diagnostics|project_diagnostics)\b[^>\n]*>\n?", re.MULTILINE
)

_SUBAGENTS = frozenset({"task", "subagent"})
_LISTS = frozenset({"todowrite", "todoread"})


def without_frame(name: str, text: str) -> str:
    """Return the output of a tool as the tool made it; "" if it only repeats the arguments.

    :param name: the tool's.
    """
    if name in _SUBAGENTS:
        return next((found[1].rstrip("\n") for answer in _ANSWERS if (found := answer.match(text))), text)
    if name == "read":
        return _read(text)
    if name in _LISTS:
        return _list(name, text)
    return _MARKS.sub("", text) if "_metadata>" in text or "diagnostics" in text else text


def _read(text: str) -> str:
    text = _REMINDER.sub("", text)
    if not (found := _READ.match(text)):
        return text
    above, _, last = found[2].rstrip().rpartition("\n")
    lines = above.rstrip("\n") if _EXTENT.fullmatch(last) else found[2].rstrip("\n")
    number = _NUMBERS.get(found[1])
    return (number.sub("", lines) if number else lines) + found[3].rstrip()


def _list(name: str, text: str) -> str:
    """Return the items of a list of tasks, one on each line; "" of one that was written, since its call has them."""
    try:
        items = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return text
    return "" if name == "todowrite" else "\n".join(filter(None, (string(item, "content") for item in items)))
