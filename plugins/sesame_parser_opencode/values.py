"""Reads the values of records: whatever their type, it returns the right one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sesame_core.text.tokens import clean

NOTHING: Mapping[str, Any] = {}


def string(record: Mapping[str, Any], key: str) -> str:
    """Return a record's string, cleaned for every database; "" when it is missing or not a string."""
    value = record.get(key)
    if not isinstance(value, str):
        return ""
    return value if value.isascii() and "\0" not in value else clean(value)


def mapping(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return a record's object; an empty one when it is missing or something else."""
    value = record.get(key)
    return value if isinstance(value, dict) else NOTHING


def objects(record: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return the objects in a record's list."""
    value = record.get(key)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def strings(record: Mapping[str, Any], key: str) -> list[str]:
    """Return the strings in a record's list, cleaned."""
    value = record.get(key)
    return [clean(one) for one in value if isinstance(one, str)] if isinstance(value, list) else []


def number(value: object) -> int | None:
    """Return a whole number; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def moment(milliseconds: object) -> datetime | None:
    """Return a time in UTC from milliseconds since 1970; None when it is not one."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def decoded(text: object) -> Mapping[str, Any] | None:
    """Return the object in a JSON text; None when it is not one."""
    if not isinstance(text, str | bytes):
        return None
    # A search that only lists sessions need not load it.
    import orjson

    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            value = json.loads(text, strict=False)  # control characters, lone surrogates
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None
