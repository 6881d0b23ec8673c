"""Reads the values of records: whatever their type, it returns the right one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sesame_core.text.tokens import clean


def string(record: Mapping[str, Any], key: str) -> str:
    """Return a record's string, cleaned for every database; "" when it is missing or not a string."""
    value = record.get(key)
    return clean(value) if isinstance(value, str) else ""


def moment(record: Mapping[str, Any], key: str) -> datetime | None:
    """Return a record's time in UTC, from an ISO 8601 string (UTC without an offset); None when it has none."""
    try:
        time = datetime.fromisoformat(string(record, key))
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        # Missing, not a time, or outside the range of `datetime`: the record has no time.
        return None
