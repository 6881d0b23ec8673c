"""The hooks a Sesame plugin may implement.

A plugin is a module (or any object) registered under a name: the entry-point name in the group `sesame`,
which is also what users write in config.jsonc.  Each hook is optional.  Hooks are called at the first use of the
plugin and must be cheap: import heavy modules inside `Provider.create`.

Hook arguments may be added in later versions, never removed; an implementation may take fewer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import pluggy

from .markers import PROJECT_NAME, hookimpl

if TYPE_CHECKING:
    from .backend import StorageBackend
    from .formatter import ChunkFormatter
    from .parser import Parser
    from .provider import Provider

__all__ = ["PROJECT_NAME", "hookimpl", "hooks_of", "hookspec"]

hookspec = pluggy.HookspecMarker(PROJECT_NAME)


def hooks_of(plugin: object, name: str) -> dict[str, list[Callable[..., Any]]]:
    """Return a plugin's implementations by the hook they implement, checked against the existing hooks.

    :raises pluggy.PluginValidationError: it implements a hook that does not exist, or with wrong arguments.
    """
    manager = pluggy.PluginManager(PROJECT_NAME)
    manager.add_hookspecs(sys.modules[__name__])
    manager.register(plugin, name)
    manager.check_pending()
    callers = manager.get_hookcallers(plugin) or []
    return {caller.name: [impl.function for impl in caller.get_hookimpls()] for caller in callers}


@hookspec
def sesame_register_parsers() -> Iterable[Provider[Parser]]:
    """Return the parsers this plugin provides.

    Called when a source names this plugin (`"parser": "xyz"`), and when a search checks for changed files.

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
