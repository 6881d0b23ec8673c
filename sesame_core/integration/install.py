"""Installs Sesame in an agent: files of its own in the agent's directories, and settings in files of the agent.

A plan is made and shown before anything is written.  A file that cannot be parsed stops all of it; a copy of what is
replaced or deleted is kept next to the file.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..config import paths
from ..dataclass import dataclass
from ..errors import SesameError
from ..types.integration import Integration, OwnFile, Setting

#: Marks every file of Sesame: a file of that name without it belongs to someone else.
MARK = "sesame integrate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One file to be written or deleted."""

    path: Path
    #: The step, worded for people.
    description: str
    #: The current content of the file; None when it does not exist.
    before: bytes | None
    #: The new content of the file; None to delete it.
    after: bytes | None
    #: The current content exists nowhere else, so a copy is kept.
    is_precious: bool


def skill() -> str:
    """Return the skill that teaches agents the command line, the same for all of them (agentskills.io)."""
    return Path(__file__).with_name("SKILL.md").read_text(encoding="utf-8")


def plan(integration: Integration, *, remove: bool = False) -> list[Step]:
    """Return the steps to be done; none when everything is done already.

    :param remove: plan the removal instead.
    :raises SesameError: a file cannot be read or parsed, or an extra is not installed.
    """
    if integration.extra and not remove:
        extra, package = integration.extra
        if find_spec(package) is None:
            raise SesameError(f"this needs an extra that is not installed: pip install 'sesame-search[{extra}]'")
    steps = [_file_step(p, remove) if isinstance(p, OwnFile) else _setting_step(p, remove) for p in integration.parts]
    return [step for step in steps if step.before != step.after]


def carry_out(steps: Iterable[Step]) -> list[Path]:
    """Carry out the steps, and return the copies of what was replaced or deleted.

    :raises SesameError: a file has changed since it was planned, and none is written; or one cannot be written, and
        the steps before it are done.
    """
    kept = []
    steps = list(steps)
    for step in steps:
        if _read(step.path) != step.before:
            raise SesameError(f"{step.path}: has changed in the meantime; nothing was written, try again")
    for step in steps:
        # A symbolic link stays one.
        path = Path(os.path.realpath(step.path))
        try:
            if step.before is not None and step.is_precious:
                copy = path.with_name(f"{path.name}.{time.strftime('%Y%m%d-%H%M%S')}.bak")
                shutil.copy2(path, copy)
                kept.append(copy)
            if step.after is None:
                path.unlink()
                with contextlib.suppress(OSError):  # it contains other files
                    path.parent.rmdir()
            else:
                paths.write_private(path, step.after, keeps_rights=True)
        except OSError as error:
            raise SesameError(f"{path}: cannot be written: {error.strerror or error}") from error
    return kept


def _file_step(own: OwnFile, remove: bool) -> Step:
    before = _read(own.path)
    after = own.text.encode()
    if before is not None and MARK.encode() not in before:
        raise SesameError(f"{own.path}: is not a file of Sesame; nothing was written: move it away first")
    action = "delete" if remove else "write" if before is None else "replace"
    return Step(
        path=own.path,
        description=f"{action} {own.path}",
        before=before,
        after=None if remove else after,
        is_precious=before != after,
    )


def _setting_step(setting: Setting, remove: bool) -> Step:
    before = _read(setting.path)
    text, value = _parsed(setting.path, before) if before and before.strip() else ("", {})
    *parents, key = setting.keys
    place, keys = value, []
    for parent in parents:
        keys.append(parent)
        place = place.setdefault(parent, {})
        if not isinstance(place, dict):
            raise _not_understood(setting.path, f'"{".".join(keys)}" is not an object')
    name = ".".join(setting.keys)
    if (key not in place) if remove else (place.get(key) == setting.value):
        return Step(path=setting.path, description="", before=before, after=before, is_precious=False)
    if remove:
        del place[key]
        description = f"change {setting.path}: delete {name}"
    else:
        place[key] = setting.value
        description = f"{'write' if before is None else 'change'} {setting.path}: {name} = {json.dumps(setting.value)}"
    after = _as_written(setting.path, value, text)
    return Step(path=setting.path, description=description, before=before, after=after, is_precious=True)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SesameError(f"{path}: cannot be read: {error.strerror or error}") from error


def _parsed(path: Path, content: bytes) -> tuple[str, dict[str, Any]]:
    """Return the text of a file and its JSON object."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("an object has a key twice")
        return dict(pairs)

    try:
        text = content.decode()
        value = json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise _not_understood(path, f"it is not plain JSON ({error})") from error
    if not isinstance(value, dict):
        raise _not_understood(path, "it is not an object")
    return text, value


def _as_written(path: Path, value: dict[str, Any], text: str) -> bytes:
    """Return JSON in the style of the text that it replaces: indentation, final newline, escapes of surrogates."""
    indent = re.search(r"^([ \t]+)\"", text, re.MULTILINE)
    try:
        made = json.dumps(
            value, ensure_ascii="\\ud" in text.lower(), indent=indent[1] if indent else 2, allow_nan=False
        )
    except ValueError as error:
        raise _not_understood(path, "it contains a number that JSON does not have") from error
    return (made + ("" if text and not text.endswith("\n") else "\n")).encode()


def _not_understood(path: Path, why: str) -> SesameError:
    return SesameError(f"{path}: {why}; nothing was written")


def started_by(program: str, interpreter: Sequence[str]) -> list[str]:
    """Return the command that starts this Sesame from anywhere.

    :param program: the program of this process (`sys.argv[0]`).
    :param interpreter: the command that starts Sesame as a module, if it has no program of its own.
    """
    path = shutil.which(program)
    named = path is not None and Path(path).stem == "sesame"
    return [os.path.abspath(path)] if named and path else list(interpreter)
