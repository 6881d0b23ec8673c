"""The names of all commands, and the modules that declare them next to the functions that they run."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from .options import Command

#: The module of each command, in the order of the help.
MODULES = {
    "index": "indexing",
    "watch": "indexing",
    "demo": "indexing",
    "import": "importing",
    "search": "searching",
    "pick": "picking",
    "status": "reporting",
    "sessions": "sessions",
    "show": "sessions",
    "resume": "sessions",
    "forget": "sessions",
    "workstations": "reporting",
    "audit": "auditing",
    "share": "sharing",
    "ask": "asking",
    "describe": "describing",
    "resolve": "referring",
    "integrate": "integrating",
    "init": "picking",
    "mcp": "serving",
    "plugins": "reporting",
    "config": "reporting",
}


def command(name: str) -> Command | None:
    """Return a command; None if no command has this name."""
    module = MODULES.get(name)
    if module is None:
        return None
    declared: tuple[Command, ...] = import_module(f".{module}", __package__).COMMANDS
    return next(one for one in declared if one.name == name)


def commands() -> Iterator[Command]:
    """Yield all commands, in the order of the help."""
    yield from filter(None, map(command, MODULES))
