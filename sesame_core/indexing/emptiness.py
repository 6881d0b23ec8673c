"""What an empty answer says: where session files were looked for, whether there are any, and whose nothing reads."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from ..config.sources import default_roots, looked_in, resolve_sources
from ..errors import SesameError
from ..plugin.agents import TUTORIAL
from ..types.roots import Root

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..config.model import Config, Source
    from ..plugin.manager import PluginManager
    from ..types.roots import UnreadRoot

#: Most session files that are counted.
COUNTED = 1000
#: Most agents that a sentence names; `sesame status` lists all.
NAMED = 4


def emptiness(config: Config, plugins: PluginManager) -> str:
    """Return a sentence that says that the index is empty, and why."""
    try:
        sources = resolve_sources(config, plugins)
        if not sources and not config.finds_sources:
            return f'the index is empty, and "sources" in {config.file or "the configuration"} is []'
        places = [(source, os.path.realpath(source.path or "")) for source in sources]
        waiting = {root: count for source, root in places if (count := _count(source, root, plugins))}
        looked = where(roots(config, plugins))
    except SesameError as error:
        return f"the index is empty: {error}"
    if waiting:
        found = ", ".join(f"{_counted(count)} in {_home(root)}" for root, count in waiting.items())
        return f"the index is empty: {found} not indexed; index with: sesame index"
    return f"the index is empty: no session files found; {looked}"


def roots(config: Config, plugins: PluginManager) -> list[Root]:
    """Return where session files are looked for: the sources, and agents' directories that do not exist.

    :raises SesameError: as `resolve_sources`.
    """
    places = [(source.parser.name, os.fspath(source.path or "")) for source in looked_in(config, plugins)]
    return [Root(parser=parser, path=path, exists=os.path.exists(path)) for parser, path in places]


def unread(config: Config, plugins: PluginManager) -> list[UnreadRoot]:
    """Return the places of agents whose sessions no installed parser reads; none on a machine that reads no sessions.

    :raises SesameError: as `resolve_sources`.
    """
    from .unread import unread_roots

    if not config.sources and not config.finds_sources:
        return []

    def covered() -> list[str]:
        places = [*looked_in(config, plugins), *(default_roots(plugins) if config.sources else ())]
        return [os.path.realpath(source.path or "") for source in places]

    return unread_roots(covered)


def where(looked: Sequence[Root]) -> str:
    """Return a part of a sentence that says where session files were looked for."""
    if not looked:
        return 'looked in no directory: "sources" is []'
    there = list(dict.fromkeys(_home(root.path) for root in looked if root.exists))
    missing = list(dict.fromkeys(_home(root.path) for root in looked if not root.exists))
    if not there:
        return f"looked in directories that do not exist: {', '.join(missing)}"
    return f"looked in {', '.join(there)}" + (f"; these do not exist: {', '.join(missing)}" if missing else "")


def unread_sentence(found: Iterable[UnreadRoot]) -> str | None:
    """Return a sentence that says whose sessions nothing reads; None if there are none."""
    places: dict[str, str] = {}
    for root in found:
        places.setdefault(root.agent, _home(root.path))
    if not places:
        return None
    (first, place), *others = list(places.items())[:NAMED]
    named = [f"{first} keeps sessions in {place}", *(f"{agent} in {place}" for agent, place in others)]
    more = len(places) - len(named)
    tail = f" (and {more} more: see sesame status)" if more else ""
    return f"{', '.join(named)}{tail}: no installed plugin reads them; see {TUTORIAL}"


def _count(source: Source, root: str, plugins: PluginManager) -> int:
    """Return the number of session files below a root, up to `COUNTED`."""
    from itertools import islice

    from .scan_root import OPENING_SECONDS, ScanRoot

    parser = plugins.parser(source.parser.name, source.parser.options)
    scan_root = ScanRoot.of(source, root, parser).by_name(time.monotonic() + OPENING_SECONDS)

    def is_session(path: str) -> bool:
        try:
            return scan_root.matches(path)
        except Exception:  # noqa: BLE001 - the run before has reported it
            return False

    return sum(1 for _ in islice(scan_root.files.scan(root, is_session), COUNTED))


def _counted(count: int) -> str:
    return f"{count}{' or more' if count == COUNTED else ''} session file{'' if count == 1 else 's'}"


def _home(path: str) -> str:
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path
