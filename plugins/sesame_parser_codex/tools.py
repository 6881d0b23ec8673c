"""Converts calls of tools and their outputs, and what events report of them: exit codes, failures, changed files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from sesame_core import Message, ToolCall, ToolResult
from sesame_core.types.transcript import Role

from .calls import (
    ABOUT_AGENTS,
    CODE,
    PATCH,
    PLAN,
    STDIN,
    Calls,
    arguments_in,
    command_in,
    command_of,
    name_of,
    tool_call,
)
from .outputs import Output, read_output
from .patches import changes_of
from .twins import Twins
from .values import digest, mapping, objects, string, texts

#: Steps of plans that are recognised when they are repeated, as all are in each update.
STEPS = 64
#: Types of the outputs of calls.
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
#: What a patch reports when it was applied.
_UPDATED = re.compile(r"\ASuccess\. Updated the following files:(?:\n[AMD] .*)*\n?")
#: States of an item whose call failed.
_FAILED = frozenset({"failed", "declined"})


class Make(Protocol):
    """Makes a message of the session."""

    def __call__(self, role: Role, text: str, *, id: str = "", **more: Any) -> Message:
        """Return a message."""


class ToolRecords:
    """Converts the records of tools; `state` is everything that it needs to resume.

    :param make: makes a message of the session.
    :param visit: called with each directory in which a command runs.
    """

    def __init__(self, make: Make, visit: Callable[[str], None], state: Mapping[str, Any] | None = None) -> None:
        self._make = make
        self._visit = visit
        self._calls = Calls(state["calls"] if state else None)
        self._twins = Twins(state["twins"] if state else None)
        self._steps: list[str] = list(state["steps"]) if state else []

    def knows(self, kind: str, event: str) -> bool:
        """Return whether a record is about a tool."""
        return (kind, event) in _HANDLERS

    def read(self, kind: str, event: str, record: Mapping[str, Any]) -> list[Message]:
        """Return the messages of a record: of a call, an output, or an event about one."""
        return _HANDLERS[kind, event](self, record)

    def user_shell(self, command: str, output: str) -> list[Message]:
        """Return the message of a command that a person ran."""
        if self._twins.is_second("shell", command, "item"):
            return []
        return [self._run("shell", digest(command), command, read_output(output), role="system", source_type="bash")]

    def state(self) -> dict[str, Any]:
        """Return the state from which a new converter resumes, as JSON values."""
        return {"calls": self._calls.state(), "twins": self._twins.state(), "steps": self._steps}

    # -- what the model calls -----------------------------------------------------------------------------

    def _call(self, record: Mapping[str, Any]) -> list[Message]:
        call_id = string(record, "call_id") or string(record, "id")
        name = name_of(record)
        if "action" in record:
            name, arguments = name or "local_shell", mapping(record, "action")
        elif "input" in record:
            text = string(record, "input")
            arguments = arguments_in(text) if name not in (PATCH, CODE) else {"input": text}
        else:
            arguments = arguments_in(record.get("arguments"))
        if not name or (call_id and self._calls.is_known(call_id)):
            return []
        if os.path.isabs(directory := string(arguments, "workdir")):
            self._visit(directory)
        if name == PLAN:
            arguments = self._plan(arguments)
        call = tool_call(name, call_id, arguments)
        command = self._calls.running(f"{arguments.get('session_id')}") if name == STDIN else ""
        self._calls.open(call_id, call.name if call else name, (command_in(call) if call else "") or command)
        if call is None:
            return []
        return [self._make("assistant", "", id=call_id, tool_calls=(call,))]

    def _plan(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return a plan without the steps that earlier plans had; each update repeats all."""
        steps = [string(step, "step") for step in objects(arguments, "plan")]
        new = [step for step in steps if step and digest(step) not in self._steps]
        self._steps = [*self._steps, *map(digest, new)][-STEPS:]
        explanation = string(arguments, "explanation")
        return {**({"explanation": explanation} if explanation else {}), **({"plan": new} if new else {})}

    def _output(self, record: Mapping[str, Any]) -> list[Message]:
        call_id = string(record, "call_id")
        if self._calls.is_answered(call_id):
            return []
        name, command = self._calls.close(call_id)
        output = read_output(record.get("output"), is_about_agents=name in ABOUT_AGENTS)
        if name == PATCH:
            # The call names the files.
            output = output._replace(text=_UPDATED.sub("", output.text))
        if output.process:
            self._calls.run(output.process, command)
        is_error = self._calls.has_failed(call_id) or output.is_error
        if not output.text and not is_error:
            return []
        result = ToolResult(call_id=call_id, name=name, text=output.text, is_error=is_error, command=command)
        return [self._make("tool", "", id=f"{call_id}:output" if call_id else "", tool_results=(result,))]

    def _search_called(self, record: Mapping[str, Any]) -> list[Message]:
        return self._web_search(record, "item")

    def _search_reported(self, record: Mapping[str, Any]) -> list[Message]:
        return self._web_search(record, "event")

    def _web_search(self, record: Mapping[str, Any], source: str) -> list[Message]:
        action = mapping(record, "action")
        queries = action.get("queries")
        asked = [string(record, "query") or string(action, "query")]
        if not asked[0] and isinstance(queries, list):
            asked = [query for query in queries if isinstance(query, str)]
        given = {
            "query": "\n".join(filter(None, asked)),
            "url": string(action, "url"),
            "pattern": string(action, "pattern"),
        }
        arguments = {key: text for key, text in given.items() if text}
        if not arguments or self._twins.is_second("web", str(arguments), source):
            return []
        call_id = string(record, "call_id") or string(record, "id") or digest(str(arguments))
        return [self._make("assistant", "", tool_calls=(ToolCall(id=call_id, name="web_search", arguments=arguments),))]

    # -- what events report -------------------------------------------------------------------------------

    def _command(self, record: Mapping[str, Any]) -> list[Message]:
        call_id = _id_of(record)
        code = record.get("exit_code")
        is_error = string(record, "status") in _FAILED or (isinstance(code, int) and code != 0)
        if self._is_reported(call_id, is_error=is_error):
            return []
        command = command_of(record.get("command"))
        is_users = string(record, "source") == "user_shell"
        if not command or (is_users and self._twins.is_second("shell", command, "event")):
            return []
        text = string(record, "aggregated_output") or string(record, "stdout") + string(record, "stderr")
        if isinstance(code, int) and code:
            text = f"exit code {code}\n{text}".rstrip()
        if is_users:
            output = Output(text.strip("\r\n"), is_error)
            return [self._run("shell", call_id, command, output, role="system", source_type="bash")]
        # What a program runs, it also returns.
        via = CODE if self._calls.runs_code() else None
        return [self._run("shell", call_id, command, Output("" if via else text, is_error), via=via)]

    def _change(self, record: Mapping[str, Any]) -> list[Message]:
        call_id = _id_of(record)
        is_error = string(record, "status") in _FAILED or record.get("success") is False
        changes = mapping(record, "changes")
        if self._is_reported(call_id, is_error=is_error) or not changes:
            return []
        via = CODE if self._calls.runs_code() else None
        # The source of the program has the patch.
        arguments = {"edits": [{"path": path} for path in changes]} if via else changes_of(changes)
        output = Output((string(record, "stderr") if is_error else "") or "", is_error)
        return self._made(ToolCall(id=call_id, name=PATCH, arguments=arguments, via=via), output)

    def _mcp_item(self, record: Mapping[str, Any]) -> list[Message]:
        return self._mcp(record, record, mapping(record, "result"))

    def _mcp_event(self, record: Mapping[str, Any]) -> list[Message]:
        result = mapping(record, "result")
        error = {"content": string(result, "Err"), "isError": True} if "Err" in result else {}
        return self._mcp(record, mapping(record, "invocation"), mapping(result, "Ok") or error)

    def _mcp(
        self, record: Mapping[str, Any], invocation: Mapping[str, Any], result: Mapping[str, Any]
    ) -> list[Message]:
        call_id = _id_of(record)
        is_error = string(record, "status") in _FAILED or result.get("isError") is True
        if self._is_reported(call_id, is_error=is_error) or not string(invocation, "tool"):
            return []
        name = f"mcp__{string(invocation, 'server')}__{string(invocation, 'tool')}"
        via = CODE if self._calls.runs_code() else None
        text = "" if via else "\n".join(texts(result.get("content")))
        call = ToolCall(id=call_id, name=name, arguments=arguments_in(invocation.get("arguments")), via=via)
        return self._made(call, Output(text, is_error))

    def _collaboration(self, record: Mapping[str, Any]) -> list[Message]:
        call_id = _id_of(record)
        if self._is_reported(call_id, is_error=string(record, "status") in _FAILED) or not string(record, "tool"):
            return []
        message = string(record, "prompt")
        arguments = {"message": message} if message else {}
        return self._made(ToolCall(id=call_id, name=string(record, "tool"), arguments=arguments), Output("", False))

    def _is_reported(self, call_id: str, *, is_error: bool) -> bool:
        """Return whether an event is about a call that the model made; store that it failed."""
        if not self._calls.is_known(call_id):
            return False
        if is_error and not self._calls.is_answered(call_id):
            self._calls.fail(call_id, "failed")
        return True

    def _run(
        self, name: str, call_id: str, command: str, output: Output, *, via: str | None = None, **more: Any
    ) -> Message:
        call = ToolCall(id=call_id, name=name, arguments={"command": command}, via=via)
        return self._made(call, output, command=command, **more)[0]

    def _made(
        self, call: ToolCall, output: Output, *, role: Role = "assistant", command: str = "", **more: Any
    ) -> list[Message]:
        """Return the message of a call that no record of the model has."""
        results: tuple[ToolResult, ...] = ()
        if output.text or output.is_error:
            text = output.text or "failed"
            results = (
                ToolResult(call_id=call.id, name=call.name, text=text, is_error=output.is_error, command=command),
            )
        return [self._make(role, "", id=call.id, tool_calls=(call,), tool_results=results, **more)]


