"""Where Claude Code keeps its sessions, and for how long."""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path

#: Days after which Claude Code deletes a session file when its settings do not say.
CLEANUP_DAYS = 30


def config_dir() -> Path:
    """Return Claude Code's configuration directory: `CLAUDE_CONFIG_DIR`, else `~/.claude`."""
    chosen = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(unicodedata.normalize("NFC", chosen)).expanduser() if chosen else Path.home() / ".claude"


def session_root() -> Path:
    """Return the directory under which the session files lie."""
    return config_dir() / "projects"


def cleanup_days() -> int:
    """Return `cleanupPeriodDays` of settings.json; the default when the file or the value is unusable."""
    try:
        settings = json.loads((config_dir() / "settings.json").read_bytes())
    except (OSError, ValueError):
        return CLEANUP_DAYS
    days = settings.get("cleanupPeriodDays") if isinstance(settings, dict) else None
    # 0 is refused by Claude Code since 2.1.89.
    return days if isinstance(days, int) and not isinstance(days, bool) and days > 0 else CLEANUP_DAYS
