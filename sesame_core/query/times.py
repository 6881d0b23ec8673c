"""Words of a question that name a time: `last week`, `two days ago`, `in October`.

They are searched like any other words, since a session seldom says when it was held; what they mean is a filter.
Only what can hardly mean anything else counts: `may` and `second` are no times, `in May` is one, and so is
`on Friday`; a name in code (`today()`, `last_week`, `monday.com`) is none.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, datetime, timedelta

from ..dataclass import dataclass

_MONTHS = "january february march april may june july august september october november december".split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_NUMBERS = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)
} | {"a": 1, "an": 1}
#: Numbers of units that vague words mean, the least and the most.
_VAGUE = {"couple": (2, 3), "few": (2, 6), "several": (3, 8)}
_UNITS = {"hour": "h", "day": "d", "night": "d", "week": "w", "month": "m", "year": "y"}
#: Days around "a week ago" that count.
_AROUND_A_WEEK = 3

_NUMBER = rf"\d{{1,3}}|{'|'.join(_NUMBERS)}"
_MONTH = "|".join(_MONTHS)
#: Abbreviated, a month needs a capital letter: `dec` is decimal, and `mar` is to damage.
_SHORT = "(?-i:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_LEADS = "since|after|before|until|till|during|from|over|in|on|at"
_TIME = re.compile(
    rf"""
    (?<![\w./\\=:@\#$%&+*~^'"(\[{{<`-])
    (?:(?P<lead>{_LEADS})\s+(?:the\s+)?)?
    (?:
      (?P<before_yesterday>(?:the\s+)?day\s+before\s+yesterday)
    | (?P<named>today|yesterday|tonight|last\s+night|this\s+(?:morning|afternoon|evening))
    | (?:(?P<vague>(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?few|several)|(?P<count>{_NUMBER}))\s+
      (?P<ago>hour|day|night|week|month|year)s?\s+ago
    | (?P<short_ago>\d{{1,4}}\s?[hdwy])\s+ago
    | (?:the\s+)?(?:last|past|previous)\s+(?:(?P<vague_past>couple(?:\s+of)?|few|several)|(?P<past>{_NUMBER}))\s+
      (?P<past_unit>hour|day|week|month|year)s?
    | (?:the\s+)?(?:last|past)\s+(?P<short_past>\d{{1,4}}\s?[hdwy])
    | (?:the\s+)?(?:past\s+(?P<whole_past>day|week|month|year)|last\s+(?P<whole_last>hour))
    | (?P<which>this|current|last|previous)\s+(?P<unit>weekend|week|month|quarter|year)
    | (?P<weekend>weekend)
    | (?:(?P<this_weekday>last|this|past)\s+)?(?P<weekday>{"|".join(_WEEKDAYS)})
    | (?P<year>20\d\d)-(?P<month>\d\d)(?:-(?P<day>\d\d))?
    | (?:(?P<day_of>{_DAY})\s+(?:of\s+)?)(?P<month_of>{_MONTH}|{_SHORT})(?:,?\s+(?P<year_of>20\d\d))?
    | (?P<part>(?:early|mid|late)[\s-]+)?(?P<last_month>last\s+)?(?P<month_name>{_MONTH}|{_SHORT})
      (?:\s+(?P<month_day>{_DAY})(?!\d)(?:,?\s+(?P<day_year>20\d\d))?|,?\s+(?P<month_year>20\d\d))?
    | (?P<only_year>20\d\d)(?=\s*(?:[?!.,;]|$))
    )
    (?:['’]s)?
    (?![\w/\\=(\[{{@\#-]|[.,:'’][\w(/])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time that a text names, with the values of the filters `after` and `before` that mean it."""

    #: The words of the text.
    phrase: str
    #: None where one side is open.
    after: str | None
    before: str | None


def named_time(text: str, *, now: datetime | None = None) -> TimeSpan | None:
    """Return the first time that a text names outside of quotes; None if there is none, or it lies ahead.

    :param now: the time that words are relative to; the present time when None.
    """
    moment = now or datetime.now().astimezone()
    today = moment.date()
    for match in _TIME.finditer(_QUOTED.sub(lambda quoted: '"' * len(quoted[0]), text)):
        if (span := _relative(match)) is None:
            try:
                days = _days(match, today)
            except ValueError:
                continue  # the 31st of June
            if days is None or days[0] > today:
                continue
            span = _sided(match["lead"], *days, today)
        phrase = " ".join(match[0].split())
        return TimeSpan(phrase, *span)
    return None


def _relative(match: re.Match[str]) -> tuple[str | None, str | None] | None:
    """Return the filters of an age: `past week`, `last 3 days`, `two hours ago`; None for any other time."""
    if unit := match["whole_past"] or match["whole_last"]:
        return f"1{_UNITS[unit.lower()]}", None
    if age := match["short_past"]:
        return age.replace(" ", "").lower(), None
    if unit := match["past_unit"]:
        most = _number(match["past"]) if match["past"] else _vague(match["vague_past"])[1]
        return f"{most}{_UNITS[unit.lower()]}", None
    if (match["ago"] or "").lower() == "hour":
        most = _number(match["count"]) if match["count"] else _vague(match["vague"])[1]
        return f"{most + 1}h", None
    if (match["short_ago"] or "").lower().endswith("h"):
        return f"{int(match['short_ago'][:-1]) + 1}h", None
    return None


def _days(match: re.Match[str], today: date) -> tuple[date, date] | None:
    """Return the first and the last day of a time; None if it is none after all."""
    lead = (match["lead"] or "").lower()
    one = timedelta(days=1)
    if match["before_yesterday"]:
        return today - 2 * one, today - 2 * one
    if named := (match["named"] or "").lower():
        day = today - one if named.startswith(("yesterday", "last")) else today
        return day, day
    if match["ago"] or match["short_ago"]:
        return _ago(match, today)
    if match["weekend"] and not lead:
        return None
    if unit := (match["unit"] or match["weekend"] or "").lower():
        return _period(unit, today, is_last=(match["which"] or "").lower() in ("last", "previous"))
    if name := (match["weekday"] or "").lower():
        if not lead and not match["this_weekday"]:
            return None
        back = (today.weekday() - _WEEKDAYS.index(name)) % 7
        if back == 0 and (match["this_weekday"] or "").lower() != "this":
            back = 7
        return today - back * one, today - back * one
    if match["year"]:
        day = date(int(match["year"]), int(match["month"]), int(match["day"] or 1))
        return (day, day if match["day"] else _end_of_month(day)) if lead else None
    if match["only_year"]:
        year = int(match["only_year"])
        return (date(year, 1, 1), date(year, 12, 31)) if lead not in ("", "on", "at", "over") else None
    return _month(match, today, lead)


def _ago(match: re.Match[str], today: date) -> tuple[date, date]:
    unit = _UNITS[match["ago"].lower()] if match["ago"] else match["short_ago"][-1].lower()
    if match["vague"]:
        least, most = _vague(match["vague"])
    else:
        least = most = _number((match["count"] or match["short_ago"][:-1]).strip())
    if unit in "dw":
        days = 1 if unit == "d" else 7
        around = _AROUND_A_WEEK if unit == "w" else 0
        return today - timedelta(days=most * days + around), today - timedelta(days=least * days - around)
    months = 1 if unit == "m" else 12
    first, last = _months_before(today, most * months), _months_before(today, least * months)
    if unit == "y":
        return date(first.year, 1, 1), date(last.year, 12, 31)
    return first, _end_of_month(last)


def _period(unit: str, today: date, *, is_last: bool) -> tuple[date, date]:
    """Return the present week, weekend, month or year, or the one before."""
    monday = today - timedelta(days=today.weekday() + 7 * is_last)
    if unit == "week":
        return monday, monday + timedelta(days=6)
    if unit == "weekend":
        # Before Saturday the weekend that people speak of is over.
        saturday = today - timedelta(days=(today.weekday() - 5) % 7)
        saturday -= timedelta(days=7 * (is_last and today.weekday() >= 5))
        return saturday, saturday + timedelta(days=1)
    if unit == "month":
        first = _months_before(today, int(is_last))
        return first, _end_of_month(first)
    if unit == "quarter":
        first = _months_before(today, (today.month - 1) % 3 + 3 * is_last)
        return first, _end_of_month(_months_before(first, -2))
    year = today.year - is_last
    return date(year, 1, 1), date(year, 12, 31)


def _month(match: re.Match[str], today: date, lead: str) -> tuple[date, date] | None:
    """Return a month, or a day of it; without a year, the latest that has begun."""
    name = (match["month_name"] or match["month_of"]).lower()
    month = next(number for number, full in enumerate(_MONTHS, 1) if full.startswith(name[:3]))
    day = match["day_of"] or match["month_day"]
    given = match["year_of"] or match["day_year"] or match["month_year"]
    is_led = (lead != "" or match["part"] is not None) and (day is not None or lead != "on")
    # A verb, a word for walking, and abbreviations in a log need more: `may 5` is no day.
    is_clear = name not in ("may", "march") and name in _MONTHS and day is not None
    if not (
        is_led or (given and name in _MONTHS) or is_clear or (match["last_month"] and name not in ("may", "march"))
    ):
        return None
    year = int(given) if given else today.year - (date(today.year, month, 1) > today)
    if day is None:
        is_over = match["last_month"] and (year, month) == (today.year, today.month)
        first = date(year - bool(is_over), month, 1)
        return first, _end_of_month(first)
    found = date(year, month, int(re.sub(r"\D", "", day)))
    if found > today and not given:
        found = found.replace(year=year - 1)
    return found, found


def _sided(lead: str | None, first: date, last: date, today: date) -> tuple[str | None, str | None]:
    """Return the filters of the days from `first` to `last`, or of all since, after, before or until then."""
    lead = (lead or "").lower()
    if lead == "since":
        return _written(first, today), None
    if lead == "after":
        return _written(last + timedelta(days=1), today), None
    if lead == "before":
        return None, _written(first - timedelta(days=1), today)
    if lead in ("until", "till"):
        return None, _written(last, today)
    return _written(first, today), _written(last, today) if last < today else None


def _written(day: date, today: date) -> str:
    names = {today: "today", today - timedelta(days=1): "yesterday"}
    return names.get(day, day.isoformat())


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS[text.lower()]


def _vague(text: str) -> tuple[int, int]:
    return next(numbers for word, numbers in _VAGUE.items() if word in text.lower())


def _months_before(day: date, months: int) -> date:
    """Return the first day of the month this number of months before."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return date(year, month + 1, 1)


def _end_of_month(day: date) -> date:
    return day.replace(day=monthrange(day.year, day.month)[1])
