"""Why an index is empty: where session files were looked for, and whether there are any."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from ..config.model import Config, Selection, Source
from ..config.sources import installed_parsers, located, resolve_sources
from ..errors import SesameError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..plugin.manager import PluginManager

#: Most session files that are counted.
COUNTED = 1000


def emptiness(config: Config, plugins: PluginManager) -> str:
    """Return a sentence that says that the index is empty, and why."""
    try:
        sources = list(resolve_sources(config, plugins))
        if not sources and not config.finds_sources:
            return f'the index is empty, and "sources" in {config.file or "the configuration"} is []'
        sources = sources or list(_default_roots(plugins))
        places = [(source, os.path.realpath(source.path or "")) for source in sources]
        waiting = {root: count for source, root in places if (count := _count(source, root, plugins))}
    except SesameError as error:
        return f"the index is empty: {error}"
    if waiting:
        found = ", ".join(f"{_counted(count)} in {_home(root)}" for root, count in waiting.items())
        return f"the index is empty: {found} not indexed; index with: sesame index"
    looked = ", ".join(_home(root) + ("" if os.path.exists(root) else " (does not exist)") for _, root in places)
    return f"the index is empty: no session files found; looked in {looked or 'no directory'}"


def _default_roots(plugins: PluginManager) -> Iterator[Source]:
    """Yield the default roots of all installed parsers, existing or not."""
    for name in installed_parsers(plugins):
        try:
            yield from located(Source(parser=Selection(name=name)), plugins)
        except SesameError as error:
            import logging

            logging.getLogger(__name__).warning("sessions of %r are skipped: %s", name, error)


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
