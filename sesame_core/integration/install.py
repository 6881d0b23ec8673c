"""Installs Sesame in an agent: files of its own in the agent's directories, and settings in files of the agent.

A plan is made and shown before anything is written.  A file that cannot be parsed stops all of it; a copy of what the
user has written is kept next to the file when it is replaced or deleted.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from .. import installation
from ..config import paths
from ..dataclass import dataclass
from ..errors import SesameError
from ..types.integration import Integration, OwnFile, Setting
from . import copies
from .record import Record
from .settings import SettingText

#: Marks every file of Sesame: a file of that name without it belongs to someone else.
MARK = "sesame integrate"
#: Lines of a replaced file that are shown around a change.
_CONTEXT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One file to be written or deleted."""

    path: Path
    #: The step, worded for people.
    description: str
    #: Under which name the record has what is written, and what that is.
    name: str
    content: object
    #: The current content of the file; None when it does not exist.
    before: bytes | None
    #: The new content of the file; None to delete it.
    after: bytes | None
    #: The current content exists nowhere else, so a copy is kept.
    is_precious: bool
    #: Undoes what an earlier step did.
    is_removal: bool
    #: A part of a file of the agent, in contrast to a file of Sesame's own.
    is_setting: bool
    #: What is shown of it, before and after.
    texts: tuple[str, str] = ("", "")
    #: How many objects are made around a setting.
    made: int = 0
    #: Copies that earlier steps kept, of which nothing is missing in the new content.
    obsolete: tuple[Path, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the change: `+` before what is written, `-` before what is replaced or deleted."""
        if self.is_removal and not self.is_setting:
            return
        old, new = (text.splitlines() for text in self.texts)
        for line in list(difflib.unified_diff(old, new, lineterm="", n=_CONTEXT if old else 0))[2:]:
            if not line.startswith("@@"):
                yield f"  {line[0]} {line[1:]}".rstrip()
            elif not line.startswith(("@@ -1 ", "@@ -1,", "@@ -0,")):
                yield "    …"


def skill(command: Sequence[str] = ("sesame",)) -> str:
    """Return the skill that teaches agents the command line, the same for all of them (agentskills.io).

    :param command: the command that starts this Sesame; the skill names it if `sesame` does not start it.
    """
    text = Path(__file__).with_name("SKILL.md").read_text(encoding="utf-8")
    found = shutil.which("sesame")
    if list(command) == ["sesame"] or (found and os.path.realpath(found) == os.path.realpath(command[0])):
        return text
    import shlex

    line = f"`sesame` below stands for `{shlex.join(command)}`, which is not in the PATH."
    head, heading, rest = text.partition("## Find\n")
    return f"{head}{line}\n\n{heading}{rest}"


def hindrance(integration: Integration) -> str | None:
    """Return why the settings of an integration cannot be written yet, and what to do; None if they can."""
    if integration.extra is None or find_spec(integration.extra[1]) is not None:
        return None
    extra, package = integration.extra
    return f"the MCP server needs {package}, which is not installed: {installation.adding(extra)}"


def plan(integration: Integration, *, remove: bool = False) -> list[Step]:
    """Return the steps to be done; none when everything is done already.

    While the integration has a `hindrance`, its settings have no step.

    :param remove: plan the removal instead.
    :raises SesameError: a file cannot be read or parsed.
    """
    record = Record()
    is_hindered = not remove and hindrance(integration) is not None
    steps = []
    #: What files with several settings have after the steps so far.
    planned: dict[Path, bytes | None] = {}
    # What was made first is removed last.
    for part in reversed(integration.parts) if remove else integration.parts:
        if isinstance(part, OwnFile):
            steps.append(_file_step(part, record, remove))
        elif not is_hindered:
            before = planned[part.path] if part.path in planned else _read(part.path)
            steps.append(_setting_step(part, before, record, remove))
            planned[part.path] = steps[-1].after
    return [step for step in steps if step.before != step.after]


def carry_out(steps: Iterable[Step]) -> list[Path]:
    """Carry out the steps, and return the copies of what was replaced or deleted.

    :raises SesameError: a file has changed since it was planned, and none is written; or one cannot be written, and
        the steps before it are done.
    """
    kept = []
    steps = list(steps)
    first = {step.path: step for step in reversed(steps)}
    for step in first.values():
        if _read(step.path) != step.before:
            raise SesameError(f"{step.path}: has changed in the meantime; nothing was written, try again")
    record = Record()
    try:
        for step in steps:
            # A symbolic link stays one.
            path = Path(os.path.realpath(step.path))
            try:
                if step.before is not None and step.is_precious and step is first[step.path]:
                    kept.append(copies.keep(path))
                if step.after is None:
                    path.unlink()
                else:
                    if not step.is_removal:
                        record.add(step.name, step.content, path, step.made)
                    paths.write_private(path, step.after, keeps_rights=True)
                if step.is_removal:
                    record.drop(step.name)
                    for copy in step.obsolete:
                        copy.unlink(missing_ok=True)
                    record.remove_directories(path)
                    if not step.is_setting:
                        with contextlib.suppress(OSError):  # it has other files, or is removed already
                            path.parent.rmdir()
            except OSError as error:
                raise SesameError(f"{path}: cannot be written: {error.strerror or error}") from error
    finally:
        record.save()
    return kept


def _file_step(own: OwnFile, record: Record, remove: bool) -> Step:
    before = _read(own.path)
    after = own.text.encode()
    if before is not None and MARK.encode() not in before:
        raise SesameError(f"{own.path}: is not a file of Sesame; nothing was written: move it away first")
    action = "delete" if remove else "write" if before is None else "replace"
    return Step(
        path=own.path,
        description=f"{action} {own.path}",
        name=str(own.path),
        content=after,
        before=before,
        after=None if remove else after,
        is_precious=before not in (None, after) and not record.has_written(str(own.path), before),
        is_removal=remove,
        is_setting=False,
        texts=((before or b"").decode(errors="replace"), own.text),
    )


def _setting_step(setting: Setting, before: bytes | None, record: Record, remove: bool) -> Step:
    text = SettingText(setting, before)
    keys = ".".join(setting.keys)
    name = f"{setting.path}: {keys}"
    is_ours = text.is_set and record.has_written(name, text.value)
    shown = text.shown(text.value) if text.is_set else ""
    if remove:
        after, obsolete = copies.restored(setting, text, before, record.made(name)) if text.is_set else (before, ())
        return Step(
            path=setting.path,
            description=f"{'delete' if after is None else 'change'} {setting.path}: delete {keys}",
            name=name,
            content=None,
            before=before,
            after=after,
            is_precious=not is_ours and text.value != text.wanted(),
            is_removal=True,
            is_setting=True,
            texts=(shown, ""),
            obsolete=obsolete,
        )
    wanted = text.wanted()
    is_done = text.is_set and text.value == wanted
    return Step(
        path=setting.path,
        description=f"{'write' if before is None else 'change'} {setting.path}: {keys}",
        name=name,
        content=wanted,
        before=before,
        after=before if is_done else text.with_value(wanted),
        is_precious=not is_ours,
        is_removal=False,
        is_setting=True,
        texts=(shown, text.shown(wanted)),
        made=text.missing,
    )


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SesameError(f"{path}: cannot be read: {error.strerror or error}") from error
