"""Finds plugins by name and loads only the requested ones."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..dataclass import dataclass
from ..errors import DuplicatePluginError, PluginError, PluginLoadError, SesameError, UnknownPluginError
from .agents import BUNDLED as BUNDLED

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.metadata import EntryPoint

    from .backend import StorageBackend
    from .formatter import ChunkFormatter
    from .parser import Parser
    from .provider import Options, Provider

    Hooks = dict[str, list[Callable[..., Any]]]

ENTRY_POINT_GROUP = "sesame"
NO_OPTIONS: Options = MappingProxyType({})

#: Prefix of the names of the hooks; the kind of object that they provide follows.
HOOK_PREFIX = "sesame_register_"

#: The members of each kind's Protocol, checked on what a provider creates.
_MEMBERS = {
    "parser": ("version", "default_roots", "matches", "parse"),
    "formatter": ("format",),
    "backend": ("reader", "writer", "rebuild", "close"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginInfo:
    """One line of `sesame plugins`."""

    name: str
    #: "parser", "formatter", "backend"; "plugin" when it failed to load or provides nothing.
    kind: str
    distribution: str
    version: str
    summary: str = ""
    #: Why it cannot be used; None when it can.
    error: str | None = None


class PluginManager:
    """Turns a name from config.jsonc into a parser, a formatter or a backend."""

    def __init__(self) -> None:
        #: The hook implementations of each loaded plugin.
        self._hooks: dict[str, Hooks] = {}
        self._entry_points: dict[str, list[EntryPoint]] | None = None
        #: Failures of plugins that were logged: a command meets each of them several times.
        self.logged: set[str] = set()

    # -- the API for the rest of the core -----------------------------------------------------------------

    def parser(self, name: str, options: Options = NO_OPTIONS) -> Parser:
        """Return a new parser.

        :raises PluginError: there is no plugin of this name, it fails to load, or it provides no parser.
        """
        made: Parser = self._create("parser", name, options)
        return made

    def default_roots(self, name: str, options: Options = NO_OPTIONS) -> list[Path]:
        """Return where a parser finds sessions that no one has configured, without creating it if its provider can say.

        :raises PluginError: as for `parser`, or it fails to say.
        """
        self.load(name)
        found = [] if options else self._provided("parser", name)
        told = found[0].roots if len(found) == 1 else None
        roots = told or self.parser(name, options).default_roots
        try:
            return [Path(root) for root in roots()]
        except SesameError:
            raise
        except Exception as error:
            raise PluginError(f"the parser {name!r} failed to return its default roots: {error!r}") from error

    def formatter(self, name: str, options: Options = NO_OPTIONS) -> ChunkFormatter:
        """Return a new chunk formatter; raises like `parser`."""
        made: ChunkFormatter = self._create("formatter", name, options)
        return made

    def backend(self, name: str, options: Options = NO_OPTIONS) -> StorageBackend:
        """Return a new, closed storage backend; raises like `parser`."""
        made: StorageBackend = self._create("backend", name, options)
        return made

    def names(self) -> list[str]:
        """Return the name of every plugin that is installed or registered, loaded or not."""
        return sorted({*BUNDLED, *self._discovered(), *self._hooks})

    def register(self, plugin: object, name: str) -> None:
        """Register a plugin object under a name, for tests and embedders.

        :raises DuplicatePluginError: the name is taken.
        :raises PluginLoadError: the plugin implements a hook that does not exist, or with wrong arguments.
        """
        if name in self._hooks:
            raise DuplicatePluginError(f"a plugin named {name!r} is already registered")
        from pluggy import PluginValidationError

        from .hookspecs import hooks_of

        try:
            self._hooks[name] = hooks_of(plugin, name)
        except PluginValidationError as error:
            message = " ".join(str(error).split())
            raise PluginLoadError(f"plugin {self._describe(name)}: {message}") from error

    def load(self, name: str) -> None:
        """Import and register the plugin of this name, once; raises like `parser`."""
        if name in self._hooks:
            return
        if name in BUNDLED:
            # The tests check its hooks; at run time, loading pluggy for that would take as long as everything else.
            module = self._imported(name, lambda: importlib.import_module(BUNDLED[name]))
            hooks = {hook: value for hook, value in vars(module).items() if hook.startswith(HOOK_PREFIX)}
            self._hooks[name] = {hook: [implementation] for hook, implementation in hooks.items()}
            return
        found = self._discovered().get(name, [])
        if not found:
            from ..text.suggest import nearest

            # `claude` may be written for `claude-code`, and misspelled.
            known = {part: whole for whole in self.names() for part in (whole.partition("-")[0], whole)}
            near = nearest(name, known)
            meant = f"; did you mean {known[near]!r}?" if near else ""
            raise UnknownPluginError(f"no plugin named {name!r} is installed{meant}")
        if len(found) > 1:
            owners = " and ".join(_owner(e) for e in found)
            raise DuplicatePluginError(f"two plugins are named {name!r}: {owners}; uninstall one")
        self.register(self._imported(name, found[0].load), name)

    def catalogue(self) -> list[PluginInfo]:
        """Load every installed plugin and return what each provides, or why it cannot be used."""
        infos: list[PluginInfo] = []
        for name in self.names():
            distribution, version = self._origin(name)
            try:
                self.load(name)
                provided = [
                    PluginInfo(name=name, kind=kind, distribution=distribution, version=version, summary=p.summary)
                    for kind in _MEMBERS
                    for p in self._provided(kind, name)
                ]
            except SesameError as error:
                provided = [
                    PluginInfo(name=name, kind="plugin", distribution=distribution, version=version, error=str(error))
                ]
            infos += provided or [
                PluginInfo(
                    name=name,
                    kind="plugin",
                    distribution=distribution,
                    version=version,
                    error="it provides nothing under its own name",
                )
            ]
        for name in sorted(set(BUNDLED) & set(self._discovered())):
            for entry_point in self._discovered()[name]:
                dist = entry_point.dist
                infos.append(
                    PluginInfo(
                        name=name,
                        kind="plugin",
                        distribution=dist.name if dist else "?",
                        version=dist.version if dist else "?",
                        error=f"the name {name!r} belongs to a bundled plugin; it is not used",
                    )
                )
        return infos

    # -- from a name to an object -------------------------------------------------------------------------

    def _imported(self, name: str, load: Callable[[], Any]) -> Any:
        try:
            return load()
        except Exception as error:
            raise PluginLoadError(f"plugin {self._describe(name)} failed to load: {error!r}") from error

    def _provided(self, kind: str, name: str) -> list[Provider[Any]]:
        """Return the providers of a kind from the plugin of this name; no other plugin's hook is called."""
        implementations = self._hooks[name].get(f"{HOOK_PREFIX}{kind}s", [])
        try:
            return [provider for register in implementations for provider in register() if provider.name == name]
        except Exception as error:
            raise PluginLoadError(f"plugin {self._describe(name)} failed to load: {error!r}") from error

    def _create(self, kind: str, name: str, options: Options) -> Any:
        self.load(name)
        found = self._provided(kind, name)
        if not found:
            raise UnknownPluginError(f"plugin {self._describe(name)} provides no {kind}")
        if len(found) > 1:
            raise DuplicatePluginError(f"more than one {kind} is named {name!r}")
        try:
            made = found[0].create(options)
            missing = [name for name in _MEMBERS[kind] if not hasattr(made, name)]
        except SesameError:
            raise
        except Exception as error:
            raise PluginLoadError(f"plugin {self._describe(name)} could not be created: {error!r}") from error
        if missing:
            raise PluginError(f"plugin {self._describe(name)} is not a {kind}: it lacks {', '.join(missing)}")
        return made

    def _discovered(self) -> dict[str, list[EntryPoint]]:
        """Return third-party plugins by entry-point name; reads metadata, imports nothing."""
        if self._entry_points is None:
            from . import entry_points

            self._entry_points = entry_points.of_group(ENTRY_POINT_GROUP)
        return self._entry_points

    def _origin(self, name: str) -> tuple[str, str]:
        """Return the distribution and version a plugin comes from."""
        if name in BUNDLED:
            from .. import DISTRIBUTION, version

            return DISTRIBUTION, version()
        found = self._discovered().get(name)
        if found and found[0].dist:
            return found[0].dist.name, found[0].dist.version
        return "(registered)", ""

    def _describe(self, name: str) -> str:
        distribution, version = self._origin(name)
        return f"{name!r} ({distribution} {version})" if version else repr(name)


def _owner(entry_point: EntryPoint) -> str:
    return f"{entry_point.dist.name} {entry_point.dist.version}" if entry_point.dist else entry_point.value
