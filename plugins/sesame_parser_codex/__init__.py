"""The parser of Codex's session files, called rollouts, and the directories of Codex."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sesame_core import Provider, hookimpl
from sesame_core.config.paths import expand

if TYPE_CHECKING:
    from sesame_core import Options, Parser

#: Codex's own directory if no variable names another.
DEFAULT_HOME = "~/.codex"
#: Directories of session files in it: by day, and those that were archived.
SESSIONS = "sessions"
ARCHIVED = "archived_sessions"


def codex_home() -> Path:
    """Return Codex's own directory: `CODEX_HOME`, else `~/.codex`."""
    return expand(os.environ.get("CODEX_HOME") or DEFAULT_HOME)


def default_roots() -> Sequence[Path]:
    """Return the directories that contain the session files."""
    home = codex_home()
    return (home / SESSIONS, home / ARCHIVED)


def home_of(path: Path) -> Path | None:
    """Return the home of Codex that has a session file; None for a file in another layout."""
    return next((place.parent for place in path.parents if place.name in (SESSIONS, ARCHIVED)), None)


def create(options: Options) -> Parser:
    """Return the parser; raises `ConfigError` for an unknown option."""
    from .parser import CodexParser

    return CodexParser.from_options(options)


@hookimpl
def sesame_register_parsers() -> Iterable[Provider[Parser]]:
    """Return the provider of this plugin's parser."""
    return [
        Provider(
            name="codex",
            summary="Codex sessions, JSONL of all versions, also compressed",
            create=create,
            roots=default_roots,
        )
    ]
