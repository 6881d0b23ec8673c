"""Looks into Claude Code's records, whose fields may be missing, null or of any type."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from sesame_core.text.tokens import clean

#: How deep a tool result's content is followed.
DEPTH = 4


def string(record: Mapping[str, Any], key: str) -> str:
    """Return a field's text, fit for every database; "" when it is missing or no text."""
    value = record.get(key)
    if not isinstance(value, str):
        return ""
    return value if value.isascii() and "\0" not in value else clean(value)


def mapping(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return a field's object; an empty one when it is missing or none."""
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def timestamp(record: Mapping[str, Any]) -> datetime | None:
    """Return when the record was written, in UTC (which also naive times are taken for); None for junk."""
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
    """Return the identity that survives forks: the uuid, or the one it had where it was copied from."""
    if "forkedFrom" in record and (copied := string(mapping(record, "forkedFrom"), "messageUuid")):
        return copied
    return entry_id or None


def blocks(content: object) -> list[dict[str, Any]]:
    """Return the blocks of a message's content, which is a text, a list of blocks and texts, or nothing."""
    found = []
    for block in content if isinstance(content, list) else (content,) if isinstance(content, str) else ():
        if isinstance(block, dict):
            found.append(block if "type" in block else {**block, "type": "text"})
        elif isinstance(block, str):
            found.append({"type": "text", "text": block})
    return found


def texts(said: Iterable[dict[str, Any]]) -> list[str]:
    """Return the texts among the blocks of a message's content, without the blank ones."""
    found = [string(block, "text") for block in said if block["type"] == "text"]
    return [text for text in found if text and not text.isspace()]


def result_text(content: object, depth: int = DEPTH) -> str:
    """Return what a tool result says: its texts, names of referenced tools, titles and addresses it found."""
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
    """Return a short name for a text, by which it is recognised when it comes again."""
    return hashlib.blake2s(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
