"""Claude Code's session directory, and its retention period."""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path

#: Default number of days after which Claude Code deletes a session file.
CLEANUP_DAYS = 30


def default_dir() -> Path:
    """Return Claude Code's configuration directory if no variable names another."""
    return Path.home() / ".claude"


def config_dir() -> Path:
    """Return Claude Code's configuration directory: `CLAUDE_CONFIG_DIR`, else `~/.claude`."""
    chosen = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(unicodedata.normalize("NFC", chosen)).expanduser() if chosen else default_dir()


def session_root() -> Path:
    """Return the directory that contains the session files."""
    return config_dir() / "projects"


def cleanup_days() -> int:
    """Return `cleanupPeriodDays` of settings.json; the default when the file or the value is invalid."""
    try:
        settings = json.loads((config_dir() / "settings.json").read_bytes())
    except (OSError, ValueError):
        return CLEANUP_DAYS
    days = settings.get("cleanupPeriodDays") if isinstance(settings, dict) else None
    # Claude Code rejects 0 since 2.1.89.
    return days if isinstance(days, int) and not isinstance(days, bool) and days > 0 else CLEANUP_DAYS
