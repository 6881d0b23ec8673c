"""Recognises a session file, and reads its name and the files next to it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import orjson

from .records import mapping, string

#: Bytes read to recognise a file.
SNIFFED = 1 << 16
#: Most bytes read of tool output that was spilled to a file of its own.
SPILLED = 1 << 18
#: Most bytes read of a subagent's description.
META = 1 << 16

#: An id of a session.
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
#: Logs and journals with other records than a transcript's.
_OTHER_FILES = frozenset({"audit.jsonl", "history.jsonl", "journal.jsonl"})
_OTHER_DIRS = frozenset({"memory", "tool-results"})
#: Types of records of a conversation.
_CHAIN = frozenset({"assistant", "attachment", "progress", "system", "user"})
#: The beginning of a record of Claude Code, whatever the order of its fields.
_BEGINNING = re.compile(
    rb'\{\s*("(parentUuid|isSidechain|sessionId|uuid|cwd|leafUuid|message|userType)"\s*:'
    rb'|"type"\s*:\s*"(summary|file-history-snapshot|user|assistant|attachment|progress)")'
)
_EVIDENCE = (b'"sessionId"', b'"parentUuid"', b'"message":', b'"summary"', b'"snapshot"')
_STUB = "<persisted-output>"
_SAVED_TO = re.compile(r"saved to:\s*(\S[^\n]*)")


class SessionFile:
    """One transcript and the files next to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        #: Id of the subagent of this transcript, from the file's name; None for a main session.
        self.agent_id = path.stem.removeprefix("agent-") if path.stem.startswith("agent-") else None
        is_below = "subagents" in path.parts
        holder = next((parent for parent in path.parents if parent.name == "subagents"), None) if is_below else None
        #: Directory of the session's side files.
        self.session_dir = holder.parent if holder else path.parent / path.stem
        #: Id of the session that started this one, from the directory's name.
        self.parent_id = holder.parent.name if holder else None

    def is_blank_session(self) -> bool:
        """Return whether this is an empty file with the name of a session."""
        return bool(UUID.fullmatch(self.path.stem)) and self.path.stat().st_size == 0

    def description(self) -> str:
        """Return a subagent's task, from the file next to its transcript; "" when there is none."""
        try:
            with self.path.with_suffix(".meta.json").open("rb") as file:
                meta = json.loads(file.read(META))
        except (OSError, ValueError):
            # The side file is optional, and incomplete if Claude Code was killed.
            return ""
        return string(meta, "description").strip() if isinstance(meta, dict) else ""

    def spilled(self, text: str) -> str:
        """Return the whole output for a stub that points to a file, up to `SPILLED` bytes; else the text."""
        if not text.startswith(_STUB):
            return text
        saved_to = _SAVED_TO.search(text)
        if not saved_to:
            return text
        # The path is absolute on the machine that wrote it; only its last component is valid here.
        name = re.split(r"[/\\]", saved_to[1].strip())[-1]
        try:
            place = (self.session_dir / "tool-results" / name).resolve()
            if not place.is_relative_to(self.session_dir.resolve()) or not place.is_file():
                return text
            with place.open("rb") as file:
                return string({"text": file.read(SPILLED).decode("utf-8", "ignore")}, "text")
        except (OSError, ValueError):
            # Deleted by Claude Code's cleanup, or not a valid file name: the stub's preview remains.
            return text


def is_other(path: Path) -> bool:
    """Return whether a file is one of Claude Code's that is not a session, by its name."""
    return path.name in _OTHER_FILES or path.parent.name in _OTHER_DIRS


def is_transcript(path: Path) -> bool:
    """Return whether a file is a session of Claude Code, by its name and its first records.

    :raises OSError: the file cannot be read.
    """
    if path.suffix != ".jsonl" or is_other(path):
        return False
    with path.open("rb") as file:
        left = SNIFFED
        while line := file.readline(left):
            left -= len(line)
            line = line.replace(b"\0", b"").removeprefix(b"\xef\xbb\xbf").strip()
            if not line:
                continue
            try:
                record = orjson.loads(line)
            except orjson.JSONDecodeError:
                # Damaged, or longer than the bytes read.
                verdict = _judge_beginning(line)
            else:
                verdict = _judge(record)
            if verdict is not None:
                return verdict
    return left == SNIFFED and SessionFile(path).is_blank_session()


def _judge(record: Any) -> bool | None:
    """Return whether a record is Claude Code's; None when it could be any program's."""
    if not isinstance(record, dict):
        return None
    kind = record.get("type")
    if not isinstance(kind, str):
        return None
    if kind in _CHAIN:
        if "parts" in mapping(record, "message"):
            # Qwen Code's records only differ in this.
            return False
        known = "sessionId" in record or "parentUuid" in record
        return True if known or (isinstance(record.get("message"), dict) and "timestamp" in record) else None
    if kind == "session":
        # pi's header.
        return False
    if kind == "summary":
        return True if isinstance(record.get("summary"), str) else None
    if kind == "file-history-snapshot":
        return True
    return True if isinstance(record.get("sessionId"), str) and "payload" not in record else None


def _judge_beginning(line: bytes) -> bool | None:
    """Return the same for a record that does not parse, or of which only the beginning was read."""
    if not _BEGINNING.match(line) or b'"parts":' in line[:4096]:
        return None
    return True if any(word in line for word in _EVIDENCE) else None
