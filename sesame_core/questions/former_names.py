"""The names that a file had before, and has now, as its git repository knows them."""

from __future__ import annotations

import os
import subprocess
from itertools import pairwise

#: Seconds that git may take for one question; of a longer history no other names are known.
PATIENCE = 1.5
#: Most other names.
MOST = 8


def other_names(root: str, path: str) -> tuple[str, ...]:
    """Return other names of a file, relative to the root of its repository; none without git.

    :param path: relative to the root; the file may have been renamed since.
    """
    found = dict.fromkeys(_before(root, path))
    if not os.path.lexists(os.path.join(root, path)) and (now := _renamed_to(root, path)):
        found = dict.fromkeys([now, *found])
    found.pop(path, None)
    return tuple(found)[:MOST]


def _before(root: str, path: str) -> list[str]:
    """Return former names, the latest first."""
    output = _git(root, "log", "--follow", "--name-status", "--diff-filter=R", "--format=", "-z", "--", path)
    fields = output.split("\0")
    return [old for status, old in pairwise(fields) if status.strip()[:1] == "R" and old]


def _renamed_to(root: str, path: str) -> str | None:
    """Return the name that the last commit with a file gave it; None if that deleted it."""
    commit = _git(root, "log", "-1", "--format=%H", "--", path).strip()
    if not commit:
        return None
    fields = _git(root, "show", "-M", "--name-status", "--diff-filter=R", "--format=", "-z", commit).split("\0")
    places = (place for place, field in enumerate(fields) if field == path and fields[place - 1].strip()[:1] == "R")
    return next((fields[place + 1] for place in places if place + 1 < len(fields)), None)


def _git(root: str, *arguments: str) -> str:
    """Return the output of git; "" if it fails, takes too long, or is not installed."""
    command = ["git", "-C", root, "--no-optional-locks", "-c", "core.fsmonitor=false", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, check=False)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
