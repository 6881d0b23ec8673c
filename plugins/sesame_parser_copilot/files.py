"""Recognises a session file, and reads its name and the file next to it."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from . import SESSIONS
from .values import string
from .workspace import Workspace

#: Bytes read to recognise a file.
SNIFFED = 1 << 16
#: An id of a session.
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
#: The log in a session's directory.
LOG = "events.jsonl"
#: The name of a session of the first versions.
_HISTORY = re.compile(r"session_(.+?)(?:_\d+)?\.json")
#: Types of events that no other agent writes.
_TYPE = re.compile(r"(session|user|assistant|tool|system|hook|subagent|skill|permission)\.[a-z_.]+|abort")
#: The beginning of a JSON object of the first versions, whatever the order of its fields.
_OBJECT = re.compile(rb'\s*\{\s*"(sessionId|startTime|chatMessages|timeline)"\s*:')
_EVIDENCE = (b'"chatMessages"', b'"timeline"')


class SessionFile:
    """One event log and the file next to it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def id(self) -> str:
        """The id by which Copilot CLI finds the session, from the name of its directory or file; "" if not there."""
        for name in (self.path.parent.name if self.path.name == LOG else "", self.path.stem):
            if UUID.fullmatch(name):
                return name
        history = _HISTORY.fullmatch(self.path.name)
        return history[1] if history and UUID.fullmatch(history[1]) else ""

    @cached_property
    def workspace(self) -> Workspace:
        """Return what the file next to the log says; without a directory of its own a session has none."""
        return Workspace.read(self.path.with_name("workspace.yaml")) if self.path.name == LOG else Workspace({})


def is_other(path: Path) -> bool:
    """Return whether a file is an artefact in a session's directory, by its path."""
    parts = path.parts
    places = [number for number, part in enumerate(parts[:-1]) if part == SESSIONS[0]]
    below = parts[places[-1] + 1 :] if places else ()
    return len(below) > 2 or (len(below) == 2 and below[1] != LOG)


def is_session(path: Path) -> bool:
    """Return whether a file is a session of Copilot CLI, by its path and its first bytes.

    :raises OSError: the file cannot be read.
    """
    if is_other(path):
        return False
    with path.open("rb") as file:
        head = file.read(SNIFFED)
    head = head.removeprefix(b"\xef\xbb\xbf")
    if path.suffix == ".json":
        return bool(_OBJECT.match(head)) and any(evidence in head for evidence in _EVIDENCE)
    for line in head.split(b"\n"):
        line = line.replace(b"\0", b"").strip()
        if not line:
            continue
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            # Damaged, or longer than the bytes read.
            continue
        if isinstance(record, dict) and "type" in record:
            return _is_event(record)
    return False


def _is_event(record: dict[str, Any]) -> bool:
    known = _TYPE.fullmatch(string(record, "type")) is not None
    return known and isinstance(record.get("data"), dict) and ("timestamp" in record or "id" in record)
