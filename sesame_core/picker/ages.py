"""How long ago something was, in few characters."""

from __future__ import annotations

from datetime import datetime

from ..rendering.text import ago

#: Cells of the longest age: `11mo`.
WIDTH = 4


def age(moment: datetime | None, now: datetime | None = None) -> str:
    """Return how long ago a time was: `5m`, `3h`, `2d`, `11mo`; `now`, and "" when it is not known."""
    if moment is None:
        return ""
    found = ago(moment, now)
    return "now" if found is None else f"{found[0]}{found[1].replace('min', 'm')}"
