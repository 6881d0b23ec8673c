"""The parser of GitHub Copilot CLI's session files, and the directories of Copilot CLI."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from sesame_core import Provider, hookimpl
from sesame_core.config.paths import expand

if TYPE_CHECKING:
    from sesame_core import Options, Parser

#: Copilot CLI's home if no variable names another.
DEFAULT_DIR = "~/.copilot"
#: The variable that does.
HOME = "COPILOT_HOME"
#: Directories of sessions in a home: of event logs, and of the JSON objects of the first versions.
SESSIONS = ("session-state", "history-session-state")
#: Variables below which versions up to 1.0.3 had their home.
_OLDER = ("XDG_STATE_HOME", "XDG_CONFIG_HOME")


def copilot_home() -> Path:
    """Return Copilot CLI's home: `COPILOT_HOME`, else `~/.copilot`."""
    return expand(os.environ.get(HOME) or DEFAULT_DIR)


def default_roots() -> list[Path]:
    """Return the directories of sessions, the present home's first."""
    older = [expand(chosen) / ".copilot" for name in _OLDER if (chosen := os.environ.get(name))]
    homes = [copilot_home(), *older]
    return list(dict.fromkeys(home / name for home in homes for name in SESSIONS))


def create(options: Options) -> Parser:
    """Return the parser; raises `ConfigError` for an unknown option."""
    from .parser import CopilotParser

    return CopilotParser.from_options(options)


@hookimpl
def sesame_register_parsers() -> Iterable[Provider[Parser]]:
    """Return the provider of this plugin's parser."""
    return [
        Provider(
            name="copilot",
            summary="GitHub Copilot CLI sessions, JSONL and the older JSON",
            create=create,
            roots=default_roots,
        )
    ]
