"""Parses dates as people write them, in their own time zone.

A date is a period: a day, a week, a month or a year has a first and a last moment, an age or a time is one moment.
"""

from __future__ import annotations

import calendar
import re
from datetime import date, datetime, time, timedelta
from fractions import Fraction

from ..errors import QueryError

_UNITS = {
    "s": "second seconds secs sec s",
    "min": "minute minutes mins min",
    "h": "hour hours hr hrs h",
    "d": "day days d",
    "w": "week weeks wk wks w",
    "m": "month months mon mos mo m",
    "y": "year years yr yrs y",
}
_UNIT = {name: unit for unit, names in _UNITS.items() for name in names.split()}
#: Seconds of the units that have a fixed length.
_SECONDS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_COUNTED = r"(?:\d{1,5}(?:\.\d{1,3})?\s*|an?\s+)[a-z]+"
_AGE = re.compile(rf"(?:(?:last|past) )?-?({_COUNTED}(?:[\s,]*{_COUNTED})*)(?: ago)?", re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?|an?(?=\s))\s*([a-z]+)", re.ASCII)
_TIME_OF_DAY = re.compile(r"(?:(.+?)[ t,]+(?:at )?)?(\d{1,2})(?::(\d\d)(?::(\d\d))?)? ?([ap]m)?", re.ASCII)
#: `1m` is a month, but from here on, and of numbers that people count minutes in, `m` may be minutes as well.
_MOST_MONTHS = 12
_ROUND_MINUTES = 5
_MONTH = re.compile(r"(\d{4})-(\d{2})", re.ASCII)
_YEAR = re.compile(r"\d{4}", re.ASCII)
_WEEK = re.compile(r"\d{4}-?w\d{2}", re.ASCII)
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTHS = "january february march april may june july august september october november december".split()
HINT = (
    "use a day (2026-11-27), a time (2026-11-27T14:30, yesterday 15:00), today, yesterday, monday, last week, "
    "november, 2026-11, or an age (30min, 24h, 7d, 2w, 1mo, 1y)"
)


def parse_date(text: str, *, is_end: bool = False, now: datetime | None = None) -> datetime:
    """Return the moment that a string names, timezone-aware.

    :param is_end: a day, a week, a month or a year means its last moment, not its first.
    :param now: the current time, in the user's zone; the system clock's when None.
    :raises QueryError: the string is not a date.
    """
    now = now or datetime.now().astimezone()
    word = " ".join(text.lower().split())
    if word == "now":
        return now
    period: tuple[date, date] | None
    try:
        if (age := _age(word)) is not None:
            return _before(now, age)
        period = _period(word, now.date())
        moment = None if period else _moment(text.strip(), word, now.date())
    except OverflowError:
        raise QueryError(f"{text!r} is out of range: {HINT}") from None
    except ValueError:
        raise QueryError(f"{text!r} is not a date: {HINT}") from None
    try:
        if moment is None:
            assert period is not None
            day = period[1] if is_end else period[0]
            moment = datetime.combine(day, time.max if is_end else time.min)
        return _local(moment, is_end=is_end) if moment.tzinfo is None else moment.astimezone()
    except (OverflowError, ValueError, OSError):
        raise QueryError(f"{text!r} is out of range: {HINT}") from None


def _local(moment: datetime, *, is_end: bool) -> datetime:
    """Return a time of the user's clock; of one that comes twice or never, what leaves out least."""
    both = [moment.replace(fold=fold).astimezone() for fold in (0, 1)]
    return max(both) if is_end else min(both)


