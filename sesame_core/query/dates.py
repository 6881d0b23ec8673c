"""Parses dates as people write them, in their own time zone."""

from __future__ import annotations

import calendar
import re
from datetime import datetime, time, timedelta

from ..errors import QueryError

_RELATIVE = re.compile(r"(\d{1,4})\s*([hdwmy])")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
HINT = "use a day (2026-11-27), a time (2026-11-27T14:30), today, yesterday, or an age (24h, 7d, 2w, 1m, 1y)"


def parse_date(text: str, *, is_end: bool = False, now: datetime | None = None) -> datetime:
    """Return the moment that a string names, timezone-aware.

    :param is_end: a day without a time means its last moment, not its first.
    :param now: the current time, in the user's zone; the system clock's when None.
    :raises QueryError: the string is not a date.
    """
    now = now or datetime.now().astimezone()
    word = text.strip().lower()
    if word in ("now", "today", "yesterday"):
        if word == "now":
            return now
        return _day(now - timedelta(days=word == "yesterday"), is_end=is_end)
    if match := _RELATIVE.fullmatch(word):
        return _before(now, int(match[1]), match[2])
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise QueryError(f"{text!r} is not a date: {HINT}") from None
    if _DAY.fullmatch(word):
        return _day(moment.replace(tzinfo=None), is_end=is_end)
    try:
        return moment.astimezone()
    except (OverflowError, ValueError, OSError):
        raise QueryError(f"{text!r} is out of range: {HINT}") from None


def _day(moment: datetime, *, is_end: bool) -> datetime:
    try:
        return datetime.combine(moment.date(), time.max if is_end else time.min).astimezone()
    except (OverflowError, ValueError, OSError):
        raise QueryError(f"{moment:%Y-%m-%d} is out of range: {HINT}") from None


def _before(now: datetime, count: int, unit: str) -> datetime:
    """Return the moment this number of units ago; months keep the day if the month has it."""
    try:
        if unit in "hdw":
            return now - timedelta(hours=count * {"h": 1, "d": 24, "w": 168}[unit])
        months = now.year * 12 + now.month - 1 - count * (12 if unit == "y" else 1)
        year, month = divmod(months, 12)
        day = min(now.day, calendar.monthrange(year, month + 1)[1])
        return now.replace(year=year, month=month + 1, day=day)
    except (OverflowError, ValueError):
        raise QueryError(f"{count}{unit} ago is out of range: {HINT}") from None
