"""How long Claude Code keeps sessions."""

from __future__ import annotations

import json

from . import config_dir

#: Default number of days after which Claude Code deletes a session file.
CLEANUP_DAYS = 30


def cleanup_days() -> int:
    """Return `cleanupPeriodDays` of settings.json; the default when the file or the value is invalid."""
    try:
        settings = json.loads((config_dir() / "settings.json").read_bytes())
    except (OSError, ValueError):
        return CLEANUP_DAYS
    days = settings.get("cleanupPeriodDays") if isinstance(settings, dict) else None
    # Claude Code rejects 0 since 2.1.89.
    return days if isinstance(days, int) and not isinstance(days, bool) and days > 0 else CLEANUP_DAYS
