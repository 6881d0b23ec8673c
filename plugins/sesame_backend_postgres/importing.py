"""Imports psycopg without the standard library's modules that only its other half uses.

psycopg loads asyncio for connections that no command makes, `importlib.metadata` for its own version, `dataclasses`
for four small classes, ctypes for a libpq that is not its own, and more: half of its 100 ms of CPU, which is more than
all else of a search.  While it is imported, stand-ins have the names that it only mentions; any other name of theirs
loads the modules themselves.

In the process of the command `sesame` alone: a program that embeds Sesame may use all of psycopg.
"""

from __future__ import annotations

import importlib
import os
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from sesame_core.dataclass import dataclass, field, replace


class _Named:
    """A class that occurs in annotations, and as a base of classes that are never used."""

    def __class_getitem__(cls, parameter: object) -> type[_Named]:
        return cls


class _NeverError(BaseException):
    """An error that nothing but these stand-ins raises."""


def _version(name: str) -> str:
    """Return the version of an installed distribution, by the name of its directory of metadata."""
    start = name.replace("-", "_") + "-"
    for directory in sys.path:
        try:
            found = [entry for entry in os.listdir(directory or ".") if entry.lower().startswith(start)]
        except OSError:
            continue
        for entry in found:
            if entry.endswith(".dist-info"):
                return entry[len(start) : -len(".dist-info")]
    metadata = _real("importlib.metadata")
    try:
        return str(metadata.version(name))
    except metadata.PackageNotFoundError as error:
        raise _NeverError from error  # which psycopg then knows by this name


def _type_variable(name: str, *bounds: Any, default: Any = None, **options: Any) -> Any:
    return typing.TypeVar(name, *bounds, **options)


def _later(module: str, name: str) -> Callable[..., Any]:
    """Return a function that calls another module's, which is loaded then."""
    return lambda *arguments, **options: getattr(importlib.import_module(module), name)(*arguments, **options)


class _Logger:
    """A logger of a process that shows no messages for debugging."""

    #: The one that psycopg would set.
    level = 30

    def __init__(self, name: str) -> None:
        self._name = name

    def debug(self, *arguments: object, **options: object) -> None:
        """Do nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(_real("logging").getLogger(self._name), name)


def _dataclass(cls: type[Any] | None = None, **options: Any) -> Any:
    """Return a class as Sesame's `dataclass` makes it, or a decorator that does."""
    decorate = dataclass(slots=True, **options)
    return decorate if cls is None else decorate(cls)


#: The names that psycopg mentions when it is imported, by module.
_MENTIONED: Mapping[str, Mapping[str, Any]] = {
    "asyncio": {
        "CancelledError": _NeverError,
        "Future": _Named,
        "Lock": _later("asyncio", "Lock"),
        "Queue": _Named,
        "Task": _Named,
        "get_running_loop": _later("asyncio", "get_running_loop"),
        "sleep": _later("asyncio", "sleep"),
    },
    "ctypes": {},
    "ctypes.util": {},
    "dataclasses": {
        "dataclass": _dataclass,
        "field": field,
        "fields": _later("dataclasses", "fields"),
        "replace": replace,
    },
    "importlib.metadata": {"PackageNotFoundError": _NeverError, "version": _version},
    "logging": {"NOTSET": 0, "WARNING": 30, "getLogger": _Logger},
    # Prepares an OpenSSL older than any that psycopg supports for several threads.
    "ssl": {},
    "typing_extensions": {"TypeVar": _type_variable},
    # Times are read in UTC, for which psycopg has a zone.
    "zoneinfo": {"ZoneInfo": _later("zoneinfo", "ZoneInfo")},
}


class _StandIn(ModuleType):
    """A module with the names that are only mentioned."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # of the import system, which asks for them
        return getattr(_real(self.__name__), name)


@contextmanager
def of_a_command() -> Iterator[None]:
    """Import what the block imports of psycopg in the short way, if this is a process of the command line."""
    if "psycopg" in sys.modules or "sesame_core.cli" not in sys.modules:
        yield
        return
    made = {name: _StandIn(name) for name in _MENTIONED if name not in sys.modules}
    for name, stand_in in made.items():
        stand_in.__dict__.update(_MENTIONED[name])
        if name == "ctypes":
            stand_in.__dict__["util"] = made.get("ctypes.util")
    sys.modules.update(made)
    try:
        yield
    finally:
        _remove()


def _real(name: str) -> ModuleType:
    """Return a module itself, in place of its stand-in."""
    _remove()
    return importlib.import_module(name)


def _remove() -> None:
    for name in _MENTIONED:
        if isinstance(sys.modules.get(name), _StandIn):
            del sys.modules[name]
