"""Reads a file's first record, which describes the session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from sesame_core import ParseError, Session
from sesame_core.types.transcript import SessionKind

from .values import moment, string

#: Type of the header.  pi's is "session": neither parser accepts the other's files.
HEADER = "sesame-session"
#: Version of the format that this program reads; it increases with incompatible changes only.
VERSION = 1

_KINDS: dict[str, SessionKind] = {kind: kind for kind in get_args(SessionKind)}


def read_header(record: Mapping[str, Any], path: Path, line: int) -> Session:
    """Return the session that a header describes.

    :param path: the file, for messages, as is `line`.
    :raises ParseError: it lacks an id or an agent, or has a newer version of the format.
    """
    version = record.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ParseError(path, "the header has no version", line=line)
    if version > VERSION:
        raise ParseError(path, f"version {version} of the format is newer than this program's ({VERSION})", line=line)
    for key in ("id", "agent"):
        if not string(record, key):
            raise ParseError(path, f"the header has no {key}", line=line)
    return Session(
        id=string(record, "id"),
        agent=string(record, "agent"),
        kind=_KINDS.get(string(record, "kind"), "interactive"),
        parent_id=string(record, "parentId") or None,
        cwd=string(record, "cwd") or None,
        title=" ".join(string(record, "title").split()) or None,
        git_branch=string(record, "gitBranch") or None,
        repository=string(record, "repository") or None,
        model=string(record, "model") or None,
        created=moment(record, "createdAt"),
    )
