"""How long ago something was, in few characters."""

from __future__ import annotations

from datetime import UTC, datetime

#: The units of an age, with their seconds; each is used from one of it on.
UNITS = (("y", 31_557_600), ("mo", 2_629_800), ("w", 604_800), ("d", 86_400), ("h", 3_600), ("m", 60))
#: Cells of the longest age: `11mo`.
WIDTH = 4


def age(moment: datetime | None, now: datetime | None = None) -> str:
    """Return how long ago a time was: `5m`, `3h`, `2d`, `11mo`; `now`, and "" when it is not known."""
    if moment is None:
        return ""
    seconds = ((now or datetime.now(UTC)) - moment).total_seconds()
    for unit, length in UNITS:
        if seconds >= length:
            return f"{int(seconds // length)}{unit}"
    return "now"
