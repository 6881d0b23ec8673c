"""The steps of a session file, whatever its format: properties of the session, a message, a cut of the history."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from sesame_core import Skipped

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
    #: The middle of a listed message is left out, which is a loss if the message has no record of its own.
    is_shortened: bool = False


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


def _turn(turn: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a turn of a saved chat as a message."""
    return {
        "id": f"turn-{number}",
        "type": TYPES.get(string(turn, "role"), "user"),
        "content": turn.get("parts", turn.get("content")),
        "timestamp": turn.get("ts", turn.get("timestamp")),
    }
