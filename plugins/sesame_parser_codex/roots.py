"""The directories of Codex."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from sesame_core.config.paths import expand

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
