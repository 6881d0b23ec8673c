"""The sources to index: the configured ones, or else those that are found."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..errors import SesameError
from . import paths
from .model import FOUND, SESSIONS_DIR, Config, Selection, Source

if TYPE_CHECKING:
    from ..plugin.manager import PluginManager


def resolve_sources(config: Config, plugins: PluginManager) -> tuple[Source, ...]:
    """Return the sources to index, each with a path, without duplicates.

    They are the configured ones, or else the default roots that exist, unless the configuration says that there are
    none; `SESSIONS_DIR` adds one of Claude Code.  The path of a configured source need not exist.

    :raises PluginError: a configured source without a path has a parser that cannot be used.
    :raises ConfigError: that parser's options are wrong.
    """
    places = _places(config, plugins)
    return _distinct(place for place in places if place.origin != FOUND or os.path.exists(place.path or ""))


def looked_in(config: Config, plugins: PluginManager) -> tuple[Source, ...]:
    """Return where sessions are looked for: the sources, and default roots that are none because they do not exist.

    Raises like `resolve_sources`.
    """
    return _distinct(_places(config, plugins))


def _places(config: Config, plugins: PluginManager) -> list[Source]:
    """Return all sources with a path, and default roots that do not exist."""
    places = [place for source in config.sources for place in located(source, plugins)]
    if not config.sources and config.finds_sources:
        places += default_roots(plugins)
    if directory := os.environ.get(SESSIONS_DIR):
        parser = Selection(name="claude-code")
        places.append(Source(parser=parser, path=paths.expand(directory), origin=SESSIONS_DIR))
    return places


def default_roots(plugins: PluginManager) -> list[Source]:
    """Return a source for each default root of each installed parser, existing or not.

    A parser that fails is skipped with a warning, logged once, since it was not configured by name.
    """
    sources: list[Source] = []
    for name in installed_parsers(plugins):
        try:
            roots = located(Source(parser=Selection(name=name), origin=FOUND), plugins)
        except SesameError as error:
            if str(error) not in plugins.logged:
                import logging

                plugins.logged.add(str(error))
                logging.getLogger(__name__).warning("sessions of %r are skipped: %s", name, error)
        else:
            sources += roots
    return sources


def installed_parsers(plugins: PluginManager) -> list[str]:
    """Return the names of all installed parsers, those of third parties among them."""
    return [info.name for info in plugins.catalogue() if info.kind == "parser"]


def located(source: Source, plugins: PluginManager) -> list[Source]:
    """Return a source with its path, or one for each of its parser's default roots when it has none.

    :raises PluginError: the parser cannot be used.
    :raises ConfigError: the parser's options are wrong.
    """
    if source.path is not None:
        return [source]
    roots = plugins.default_roots(source.parser.name, source.parser.options)
    return [replace(source, path=root) for root in roots]


def _distinct(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return the sources without those that repeat the parser and (real) path of an earlier one."""
    by_place: dict[tuple[str, str], Source] = {}
    for source in sources:
        by_place.setdefault((source.parser.name, os.path.realpath(source.path or "")), source)
    return tuple(by_place.values())
