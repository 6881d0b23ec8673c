"""Reads the values of records: whatever their type, it returns the right one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sesame_core.text.tokens import clean

#: A URL of a repository, as git writes it: with a scheme, or as `user@host:path`.
_REMOTE = re.compile(r"(?:\w[\w+.-]*://)?(?:[^@/\s]+@)?([^:/\s]+)(?::\d+(?=/))?[:/](.+?)(?:\.git)?/*", re.DOTALL)


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
    """Return the objects of a record's list; [] when it is missing or not a list."""
    value = record.get(key)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def texts(content: object) -> list[str]:
    """Return the texts of a message's content, which is a string, a part, or a list of parts; images have none."""
    if isinstance(content, str):
        return [clean(content)] if content else []
    parts = content if isinstance(content, list) else [content]
    return [text for part in parts if isinstance(part, dict) and (text := string(part, "text"))]


def moment(value: object) -> datetime | None:
    """Return a time, in UTC, from an ISO string (UTC without an offset); None when it is none."""
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


def repository(url: str) -> str | None:
    """Return a repository as `host/owner/name`, from the URL of a remote; None for a path on this machine."""
    found = _REMOTE.fullmatch(url.strip())
    if found is None or url.startswith(("/", ".", "file:")) or "/" not in found[2].strip("/"):
        return None
    return f"{found[1].lower()}/{found[2].strip('/')}"


def digest(text: str) -> str:
    """Return a short hash of a text, by which it is recognised when it is repeated."""
    return hashlib.blake2s(text.strip().encode("utf-8", "replace"), digest_size=8).hexdigest()
