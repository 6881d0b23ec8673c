"""Writes sessions in the shapes of Codex 0.171, Copilot CLI 1.0.102, Gemini CLI 0.61 and OpenCode 1.18.

Each has the methods of `shapes.Writer`; OpenCode's records are rows, which `store` puts into its database.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from shapes import Call, Record, uuid

#: What Codex and Copilot CLI send to their models first, about as long as theirs.
INSTRUCTIONS = "You are a coding agent. " * 900


class _Shape:
    """What the four have in common: time that passes, and a source of ids of its own."""

    def __init__(self, random: Random, *, id: str, cwd: str, start: datetime) -> None:
        self._random = random
        self.id = id
        self._cwd = cwd
        self._now = start.timestamp()
        self._count = 0

    def _tick(self) -> float:
        self._now += self._random.uniform(0.2, 20)
        return self._now

    def _iso(self) -> str:
        return datetime.fromtimestamp(self._tick(), UTC).isoformat(timespec="milliseconds")[:-6] + "Z"

    def _number(self) -> int:
        self._count += 1
        return self._count

    def title(self, text: str) -> list[Record]:
        """Return nothing: the name of a session is not in its records."""
        return []


def _shell(call: Call) -> str:
    """Return what a model without tools for files runs instead."""
    match call.tool:
        case "bash":
            return call.text
        case "grep":
            return f"rg -n {call.text} {call.path}"
        case _:
            return f"sed -n '1,200p' {call.path}"


class Codex(_Shape):
    """Paginated: what the model sees, then what a person sees, each with its place."""

    def _line(self, kind: str, payload: Record) -> Record:
        return {"timestamp": self._iso(), "ordinal": self._number() - 1, "type": kind, "payload": payload}

    def _shown(self, item: Record) -> Record:
        about = {"thread_id": self.id, "turn_id": self._turn, "item": item, "completed_at_ms": round(self._now * 1000)}
        return self._line("event_msg", {"type": "item_completed", **about})

    def _message(self, role: str, kind: str, text: str) -> Record:
        content = [{"type": kind, "text": text}]
        return self._line(
            "response_item", {"type": "message", "role": role, "content": content, "id": self._own("msg")}
        )

    def _own(self, kind: str) -> str:
        return f"{kind}_{self._random.getrandbits(128):032x}"

    def start(self) -> list[Record]:
        """Return the header."""
        self._turn = uuid(self._random)
        meta = {"id": self.id, "session_id": self.id, "cwd": self._cwd, "originator": "codex-tui", "source": "cli"}
        meta |= {"cli_version": "0.171.0", "history_mode": "paginated", "model_provider": "openai"}
        meta |= {"timestamp": self._iso(), "base_instructions": {"text": INSTRUCTIONS}, "git": {"branch": "main"}}
        return [self._line("session_meta", meta)]

    def user(self, text: str) -> list[Record]:
        """Return a prompt, and the context of its turn."""
        self._turn = uuid(self._random)
        return [
            self._line("event_msg", {"type": "task_started", "turn_id": self._turn}),
            self._line("turn_context", {"turn_id": self._turn, "cwd": self._cwd, "model": "gpt-6", "summary": "auto"}),
            self._message("user", "input_text", text),
            self._shown({"type": "UserMessage", "id": uuid(self._random), "content": [{"type": "text", "text": text}]}),
        ]

    def assistant(self, thinking: str, text: str, calls: list[Call]) -> list[Record]:
        """Return one answer of the model, with its tool calls."""
        made: list[Record] = []
        if thinking:
            secret = f"{self._random.getrandbits(8000):02000x}"
            made.append(self._line("response_item", {"type": "reasoning", "summary": [], "encrypted_content": secret}))
        if text:
            shown = {"type": "AgentMessage", "id": self._own("msg"), "content": [{"type": "Text", "text": text}]}
            made += [self._shown(shown), self._message("assistant", "output_text", text)]
        return [*made, *(self._line("response_item", self._called(call)) for call in calls)]

    def _called(self, call: Call) -> Record:
        if call.tool in ("edit", "write"):
            return {"type": "custom_tool_call", "call_id": call.id, "name": "apply_patch", "input": self._patch(call)}
        arguments = json.dumps({"cmd": _shell(call), "workdir": self._cwd, "yield_time_ms": 1000})
        return {"type": "function_call", "call_id": call.id, "name": "exec_command", "arguments": arguments}

    def _patch(self, call: Call) -> str:
        removed = "".join(f"-{line}\n" for line in call.old.splitlines())
        added = "".join(f"+{line}\n" for line in call.text.splitlines())
        head = f"Update File: {call.path}\n@@\n" if call.tool == "edit" else f"Add File: {call.path}\n"
        return f"*** Begin Patch\n*** {head}{removed}{added}*** End Patch"

    def result(self, call: Call, text: str, is_error: bool) -> list[Record]:
        """Return what a tool answered, and the event about it."""
        if call.tool in ("edit", "write"):
            change = {"type": "update", "unified_diff": self._patch(call)}
            shown: Record = {"type": "FileChange", "id": call.id, "changes": {call.path: change}, "status": "completed"}
            output = {"type": "custom_tool_call_output", "call_id": call.id, "output": "Success."}
            return [self._shown(shown), self._line("response_item", output)]
        code = int(is_error)
        head = f"Chunk ID: 1a2b3c\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n"
        shown = {"type": "CommandExecution", "id": call.id, "command": ["bash", "-lc", _shell(call)], "exit_code": code}
        shown |= {"aggregated_output": text, "status": "failed" if is_error else "completed"}
        output = {"type": "function_call_output", "call_id": call.id, "output": head + text}
        usage = {"type": "token_count", "info": {"total_token_usage": {"total_tokens": 12_345}}}
        return [self._shown(shown), self._line("response_item", output), self._line("event_msg", usage)]


class Copilot(_Shape):
    """Events in a chain, a call twice, and accounts of what it cost."""

    _last: str | None = None

    def _event(self, kind: str, data: Record) -> Record:
        parent, self._last = self._last, uuid(self._random)
        return {"type": kind, "data": data, "id": self._last, "timestamp": self._iso(), "parentId": parent}

    def start(self) -> list[Record]:
        """Return the event that starts the session."""
        context = {"cwd": self._cwd, "branch": "main", "repository": "ann/fox", "hostType": "github"}
        about = {"sessionId": self.id, "version": 1, "copilotVersion": "1.0.102", "selectedModel": "gpt-6"}
        return [self._event("session.start", {**about, "startTime": self._iso(), "context": context})]

    def user(self, text: str) -> list[Record]:
        """Return a prompt, and what the program adds to it."""
        sent = f"<current_datetime>{self._iso()}</current_datetime>\n\n{text}"
        return [
            self._event("user.message", {"content": text, "transformedContent": sent, "attachments": []}),
            self._event("system.message", {"role": "system", "content": INSTRUCTIONS}),
        ]

    def assistant(self, thinking: str, text: str, calls: list[Call]) -> list[Record]:
        """Return one answer of the model, with its tool calls."""
        requests = [
            {"toolCallId": call.id, "name": self._named(call), "arguments": self._arguments(call)} for call in calls
        ]
        message = {"messageId": uuid(self._random), "model": "gpt-6", "content": text, "toolRequests": requests}
        message |= {"reasoningText": thinking, "encryptedContent": f"{self._random.getrandbits(4000):01000x}"}
        usage = {"usage": {"model": "gpt-6", "inputTokens": 100, "outputTokens": 7, "requestBodyBytes": 48_894}}
        started = [
            self._event(
                "tool.execution_start",
                {"toolCallId": call.id, "toolName": self._named(call), "arguments": self._arguments(call)},
            )
            for call in calls
        ]
        turn = self._event("assistant.turn_start", {"turnId": "0"})
        return [turn, self._event("session.usage_record", usage), self._event("assistant.message", message), *started]

    def _named(self, call: Call) -> str:
        return {"read": "view", "write": "create"}.get(call.tool, call.tool)

    def _arguments(self, call: Call) -> Record:
        match call.tool:
            case "bash":
                return {"command": call.text, "description": "Look"}
            case "edit":
                return {"path": call.path, "old_str": call.old, "new_str": call.text}
            case "write":
                return {"path": call.path, "file_text": call.text}
            case "grep":
                return {"pattern": call.text, "path": call.path}
            case _:
                return {"path": call.path}

    def result(self, call: Call, text: str, is_error: bool) -> list[Record]:
        """Return what a tool answered."""
        done: Record = {"toolCallId": call.id, "success": not is_error, "toolTelemetry": {"properties": {"a": "b"}}}
        done |= {"error": {"message": text}} if is_error else {"result": {"content": text, "detailedContent": text}}
        return [self._event("tool.execution_complete", done), self._event("assistant.turn_end", {"turnId": "0"})]


class Gemini(_Shape):
    """A log of patches: an answer is written again with its calls, and each output once more as a message."""

    _answer: Record | None = None

    def start(self) -> list[Record]:
        """Return the header and the context of the session."""
        stamp = self._iso()
        header = {"sessionId": self.id, "projectHash": "0" * 64, "startTime": stamp, "kind": "main"}
        context = {"id": "c0", "timestamp": stamp, "type": "user", "content": [{"text": "<session_context>\n…"}]}
        return [{**header, "lastUpdated": stamp, "directories": [self._cwd]}, {"$set": {"messages": [context]}}]

    def _said(self, kind: str, **fields: Any) -> Record:
        return {"id": f"{self._random.getrandbits(128):032x}", "timestamp": self._iso(), "type": kind, **fields}

    def user(self, text: str) -> list[Record]:
        """Return a prompt."""
        return [self._said("user", content=[{"text": text}]), {"$set": {"lastUpdated": self._iso()}}]

    def assistant(self, thinking: str, text: str, calls: list[Call]) -> list[Record]:
        """Return one answer of the model; its calls follow when they have ended."""
        thoughts = [{"subject": "Looking", "description": thinking}] if thinking else []
        tokens = {"input": 100, "output": 7, "total": 107}
        self._answer = self._said("gemini", content=text, thoughts=thoughts, tokens=tokens, model="gemini-3-pro")
        return [self._answer, {"$set": {"lastUpdated": self._iso()}}]

    def result(self, call: Call, text: str, is_error: bool) -> list[Record]:
        """Return what a tool answered."""
        names = {"bash": "run_shell_command", "read": "read_file", "edit": "replace", "write": "write_file"}
        name = names.get(call.tool, "grep_search")
        response = {"id": call.id, "name": name, "response": {"error" if is_error else "output": text}}
        done = {
            "id": call.id,
            "name": name,
            "args": self._arguments(call),
            "status": "error" if is_error else "success",
        }
        done |= {"result": [{"functionResponse": response}], "resultDisplay": text, "description": "It reads. " * 60}
        assert self._answer is not None
        self._answer = {**self._answer, "toolCalls": [*self._answer.get("toolCalls", ()), done]}
        return [self._answer, self._said("user", content=[{"functionResponse": response}])]

    def _arguments(self, call: Call) -> Record:
        match call.tool:
            case "bash":
                return {"command": call.text, "description": "Look"}
            case "edit":
                return {"file_path": call.path, "old_string": call.old, "new_string": call.text}
            case "write":
                return {"file_path": call.path, "content": call.text}
            case "grep":
                return {"pattern": call.text, "dir_path": call.path}
            case _:
                return {"file_path": call.path}


class OpenCode(_Shape):
    """Rows of messages and of their parts; what a tool answers changes the row of its call."""

    _message = ""

    def _said(self, **data: Any) -> Record:
        self._message = f"msg_{self._number():012x}{self._random.getrandbits(48):012x}"
        return self._row("message", self._message, data)

    def _row(self, table: str, id: str, data: Record) -> Record:
        at = round(self._tick() * 1000)
        return {"table": table, "id": id, "message": self._message, "session": self.id, "at": at, "data": data}

    def _part(self, **data: Any) -> Record:
        return self._row("part", f"prt_{self._number():012x}{self._random.getrandbits(48):012x}", data)

    def start(self) -> list[Record]:
        """Return the session."""
        return [self._row("session", self.id, {"directory": self._cwd})]

    def user(self, text: str) -> list[Record]:
        """Return a prompt."""
        model = {"providerID": "openai", "modelID": "gpt-6"}
        return [self._said(role="user", agent="build", model=model), self._part(type="text", text=text)]

    def assistant(self, thinking: str, text: str, calls: list[Call]) -> list[Record]:
        """Return one answer of the model; its calls follow when they have ended."""
        path = {"cwd": self._cwd, "root": self._cwd}
        made = [
            self._said(role="assistant", modelID="gpt-6", path=path),
            self._part(type="step-start", snapshot="c0ffee"),
        ]
        made += [self._part(type="reasoning", text=thinking)] if thinking else []
        made += [self._part(type="text", text=text)] if text else []
        return [*made, self._part(type="step-finish", reason="stop", tokens={"total": 107}, cost=0)]

    def result(self, call: Call, text: str, is_error: bool) -> list[Record]:
        """Return a call with what the tool answered."""
        state: Record = {"status": "error" if is_error else "completed", "input": self._arguments(call)}
        state |= {"error": text} if is_error else {"output": text, "metadata": {"output": text, "exit": 0}}
        return [self._part(type="tool", tool=call.tool, callID=call.id, state=state)]

    def _arguments(self, call: Call) -> Record:
        match call.tool:
            case "bash":
                return {"command": call.text, "description": "Look"}
            case "edit":
                return {"filePath": call.path, "oldString": call.old, "newString": call.text}
            case "write":
                return {"filePath": call.path, "content": call.text}
            case "grep":
                return {"pattern": call.text, "path": call.path}
            case _:
                return {"filePath": call.path}


_TABLES = """
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL,
    version TEXT NOT NULL, revert TEXT, model TEXT, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL,
    time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
    time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);
"""


def store(path: Path, rows: Iterable[Record]) -> None:
    """Write the rows of OpenCode's sessions to its database."""
    is_new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path)
    try:
        if is_new:
            db.executescript(_TABLES)
        for row in rows:
            id, session, at, data = row["id"], row["session"], row["at"], row["data"]
            if row["table"] == "session":
                sql = "INSERT INTO session VALUES (?, NULL, ?, 'New session - 2026', '1.18.33', NULL, NULL, ?, ?)"
                db.execute(sql, (id, data["directory"], at, at))
            elif row["table"] == "message":
                db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (id, session, at, at, json.dumps(data)))
            else:
                values = (id, row["message"], session, at, at, json.dumps(data))
                db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", values)
        db.commit()
    finally:
        db.close()
