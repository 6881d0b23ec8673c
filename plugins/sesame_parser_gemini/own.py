"""Finds the session from which Gemini CLI has started a program: it passes `GEMINI_CLI=1` and no id.

While a tool runs, the session's file ends with a prompt, or with an answer whose calls are not written yet.  So does
that of a session that has just ended: of several the one that was written last is meant.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

from . import session_root
from .messages import calls_of
from .places import CHATS
from .values import string

#: Bytes at the end of a file that are read, and files of a project that are tried, the latest first.
TAIL, TRIED = 1 << 18, 8


def current_session(environment: Mapping[str, str], directory: str) -> str | None:
    """Return the id of the session that waits for a tool; None if the program was not started by Gemini CLI.

    :param directory: where the program runs: in the project, or below it.
    """
    if environment.get("GEMINI_CLI") != "1":
        return None
    for chats in _projects_of(directory):
        files = sorted(chats.glob("session-*.jsonl"), key=_written, reverse=True)
        for path in files[:TRIED]:
            if session := _waiting(path):
                return session
    return None


def _projects_of(directory: str) -> Iterator[Path]:
    """Yield the directories of the sessions of the projects around a directory, the innermost first."""
    roots: dict[str, list[Path]] = {}
    for marker in session_root().glob("*/.project_root"):
        try:
            root = os.path.realpath(marker.read_text(encoding="utf-8").strip())
        except (OSError, ValueError):
            continue  # deleted meanwhile, or damaged
        roots.setdefault(root, []).append(marker.parent / CHATS)
    place = Path(os.path.realpath(directory))
    for above in (place, *place.parents):
        yield from roots.get(str(above), [])


def _waiting(path: Path) -> str | None:
    """Return the id of a session whose last message may wait for a tool; None if its calls have ended."""
    try:
        with path.open("rb") as file:
            first = orjson.loads(file.readline(TAIL))
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
            lines = file.read(TAIL).splitlines()
    except (OSError, orjson.JSONDecodeError):
        return None  # deleted meanwhile, or not a session
    for line in reversed(lines):
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue  # the first one is cut
        if isinstance(record, dict) and record.get("type") in ("user", "gemini"):
            has_ended = any(True for _ in calls_of(record, ""))
            return None if has_ended or not isinstance(first, dict) else string(first, "sessionId") or None
    return None


def _written(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0  # deleted meanwhile
