"""How long Gemini CLI keeps sessions."""

from __future__ import annotations

import json
import re
from typing import Any

from . import settings_file

#: Days after which Gemini CLI deletes a session, if its settings do not say otherwise.
RETENTION_DAYS = 30
#: Hours of the units of `general.sessionRetention.maxAge`.
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24}


def retention_days() -> int | None:
    """Return the days after which sessions are deleted; None if they are kept, also because the setting is invalid."""
    try:
        settings = json.loads(settings_file().read_bytes())
    except (OSError, ValueError, RecursionError):
        # Without readable settings Gemini CLI uses its defaults.
        settings = {}
    retention = _mapping(_mapping(settings, "general"), "sessionRetention")
    if retention.get("enabled", True) is not True:
        return None
    age = retention.get("maxAge", f"{RETENTION_DAYS}d")
    found = re.fullmatch(r"(\d{1,6})([dhwm])", age) if isinstance(age, str) else None
    if found is None or not int(found[1]):
        return None
    # A period of less than a day is rejected by default (`minRetention`).
    return max(1, int(found[1]) * _HOURS[found[2]] // 24)


def _mapping(values: object, key: str) -> dict[str, Any]:
    value = values.get(key) if isinstance(values, dict) else None
    return value if isinstance(value, dict) else {}
