"""Agents whose sessions nothing reads: which of the known places exist, and belong to no source and no parser.

Only names are read: whether a place exists, and whether a directory has any entry.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice

from ..plugin.agents import EDITORS, UNREAD
from ..types.roots import UnreadRoot
from .discovery import is_below

#: Most directories that are tried for the `*` of a place: a thousand projects take a few milliseconds.
TRIED = 1000

#: The directory of programs' data on every system, for command lines that follow XDG.
_DATA = "${XDG_DATA_HOME:-~/.local/share}"
#: The directory of desktop programs' data, by `sys.platform`.
_CONFIG = {"darwin": "~/Library/Application Support", "win32": "${APPDATA:-~/AppData/Roaming}"}
_XDG_CONFIG = "${XDG_CONFIG_HOME:-~/.config}"


def unread_roots(covered: Callable[[], Iterable[str]]) -> list[UnreadRoot]:
    """Return the known places of agents that exist and are not covered, an agent's own in the order of the table.

    :param covered: returns the real paths of sources and of parsers' default roots, if any place exists.  One covers
        what is below it, and the place that it is in; the home directory and what contains it cover nothing, since
        they belong to no agent.
    """
    used = [(agent, *place) for agent, places in UNREAD.items() for place in _paths(places) if _is_used(*place)]
    if not used:
        return []
    home = os.path.realpath(os.path.expanduser("~"))
    roots = [root for root in covered() if not is_below(home, root)]
    found: dict[str, UnreadRoot] = {}
    for agent, start, rest in used:
        place = os.path.realpath(start)
        if not any(is_below(place, root) or is_below(root, place) for root in roots):
            path = start if rest is None else f"{start}{os.sep}*{rest}"
            found.setdefault(path, UnreadRoot(agent=agent, path=path))
    return list(found.values())


def _paths(places: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Yield places as absolute paths, each with what follows its `*`; one whose variable is not set is left out."""
    for place in places:
        for editor in EDITORS if "{editor}" in place else ("",):
            path = place.replace("{editor}", editor).replace("{config}", _CONFIG.get(sys.platform, _XDG_CONFIG))
            written, star, rest = path.replace("{data}", _DATA).partition("*")
            with suppress(FileNotFoundError):  # a relative one, in a working directory that was deleted
                if (start := _with_values(written)) is not None:
                    yield os.path.abspath(os.path.expanduser(start)), rest.replace("/", os.sep) if star else None


def _with_values(path: str) -> str | None:
    """Return a path with the values of its variables; None if one has neither a value nor a default."""
    values: list[str] = []
    while (end := path.find("}")) >= 0:
        # The innermost variable is the last that begins before the first end.
        start = path.rindex("${", 0, end)
        name, has_default, default = path[start + 2 : end].partition(":-")
        value = os.environ.get(name) or (default if has_default else None)
        if value is None:
            return None
        # Put in at the end: a value is a path, whatever it looks like.
        path = f"{path[:start]}\0{len(values)}\0{path[end + 1 :]}"
        values.append(value)
    for number in reversed(range(len(values))):
        path = path.replace(f"\0{number}\0", values[number])
    return path


def _is_used(start: str, rest: str | None) -> bool:
    """Return whether a file exists, or a directory that has an entry.

    :param rest: what follows after any one name in the directory; None for the path itself.
    """
    try:
        with os.scandir(start) as entries:
            if rest is None:
                return next(entries, None) is not None
            return any(_is_used(entry.path + rest, None) for entry in islice(entries, TRIED))
    except NotADirectoryError:
        return rest is None
    except OSError:
        return False
