"""Sesame over an index in memory, for tests that need an index and no database."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sesame_core import Sesame
from sesame_core.config.model import Config, Describing, Selection, Source, metadata_dir
from sesame_core.plugin.manager import PluginManager
from sesame_core.testing.memory import MemoryPlugin


def plugins_with_memory() -> PluginManager:
    """Return a plugin manager with the backend `memory`; everything opened with it shares one index."""
    plugins = PluginManager()
    plugins.register(MemoryPlugin(), "memory")
    return plugins


def in_memory(sources: Iterable[Source], data: Path, plugins: PluginManager) -> Sesame:
    """Return Sesame over the index in memory of a plugin manager.

    :param data: directory of the metadata files.
    """
    config = Config(
        sources=tuple(sources),
        backend=Selection(name="memory"),
        describe=Describing(directory=metadata_dir(data)),
    )
    return Sesame(config, plugins=plugins)
