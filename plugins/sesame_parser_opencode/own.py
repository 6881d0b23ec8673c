"""Finds the session from which OpenCode has started a program: it passes `OPENCODE=1` and no id.

While a tool runs, its part says so.  That of a program that was killed says so for ever; so only recent ones count, and
of several the newest in this directory.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from . import default_roots
from .database import opened
from .places import containers
from .records import lineage
from .values import mapping, objects, string

#: Seconds since a call began in which it may still run, and sessions that are tried, the latest first.
RECENT, TRIED = 900, 8
#: Tools that start a session: the call that is meant is in that session.
_STARTING = frozenset({"task", "subagent"})


def current_session(environment: Mapping[str, str], directory: str) -> str | None:
    """Return the id of the session that waits for a tool; None if the program was not started by OpenCode.

    :param directory: where the program runs.
    """
    if environment.get("OPENCODE") != "1":
        return None
    found: list[tuple[bool, int, str]] = []
    for root in default_roots():
        try:
            for container in containers(os.path.realpath(root)):
                if os.path.isfile(container.path):
                    found += _running(container.path, os.path.realpath(directory))
        except OSError:
            continue  # the search reports it
    return max(found)[2] if found else None


def _running(path: str, directory: str) -> list[tuple[bool, int, str]]:
    """Return the sessions that wait for a tool: whether they are in this directory, since when, and their ids."""
    since = round((time.time() - RECENT) * 1000)
    found: list[tuple[bool, int, str]] = []
    with opened(path) as database:
        for id in database.latest(TRIED, since):
            stored = database.session(id)
            if stored is None:
                continue
            place = string(stored.facts, "directory")
            is_here = bool(place) and f"{directory}{os.sep}".startswith(f"{os.path.realpath(place)}{os.sep}")
            name = "/".join([*reversed(lineage(stored, id)), id])
            found += [(is_here, at, name) for at, call in database.newest(id) if at >= since and _is_running(call)]
    return found


def _is_running(record: Mapping[str, object]) -> bool:
    parts = [record, *objects(record, "content")]
    return any(
        mapping(part, "state").get("status") == "running"
        and (string(part, "tool") or string(part, "name")) not in _STARTING
        for part in parts
    )