def _period(word: str, today: date) -> tuple[date, date] | None:
    """Return the first and the last day of a period that a string names; None when it names none."""
    day = timedelta(days=1)
    if word in ("today", "yesterday"):
        found = today - day * (word == "yesterday")
        return found, found
    which, _, name = word.rpartition(" ")
    if which in ("", "last", "on", "this", "past"):
        is_last = which in ("last", "past")
        if name in _WEEKDAYS or (len(name) == 3 and name in (each[:3] for each in _WEEKDAYS)):
            back = (today.weekday() - [each[:3] for each in _WEEKDAYS].index(name[:3])) % 7
            found = today - day * (back or 7 * is_last)
            return found, found
        if which and name in ("week", "month", "year"):
            return _last(name, today) if is_last else _around(name, today)
    if match := _MONTH.fullmatch(word):
        return _around("month", date(int(match[1]), int(match[2]), 1))
    if _YEAR.fullmatch(word):
        return _around("year", date(int(word), 1, 1))
    month, _, year = word.partition(" ")
    if month in _MONTHS or (len(month) == 3 and month in (each[:3] for each in _MONTHS)):
        number = [each[:3] for each in _MONTHS].index(month[:3]) + 1
        if not year:
            return _around("month", date(today.year - (number > today.month), number, 1))
        if _YEAR.fullmatch(year):
            return _around("month", date(int(year), number, 1))
    if _WEEK.fullmatch(word):
        return _around("week", date.fromisoformat(word.upper()))
    try:
        found = date.fromisoformat(word.upper())
    except ValueError:
        return None
    return found, found


def _around(period: str, day: date) -> tuple[date, date]:
    """Return the first and the last day of the week, the month or the year with a day."""
    if period == "week":
        first = day - timedelta(days=day.weekday())
        return first, first + timedelta(days=6)
    if period == "month":
        return day.replace(day=1), day.replace(day=calendar.monthrange(day.year, day.month)[1])
    return day.replace(month=1, day=1), day.replace(month=12, day=31)


def _last(period: str, today: date) -> tuple[date, date]:
    """Return the first and the last day of the week, the month or the year before that of a day."""
    return _around(period, _around(period, today)[0] - timedelta(days=1))


def _moment(text: str, word: str, today: date) -> datetime:
    """Return the time that a string names: an ISO time, or a day with a time.

    :raises ValueError: it names none.
    """
    match = _TIME_OF_DAY.fullmatch(word)
    if match is None or not (match[3] or match[5]):
        return datetime.fromisoformat(text)
    day = _period(match[1], today) if match[1] else (today, today)
    if day is None or day[0] != day[1]:
        return datetime.fromisoformat(text)
    hour = int(match[2])
    if match[5]:
        if not 1 <= hour <= 12:
            raise ValueError(text)
        hour = hour % 12 + 12 * (match[5] == "pm")
    return datetime.combine(day[0], time(hour, int(match[3] or 0), int(match[4] or 0)))


def _age(word: str) -> list[tuple[Fraction, str]] | None:
    """Return the numbers of units of an age: `7d`, `1h 30m`, `-2d`; None for what is not an age.

    :raises QueryError: `m` may mean minutes as well as months.
    """
    match = _AGE.fullmatch(word)
    parts = [(part[1], _UNIT.get(part[2], ""), part[2]) for part in _PART.finditer(match[1])] if match else []
    if not parts or not all(unit for _, unit, _ in parts):
        return None
    is_short = any(unit in ("s", "min", "h", "d") for _, unit, _ in parts)
    age = []
    for number, unit, written in parts:
        count = Fraction(number) if number[0].isdigit() else Fraction(1)
        if written == "m" and is_short:
            unit = "min"
        elif written == "m" and count and (count > _MOST_MONTHS or count % _ROUND_MINUTES == 0):
            raise QueryError(f"{word!r} may be minutes or months: write {number}min or {number}mo")
        if unit in ("m", "y") and (count * (12 if unit == "y" else 1)).denominator != 1:
            raise QueryError(f"{word!r} is not a whole number of months: write it in days")
        age.append((count, unit))
    return age


def _before(now: datetime, age: list[tuple[Fraction, str]]) -> datetime:
    """Return the moment that is this age before now; months keep the day if the month has it."""
    months = sum((count * (12 if unit == "y" else 1) for count, unit in age if unit in ("m", "y")), Fraction(0))
    seconds = sum((count * _SECONDS[unit] for count, unit in age if unit in _SECONDS), Fraction(0))
    year, month = divmod(now.year * 12 + now.month - 1 - int(months), 12)
    if year < 1:
        raise OverflowError(f"year {year}")
    day = min(now.day, calendar.monthrange(year, month + 1)[1])
    return now.replace(year=year, month=month + 1, day=day) - timedelta(seconds=float(seconds))
