"""What Gemini CLI puts around the output of its own tools for the model: headings, instructions, JSON, repetitions."""

from __future__ import annotations

import re
from collections.abc import Iterator

import orjson

from sesame_core.text.tokens import clean

#: The frame of what a subagent that reached its goal answered.
_ANSWERED = re.compile(r"Subagent '[^\n]*' finished\.\nTermination Reason: GOAL\nResult:\n")
#: Instructions of the directory of a file, below the output of a tool that has touched it.
_DISCOVERED, _DISCOVERED_END = "\n\n--- Newly Discovered Project Context ---\n", "\n--- End Project Context ---"
#: The lines above the output, which repeat what the call asked for or tell the model how to read on.
_HEADINGS = re.compile(
    r"\s*IMPORTANT: The file content has been truncated\.\nStatus: [^\n]*\nAction: [^\n]*\n\n"
    r"--- FILE CONTENT \(truncated\) ---\n"
    r"|Found \d+ (?:matches|match|files with matches) for pattern \"[^\n]*:\n(?:---\n)?"
    r"|Found \d+ (?:matching )?file\(s\)[^\n]* sorted by modification time \(newest first\):\n"
    r"|Directory listing for [^\n]*:\n"
    r"|Web search results for \"[^\n]*\":\n\n"
)
#: The list of tasks, and the topic and the intent of the work, which the call has.
_REPEATED = re.compile(
    r"Successfully updated the todo list\. The current list is now:\n.*|(?:Current topic: \"|Strategic Intent: ).*",
    re.DOTALL,
)
#: By tool: those with a heading, and those whose output repeats the arguments.
_WITH_HEADING = frozenset(
    {"read_file", "grep_search", "search_file_content", "glob", "list_directory", "google_web_search"}
)
_REPEATING = frozenset({"write_todos", "update_topic"})


def without_frame(text: str, name: str) -> str:
    """Return the output of a tool as the tool made it; "" if it only repeats the arguments.

    :param name: the tool's.
    """
    if text.rstrip().endswith(_DISCOVERED_END):
        text = text[: text.rfind(_DISCOVERED)] if _DISCOVERED in text else text
    if name in _WITH_HEADING:
        found = _HEADINGS.match(text)
        # A file that starts with such a line has it below the heading.
        return text[found.end() :].removesuffix("\n---") if found and text[found.end() :].strip() else text
    if name in _REPEATING:
        return "" if _REPEATED.fullmatch(text) else text
    if found := _ANSWERED.match(text):
        return _answer(text[found.end() :])
    return text


def _answer(text: str) -> str:
    """Return what a subagent answered: the texts of an object, which most subagents answer with; else all of it."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return "\n".join(filter(str.strip, _texts(orjson.loads(text)))) or text
    except orjson.JSONDecodeError:
        return text


def _texts(value: object) -> Iterator[str]:
    """Yield the texts and numbers in a value, in order."""
    if isinstance(value, str):
        yield clean(value)
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
