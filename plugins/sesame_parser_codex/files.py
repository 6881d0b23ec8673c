"""Recognises a session file, by its name and its first record, and reads what Codex keeps next to the sessions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from . import ARCHIVED, SESSIONS, home_of
from .compressed import SUFFIX, first_bytes
from .values import string

#: Bytes read to recognise a file; the first record of an ordinary one has 20 to 30 KB.
SNIFFED = 1 << 17
#: Most records that are read to recognise a file whose first ones are damaged.
TRIED = 8
#: Types of records, all with a payload.
TYPES = frozenset(
    "session_meta response_item event_msg turn_context compacted world_state token_usage_record "
    "security_risk_score id_allocation dynamic_tools_updated inter_agent_communication "
    "inter_agent_communication_metadata realtime_item".split()
)
#: The index of names, and the history of prompts.
_OTHER_FILES = frozenset({"session_index.jsonl", "history.jsonl"})
#: Types of the bare items of versions up to 0.31.
_BARE = frozenset({"message", "reasoning", "function_call", "function_call_output", "local_shell_call"})
_ID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
UUID = re.compile(_ID)
_NAME = re.compile(
    rf"(?:rollout-\d{{4}}-\d\d-\d\dT\d\d-\d\d-\d\d-)?({_ID})(?:_({_ID}))?\.jsonl(?:{re.escape(SUFFIX)})?"
)
#: The beginning of a record, whatever of it is damaged or not read.
_BEGINNING = re.compile(
    rb'\{\s*"timestamp"\s*:\s*"[^"]*"\s*,\s*(?:"ordinal"\s*:\s*\d+\s*,\s*)?'
    rb'"type"\s*:\s*"(?:session_meta|response_item|event_msg|turn_context|compacted|world_state)"\s*,\s*"payload"\s*:'
)


class FileName(NamedTuple):
    """What the name of a session file says."""

    #: The thread's id; "" when the name has none.
    thread: str
    #: The id of a later segment of the thread, which follows a rewind; "" for the first one.
    segment: str


def named(path: Path) -> FileName:
    """Return what a file's name says."""
    found = _NAME.fullmatch(path.name)
    return FileName(found[1].lower(), (found[2] or "").lower()) if found else FileName("", "")


def is_bare_header(record: dict[str, Any]) -> bool:
    """Return whether a record is a header of versions up to 0.31, which has no type and no envelope."""
    known = "instructions" in record or "git" in record
    is_first = "type" not in record and "role" not in record and "record_type" not in record
    return is_first and known and bool(UUID.fullmatch(string(record, "id"))) and bool(string(record, "timestamp"))


def is_rollout(path: Path) -> bool:
    """Return whether a file is a session of Codex.

    :raises OSError: the file cannot be read.
    """
    if is_other(path):
        return False
    head = first_bytes(path, SNIFFED)
    if head is None:
        # Nothing here can decompress it: the name decides, and reading it will say why it fails.
        return bool(named(path).thread)
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for line in lines[:TRIED]:
        line = line.replace(b"\0", b"").strip()
        if not line:
            continue
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            if _BEGINNING.match(line):
                return True
            continue
        if isinstance(record, dict) and (verdict := _judge(record, path)) is not None:
            return verdict
    return False


def is_other(path: Path) -> bool:
    """Return whether a file is one of Codex's that is not a session: by its name, or next to its original."""
    return path.name in _OTHER_FILES or (path.name.endswith(SUFFIX) and path.with_suffix("").exists())


def _judge(record: dict[str, Any], path: Path) -> bool | None:
    """Return whether a record is Codex's; None when it could be any program's."""
    kind = record.get("type")
    if not isinstance(kind, str):
        return True if is_bare_header(record) else None
    if isinstance(record.get("payload"), dict):
        return kind in TYPES
    # A bare file whose header is damaged: only its name tells.
    return kind in _BARE and path.name.startswith("rollout-") and bool(named(path).thread)


# -- files next to a session ------------------------------------------------------------------------------


def thread_name(path: Path, thread: str) -> str:
    """Return the name that a person or Codex gave to a thread, from `session_index.jsonl`; "" if it has none."""
    home = home_of(path)
    if home is None:
        return ""
    index = home / "session_index.jsonl"
    try:
        about = index.stat()
    except OSError:
        return ""  # versions before 0.100 have none
    return _names(str(index), about.st_mtime_ns, about.st_size).get(thread, "")


@lru_cache(maxsize=4)
def _names(index: str, mtime_ns: int, size: int) -> dict[str, str]:
    """Return the last name of each thread; read once as long as the file does not change."""
    found: dict[str, str] = {}
    try:
        with open(index, "rb") as file:
            for line in file:
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    continue  # torn by a crash
                if isinstance(record, dict) and (name := " ".join(string(record, "thread_name").split())):
                    found[string(record, "id")] = name
    except OSError:
        return {}  # deleted meanwhile
    return found


def has_file(thread: str, path: Path) -> bool:
    """Return whether there is a file of another thread in the home, or the directory, of a session file."""
    if not UUID.fullmatch(thread):
        return False
    home = home_of(path)
    places: Iterator[Path] = iter((path.parent,))
    if home is not None:
        places = iter((path.parent, home / ARCHIVED, *_days(home / SESSIONS, thread)))
    return any(next(place.glob(f"*{thread}.jsonl*"), None) is not None for place in places)


def _days(root: Path, thread: str) -> Iterator[Path]:
    """Yield the directories in which the first file of a thread may be: around the day in its id, or all."""
    created = created_at(thread)
    if created is None:
        yield from sorted(root.glob("*/*/*"))
        return
    for days in (0, -1, 1):
        # The directories have the local date, the id has UTC.
        yield root / f"{created + timedelta(days=days):%Y/%m/%d}"


def created_at(thread: str) -> datetime | None:
    """Return when an id was made, to the millisecond; None for one without a time (UUID of another version than 7)."""
    if not UUID.fullmatch(thread) or thread[14] != "7":
        return None
    return datetime.fromtimestamp(int(thread.replace("-", "")[:12], 16) / 1000, UTC)
