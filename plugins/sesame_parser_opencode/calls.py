"""Converts the calls of tools, as parts of 1.x (`state.output`) and contents of 2 (`state.content`) have them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sesame_core import ToolCall, ToolResult
from sesame_core.text.tokens import clean

from .outputs import without_frame
from .values import mapping, number, objects, string

#: Tools whose `command` argument is run by a shell.
SHELLS = frozenset({"bash", "shell"})
#: A call of a tool that does not exist is stored as a call of this one.
INVALID = "invalid"
#: The files that a patch names, in the form that OpenAI's models write.
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
#: Calls in these states have no result: the program was ended.
_OPEN = frozenset({"pending", "running", "streaming"})


def call_and_result(part: Mapping[str, Any], part_id: str) -> tuple[ToolCall, ToolResult | None]:
    """Return a call, and its result; None when there is none."""
    name = string(part, "tool") or string(part, "name")
    call_id = string(part, "callID") or string(part, "id") or part_id
    state = mapping(part, "state")
    given = state.get("input")
    arguments: Any = given if given is not None else {}
    status = string(state, "status")
    text, is_error = without_frame(name, _output(state)), status == "error"
    if name == INVALID and isinstance(given, dict):
        name, arguments, is_error = string(given, "tool") or name, {}, True
        text = string(given, "error") or text
    call = ToolCall(id=call_id, name=name, arguments=_with_paths(arguments))
    if status in _OPEN and not text:
        return call, None
    command = string(given, "command") if isinstance(given, dict) else ""
    code = number(mapping(state, "metadata").get("exit"))
    if code:
        is_error = True
        if name in SHELLS and f"code {code}" not in text:
            text = f"{text.rstrip()}\n\nexit code {code}".lstrip()
    result = ToolResult(
        call_id=call_id, name=name, text=text, is_error=is_error, command=command if name in SHELLS else ""
    )
    return call, result


def files_of(call: ToolCall) -> set[str]:
    """Return the files that a call names."""
    arguments = call.arguments
    if not isinstance(arguments, dict):
        return set()
    edits = [edit.get("path") for edit in objects(arguments, "edits")]
    return {file for file in (arguments.get("filePath"), arguments.get("path"), *edits) if isinstance(file, str)}


def _output(state: Mapping[str, Any]) -> str:
    """Return what a tool returned, or why it failed."""
    error = state.get("error")
    parts = [string(state, "output"), *(string(one, "text") for one in objects(state, "content"))]
    parts.append(clean(error) if isinstance(error, str) else string(mapping(state, "error"), "message"))
    return "\n".join(filter(None, parts))


def _with_paths(arguments: Any) -> Any:
    """Return arguments with the files that a patch in them names."""
    text = arguments.get("patchText") if isinstance(arguments, dict) else None
    if not isinstance(text, str) or "edits" in arguments:
        return arguments
    paths = dict.fromkeys(_PATCHED.findall(text))
    return {**arguments, "edits": [{"path": path} for path in paths]} if paths else arguments
