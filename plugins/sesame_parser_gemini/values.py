"""Reads the values of records: whatever their type, it returns the right one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


def objects(value: object) -> Iterator[dict[str, Any]]:
    """Yield the objects of a list; an object alone counts as a list of one."""
    if isinstance(value, dict):
        yield value
    elif isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def strings(value: object) -> tuple[str, ...]:
    """Return the strings of a list that are not empty."""
    return tuple(clean(item) for item in value if isinstance(item, str) and item) if isinstance(value, list) else ()


def moment(value: object) -> datetime | None:
    """Return a time, in UTC, from an ISO string (UTC without an offset) or from milliseconds since 1970."""
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            # Checkpoints of some versions have seconds.
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        # Outside the range of `datetime`, or not a time: the record has no time.
        return None
    return None
