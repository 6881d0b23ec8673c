"""A session file's first record: whether it is pi's, and what it says about the session."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sesame_core import Session

from .values import moment, string

#: Bytes within which the header must end; pi itself looks no further.
HEADER_WINDOW = 1 << 20
#: A session id, as pi checks it.
_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
#: How pi names the directory of a project's sessions; the name is the project's, not the layout's.
_ENCODED_CWD = re.compile(r"--.*--", re.DOTALL)
#: Directories above a file that belong to the layout of a subagent's run: `<parent>/<run>/run-1/`.
_NESTING = 3


def is_header(record: Mapping[str, Any]) -> bool:
    """Tell whether a record is a session header with an id."""
    return record.get("type") == "session" and bool(string(record, "id"))


def read_header(path: Path) -> dict[str, Any] | None:
    """Return a file's header, its first record that can be read; None when that is something else.

    :raises OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        left = HEADER_WINDOW
        while line := file.readline(left):
            if left == HEADER_WINDOW:
                line = line.removeprefix(b"\xef\xbb\xbf")
            left -= len(line)
            try:
                record = json.loads(line.replace(b"\0", b"").decode("utf-8", "replace"), strict=False)
            except (ValueError, RecursionError):
                # Blank and damaged lines may stand before the header.
                continue
            return record if isinstance(record, dict) and is_header(record) else None
    return None


def describe(header: Mapping[str, Any], path: Path, roots: Sequence[Path]) -> Session:
    """Return what a header says about its session.

    :param path: the file it stands in.
    :param roots: where pi's own layout begins.
    """
    session = string(header, "id")
    owner = _owner(path)
    parent = _parent_id(string(header, "parentSession") or string(header, "branchedFrom"), path)
    if parent is None and owner is not None:
        parent = _id_in(owner)
    return Session(
        id=session,
        agent="pi",
        kind="subagent" if owner is not None or _is_among_subagents(path, roots) else "interactive",
        parent_id=None if parent == session else parent,
        cwd=string(header, "cwd") or None,
        model=string(header, "modelId") or None,
        created=moment(header.get("timestamp")),
    )


def _parent_id(value: str, path: Path) -> str | None:
    """Return the id of the session a header names as its parent: by path, by file name or by id."""
    if not value:
        return None
    if found := _id_in(path.parent / value):
        return found
    name = re.split(r"[/\\]", value)[-1]
    # The time before the first "_" of a file's name holds none itself; ids may.
    candidate = name.removesuffix(".jsonl").partition("_")[2] if name.endswith(".jsonl") else value
    return candidate if _ID.fullmatch(candidate) else None


def _id_in(path: Path) -> str | None:
    """Return the session id a file begins with; None when there is no such file or no such id."""
    try:
        header = read_header(path) if path.is_file() else None
    except (OSError, ValueError):
        # Any text can stand where a path should: too long a name, a NUL, a directory without access.
        return None
    return string(header, "id") if header else None


def _owner(path: Path) -> Path | None:
    """Return the session file whose name, without the extension, is that of a directory the file is in."""
    for directory in path.parents[:_NESTING]:
        if directory.name and os.path.isfile(owner := f"{directory}.jsonl"):
            return Path(owner)
    return None


def _is_among_subagents(path: Path, roots: Sequence[Path]) -> bool:
    """Tell whether a directory of the layout, or the file, is named as a subagent's."""
    if "subagent" not in str(path).lower():
        return False
    root = next((root for root in roots if path.is_relative_to(root)), None)
    parts = path.relative_to(root).parts if root else path.parts[-_NESTING - 1 :]
    return any("subagent" in part.lower() and not _ENCODED_CWD.fullmatch(part) for part in parts)
