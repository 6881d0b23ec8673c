"""Converts the calls of tools: what a person would search for, under the names that other agents use, too."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import orjson

from sesame_core import ToolCall

from .patches import arguments_of, in_command
from .values import mapping, string

#: Most stored calls, and most of them in a checkpoint.
REMEMBERED = 1024
CARRIED = 64
#: Characters of a shell command in its result.
COMMAND_CHARS = 500

#: Tools that run a command, by the name under which they are stored: one tool had several names.
SHELLS = {
    "container.exec": "shell",
    "exec_command": "exec_command",
    "local_shell": "shell",
    "shell": "shell",
    "shell_command": "shell",
    "unified_exec": "exec_command",
}
#: Writes to a process that still runs; without characters it only waits for output.
STDIN = "write_stdin"
#: Waits for the output of a program.
WAIT = "wait"
PATCH = "apply_patch"
PLAN = "update_plan"
#: Runs a program in JavaScript, which calls the other tools.
CODE = "exec"
#: Tools that report about other agents.
ABOUT_AGENTS = frozenset(
    "spawn_agent wait wait_agent close_agent resume_agent list_agents send_input send_message followup_task".split()
)
#: Arguments that say how long to wait and how much to return, or name a process.
_STEERING = frozenset(
    "yield_time_ms max_output_tokens max_tokens timeout_ms session_id cell_id prefix_rule sandbox_permissions "
    "fork_context fork_turns interrupt tty login shell".split()
)
_SHELL_PROGRAMS = re.compile(r"(?:.*[/\\])?(?:ba|z|da|k|fi)?sh|(?:.*[/\\])?(?:pwsh|powershell|cmd)(?:\.exe)?", re.I)
_SHELL_FLAGS = frozenset({"-lc", "-c", "-cl", "-Command", "-NoProfile", "/c", "-l"})
#: A command in the source of a program.
_CMD = re.compile(r"""\bcmd["']?\s*:\s*(["'`])((?:\\.|(?!\1).)*)\1""", re.DOTALL)


def tool_call(name: str, call_id: str, arguments: dict[str, Any]) -> ToolCall | None:
    """Return the call of a tool; None for one that only waits.

    :param name: its name, with its namespace.
    """
    if name in SHELLS:
        command = command_of(arguments.get("command", arguments.get("cmd")))
        kept = {key: string(arguments, key) for key in ("justification", "arguments")}
        kept = {key: text for key, text in kept.items() if text}
        if found := in_command(command):
            edits, rest = found
            more = {"command": rest} if rest else {}
            return ToolCall(id=call_id, name=PATCH, arguments={**edits, **more, **kept}, via=SHELLS[name])
        return ToolCall(id=call_id, name=SHELLS[name], arguments={"command": command, **kept})
    if name == STDIN:
        chars = string(arguments, "chars")
        return ToolCall(id=call_id, name=name, arguments={"chars": chars}) if chars.strip() else None
    if name == PATCH:
        patch = string(arguments, "input") or string(arguments, "patch")
        return ToolCall(id=call_id, name=name, arguments=arguments_of(patch) if patch else arguments)
    if name == CODE:
        code = string(arguments, "input") or string(arguments, "code")
        return ToolCall(id=call_id, name=name, arguments={"code": code} if code else arguments)
    kept = {key: value for key, value in arguments.items() if key not in _STEERING}
    if name == WAIT and not kept:
        return None
    return ToolCall(id=call_id, name=name, arguments=kept)


def command_of(value: Any) -> str:
    """Return a command as a person would type it, from a string or a list of words."""
    if isinstance(value, str):
        return string({"command": value}, "command")
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return ""
    words = [string({"word": word}, "word") for word in value]
    if len(words) > 2 and _SHELL_PROGRAMS.fullmatch(words[0]) and all(word in _SHELL_FLAGS for word in words[1:-1]):
        return words[-1]
    return " ".join(words)


def name_of(record: Mapping[str, Any]) -> str:
    """Return a tool's name in a call; that of a tool of an MCP server has the server's before it."""
    name, namespace = string(record, "name"), string(record, "namespace").rstrip("_")
    return f"{namespace}__{name}" if namespace.startswith("mcp__") and not name.startswith(namespace) else name


def arguments_in(value: Any) -> dict[str, Any]:
    """Return the arguments of a call, which are an object or a string of JSON; a malformed string as it is."""
    if isinstance(value, str):
        try:
            decoded = orjson.loads(value)
        except orjson.JSONDecodeError:
            text = string({"arguments": value}, "arguments").strip()
            return {"arguments": text} if text else {}
        return decoded if isinstance(decoded, dict) else {"arguments": value}
    return value if isinstance(value, dict) else {}


class Calls:
    """The calls so far, by id: their tool, their command, whether they have an output; and which are known to fail."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        known = state["calls"] if state else ()
        self._calls: OrderedDict[str, tuple[str, str, bool]] = OrderedDict(
            (call, (name, command, bool(answered))) for call, name, command, answered in known
        )
        self._failed: OrderedDict[str, str] = OrderedDict(state["failed"] if state else ())
        #: The commands of processes that still run, by the id with which Codex writes to them.
        self._processes: OrderedDict[str, str] = OrderedDict(state["processes"] if state else ())

    def is_known(self, call_id: str) -> bool:
        """Return whether a call with this id was made."""
        return call_id in self._calls

    def open(self, call_id: str, name: str, command: str) -> None:
        """Store a call."""
        _store(self._calls, call_id, (name, command[:COMMAND_CHARS], False))

    def is_answered(self, call_id: str) -> bool:
        """Return whether a call has an output."""
        return self._calls.get(call_id, ("", "", False))[2]

    def close(self, call_id: str) -> tuple[str, str]:
        """Return the tool and the command of a call that has an output now."""
        name, command, _ = self._calls.get(call_id, ("", "", False))
        if call_id in self._calls:
            self._calls[call_id] = (name, command, True)
        return name, command

    def fail(self, call_id: str, reason: str) -> None:
        """Store that a call failed, before its output."""
        _store(self._failed, call_id, reason)

    def has_failed(self, call_id: str) -> bool:
        """Return whether a call is known to have failed."""
        return self._failed.pop(call_id, None) is not None

    def run(self, process: str, command: str) -> None:
        """Store which command a process runs that has not ended."""
        _store(self._processes, process, command)

    def running(self, process: str) -> str:
        """Return the command of a process, "" when it is not known."""
        return self._processes.get(process, "")

    def runs_code(self) -> bool:
        """Return whether the last call runs a program, which makes calls of its own."""
        last = next(reversed(self._calls.values()), None)
        return last is not None and last[0] == CODE and not last[2]

    def state(self) -> dict[str, Any]:
        """Return the state from which a new tracker resumes, as JSON values."""
        return {
            "calls": [[call, *about] for call, about in list(self._calls.items())[-CARRIED:]],
            "failed": [list(pair) for pair in list(self._failed.items())[-CARRIED:]],
            "processes": [list(pair) for pair in list(self._processes.items())[-CARRIED:]],
        }


def command_in(call: ToolCall) -> str:
    """Return the shell command that a call runs, "" when it runs none."""
    if call.name == CODE:
        return "\n".join(found[2] for found in _CMD.finditer(string(mapping({"a": call.arguments}, "a"), "code")))
    return string(call.arguments, "command") if call.name in SHELLS.values() else ""


def _store(known: OrderedDict[str, Any], key: str, value: Any) -> None:
    known[key] = value
    if len(known) > REMEMBERED:
        known.popitem(last=False)