def _id_of(record: Mapping[str, Any]) -> str:
    return string(record, "call_id") or string(record, "id")


_HANDLERS: dict[tuple[str, str], Callable[[ToolRecords, Mapping[str, Any]], list[Message]]] = {
    ("response_item", "function_call"): ToolRecords._call,
    ("response_item", "custom_tool_call"): ToolRecords._call,
    ("response_item", "local_shell_call"): ToolRecords._call,
    ("response_item", "function_call_output"): ToolRecords._output,
    ("response_item", "custom_tool_call_output"): ToolRecords._output,
    ("response_item", "web_search_call"): ToolRecords._search_called,
    ("event_msg", "web_search_end"): ToolRecords._search_reported,
    ("event_msg", "exec_command_end"): ToolRecords._command,
    ("event_msg", "patch_apply_end"): ToolRecords._change,
    ("event_msg", "mcp_tool_call_end"): ToolRecords._mcp_event,
    ("item", "WebSearch"): ToolRecords._search_reported,
    ("item", "Extension"): ToolRecords._search_reported,
    ("item", "CommandExecution"): ToolRecords._command,
    ("item", "FileChange"): ToolRecords._change,
    ("item", "McpToolCall"): ToolRecords._mcp_item,
    ("item", "CollabAgentToolCall"): ToolRecords._collaboration,
}
