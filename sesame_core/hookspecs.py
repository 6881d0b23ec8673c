"""The hooks a Sesame plugin may implement.

A plugin is a module (or any object) registered under a name: the entry-point name in the group `sesame`,
which is also what users write in config.jsonc.  Each hook is optional.  Hooks are called when the plugin is
first asked for something and must be cheap: import heavy modules inside `Provider.create`.

Hook arguments may be added in later versions, never removed; an implementation may take fewer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from .protocols import ChunkFormatter, Parser, Provider, StorageBackend

PROJECT_NAME = "sesame"

hookspec = pluggy.HookspecMarker(PROJECT_NAME)
#: Marks a function of a plugin as the implementation of the hook of that name.
hookimpl = pluggy.HookimplMarker(PROJECT_NAME)


@hookspec
def sesame_register_parsers() -> Iterable[Provider[Parser]]:
    """Return the parsers this plugin provides.

    Called when a source names this plugin (`"parser": "xyz"`), never by `sesame search`.

    :return: providers; one of them has the plugin's own name.

    Example::

        @hookimpl
        def sesame_register_parsers():
            return [Provider(name="xyz", summary="Xyz sessions, JSONL", create=create)]

        def create(options):
            from .parser import XyzParser
            return XyzParser(**options)
    """
    return ()


@hookspec
def sesame_register_formatters() -> Iterable[Provider[ChunkFormatter]]:
    """Return the chunk formatters this plugin provides.

    Called when a source names this plugin (`"formatter": "xyz"`).

    :return: providers; one of them has the plugin's own name.
    """
    return ()


@hookspec
def sesame_register_backends() -> Iterable[Provider[StorageBackend]]:
    """Return the storage backends this plugin provides.

    Called when the configuration names this plugin (`"backend": "xyz"`).

    :return: providers; one of them has the plugin's own name.
    """
    return ()
