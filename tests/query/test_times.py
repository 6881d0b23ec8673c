"""Times that a question names, and words that are no times."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from sesame_core.query.dates import parse_date
from sesame_core.query.times import named_time
from sesame_core.search.engine import TIME_WORD, TIMES

#: A Sunday.
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "phrase", "after", "before"),
    [
        ("what did I do yesterday?", "yesterday", "yesterday", "yesterday"),
        ("yesterday", "yesterday", "yesterday", "yesterday"),
        ("Yesterday's session about nix", "Yesterday's", "yesterday", "yesterday"),
        ("yesterday’s bug", "yesterday’s", "yesterday", "yesterday"),
        ("the bug from yesterday, with nix", "from yesterday", "yesterday", "yesterday"),
        ("fixed today", "today", "today", None),
        ("what broke this morning", "this morning", "today", None),
        ("deploy last night", "last night", "yesterday", "yesterday"),
        ("the day before yesterday", "the day before yesterday", "2026-11-27", "2026-11-27"),
        ("everything since yesterday", "since yesterday", "yesterday", None),
        ("until yesterday", "until yesterday", None, "yesterday"),
        ("before yesterday", "before yesterday", None, "2026-11-27"),
        ("after last week", "after last week", "2026-11-23", None),
        ("the websocket bug of last week", "last week", "2026-11-16", "2026-11-22"),
        ("LAST   WEEK migration", "LAST WEEK", "2026-11-16", "2026-11-22"),
        ("this week", "this week", "2026-11-23", None),
        ("this month's releases", "this month's", "2026-11-01", None),
        ("last month", "last month", "2026-10-01", "2026-10-31"),
        ("this year", "this year", "2026-01-01", None),
        ("last year", "last year", "2025-01-01", "2025-12-31"),
        ("last weekend", "last weekend", "2026-11-21", "2026-11-22"),
        ("over the weekend", "over the weekend", "yesterday", None),
        ("in the past week", "in the past week", "1w", None),
        ("the last 3 days", "the last 3 days", "3d", None),
        ("in the last 24 hours", "in the last 24 hours", "24h", None),
        ("past two months", "past two months", "2m", None),
        ("over the past few weeks", "over the past few weeks", "6w", None),
        ("two days ago", "two days ago", "2026-11-27", "2026-11-27"),
        ("1 day ago", "1 day ago", "yesterday", "yesterday"),
        ("10 days ago", "10 days ago", "2026-11-19", "2026-11-19"),
        ("a week ago", "a week ago", "2026-11-19", "2026-11-25"),
        ("2 weeks ago we fixed", "2 weeks ago", "2026-11-12", "2026-11-18"),
        ("a month ago", "a month ago", "2026-10-01", "2026-10-31"),
        ("three months ago", "three months ago", "2026-08-01", "2026-08-31"),
        ("12 months ago", "12 months ago", "2025-11-01", "2025-11-30"),
        ("a year ago", "a year ago", "2025-01-01", "2025-12-31"),
        ("an hour ago", "an hour ago", "2h", None),
        ("a few hours ago", "a few hours ago", "7h", None),
        ("a couple of days ago", "a couple of days ago", "2026-11-26", "2026-11-27"),
        ("few weeks ago", "few weeks ago", "2026-10-15", "2026-11-18"),
        ("on Friday", "on Friday", "2026-11-27", "2026-11-27"),
        ("on sunday", "on sunday", "2026-11-22", "2026-11-22"),
        ("last Friday", "last Friday", "2026-11-27", "2026-11-27"),
        ("this Sunday", "this Sunday", "today", None),
        ("since Monday", "since Monday", "2026-11-23", None),
        ("in October", "in October", "2026-10-01", "2026-10-31"),
        ("in november", "in november", "2026-11-01", None),
        ("in December", "in December", "2025-12-01", "2025-12-31"),
        ("in may", "in may", "2026-05-01", "2026-05-31"),
        ("last March we", None, None, None),
        ("in March", "in March", "2026-03-01", "2026-03-31"),
        ("last October", "last October", "2026-10-01", "2026-10-31"),
        ("last November", "last November", "2025-11-01", "2025-11-30"),
        ("in Oct", "in Oct", "2026-10-01", "2026-10-31"),
        ("in early October", "in early October", "2026-10-01", "2026-10-31"),
        ("October 2025", "October 2025", "2025-10-01", "2025-10-31"),
        ("in October 2025", "in October 2025", "2025-10-01", "2025-10-31"),
        ("on October 5", "on October 5", "2026-10-05", "2026-10-05"),
        ("October 5th, 2025", "October 5th, 2025", "2025-10-05", "2025-10-05"),
        ("5 October", "5 October", "2026-10-05", "2026-10-05"),
        ("on the 5th of October 2025", "on the 5th of October 2025", "2025-10-05", "2025-10-05"),
        ("on Dec 24", "on Dec 24", "2025-12-24", "2025-12-24"),
        ("on 2026-10-05", "on 2026-10-05", "2026-10-05", "2026-10-05"),
        ("since 2026-10-05", "since 2026-10-05", "2026-10-05", None),
        ("what did we decide in 2025?", "in 2025", "2025-01-01", "2025-12-31"),
        ("since 2025", "since 2025", "2025-01-01", None),
        ("earlier this week", "this week", "2026-11-23", None),
        ("last quarter", "last quarter", "2026-07-01", "2026-09-30"),
        ("this quarter", "this quarter", "2026-10-01", None),
        ("3d ago", "3d ago", "2026-11-26", "2026-11-26"),
        ("2w ago", "2w ago", "2026-11-12", "2026-11-18"),
        ("5h ago", "5h ago", "6h", None),
        ("the last 24h", "the last 24h", "24h", None),
        ("past 7 d", "past 7 d", "7d", None),
        ("in the last hour", "in the last hour", "1h", None),
        ("two nights ago", "two nights ago", "2026-11-27", "2026-11-27"),
        ("mid-October", "mid-October", "2026-10-01", "2026-10-31"),
        ("early May", "early May", "2026-05-01", "2026-05-31"),
        ("at the weekend", "at the weekend", "yesterday", None),
        ("before the weekend", "before the weekend", None, "2026-11-27"),
        ("in 2026-10", "in 2026-10", "2026-10-01", "2026-10-31"),
        ("next week or last week", "last week", "2026-11-16", "2026-11-22"),
    ],
)
def test_a_time_is_a_filter(text: str, phrase: str | None, after: str | None, before: str | None) -> None:
    assert not TIMES.isdisjoint(re.findall(TIME_WORD, text.lower()))
    found = named_time(text, now=NOW)
    assert (found and (found.phrase, found.after, found.before)) == (phrase and (phrase, after, before))
    if found:
        first = parse_date(found.after, now=NOW) if found.after else datetime.min.replace(tzinfo=UTC)
        last = parse_date(found.before, is_end=True, now=NOW) if found.before else NOW
        assert first <= last <= NOW


@pytest.mark.parametrize(
    "text",
    [
        "",
        "may",
        "it may fail",
        "may 5 tests fail",
        "march through the list",
        "second",
        "30 second timeout",
        "in 5 minutes",
        "every week",
        "week number",
        "weekly report",
        "next week",
        "tomorrow",
        "expires in 30 days",
        "retention of 2 weeks",
        "within 3 months",
        "today()",
        "Date.today",
        "date.today().isoformat()",
        "today.isoformat",
        "yesterday.sql",
        "git log --since=yesterday",
        "--after yesterday.md",
        "last_week",
        "last-week",
        "lastWeek",
        "this.month",
        "monday.com",
        "friday deploys",
        "black friday",
        "sunday school",
        "dayjs",
        "last commit",
        "the last 3 commits",
        "past participle",
        "previous version",
        "in the past",
        "for the last time",
        "in dec and hex",
        "convert bin in oct",
        "mar 5",
        "Nov 28 10:15:23 host sshd",
        "in 2000 lines",
        "in 2025 lines",
        "port 2025",
        "listening at 2025",
        "over 2025",
        "http 2024",
        "2026-10-05T12:00:00 ERROR",
        "2026-10-05",
        "on 2026-13-45",
        "on June 31",
        "in 2029?",
        "March 2027",
        "-yesterday",
        '"yesterday"',
        '"what happened last week" nix',
        "after:yesterday",
        "sat on the sun",
        "C:/this week/x",
        "a day",
        "ago",
        "weekend",
        "10m ago",
        "the last 30m",
        "2026-10",
        "the last h",
        "nightly build",
        "quarter",
        "days",
        "calendar month",
        "年 yesterdays",
    ],
)
def test_what_is_no_time_is_not_read_as_one(text: str) -> None:
    assert named_time(text, now=NOW) is None


def test_without_a_time_the_present_one_counts() -> None:
    found = named_time("yesterday")
    assert found is not None
    assert (found.after, found.before) == ("yesterday", "yesterday")
