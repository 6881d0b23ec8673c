"""Reads a session file as steps, whatever its format: what is known of the session, a message, a cut of the history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from sesame_core import JsonLines, Skipped
from sesame_core.types.transcript import SHORTENED

from .documents import Member, members
from .values import string

#: Lists of an object that are the conversation: of a session, and of a saved chat (`/chat save`).
_LISTS = {"messages": "message", "history": "turn", "": "turn"}
#: Types of messages: `model` is `gemini` in the history that the program sends to the model.
TYPES = {
    "user": "user",
    "gemini": "gemini",
    "model": "gemini",
    "assistant": "gemini",
    "info": "info",
    "error": "error",
    "warning": "warning",
}

Kind: TypeAlias = Literal["about", "message", "listed", "list", "rewind"]


class Step(NamedTuple):
    """One step: `about` has properties of the session; a `message` replaces the one with its id and type; `list`
    starts a new state of the history, whose messages are `listed`; `rewind` removes the message with the id `value`
    and all that follow.
    """

    kind: Kind
    value: Any


def is_document(path: Path) -> bool:
    """Return whether a file is one JSON object, which is rewritten as a whole."""
    return path.name.endswith(".json")


def steps_of_document(path: Path, limit: int) -> Iterator[Step | Skipped]:
    """Yield the steps of a session that is one JSON object.

    :param limit: longest message in bytes.
    :raises OSError: the file cannot be read.
    """
    number = 0
    for item in members(path, limit):
        if isinstance(item, Member):
            number += 1
            if (kind := _LISTS.get(item.name)) == "message":
                yield Step("message", item.value)
            elif kind == "turn":
                yield Step("message", _turn(item.value, number))
        elif isinstance(item, Skipped):
            yield item
        else:
            yield Step("about", item)


def steps_of_lines(lines: JsonLines) -> Iterator[Step | Skipped]:
    """Yield the steps of a session that is a log of records."""
    is_repetition = False
    for record in lines:
        if isinstance(record, Skipped):
            # A list of messages repeats them; the ones of its own are complete in records of their own.
            if not (is_repetition and record.reason == SHORTENED):
                yield record
            continue
        is_repetition = False
        if isinstance(record.get("$rewindTo"), str):
            yield Step("rewind", string(record, "$rewindTo"))
        elif isinstance(changes := record.get("$set"), dict):
            is_repetition = "messages" in changes
            yield from _changes(changes)
        elif isinstance(record.get("id"), str):
            yield Step("message", record)
        elif "sessionId" in record or "messages" in record:
            yield from _changes(record)


def _changes(changes: dict[str, Any]) -> Iterator[Step]:
    messages = changes.get("messages")
    yield Step("about", {key: value for key, value in changes.items() if key != "messages"})
    if isinstance(messages, list):
        yield Step("list", None)
        yield from (Step("listed", message) for message in messages if isinstance(message, dict))


def _turn(turn: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a turn of a saved chat as a message."""
    return {
        "id": f"turn-{number}",
        "type": TYPES.get(string(turn, "role"), "user"),
        "content": turn.get("parts", turn.get("content")),
        "timestamp": turn.get("ts", turn.get("timestamp")),
    }
