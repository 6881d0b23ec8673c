"""Recognises a session file, by its name and its first bytes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson

from .places import SAVED
from .records import TYPES

#: Bytes at the start, and at the end, that are read to recognise a file.
SNIFFED = 1 << 16
#: Directories of programs that write the same records: Qwen Code, and Antigravity in Gemini CLI's own directory.
_OTHER_PROGRAMS = re.compile(r"[/\\](?:\.qwen|\.gemini[/\\]antigravity[^/\\]*)[/\\]")
#: Directories of Gemini CLI's files that are not sessions.
_OTHER_DIRS = frozenset({"checkpoints", "tool-outputs", "logs", "plans", "memory"})
_ID = re.compile(rb'"sessionId"\s*:\s*"[^"]')
_HASH = re.compile(rb'"projectHash"\s*:\s*"')
_MESSAGES = re.compile(rb'"messages"\s*:\s*\[')
_START = re.compile(rb'"(?:startTime|lastUpdated)"\s*:\s*"')
_HISTORY = re.compile(
    rb'\s*(?:\{\s*"history"\s*:\s*)?\[\s*\{\s*"(?:role"\s*:\s*"(?:user|model|gemini)"|parts"\s*:\s*\[)'
)
_PARTS = re.compile(rb'"parts"\s*:\s*\[')
#: Members of a checkpoint of a tool, which repeats the history of a session.
_TOOL_CHECKPOINT = re.compile(rb'"(?:toolCall|clientHistory|commitHash)"\s*:')


def is_session(path: Path) -> bool:
    """Return whether a file with the name of a session is one of Gemini CLI.

    :raises OSError: the file cannot be read.
    """
    if _OTHER_PROGRAMS.search(str(path)) or not path.is_file():
        return False
    if path.name.endswith(".jsonl"):
        return _is_log(path)
    if path.parent.name in _OTHER_DIRS:
        return False
    with path.open("rb") as file:
        head = file.read(SNIFFED)
        size = file.seek(0, 2)
        file.seek(max(len(head), size - SNIFFED))
        both = head + b"\n" + file.read(SNIFFED)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if _HISTORY.match(start):
        if _TOOL_CHECKPOINT.search(both) or not _PARTS.search(head):
            return False
        from .saved import is_in_a_session

        return not path.name.startswith(SAVED) or not is_in_a_session(path)
    if not start.startswith(b"{") or not _ID.search(both):
        return False
    return bool(_HASH.search(both)) or bool(_MESSAGES.search(both) and _START.search(both))


def _is_log(path: Path) -> bool:
    is_named = path.name.startswith("session-")
    with path.open("rb") as file:
        left = SNIFFED
        while line := file.readline(left):
            left -= len(line)
            try:
                record = orjson.loads(line.replace(b"\0", b"").removeprefix(b"\xef\xbb\xbf").strip())
            except orjson.JSONDecodeError:
                # Blank, damaged, or longer than the bytes read.
                if _ID.search(line[:400]) and _HASH.search(line[:400]):
                    return True
                continue
            if (verdict := _judge(record, is_named=is_named)) is not None:
                return verdict
    return False


def _judge(record: Any, *, is_named: bool) -> bool | None:
    """Return whether a record is Gemini CLI's; None when it could be any program's.

    :param is_named: the file has the name of a session; then its header may be missing.
    """
    if not isinstance(record, dict):
        return None
    if isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str):
        return "type" not in record
    if not is_named:
        return False if record else None
    if isinstance(record.get("$rewindTo"), str) or isinstance(record.get("$set"), dict):
        return True
    if isinstance(record.get("id"), str) and record.get("type") in TYPES and "timestamp" in record:
        return True
    return None
