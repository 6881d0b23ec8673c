"""Tool calls: from requests, which are said twice, to results, which name only the call's id."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

from sesame_core import ToolCall, ToolResult

from .output import is_failure, output
from .values import arguments, string

#: Most stored calls, and most of them in a checkpoint.
REMEMBERED = 1024
CARRIED = 64
#: Most characters of what is stored of a call: a shell's command, a subagent's task.
ABOUT_CHARS = 500
#: Tools that run their argument `command` in a shell.
SHELLS = frozenset({"bash", "powershell", "shell"})
#: The shell of a person's `!command`, and the name under which all shells are found.
USERS_SHELL, SHELL = "local_shell", "shell"
#: Tools that only change what the program shows.
SILENT = frozenset({"report_intent"})
#: A file that a patch changes.
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)


class Calls:
    """The calls that have no result yet, by id: the tool's name, and what it is about."""

    def __init__(self, state: Iterable[tuple[str, str, str]] = ()) -> None:
        self._calls = OrderedDict((call_id, (name, about)) for call_id, name, about in state)

    def open(self, call_id: str, name: str, value: object) -> ToolCall | None:
        """Return a call; None when it is known already, or a tool's that is silent.

        :param value: its arguments.
        """
        if not name or call_id in self._calls:
            return None
        made = _with_files(name, arguments(value))
        if call_id:
            key = "command" if name in SHELLS or name == USERS_SHELL else "description" if name == "task" else ""
            self._calls[call_id] = (name, string(made, key)[:ABOUT_CHARS] if key else "")
            if len(self._calls) > REMEMBERED:
                self._calls.popitem(last=False)
        if name in SILENT:
            return None
        if name == USERS_SHELL:
            name, made = SHELL, {"command": string(made, "command")}
        return ToolCall(id=call_id, name=name, arguments=made)

    def about(self, call_id: str) -> str:
        """Return what an open call is about; "" if nothing is known."""
        return self._calls.get(call_id, ("", ""))[1]

    def answer(self, data: Mapping[str, Any]) -> ToolResult | None:
        """Return the result in an event, with the name and command of its call; None for a silent tool's."""
        call_id = string(data, "toolCallId")
        name, about = self._calls.pop(call_id, ("", ""))
        if name in SILENT:
            return None
        return ToolResult(
            call_id=call_id,
            name=SHELL if name == USERS_SHELL else name,
            text=output(data),
            is_error=is_failure(data),
            command=about if name in SHELLS or name == USERS_SHELL else "",
        )

    def state(self) -> list[tuple[str, str, str]]:
        """Return the state from which a new object continues, as JSON values."""
        return [(call_id, *call) for call_id, call in list(self._calls.items())[-CARRIED:]]


def _with_files(name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return arguments that also name the files of a patch, by which a session is found."""
    if name != "apply_patch":
        return values
    text = next((string(values, key) for key in ("input", "patch") if string(values, key)), "")
    files = dict.fromkeys(path.strip() for path in _PATCHED.findall(text))
    return {**values, "edits": [{"path": path} for path in files]} if files else values
