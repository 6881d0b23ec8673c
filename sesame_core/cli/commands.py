"""The names of all commands, and the modules that declare them next to the functions that they run."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from .options import Command

#: Commands by what they are for, in the order of the help, each with the module that declares it.
GROUPS = {
    "Find and read": {
        "search": "searching",
        "pick": "picking",
        "web": "browsing",
        "sessions": "sessions",
        "show": "sessions",
        "resume": "sessions",
        "handoff": "exporting",
        "export": "exporting",
        "open": "exporting",
        "ask": "asking",
        "resolve": "referring",
        "stats": "counting",
    },
    "Ask the history": {"blame": "blaming", "fix": "fixing", "how": "fixing", "who": "knowing", "digest": "knowing"},
    "Keep the index": {
        "index": "indexing",
        "watch": "indexing",
        "status": "reporting",
        "forget": "sessions",
        "describe": "describing",
        "import": "importing",
    },
    "Keep what matters": {"star": "marking", "tag": "marking", "rename": "marking", "note": "marking"},
    "For agents": {"integrate": "integrating", "mcp": "serving"},
    "In a team": {"share": "sharing", "workstations": "reporting", "audit": "auditing"},
    "Set up": {"demo": "indexing", "init": "picking", "config": "reporting", "plugins": "reporting"},
}
#: What other programs call a command, or an option of this one.
ELSEWHERE = {
    "search": ("find", "grep", "query", "rg"),
    "pick": ("browse", "fzf", "picker", "tui"),
    "web": ("gui", "serve", "server", "ui"),
    "sessions": ("history", "list", "log", "ls", "recent"),
    "show": ("cat", "get", "read", "view"),
    "resume": ("continue",),
    "export": ("dump", "html", "markdown", "save"),
    "open": ("edit",),
    "handoff": ("summarise", "summarize", "summary"),
    "stats": ("count", "usage"),
    "digest": ("report", "standup", "today", "week"),
    "index": ("refresh", "reindex", "scan", "sync", "update"),
    "status": ("doctor", "health", "info"),
    "forget": ("delete", "purge", "remove", "rm"),
    "star": ("bookmark", "favorite", "favourite", "pin"),
    "tag": ("label",),
    "rename": ("name", "title"),
    "note": ("comment",),
    "integrate": ("hook", "install", "setup", "skill"),
    "config": ("configure", "settings"),
    "--install-completion": ("completion", "completions"),
    "--version": ("version",),
}
MODULES = {name: module for group in GROUPS.values() for name, module in group.items()}


def command(name: str) -> Command | None:
    """Return a command; None if no command has this name."""
    module = MODULES.get(name)
    if module is None:
        return None
    declared: tuple[Command, ...] = import_module(f".{module}", __package__).COMMANDS
    return next(one for one in declared if one.name == name)


def called_here(name: str) -> str | None:
    """Return what a command of other programs is called here; None if it is none of theirs."""
    return next((own for own, names in ELSEWHERE.items() if name.lower() in names), None)


def commands() -> Iterator[Command]:
    """Yield all commands, in the order of the help."""
    yield from filter(None, map(command, MODULES))
