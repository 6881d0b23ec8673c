"""Reads the values of records: whatever their type, it returns the right one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from sesame_core import ToolCall
from sesame_core.text.tokens import clean


def string(record: Mapping[str, Any], key: str) -> str:
    """Return a record's string, cleaned for every database; "" when it is missing or not a string."""
    value = record.get(key)
    if not isinstance(value, str):
        return ""
    return value if value.isascii() and "\0" not in value else clean(value)


def mapping(record: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return a record's object; {} when it is missing or not an object."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def texts(content: object, kind: str = "text") -> str:
    """Return the text of the blocks of one type, joined by newlines; a plain string is one text block.

    A redacted thought contains only a notice that it is redacted.
    """
    if isinstance(content, str):
        return clean(content) if kind == "text" else ""
    if not isinstance(content, list):
        return ""
    # Inlined, because it runs for every message: one comprehension that also selects the blocks.
    return "\n".join(
        [
            text
            for block in content
            if isinstance(block, dict)
            and block.get("type") == kind
            and (text := string(block, kind))
            and not block.get("redacted")
        ]
    )


def moment(value: object) -> datetime | None:
    """Return a time, in UTC, from an ISO string (UTC without an offset) or from milliseconds since 1970."""
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            if time.tzinfo is UTC:
                return time
            return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        # Outside the range of `datetime`, or not a time: the record has no time.
        return None
    return None


def tool_calls(content: object) -> tuple[ToolCall, ...]:
    """Return the tool calls among an assistant's blocks."""
    return tuple(_calls(_blocks(content, "toolCall"), key="arguments", via=None))


def nested_calls(message: Mapping[str, Any], tool: str) -> tuple[ToolCall, ...]:
    """Return the calls that a tool made by itself, as listed in its result.

    pi 1.x writes `nestedCalls`; only codemode also lists its calls in `details`, where other tools may store anything
    under that name.
    """
    calls: tuple[ToolCall, ...] = ()
    if "nestedCalls" in message:
        calls = tuple(_calls(_objects(mapping(message, "nestedCalls").get("calls")), key="arguments", via=tool))
    if not calls and tool == "codemode":
        calls = tuple(_calls(_objects(mapping(message, "details").get("calls")), key="args", via=tool))
    return calls


def _objects(values: object) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _blocks(content: object, kind: str) -> list[dict[str, Any]]:
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict) and block.get("type") == kind]


def _calls(values: Iterable[dict[str, Any]], *, key: str, via: str | None) -> Iterator[ToolCall]:
    for value in values:
        if name := string(value, "name"):
            yield ToolCall(id=string(value, "id"), name=name, arguments=_arguments(value.get(key)), via=via)


def _arguments(value: object) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            decoded = json.loads(value)
        except (ValueError, RecursionError):
            # codemode cuts long arguments in the middle; the rest can still be found.
            return {"arguments": clean(value)} if value.strip() else {}
        return decoded if isinstance(decoded, dict) else {}
    return value if isinstance(value, dict) else {}
