"""Reads the values of events: whatever their type, it returns the right one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

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


def objects(record: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the objects in a record's list; [] when it is missing or not a list."""
    values = record.get(key)
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def moment(value: object) -> datetime | None:
    """Return a time in UTC, from an ISO string (UTC without an offset); None when it is not one."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
        if time.tzinfo is UTC:
            return time
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        # Not a time, or outside the range of `datetime`: the record has no time.
        return None


def arguments(value: object) -> dict[str, Any]:
    """Return a call's arguments: an object, or a string of JSON, or the text of a tool with a grammar of its own."""
    if isinstance(value, str):
        try:
            decoded = json.loads(value)
        except (ValueError, RecursionError):
            decoded = None
        if isinstance(decoded, dict):
            return decoded
        return {"input": clean(value)} if value.strip() else {}
    return value if isinstance(value, dict) else {}
