"""Records of Gemini CLI, and what its parser makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sesame_core import Checkpoint, Event, Message, Session, Skipped
from sesame_parser_gemini.parser import GeminiParser

DATA = Path(__file__).with_name("data")
#: A session of 0.61 with every kind of record: failures, a rewind, a resume with masked outputs, a compression.
LOG = DATA / "session-2026-03-02T10-00-3f0c1d7e.jsonl"
#: A session of 0.24: one JSON object.
DOCUMENT = DATA / "session-2025-11-05T08-00-9a8b7c6d.json"

SESSION = "3f0c1d7e-5a52-4a0e-9d3b-6f1a2b3c4d5e"
HEADER = {
    "sessionId": SESSION,
    "projectHash": "0" * 64,
    "startTime": "2026-03-02T10:00:00.000Z",
    "lastUpdated": "2026-03-02T10:00:00.000Z",
    "kind": "main",
}
CONTEXT = (
    "<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.\n"
    "- **Workspace Directories:**\n  - /home/ann/lighthouse\n  - /home/ann/reef\n"
    "- **Directory Structure:**\n\n/home/ann/lighthouse/\n├───wombat.py\n</session_context>"
)


def time(second: int) -> str:
    return f"2026-03-02T{10 + second // 3600}:{second // 60 % 60:02}:{second % 60:02}.000Z"


def user(id_: str, second: int, *parts: object, **more: Any) -> dict[str, Any]:
    content = [{"text": part} if isinstance(part, str) else part for part in parts]
    return {"id": id_, "timestamp": time(second), "type": "user", "content": content, **more}


def gemini(id_: str, second: int, text: object = "", **more: Any) -> dict[str, Any]:
    return {"id": id_, "timestamp": time(second), "type": "gemini", "content": text, "model": "gemini-3-pro", **more}


def call(id_: str, name: str, args: dict[str, Any], output: Any = None, **more: Any) -> dict[str, Any]:
    """A call; with an output, or an `error`, its result."""
    made = {
        "id": id_,
        "name": name,
        "args": args,
        "status": more.pop("status", "success"),
        "description": "Reads " * 200,
    }
    key = "error" if "error" in more else "output"
    if (value := more.pop("error", output)) is not None:
        made["result"] = [{"functionResponse": {"id": id_, "name": name, "response": {key: value}}}]
    return {**made, **more}


def responses(*calls: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for made in calls for part in made["result"]]


def listed(*messages: dict[str, Any], second: int = 1000) -> dict[str, Any]:
    """A list of all messages, whose times are that of the list."""
    return {"$set": {"messages": [{**m, "timestamp": time(second)} for m in messages], "lastUpdated": time(second)}}


def as_lines(*records: object) -> bytes:
    return b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in records)


def events(path: Path, **options: Any) -> list[Event]:
    return list(GeminiParser(**options).parse(path))


def messages(path: Path, **options: Any) -> list[Message]:
    return [event for event in events(path, **options) if isinstance(event, Message)]


def said(path: Path, **options: Any) -> list[tuple[str, str]]:
    """Speakers and texts."""
    return [(message.role, message.text) for message in messages(path, **options) if message.text]


def results(path: Path) -> list[tuple[str, str, bool]]:
    """Tools, texts and failures."""
    return [(r.name, r.text, r.is_error) for message in messages(path) for r in message.tool_results]


def session(path: Path) -> Session:
    """The session with all properties."""
    return [event for event in events(path) if isinstance(event, Session)][-1]


def skipped(path: Path) -> list[str]:
    return [event.reason for event in events(path) if isinstance(event, Skipped)]


def checkpoint(path: Path) -> Checkpoint:
    found = events(path)[-1]
    assert isinstance(found, Checkpoint)
    return Checkpoint(offset=found.offset, line=found.line, state=json.loads(json.dumps(found.state)))


def kept(path: Path) -> list[str]:
    """The texts that are not in rewound segments."""
    abandoned = session(path).abandoned or ()
    return [m.text for m in messages(path) if m.text and m.segment not in abandoned]
