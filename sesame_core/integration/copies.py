"""The copies that are kept of agents' files, next to them: made, found, and put back."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from pathlib import Path

from ..errors import SesameError
from ..types.integration import Setting
from .settings import SettingText, is_empty

#: What is between the name of a file and `.bak` in that of a copy: the time, and a number if it is not the first.
_STAMP = r"\.\d{8}-\d{6}(?:-\d+)?\.bak"


def restored(
    setting: Setting, text: SettingText, before: bytes | None, made: int
) -> tuple[bytes | None, tuple[Path, ...]]:
    """Return the content of a file without a setting, and the copies that it makes obsolete.

    If nothing else has changed since a copy was kept, the content is that of the copy, to the byte.  A file that has
    nothing else, and of which there is no copy, was made for the setting.
    """
    after: bytes | None = text.without(made)
    found = {}
    for copy in of(Path(os.path.realpath(setting.path))):
        with contextlib.suppress(SesameError, OSError):  # not a copy of a valid file, which is kept then
            found[copy] = (copy.read_bytes(), SettingText(setting, copy.read_bytes()))
    for content, place in found.values():
        with contextlib.suppress(SesameError):  # it could not be changed, so it is not what was changed
            if not place.is_set and place.with_value(text.value) == before:
                after = content
                break
    else:
        if after is not None and is_empty(after) and not found:
            after = None
    obsolete = []
    for copy, (content, place) in found.items():
        with contextlib.suppress(SesameError):  # it cannot be changed, and is kept
            if after == content or (place.is_set and after == place.without(made)):
                obsolete.append(copy)
    return after, tuple(obsolete)


def of(path: Path) -> list[Path]:
    """Return the copies that were kept of a file, the oldest first."""
    is_copy = re.compile(re.escape(path.name) + _STAMP)
    try:
        return sorted(path.with_name(name) for name in os.listdir(path.parent) if is_copy.fullmatch(name))
    except OSError:  # no directory, no copies
        return []


def keep(path: Path) -> Path:
    """Keep a copy of a file next to it, under a name that no earlier copy has; return the copy."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    number = 0
    while True:
        copy = path.with_name(f"{path.name}.{stamp}{f'-{number}' if number else ''}.bak")
        try:
            descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
            with open(descriptor, "wb") as target, open(path, "rb") as source:
                shutil.copyfileobj(source, target)
        except FileExistsError:
            number += 1
            continue
        shutil.copystat(path, copy)
        return copy
