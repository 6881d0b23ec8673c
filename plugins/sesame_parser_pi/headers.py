"""Reads a session file's first record: whether it is pi's, and how it describes the session."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sesame_core import Session

from .values import moment, string

#: Bytes within which the header must end; pi itself reads no further.
HEADER_WINDOW = 1 << 20
#: A session id, as pi checks it.
_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
#: Name of the directory of a project's sessions in pi; it comes from the project, not from the layout.
_ENCODED_CWD = re.compile(r"--.*--", re.DOTALL)
#: Number of directories above a file in the layout of a subagent's run: `<parent>/<run>/run-1/`.
_NESTING = 3


def is_header(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a session header with an id."""
    return record.get("type") == "session" and bool(string(record, "id"))


def read_header(path: Path) -> dict[str, Any] | None:
    """Return a file's header, its first readable record; None when that is something else.

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
                # Blank and damaged lines may precede the header.
                continue
            return record if isinstance(record, dict) and is_header(record) else None
    return None


def describe(header: Mapping[str, Any], path: Path, roots: Sequence[Path]) -> Session:
    """Return the session that a header describes.

    :param path: the file.
    :param roots: pi's session directories, where its layout starts.
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
    """Return the id of the session that a header names as its parent: by path, by file name or by id."""
    if not value:
        return None
    if found := _id_in(path.parent / value):
        return found
    name = re.split(r"[/\\]", value)[-1]
    # The time before the first "_" of a file's name contains no "_"; an id may.
    candidate = name.removesuffix(".jsonl").partition("_")[2] if name.endswith(".jsonl") else value
    return candidate if _ID.fullmatch(candidate) else None


def _id_in(path: Path) -> str | None:
    """Return the session id in a file's header; None when the file or the id does not exist."""
    try:
        header = read_header(path) if path.is_file() else None
    except (OSError, ValueError):
        # The value may be any string: a name that is too long, a NUL, a directory without access.
        return None
    return string(header, "id") if header else None


def _owner(path: Path) -> Path | None:
    """Return the session file whose name, without the extension, is that of a directory above the file."""
    for directory in path.parents[:_NESTING]:
        if directory.name and os.path.isfile(owner := f"{directory}.jsonl"):
            return Path(owner)
    return None


def _is_among_subagents(path: Path, roots: Sequence[Path]) -> bool:
    """Return whether a directory of the layout, or the file, has the name of a subagent's."""
    if "subagent" not in str(path).lower():
        return False
    root = next((root for root in roots if path.is_relative_to(root)), None)
    parts = path.relative_to(root).parts if root else path.parts[-_NESTING - 1 :]
    return any("subagent" in part.lower() and not _ENCODED_CWD.fullmatch(part) for part in parts)
