"""Events as Copilot CLI writes them, and what the parser makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import orjson

from sesame_core import Checkpoint, Event, Message, Session, Skipped, ToolCall, ToolResult
from sesame_parser_copilot.parser import CopilotParser

DATA = Path(__file__).resolve().parents[2] / "data" / "copilot"
#: A log with every type of event, one of the flat layout, and a session of the first versions.
EVERY = DATA / "session-state" / "5e5a3e00-1111-4222-8333-444455556666" / "events.jsonl"
FLAT = DATA / "session-state" / "f1a70000-1111-4222-8333-444455556666.jsonl"
HISTORY = DATA / "history-session-state" / "session_0d0e0000-1111-4222-8333-444455556666_1759302000000.json"

ID = "0c0a0000-1111-4222-8333-444455556666"
OTHER_ID = "0c0b0000-1111-4222-8333-444455556666"
AGENT = "a9e40000-2222-4333-8444-555566667777"

Write = Callable[..., Path]
Record = dict[str, Any]


@dataclass
class Reading:
    """What came out of a parser, with the sessions as an indexer would know them."""

    messages: list[Message] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    sessions: dict[str, Session] = field(default_factory=dict)
    checkpoint: Checkpoint | None = None

    def take(self, events: Iterable[Event]) -> Reading:
        """Take events in; they come as the protocol promises."""
        self.checkpoint = None
        for event in events:
            assert self.checkpoint is None, "the checkpoint comes last"
            if isinstance(event, Session):
                known = {f.name: value for f in fields(event) if (value := getattr(event, f.name)) not in (None, ())}
                self.sessions[event.id] = replace(self.sessions.get(event.id, event), **known)
            elif isinstance(event, Message):
                assert event.session_id in self.sessions, "the session comes before its messages"
                self.messages.append(event)
            elif isinstance(event, Skipped):
                self.skipped.append(event)
            else:
                # As a backend would keep it.
                self.checkpoint = replace(event, state=orjson.loads(orjson.dumps(event.state)))
        assert self.checkpoint is not None
        return self

    @property
    def session(self) -> Session:
        """The main session."""
        return next(session for session in self.sessions.values() if session.kind != "subagent")

    def said(self, role: str) -> list[str]:
        return [message.text for message in self.messages if message.role == role and message.text]

    @property
    def calls(self) -> list[ToolCall]:
        return [call for message in self.messages for call in message.tool_calls]

    @property
    def results(self) -> list[ToolResult]:
        return [result for message in self.messages for result in message.tool_results]


def read(path: Path, **options: Any) -> Reading:
    return Reading().take(CopilotParser(**options).parse(path))


def line(record: object) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass")


def event(kind: str, number: int = 1, *, agent: str = "", **data: object) -> Record:
    made: Record = {"type": kind, "data": data}
    if agent:
        made["agentId"] = agent
    return {
        **made,
        "id": f"0e{number:06x}-0000-4000-8000-{'a' * 12}",
        "timestamp": f"2026-03-04T05:{number // 60:02d}:{number % 60:02d}.000Z",
        "parentId": f"0e{number - 1:06x}-0000-4000-8000-{'a' * 12}" if number > 1 else None,
    }


def start(session: str = ID, **data: object) -> Record:
    context = {"cwd": "/home/ann/lighthouse", "repository": "ann/lighthouse", "branch": "main"}
    return event("session.start", sessionId=session, producer="copilot-agent", **{"context": context, **data})


def prompt(text: object, number: int = 2, *, agent: str = "", **data: object) -> Record:
    return event("user.message", number, agent=agent, content=text, **data)


def answer(text: object, number: int = 3, *calls: Record, agent: str = "", **data: object) -> Record:
    return event("assistant.message", number, agent=agent, content=text, toolRequests=list(calls), **data)


def request(call_id: str, name: str, **arguments: object) -> Record:
    return {"toolCallId": call_id, "name": name, "arguments": arguments}


def done(call_id: str, content: object, number: int = 5, **data: object) -> Record:
    return event(
        "tool.execution_complete",
        number,
        **{"toolCallId": call_id, "success": True, "result": {"content": content}, **data},
    )
