"""What `in:` means: a directory or a repository, by whichever of its names it is called.

`here` and `.` are the repository around the present directory, as `is:here`; a path is a directory, as `cwd:`; anything
else is a name, as `repo:`, the address of a remote its `host/owner/name`.
"""

from __future__ import annotations

import re
from typing import Any

from .directories import absolute, is_of_windows

#: Words for the repository around the present directory.
HERE = ("here", ".")
#: A path from the root, from a home, or from the present directory; `.dotfiles` is a name.
_PATH = re.compile(r"[/\\~]|\.{1,2}(?:[/\\]|\Z)")
#: The address of a remote: `https://host/owner/name.git`, `ssh://git@host:22/owner/name`, `git@host:owner/name.git`.
_URL = re.compile(r"(?:\w+\+)?\w+://(?:[^@/]*@)?([^/:]+)(?::\d+)?/(.+)")
_SCP = re.compile(r"[\w.-]+@([\w.-]+):(?!/)(.+)")


def within(value: str) -> dict[str, Any]:
    """Return the field of `Filters` that a directory or repository sets, with its value.

    :param value: as typed; not empty.
    """
    if value.lower() in HERE:
        from .here import here

        return {"places": here()}
    if _PATH.match(value) or is_of_windows(value):
        return {"cwd": absolute(value)}
    return {"repo": _named(value)}


def _named(value: str) -> str:
    """Return a repository as sessions know it; a name, or a part of one, as it is."""
    remote = _URL.fullmatch(value) or _SCP.fullmatch(value)
    name = f"{remote[1]}/{remote[2]}" if remote else value
    name = name.rstrip("/") or name
    return name.removesuffix(".git") if remote else name
