"""Reads the header of a session: its ids, and how it was started."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sesame_core import Session
from sesame_core.types.transcript import DIRECTORIES, SessionKind

from .files import FileName, named
from .values import mapping, moment, repository, string

AGENT = "codex"
#: Sources of sessions that a program started: `codex exec`, and Codex as an MCP server.
_HEADLESS = frozenset({"exec", "mcp"})


def describe(payload: Mapping[str, Any], path: Path) -> Session:
    """Return the session that a header describes; an empty header leaves what the file's name says.

    :param path: the session's file.
    """
    name = named(path)
    thread = string(payload, "id") or name.thread
    git = mapping(payload, "git")
    kind = _kind(payload)
    parent = _parent(payload, thread)
    root = string(payload, "session_id")
    if kind == "subagent" and parent:
        root = root if root not in ("", thread) else parent
        own, parent = f"{root}/{thread}", parent if parent == root else f"{root}/{parent}"
    else:
        own = thread
    if name.segment and name.thread == thread:
        own, parent = f"{own}/{name.segment}", own
    return Session(
        id=own,
        agent=AGENT,
        kind=kind,
        parent_id=parent or None,
        cwd=string(payload, "cwd") or None,
        git_branch=string(git, "branch") or None,
        repository=repository(string(git, "repository_url")),
        created=moment(payload.get("timestamp")),
        directories=_roots(payload),
    )


def belongs(payload: Mapping[str, Any], name: FileName, *, is_first: bool) -> bool:
    """Return whether a header describes the session of a file, and not one whose records were copied into it.

    :param is_first: nothing in the file precedes the header, not even something damaged.
    """
    return is_first or not name.thread or string(payload, "id").lower() == name.thread


def visit(session: Session, directory: str) -> None:
    """Add a directory to those that a session was in."""
    if not directory or directory in session.places:
        return
    if session.cwd is None:
        session.cwd = directory
    elif len(session.directories) < DIRECTORIES:
        session.directories = (*session.directories, directory)


def _kind(payload: Mapping[str, Any]) -> SessionKind:
    source = payload.get("source")
    if string(payload, "thread_source") == "subagent" or (isinstance(source, dict) and "subagent" in source):
        return "subagent"
    return "headless" if isinstance(source, str) and source in _HEADLESS else "interactive"


def _parent(payload: Mapping[str, Any], thread: str) -> str:
    """Return the id of the thread that started a subagent or that was forked; "" when there is none."""
    spawned = mapping(mapping(mapping(payload, "source"), "subagent"), "thread_spawn")
    for parent in (
        string(payload, "parent_thread_id"),
        string(spawned, "parent_thread_id"),
        string(payload, "forked_from_id"),
        string(mapping(payload, "history_base"), "thread_id"),
    ):
        if parent and parent != thread:
            return parent
    return ""


def _roots(payload: Mapping[str, Any]) -> tuple[str, ...]:
    roots = payload.get("runtime_workspace_roots")
    found = [root for root in roots if isinstance(root, str)] if isinstance(roots, list) else []
    return tuple(root for root in dict.fromkeys(found) if root and root != string(payload, "cwd"))
