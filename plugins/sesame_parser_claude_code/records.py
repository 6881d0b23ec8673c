"""Reads the fields of Claude Code's records, which may be missing, null or of any type."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from sesame_core.text.tokens import clean

#: Greatest depth to which a tool result's content is read.
DEPTH = 4


def string(record: Mapping[str, Any], key: str) -> str:
    """Return a field's string, cleaned for every database; "" when it is missing or not a string."""
    value = record.get(key)
    if not isinstance(value, str):
        return ""
    return value if value.isascii() and "\0" not in value else clean(value)


def mapping(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return a field's object; an empty one when it is missing or not an object."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def timestamp(record: Mapping[str, Any]) -> datetime | None:
    """Return when the record was written, in UTC (also assumed for naive times); None for an invalid value."""
    value = record.get("timestamp")
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is UTC:
            return moment
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def origin(record: Mapping[str, Any], entry_id: str) -> str | None:
    """Return the identity that survives forks: the uuid, or the uuid of the record that it was copied from."""
    if "forkedFrom" in record and (copied := string(mapping(record, "forkedFrom"), "messageUuid")):
        return copied
    return entry_id or None


def blocks(content: object) -> list[dict[str, Any]]:
    """Return the blocks of a message's content, which is a string, a list of blocks and strings, or absent."""
    found = []
    for block in content if isinstance(content, list) else (content,) if isinstance(content, str) else ():
        if isinstance(block, dict):
            found.append(block if "type" in block else {**block, "type": "text"})
        elif isinstance(block, str):
            found.append({"type": "text", "text": block})
    return found


def texts(said: Iterable[dict[str, Any]]) -> list[str]:
    """Return the texts of the blocks of a message's content, without blank ones."""
    found = [string(block, "text") for block in said if block["type"] == "text"]
    return [text for text in found if text and not text.isspace()]


def result_text(content: object, depth: int = DEPTH) -> str:
    """Return the text of a tool result: its texts, names of referenced tools, titles and addresses of its findings."""
    if isinstance(content, str):
        return clean(content)
    if not depth:
        return ""
    if isinstance(content, list):
        return "\n".join(filter(None, (result_text(part, depth - 1) for part in content)))
    if isinstance(content, dict):
        said = [string(content, key) for key in ("text", "tool_name", "title", "url", "stdout", "stderr")]
        return "\n".join(filter(None, [*said, result_text(content.get("content"), depth - 1)]))
    return ""


def digest(text: str) -> str:
    """Return a short hash of a text, by which it is recognised when it is repeated."""
    return hashlib.blake2s(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
