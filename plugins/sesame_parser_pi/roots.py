"""The session directories of pi."""

from __future__ import annotations

import json
import os
from pathlib import Path

from sesame_core.config.paths import expand

#: Pi's own directory if no variable names another.
DEFAULT_DIR = "~/.pi/agent"


def agent_dir() -> Path:
    """Return pi's own directory: `PI_CODING_AGENT_DIR`, else `~/.pi/agent`."""
    return expand(os.environ.get("PI_CODING_AGENT_DIR") or DEFAULT_DIR)


def default_roots() -> list[Path]:
    """Return pi's session directories, by its environment variables and settings, most specific first.

    A custom directory has new sessions, but older ones stay in the agent's own.
    """
    agent = agent_dir()
    chosen = os.environ.get("PI_CODING_AGENT_SESSION_DIR") or _configured(agent / "settings.json")
    roots = [expand(chosen)] if chosen else []
    return list(dict.fromkeys([*roots, agent / "sessions"]))


def _configured(settings: Path) -> str:
    """Return the absolute `sessionDir` in pi's settings, else ""."""
    try:
        values = json.loads(settings.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        # pi itself starts with its defaults when its settings are missing or invalid.
        return ""
    chosen = values.get("sessionDir") if isinstance(values, dict) else None
    if not isinstance(chosen, str) or "\0" in chosen:
        return ""
    # pi resolves a relative one against the directory it is started in, which differs each time.
    return chosen if os.path.isabs(os.path.expanduser(chosen)) else ""
