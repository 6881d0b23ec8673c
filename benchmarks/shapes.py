"""Writes sessions in the shapes of Claude Code 2.1 and pi (format 3), record by record.

Both writers have the same methods; each returns the records to append, as dicts in the agent's key order.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any, Protocol

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call, before an agent's names are put on it."""

    #: "bash", "read", "edit", "write" or "grep".
    tool: str
    id: str
    path: str
    #: The command, the pattern, or the new text.
    text: str
    old: str = ""


class Writer(Protocol):
    """Turns what happens in a session into the records its agent would write."""

    def start(self) -> list[Record]:
        """Return what stands before the first prompt."""

    def user(self, text: str) -> list[Record]:
        """Return a prompt."""

    def assistant(self, thinking: str, text: str, calls: list[Call]) -> list[Record]:
        """Return one answer of the model, with its tool calls."""

    def result(self, call: Call, text: str, is_error: bool) -> list[Record]:
        """Return what a tool answered."""

    def title(self, text: str) -> list[Record]:
        """Return the title, and what else the agent notes down when a turn ends."""


class _Clock:
    """Time that passes between records."""

    def __init__(self, random: Random, start: datetime) -> None:
        self._random = random
        self._now = start.timestamp()

    def tick(self) -> float:
        self._now += self._random.uniform(0.2, 20)
        return self._now


def uuid(random: Random) -> str:
    """Return a random id in the form of a UUID 4."""
    digits = f"{random.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


