"""Reads the patches of `apply_patch`: which files they change, and how."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .values import string

BEGIN = "*** Begin Patch"
_SECTION = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)[ \t]*$", re.MULTILINE)
_MOVE = re.compile(r"\A\s*\*\*\* Move to: (.+?)[ \t]*$\n?", re.MULTILINE)
_END = re.compile(r"^\*\*\* End (?:Patch|of File).*$\n?", re.MULTILINE)
#: A shell command that applies a patch: what is before it, the patch, what follows.
_HEREDOC = re.compile(
    r"(?P<before>.*?)\b(?:apply_patch|applypatch)\b[^\n]*?<<-?\s*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote)[^\n]*\n"
    r"(?P<patch>.*?\*\*\* Begin Patch.*?)\n(?P=end)[ \t]*(?:\n(?P<after>.*))?",
    re.DOTALL,
)


def arguments_of(patch: str) -> dict[str, Any]:
    """Return a patch as arguments of an edit: `path` and the change, or `edits` of several files."""
    sections = list(_SECTION.finditer(patch))
    if not sections:
        return {"patch": patch}
    ends = [following.start() for following in sections[1:]] + [len(patch)]
    edits: list[dict[str, Any]] = []
    for section, end in zip(sections, ends, strict=True):
        body = _END.sub("", patch[section.end() : end].lstrip("\r\n"))
        edits += _edits(section[1].lower(), section[2].strip(), body)
    return _arguments(edits)


def changes_of(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes that Codex reports of files as such arguments."""
    edits: list[dict[str, Any]] = []
    for path, change in changes.items():
        if not isinstance(change, dict):
            continue
        kind = string(change, "type")
        edit: dict[str, Any] = {"path": path}
        if kind == "delete":
            edit["action"] = "delete"
        elif kind == "add":
            edit["content"] = string(change, "content")
        else:
            edit["patch"] = string(change, "unified_diff")
        edits.append(edit)
        if moved := string(change, "move_path"):
            edits.append({"path": moved})
    return _arguments(edits)


def in_command(command: str) -> tuple[dict[str, Any], str] | None:
    """Return the patch that a shell command applies, as arguments, and the rest of the command; None without one."""
    if BEGIN not in command or not (found := _HEREDOC.fullmatch(command.strip())):
        return None
    rest = f"{found['before'].strip()}\n{(found['after'] or '').strip()}".strip()
    return arguments_of(found["patch"]), rest


def _edits(kind: str, path: str, body: str) -> list[dict[str, Any]]:
    if kind == "delete":
        return [{"path": path, "action": "delete"}]
    if kind == "add":
        return [{"path": path, "content": "\n".join(line.removeprefix("+") for line in body.splitlines())}]
    moved = _MOVE.match(body)
    if moved is None:
        return [{"path": path, "patch": body}]
    return [{"path": path, "patch": body[moved.end() :]}, {"path": moved[1]}]


def _arguments(edits: list[dict[str, Any]]) -> dict[str, Any]:
    return edits[0] if len(edits) == 1 else {"edits": edits} if edits else {}
