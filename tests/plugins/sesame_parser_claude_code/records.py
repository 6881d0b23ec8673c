"""Records as Claude Code writes them, and what the parser says about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sesame_core import Checkpoint, Event, Message, Session, Skipped
from sesame_parser_claude_code.parser import ClaudeCodeParser

SESSION = "0a0a0a0a-1111-4222-8333-444444444444"


PARSER = ClaudeCodeParser()


Record = dict[str, Any]


def uuid(n: int) -> str:
    return f"00000000-0000-4000-8000-{n:012d}"


def base(n: int, kind: str, parent: int | None = -1, **fields: Any) -> Record:
    """A chain record; its parent is the record before it unless told otherwise."""
    above = n - 1 if parent == -1 else parent
    return {
        "parentUuid": uuid(above) if above else None,
        "isSidechain": False,
        "cwd": "/home/bo/fox",
        "sessionId": SESSION,
        "gitBranch": "main",
        "uuid": uuid(n),
        "timestamp": f"2026-08-01T10:{n // 60:02d}:{n % 60:02d}.000Z",
        "type": kind,
        **fields,
    }


def user(n: int, content: Any, parent: int | None = -1, **fields: Any) -> Record:
    return base(n, "user", parent, message={"role": "user", "content": content}, **fields)


def answer(n: int, *blocks: Any, id: str | None = None, parent: int | None = -1, **fields: Any) -> Record:
    blocks_ = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    message = {"id": id or f"msg_{n}", "role": "assistant", "model": "claude-fox-1", "content": blocks_}
    return base(n, "assistant", parent, **{"message": message, "requestId": "req_1", **fields})


def tool_use(id: str, command: str = "ls", name: str = "Bash") -> Record:
    return {"type": "tool_use", "id": id, "name": name, "input": {"command": command}}


def result(n: int, call: str, content: Any, **fields: Any) -> Record:
    return user(n, [{"type": "tool_result", "tool_use_id": call, "content": content, **fields}])


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def parse(path: Path, parser: ClaudeCodeParser = PARSER) -> list[Event]:
    events = list(parser.parse(path))
    check(events)
    return events


def check(events: list[Event]) -> None:
    """What holds for every stream of events."""
    assert isinstance(events[-1], Checkpoint)
    assert sum(isinstance(event, Checkpoint) for event in events) == 1
    json.dumps(events[-1].state)
    introduced = set()
    for event in events:
        if isinstance(event, Session):
            introduced.add(event.id)
        elif isinstance(event, Message):
            assert event.session_id in introduced
            assert event.text or event.tool_calls or event.tool_results
            (event.text + "".join(r.text for r in event.tool_results)).encode()
    assert len(introduced) <= 1


def messages(events: list[Event]) -> list[Message]:
    return [event for event in events if isinstance(event, Message)]


def session(events: list[Event]) -> Session:
    return [event for event in events if isinstance(event, Session)][-1]


def said(events: list[Event]) -> list[tuple[str, str]]:
    return [(m.role, m.text or "".join(r.text for r in m.tool_results)) for m in messages(events)]


def texts(events: list[Event], role: str) -> list[str]:
    return [text for who, text in said(events) if who == role]


def everything(events: list[Event]) -> str:
    return "\n".join(
        f"{m.text} {' '.join(str(c.arguments) for c in m.tool_calls)} {' '.join(r.text for r in m.tool_results)}"
        for m in messages(events)
    )


def skipped(events: list[Event]) -> list[str]:
    return [event.reason for event in events if isinstance(event, Skipped)]


def ai_title(text: str) -> Record:
    return {"type": "ai-title", "aiTitle": text, "sessionId": SESSION}


def custom_title(text: str) -> Record:
    return {"type": "custom-title", "customTitle": text, "sessionId": SESSION}


def roundtrip(checkpoint: Checkpoint) -> Checkpoint:
    """A checkpoint as it comes back from an index."""
    state = json.loads(json.dumps(checkpoint.state))
    return Checkpoint(offset=checkpoint.offset, line=checkpoint.line, state=state)


def atoms(events: list[Event]) -> list[tuple[Any, ...]]:
    """All that is said, block by block, so that it does not matter where a reply was cut."""
    found: list[tuple[Any, ...]] = []
    for m in messages(events):
        found += [(m.role, text) for text in m.text.split("\n\n") if text]
        found += [("call", call.id, call.name, str(call.arguments)) for call in m.tool_calls]
        found += [("result", r.call_id, r.name, r.command, r.text, r.is_error) for r in m.tool_results]
    return sorted(found)


def facts(events: list[Event]) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for event in events:
        if isinstance(event, Session):
            known |= {
                name: getattr(event, name)
                for name in ("id", "kind", "parent_id", "cwd", "title", "summary", "git_branch", "model", "abandoned")
                if getattr(event, name) is not None
            }
    return known


def queued(n: int, prompt: Any, **fields: Any) -> Record:
    return base(n, "attachment", attachment={"type": "queued_command", "prompt": prompt, **fields})


def enqueue(text: Any) -> Record:
    stamp = "2026-08-01T10:00:02.000Z"
    return {
        "type": "queue-operation",
        "operation": "enqueue",
        "timestamp": stamp,
        "sessionId": SESSION,
        "content": text,
    }


RICH = [
    {"type": "summary", "summary": "Old title", "leafUuid": uuid(2)},
    user(1, "one", parent=None),
    answer(2, "first", id="A"),
    answer(3, tool_use("t1", "grep fox"), id="A"),
    result(4, "t1", "out1"),
    answer(5, tool_use("t2", "ls"), id="A"),
    enqueue("midturn"),
    result(6, "t2", "out2"),
    queued(7, "midturn"),
    answer(8, "done", id="B"),
    ai_title("AI title"),
    user(9, "dead"),
    answer(10, "dead answer", id="C"),
    user(11, "live", parent=8),
    base(12, "system", None, subtype="compact_boundary"),
    user(13, "This session is being continued", isCompactSummary=True),
    custom_title("Mine"),
    answer(14, "live answer", id="D", gitBranch="other"),
    custom_title("Mine"),
    {"type": "last-prompt", "lastPrompt": "live", "leafUuid": uuid(14), "sessionId": SESSION},
]