class ClaudeCode:
    """One line per content block, a chain of uuids, tool results twice, and records that are no messages."""

    MODEL = "claude-opus-5"

    def __init__(self, random: Random, *, id: str, cwd: str, start: datetime, agent_id: str | None = None) -> None:
        self._random = random
        self._clock = _Clock(random, start)
        self.id = id
        self._last: str | None = None
        self._prompt = ""
        self._agent_id = agent_id
        entrypoint = "cli" if agent_id or random.random() > 0.05 else "sdk-cli"
        self._common = {
            "isSidechain": agent_id is not None,
            "userType": "external",
            "entrypoint": entrypoint,
            "cwd": cwd,
            "sessionId": id,
            "version": f"2.1.{random.randint(180, 240)}",
            "gitBranch": random.choice(("main", "main", "dev", "fix/issue")),
        }

    def _chain(self, record: Record) -> Record:
        parent, self._last = self._last, uuid(self._random)
        chained = {
            "parentUuid": parent,
            **self._common,
            "uuid": self._last,
            "timestamp": _iso(self._clock.tick()),
        }
        if self._agent_id:
            chained["agentId"] = self._agent_id
        return chained | record

    def start(self) -> list[Record]:
        """Return what stands before the first prompt."""
        if self._agent_id:
            return []
        return [{"type": "permission-mode", "permissionMode": "default", "sessionId": self.id}]

    def user(self, text: str) -> list[Record]:
        """Return a prompt."""
        self._prompt = uuid(self._random)
        said = self._chain(
            {
                "type": "user",
                "message": {"role": "user", "content": text},
                "promptId": self._prompt,
                "promptSource": "typed",
                "origin": {"kind": "human"},
                "permissionMode": "default",
            }
        )
        snapshot = {"messageId": said["uuid"], "trackedFileBackups": {}, "timestamp": said["timestamp"]}
        history = {
            "type": "file-history-snapshot",
            "messageId": said["uuid"],
            "snapshot": snapshot,
            "isSnapshotUpdate": False,
        }
        return [said] if self._agent_id else [history, said]

    def assistant(self, thinking: str, text: str, calls: list[Call]) -> list[Record]:
        """Return one answer of the model, with its tool calls."""
        blocks: list[Record] = []
        if thinking:
            signature = f"{self._random.getrandbits(1600):0400x}"
            blocks.append({"type": "thinking", "thinking": thinking, "signature": signature})
        if text:
            blocks.append({"type": "text", "text": text})
        for call in calls:
            name, arguments = self._arguments(call)
            blocks.append(
                {
                    "type": "tool_use",
                    "id": call.id,
                    "name": name,
                    "input": arguments,
                    "caller": {"type": "direct"},
                }
            )
        message_id, request_id = (f"{kind}_{self._random.getrandbits(96):024x}" for kind in ("msg", "req"))
        read = self._random.randint(1000, 150_000)
        return [
            self._chain(
                {
                    "type": "assistant",
                    "requestId": request_id,
                    "message": {
                        "model": self.MODEL,
                        "id": message_id,
                        "type": "message",
                        "role": "assistant",
                        "content": [block],
                        "stop_reason": None if block is not blocks[-1] else "tool_use" if calls else "end_turn",
                        "stop_sequence": None,
                        "usage": {
                            "input_tokens": 3,
                            "cache_creation_input_tokens": 411,
                            "cache_read_input_tokens": read,
                            "cache_creation": {
                                "ephemeral_5m_input_tokens": 411,
                                "ephemeral_1h_input_tokens": 0,
                            },
                            "output_tokens": 4 + len(str(block)) // 4,
                            "service_tier": "standard",
                        },
                    },
                }
            )
            for block in blocks
        ]

    def result(self, call: Call, text: str, is_error: bool) -> list[Record]:
        """Return what a tool answered."""
        block = {"tool_use_id": call.id, "type": "tool_result", "content": text, "is_error": is_error}
        return [
            self._chain(
                {
                    "type": "user",
                    "message": {"role": "user", "content": [block]},
                    "toolUseResult": f"Error: {text}" if is_error else self._details(call, text),
                    "sourceToolAssistantUUID": self._last,
                    "promptId": self._prompt,
                }
            )
        ]

    def title(self, text: str) -> list[Record]:
        """Return the title, and what else the agent notes down when a turn ends."""
        if self._agent_id:
            return []
        duration = self._chain({"type": "system", "subtype": "turn_duration", "durationMs": 9085, "isMeta": False})
        return [{"type": "ai-title", "aiTitle": text, "sessionId": self.id}, duration]

    def _arguments(self, call: Call) -> tuple[str, Record]:
        match call.tool:
            case "bash":
                return "Bash", {"command": call.text, "description": f"Look at {call.path}"}
            case "read":
                return "Read", {"file_path": call.path}
            case "edit":
                edit = {"old_string": call.old, "new_string": call.text, "replace_all": False}
                return "Edit", {"file_path": call.path, **edit}
            case "write":
                return "Write", {"file_path": call.path, "content": call.text}
            case _:
                return "Grep", {"pattern": call.text, "path": call.path, "output_mode": "content", "-n": True}

    def _details(self, call: Call, text: str) -> Record:
        match call.tool:
            case "bash":
                return {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
            case "read":
                count = text.count("\n") + 1
                file = {"filePath": call.path, "content": text, "numLines": count, "startLine": 1}
                return {"type": "text", "file": file | {"totalLines": count}}
            case "edit":
                edit = {
                    "oldString": call.old,
                    "newString": call.text,
                    "originalFile": text,
                    "structuredPatch": [],
                }
                return {"filePath": call.path, **edit, "userModified": False, "replaceAll": False}
            case "write":
                return {"type": "create", "filePath": call.path, "content": call.text, "structuredPatch": []}
            case _:
                return {"mode": "content", "numFiles": 0, "filenames": [], "content": text, "numLines": 9}


class Pi:
    """One line per message, a tree of short ids, session header first."""

    MODEL = "claude-sonnet-4-5"

    def __init__(self, random: Random, *, id: str, cwd: str, start: datetime) -> None:
        self._random = random
        self._clock = _Clock(random, start)
        self.id = id
        self._cwd = cwd
        self._start = start.timestamp()
        self._last: str | None = None

    def _entry(self, type: str, **fields: Any) -> Record:
        parent, self._last = self._last, f"{self._random.getrandbits(32):08x}"
        return {
            "type": type,
            "id": self._last,
            "parentId": parent,
            "timestamp": _iso(self._clock.tick()),
            **fields,
        }

    def _message(self, message: Record) -> list[Record]:
        entry = self._entry("message", message=message)
        message["timestamp"] = int(datetime.fromisoformat(entry["timestamp"]).timestamp() * 1000)
        return [entry]

    def start(self) -> list[Record]:
        """Return what stands before the first prompt."""
        system = {"role": "system", "content": "", "sections": {"preamble": "You are an assistant. " * 40}}
        return [
            {
                "type": "session",
                "version": 3,
                "id": self.id,
                "timestamp": _iso(self._start),
                "cwd": self._cwd,
            },
            self._entry("model_change", provider="anthropic", modelId=self.MODEL),
            self._entry("thinking_level_change", thinkingLevel="high"),
            *self._message(system),
        ]

    def user(self, text: str) -> list[Record]:
        """Return a prompt."""
        return self._message({"role": "user", "content": [{"type": "text", "text": text}]})

    def assistant(self, thinking: str, text: str, calls: list[Call]) -> list[Record]:
        """Return one answer of the model, with its tool calls."""
        content: list[Record] = []
        if thinking:
            signature = f"{self._random.getrandbits(1600):0400x}"
            content.append({"type": "thinking", "thinking": thinking, "thinkingSignature": signature})
        if text:
            content.append({"type": "text", "text": text})
        for call in calls:
            content.append({"type": "toolCall", "id": call.id, "name": call.tool, "arguments": self._arguments(call)})
        cost = {"input": 0.003, "output": 0.01, "cacheRead": 0.02, "cacheWrite": 0.0, "total": 0.033}
        usage = {"input": 3, "output": 180, "cacheRead": self._random.randint(1000, 150_000), "cacheWrite": 0}
        return self._message(
            {
                "role": "assistant",
                "content": content,
                "api": "anthropic-messages",
                "provider": "anthropic",
                "model": self.MODEL,
                "usage": usage | {"totalTokens": sum(usage.values()), "cost": cost},
                "stopReason": "toolUse" if calls else "stop",
            }
        )

    def result(self, call: Call, text: str, is_error: bool) -> list[Record]:
        """Return what a tool answered."""
        answer: Record = {"role": "toolResult", "toolCallId": call.id, "toolName": call.tool}
        answer["content"] = [{"type": "text", "text": text}]
        if call.tool == "edit":
            answer["details"] = {"diff": f"-{call.old}\n+{call.text}", "firstChangedLine": 7}
        return self._message(answer | {"isError": is_error})

    def title(self, text: str) -> list[Record]:
        """Return the title, and what else the agent notes down when a turn ends."""
        return [self._entry("session_info", name=text)]

    def _arguments(self, call: Call) -> Record:
        match call.tool:
            case "bash":
                return {"command": call.text}
            case "read":
                return {"path": call.path}
            case "edit":
                return {"path": call.path, "edits": [{"oldText": call.old, "newText": call.text}]}
            case "write":
                return {"path": call.path, "content": call.text}
            case _:
                return {"pattern": call.text, "path": call.path}
