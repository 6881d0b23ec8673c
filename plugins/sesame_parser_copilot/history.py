"""Reads the sessions of the first versions: one JSON object each, with what was sent to the model and what was shown.

What was shown (`timeline`) has the prompts as they were typed, and times; what was sent (`chatMessages`) is read only
where a file lacks it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from sesame_core import Checkpoint, Event, Message, ParseError, Session
from sesame_core.types.transcript import Role

from .calls import Calls
from .facts import AGENT
from .files import SessionFile
from .values import mapping, moment, objects, string

#: Longest file that is read, in bytes: it is decoded as a whole.
LARGEST = 64 << 20
#: What the program puts around a prompt for the model.
_INJECTED = re.compile(r"<(current_datetime|reminder|system_reminder|system-reminder)>.*?</\1>", re.DOTALL)


def events(path: Path) -> Iterator[Event]:
    """Yield the session, its messages, and a checkpoint from which nothing can be continued.

    :raises ParseError: the file is not one JSON object, or longer than `LARGEST`.
    :raises OSError: the file cannot be read.
    """
    if path.stat().st_size > LARGEST:
        raise ParseError(path, f"it is longer than {LARGEST >> 20} MiB, which is the limit for a single JSON object")
    try:
        document = orjson.loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf").replace(b"\0", b""))
    except orjson.JSONDecodeError as error:
        raise ParseError(path, f"not valid JSON: {error}") from error
    if not isinstance(document, dict):
        raise ParseError(path, "not a JSON object")
    session = Session(
        id=SessionFile(path).id or string(document, "sessionId") or path.stem,
        agent=AGENT,
        kind="interactive",
        model=string(document, "selectedModel") or string(document, "model") or None,
        created=moment(document.get("startTime")),
    )
    yield session
    shown = objects(document, "timeline")
    if any(entry.get("type") == "user" for entry in shown):
        yield from _shown(session.id, shown)
    else:
        yield from _sent(session.id, objects(document, "chatMessages"))
    yield Checkpoint(offset=0, line=0)


def _shown(session: str, entries: list[dict[str, Any]]) -> Iterator[Message]:
    calls = Calls()
    roles: dict[str, Role] = {"user": "user", "copilot": "assistant"}
    for number, entry in enumerate(entries):
        kind, text = string(entry, "type"), string(entry, "text")
        about = _about(session, entry, number)
        if kind in roles and text.strip():
            yield Message(role=roles[kind], text=text, **about)
        elif kind == "error" and text.strip():
            yield Message(role="system", text=text, source_type="error", is_error=True, **about)
        elif kind == "tool_call_completed":
            name = string(entry, "name") or string(entry, "toolTitle")
            call_id = string(entry, "callId") or f"{number}"
            call = calls.open(call_id, name, entry.get("arguments"))
            result = mapping(entry, "result")
            outcome = {"content": string(result, "log") or string(entry, "result")}
            answer = calls.answer(
                {"toolCallId": call_id, "result": outcome, "success": string(result, "type") in ("", "success")}
            )
            if call is not None and answer is not None:
                yield Message(role="assistant", tool_calls=(call,), tool_results=(answer,), **about)


def _sent(session: str, entries: list[dict[str, Any]]) -> Iterator[Message]:
    calls = Calls()
    for number, entry in enumerate(entries):
        role, text = string(entry, "role"), _content(entry)
        about = _about(session, {}, number)
        if role == "user":
            text = _INJECTED.sub("", text).strip()
            if text:
                yield Message(role="user", text=text, **about)
        elif role == "assistant":
            made = []
            for request in objects(entry, "tool_calls"):
                function = mapping(request, "function")
                call = calls.open(string(request, "id"), string(function, "name"), function.get("arguments"))
                made += [call] if call is not None else []
            if text.strip() or made:
                yield Message(role="assistant", text=text, tool_calls=tuple(made), **about)
        elif role == "tool":
            result = calls.answer({"toolCallId": string(entry, "tool_call_id"), "result": {"content": text}})
            if result is not None:
                yield Message(role="tool", tool_results=(result,), **about)


def _content(entry: Mapping[str, Any]) -> str:
    return string(entry, "content") or "\n".join(string(block, "text") for block in objects(entry, "content"))


def _about(session: str, entry: Mapping[str, Any], number: int) -> dict[str, Any]:
    entry_id = string(entry, "id") or string(entry, "callId") or f"{number}"
    return {
        "session_id": session,
        "timestamp": moment(entry.get("timestamp")),
        "entry_id": entry_id,
        "origin_id": f"{session}/{entry_id}",
    }
