"""Records as Codex writes them, and what the parser says about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sesame_core import Checkpoint, Event, Message, Session, Skipped
from sesame_parser_codex.parser import CodexParser

PARSER = CodexParser()

Record = dict[str, Any]

#: Threads, in the order in which they were started: their ids contain the time.
PARENT = "019a0000-0000-7000-8000-0000000000aa"
THREAD = "019a1000-0000-7000-8000-0000000000bb"
CHILD = "019a2000-0000-7000-8000-0000000000cc"
#: A segment of `THREAD`, and turns: one before it was started, one after.
SEGMENT = "019a1800-0000-7000-8000-0000000000dd"
OLD_TURN = "019a0800-0000-7000-8000-0000000000ee"
TURN = "019a1001-0000-7000-8000-0000000000ff"
CHILD_TURN = "019a2001-0000-7000-8000-0000000000ff"


def name(thread: str = THREAD, segment: str = "", *, end: str = ".jsonl") -> str:
    return f"rollout-2026-03-01T10-00-00-{thread}{segment and '_' + segment}{end}"


def at(second: float) -> str:
    minutes, seconds = divmod(second, 60)
    return f"2026-03-01T09:{int(minutes):02d}:{int(seconds):02d}.{round(seconds % 1 * 1000):03d}Z"


def record(kind: str, payload: Record, second: float = 0, **more: Any) -> Record:
    return {"timestamp": at(second), **more, "type": kind, "payload": payload}


def meta(thread: str = THREAD, second: float = 0, **fields: Any) -> Record:
    payload = {
        "id": thread,
        "timestamp": at(second),
        "cwd": "/home/bo/fox",
        "originator": "codex-tui",
        "cli_version": "0.146.0",
        "source": "cli",
        "model_provider": "openai",
        "base_instructions": {"text": "INSTRUCTIONSNOISE"},
        "git": {"commit_hash": "c0ffee", "branch": "burrow", "repository_url": "git@github.com:bo/fox.git"},
        **fields,
    }
    return record("session_meta", payload, second)


def context(second: float = 1, turn: str = TURN, **fields: Any) -> Record:
    payload = {"turn_id": turn, "cwd": "/home/bo/fox", "model": "fox-1", "user_instructions": "CONTEXTNOISE", **fields}
    return record("turn_context", payload, second)


def item(kind: str, second: float = 2, /, **fields: Any) -> Record:
    return record("response_item", {"type": kind, **fields}, second)


def event(kind: str, second: float = 2, /, **fields: Any) -> Record:
    return record("event_msg", {"type": kind, **fields}, second)


def started(turn: str = TURN, second: float = 1) -> Record:
    return event("task_started", second, turn_id=turn, started_at=1)


def completed(kind: str, second: float = 2, thread: str = THREAD, **fields: Any) -> Record:
    return event(
        "item_completed", second, thread_id=thread, turn_id=TURN, item={"type": kind, **fields}, completed_at_ms=1
    )


def model_user(text: str, second: float = 2) -> Record:
    return item("message", second, role="user", content=[{"type": "input_text", "text": text}])


def model_answer(text: str, second: float = 3, **fields: Any) -> Record:
    return item("message", second, role="assistant", content=[{"type": "output_text", "text": text}], **fields)


def prompt(text: str, second: float = 2) -> list[Record]:
    """A prompt of a legacy file: the record of the model, then the event."""
    return [model_user(text, second), event("user_message", second, message=text, images=[])]


def answer(text: str, second: float = 3) -> list[Record]:
    """An answer of a legacy file: the event, then the record of the model."""
    return [event("agent_message", second, message=text), event("token_count", second), model_answer(text, second)]


def new_prompt(text: str, second: float = 2, thread: str = THREAD) -> list[Record]:
    """A prompt of a paginated file."""
    shown = completed("UserMessage", second, thread, id=f"u-{text}", content=[{"type": "text", "text": text}])
    return [model_user(text, second), shown]


def new_answer(text: str, second: float = 3, thread: str = THREAD) -> list[Record]:
    """An answer of a paginated file."""
    shown = completed("AgentMessage", second, thread, id=f"m-{text}", content=[{"type": "Text", "text": text}])
    return [shown, model_answer(text, second, id=f"m-{text}")]


def call(call_id: str, tool: str, second: float = 4, **arguments: Any) -> Record:
    return item("function_call", second, name=tool, arguments=json.dumps(arguments), call_id=call_id)


def output(call_id: str, text: Any, second: float = 5) -> Record:
    return item("function_call_output", second, call_id=call_id, output=text)


def patch_call(call_id: str, patch: str, second: float = 4) -> Record:
    return item("custom_tool_call", second, status="completed", call_id=call_id, name="apply_patch", input=patch)


def lines(*records: Any) -> bytes:
    flat = [one for given in records for one in (given if isinstance(given, list) else [given])]
    return b"".join(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in flat)


def parse(path: Path, parser: CodexParser = PARSER) -> list[Event]:
    events = list(parser.parse(path))
    check(events)
    return events


def check(events: list[Event]) -> None:
    """What holds for every stream of events."""
    assert isinstance(events[-1], Checkpoint)
    assert sum(isinstance(event, Checkpoint) for event in events) == 1
    json.dumps(events[-1].state)
    introduced = set()
    for one in events:
        if isinstance(one, Session):
            introduced.add(one.id)
        elif isinstance(one, Message):
            assert one.session_id in introduced
            assert one.text or one.tool_calls or one.tool_results
            (one.text + "".join(r.text for r in one.tool_results)).encode()
    assert len(introduced) <= 1


def messages(events: list[Event]) -> list[Message]:
    return [one for one in events if isinstance(one, Message)]


def session(events: list[Event]) -> Session:
    return [one for one in events if isinstance(one, Session)][-1]


def said(events: list[Event]) -> list[tuple[str, str]]:
    return [(m.role, m.text) for m in messages(events) if m.text]


def calls(events: list[Event]) -> list[tuple[str, dict[str, Any]]]:
    return [(c.name, dict(c.arguments)) for m in messages(events) for c in m.tool_calls]


def results(events: list[Event]) -> list[tuple[str, str, bool]]:
    return [(r.name, r.text, r.is_error) for m in messages(events) for r in m.tool_results]


def everything(events: list[Event]) -> str:
    return "\n".join(
        f"{m.text} {' '.join(str(c.arguments) for c in m.tool_calls)} {' '.join(r.text for r in m.tool_results)}"
        for m in messages(events)
    )


def skipped(events: list[Event]) -> list[str]:
    return [one.reason for one in events if isinstance(one, Skipped)]


def roundtrip(checkpoint: Checkpoint) -> Checkpoint:
    """A checkpoint as it comes back from an index."""
    state = json.loads(json.dumps(checkpoint.state))
    return Checkpoint(offset=checkpoint.offset, line=checkpoint.line, state=state)


#: A session with a record of each kind.
RICH: list[Record] = [
    meta(),
    event("thread_name_updated", 0, thread_id=THREAD, thread_name="Foxes and otters"),
    started(),
    model_user("<environment_context>\n<cwd>/home/bo/fox</cwd>\n</environment_context>", 1),
    context(),
    *prompt("find the fox"),
    *answer("I look for it"),
    call("c1", "exec_command", cmd="grep -r fox", workdir="/home/bo/fox", yield_time_ms=1000),
    output("c1", "Chunk ID: 1a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nden.py: fox\n"),
    patch_call("c2", "*** Begin Patch\n*** Update File: den.py\n@@\n-fox\n+vixen\n*** End Patch"),
    item("custom_tool_call_output", 6, call_id="c2", output="Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess."),
    *answer("done", 7),
    event("task_complete", 7, turn_id=TURN, last_agent_message="done"),
    *prompt("now the badger", 20),
    *answer("there is none", 21),
    event("thread_rolled_back", 30, num_turns=1),
    *prompt("now the otter", 40),
    call("c3", "shell", 41, command=["bash", "-lc", "false"]),
    output("c3", '{"output":"no otter\\n","metadata":{"exit_code":1,"duration_seconds":0.1}}', 42),
    *answer("it failed", 43),
    record("compacted", {"message": "fox became vixen", "replacement_history": []}, 50),
    *prompt("thanks", 60),
    *answer("welcome", 61),
]
