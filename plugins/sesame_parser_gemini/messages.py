"""Reads the parts of a message: its texts, its calls, the results that it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import shorten
from typing import Any

from .records import TYPES
from .speakers import pieces, texts_in
from .values import mapping, objects, string

#: Longest name that a task gives, in characters.
NAME_CHARS = 120


def message_key(message: Mapping[str, Any], kind: str, number: int) -> str:
    """Return the identity of a message in its session: an answer and its result may have the same id."""
    return f"{kind}:{string(message, 'id') or f'#{number}'}"


def texts_of(message: Mapping[str, Any]) -> list[str]:
    """Return the texts of a message of a person or an agent, by which its versions are compared."""
    kind = TYPES.get(string(message, "type"))
    if kind == "user":
        return [piece.text for piece in pieces(message) if piece.text.strip()]
    text = answer_text(message)
    return [text] if text.strip() else []


def responses_to(message: Mapping[str, Any]) -> list[str]:
    """Return the ids of the calls whose results a record has."""
    responses = [mapping(part, "functionResponse") for part in objects(message.get("content"))]
    return [call_id for response in responses if (call_id := string(response, "id"))]


def answer_text(message: Mapping[str, Any]) -> str:
    """Return the text of an answer, without the agent's thoughts."""
    content = message.get("content") if message.get("content") is not None else message.get("parts")
    return "".join(texts_in(content))


def first_line(text: str) -> str | None:
    """Return the first line of a task, which names the subagent's session: nothing else does."""
    line = next((line.strip("# ").strip() for line in text.splitlines() if line.strip("# ").strip()), "")
    return shorten(line, NAME_CHARS, placeholder="…") or None


def thoughts_of(message: Mapping[str, Any]) -> str:
    """Return the agent's thoughts, a line each."""
    thoughts = [
        ": ".join(filter(None, dict.fromkeys((string(t, "subject"), string(t, "description")))))
        for t in objects(message.get("thoughts"))
    ]
    return "\n".join(filter(None, thoughts))


def calls_of(message: Mapping[str, Any], key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the calls of an answer with their ids: its `toolCalls`, else those among its parts."""
    listed = [call for call in objects(message.get("toolCalls")) if string(call, "name")]
    parts = [call for part in objects(message.get("content")) if (call := mapping(part, "functionCall"))]
    known = {string(call, "id") for call in listed}
    others = [call for call in parts if string(call, "name") and (not listed or string(call, "id") not in known)]
    for number, call in enumerate([*listed, *others]):
        yield string(call, "id") or f"{key}:{number}", call
