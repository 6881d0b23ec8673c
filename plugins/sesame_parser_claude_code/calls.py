"""Stores tool calls until their results, which refer to them by id only."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

from sesame_core.types.transcript import ToolCall, ToolResult

from .records import string

#: Most stored calls, and most of them in a checkpoint.
REMEMBERED = 1024
CARRIED = 64
#: Longest shell command that is stored for its result, in characters.
COMMAND_CHARS = 1000
#: Tools that run their argument `command` in a shell.
SHELLS = frozenset({"Bash", "PowerShell"})


class OpenCalls:
    """The calls that have no result yet, by id: the tool's name and, for a shell, its command."""

    def __init__(self, state: Iterable[tuple[str, str, str]] = ()) -> None:
        self._calls = OrderedDict((call_id, (name, command)) for call_id, name, command in state)

    def open(self, call: ToolCall) -> None:
        """Store a call."""
        command = string(call.arguments, "command")[:COMMAND_CHARS] if call.name in SHELLS else ""
        self._calls[call.id] = (call.name, command)
        if len(self._calls) > REMEMBERED:
            self._calls.popitem(last=False)

    def answer(self, block: Mapping[str, Any], text: str) -> ToolResult:
        """Return the result in a block, with the name and command of its call, and close the call."""
        call_id = string(block, "tool_use_id")
        name, command = self._calls.pop(call_id, ("", ""))
        is_error = block.get("is_error") is True
        return ToolResult(call_id=call_id, name=name, text=text, is_error=is_error, command=command)

    def state(self) -> list[tuple[str, str, str]]:
        """Return the state from which a new tracker resumes, as JSON values."""
        return [(call_id, *call) for call_id, call in list(self._calls.items())[-CARRIED:]]
