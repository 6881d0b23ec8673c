"""The output of a tool, without what the program adds to it, and whether the tool failed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .values import mapping, objects, string

#: The line with the exit code below a shell's output, as several versions write it.
_EXIT = re.compile(
    r"\n?<(?:(?:command with )?shellId: [^\s<>]+ )?(?:completed|exited) with exit code (-?\d+)>\s*\Z", re.IGNORECASE
)
#: What tells the agent that a command still runs, and what it can do, or that it stopped the command.
_RUNNING = re.compile(
    r"\n?<command with (?:shellId|id): [^\s<>]+ (?:is still running after [^<>]*|stopped)>\s*\Z", re.IGNORECASE
)
#: What replaces an output that is too long: where it is, what to do with it, and its beginning.
_TOO_LARGE = re.compile(
    r"(Output too large to read at once \([^)\n]*\)\. Saved to: [^\n]*)\n(?:Consider using tools like[^\n]*\n)?\s*"
    r"(?:Preview \(first \d+ chars\):\n)?"
)
#: The beginning of a diff, which repeats an edit's arguments or a file's text.
_DIFF = re.compile(r"\s*diff --git ")


def output(data: Mapping[str, Any]) -> str:
    """Return the text of a completed call: its output, or the reason why it failed."""
    result = mapping(data, "result")
    text, detailed = string(result, "content"), string(result, "detailedContent")
    if not result:
        text = string(data, "result")
    for key in ("contents", "content"):
        text = text or "\n".join(filter(None, (string(block, "text") for block in objects(result, key))))
    if len(detailed) > len(text) and not _DIFF.match(detailed) and (not text or _is_shortened(text, detailed)):
        text = detailed
    error = mapping(data, "error")
    reason = string(error, "message") or string(data, "error")
    if reason and reason not in text:
        text = f"{text}\n{reason}" if text else reason
    if large := _TOO_LARGE.match(text):
        text = f"{large[1]}\n{text[large.end() :]}"
    code = exit_code(text)
    if code is None:
        return _RUNNING.sub("", text)
    text = _EXIT.sub("", text)
    # Of an output the fact that it is one of a success says nothing.
    return text if code == 0 else f"{text}\nexit code {code}".lstrip()


def is_failure(data: Mapping[str, Any]) -> bool:
    """Return whether a completed call failed: a shell's has succeeded, as a call, whatever its exit code is."""
    if data.get("success") is False:
        return True
    code = mapping(data, "shellExecution").get("exitCode")
    if code is None:
        code = exit_code(string(mapping(data, "result"), "content") or string(data, "result"))
    return code not in (0, None)


def exit_code(text: str) -> int | None:
    """Return the exit code that the last line of a shell's output names; None when it names none."""
    found = _EXIT.search(text, max(0, len(text) - 200))
    return int(found[1]) if found else None


def _is_shortened(text: str, detailed: str) -> bool:
    return bool(_TOO_LARGE.match(text)) or text.rstrip() in detailed
