"""Dates as people write them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesame_core.errors import QueryError
from sesame_core.query.dates import parse_date


@pytest.fixture(autouse=True)
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The reader lives in a zone that is another day for half of UTC's, and knows no summer time."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


ZONE = timezone(timedelta(hours=9))
NOW = datetime(2026, 3, 31, 8, 30, tzinfo=ZONE)


def local(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=ZONE)  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now", NOW),
        ("today", local(2026, 3, 31)),
        ("yesterday", local(2026, 3, 30)),
        (" Today ", local(2026, 3, 31)),
        ("2026-01-05", local(2026, 1, 5)),
        ("2026-01-05T14:30", local(2026, 1, 5, 14, 30)),
        ("2026-01-05 14:30:15", local(2026, 1, 5, 14, 30, 15)),
        ("2026-01-05T14:30Z", local(2026, 1, 5, 23, 30)),
        ("2026-01-05T14:30:00+02:00", local(2026, 1, 5, 21, 30)),
        ("24h", local(2026, 3, 30, 8, 30)),
        ("7d", local(2026, 3, 24, 8, 30)),
        ("2w", local(2026, 3, 17, 8, 30)),
        ("1m", local(2026, 2, 28, 8, 30)),
        ("3m", local(2025, 12, 31, 8, 30)),
        ("13mo", local(2025, 2, 28, 8, 30)),
        ("1y", local(2025, 3, 31, 8, 30)),
        ("2Y", local(2024, 3, 31, 8, 30)),
        ("0d", NOW),
        ("2mo", local(2026, 1, 31, 8, 30)),
        ("12m", local(2025, 3, 31, 8, 30)),
        ("1.5y", local(2024, 9, 30, 8, 30)),
        ("90s", local(2026, 3, 31, 8, 28, 30)),
        ("1.5h", local(2026, 3, 31, 7, 0)),
        ("7.5d", local(2026, 3, 23, 20, 30)),
        ("1h30m", local(2026, 3, 31, 7, 0)),
        ("1d 12h", local(2026, 3, 29, 20, 30)),
        ("2 days 3 hours ago", local(2026, 3, 29, 5, 30)),
        ("-2d", local(2026, 3, 29, 8, 30)),
        ("yesterday 15:00", local(2026, 3, 30, 15, 0)),
        ("yesterday at 3pm", local(2026, 3, 30, 15, 0)),
        ("monday 09:15:30", local(2026, 3, 30, 9, 15, 30)),
        ("2026-01-05 12am", local(2026, 1, 5)),
        ("07:45", local(2026, 3, 31, 7, 45)),
        ("7 d", local(2026, 3, 24, 8, 30)),
        ("30min", local(2026, 3, 31, 8, 0)),
        ("90 minutes ago", local(2026, 3, 31, 7, 0)),
        ("an hour ago", local(2026, 3, 31, 7, 30)),
        ("3 days ago", local(2026, 3, 28, 8, 30)),
        ("last 7 days", local(2026, 3, 24, 8, 30)),
        ("2 weeks", local(2026, 3, 17, 8, 30)),
        ("2 months ago", local(2026, 1, 31, 8, 30)),
        ("20260105", local(2026, 1, 5)),
        ("tuesday", local(2026, 3, 31)),
        ("Monday", local(2026, 3, 30)),
        ("wed", local(2026, 3, 25)),
        ("last tuesday", local(2026, 3, 24)),
        ("last monday", local(2026, 3, 30)),
    ],
)
def test_a_date_is_read_in_the_readers_zone(text: str, expected: datetime) -> None:
    found = parse_date(text, now=NOW)
    assert found == expected
    assert found.utcoffset() is not None


@pytest.mark.parametrize(
    ("text", "day"), [("2026-01-05", (2026, 1, 5)), ("today", (2026, 3, 31)), ("yesterday", (2026, 3, 30))]
)
def test_a_bare_day_as_an_end_includes_the_day(text: str, day: tuple[int, int, int]) -> None:
    assert parse_date(text, is_end=True, now=NOW) == local(*day, 23, 59, 59, 999999)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("20260105", (2026, 1, 5), (2026, 1, 5)),
        ("monday", (2026, 3, 30), (2026, 3, 30)),
        ("this week", (2026, 3, 30), (2026, 4, 5)),
        ("last week", (2026, 3, 23), (2026, 3, 29)),
        ("2026-W01", (2025, 12, 29), (2026, 1, 4)),
        ("this month", (2026, 3, 1), (2026, 3, 31)),
        ("last month", (2026, 2, 1), (2026, 2, 28)),
        ("2026-02", (2026, 2, 1), (2026, 2, 28)),
        ("february", (2026, 2, 1), (2026, 2, 28)),
        ("Nov", (2025, 11, 1), (2025, 11, 30)),
        ("november 2024", (2024, 11, 1), (2024, 11, 30)),
        ("last year", (2025, 1, 1), (2025, 12, 31)),
        ("2025", (2025, 1, 1), (2025, 12, 31)),
    ],
)
def test_a_period_begins_with_its_first_day_and_ends_with_its_last(
    text: str, first: tuple[int, int, int], last: tuple[int, int, int]
) -> None:
    assert parse_date(text, now=NOW) == local(*first)
    assert parse_date(text, is_end=True, now=NOW) == local(*last, 23, 59, 59, 999999)


@pytest.mark.parametrize(
    ("text", "earlier", "later"),
    [
        # Comes twice: at 02:45 before the clocks go back, and an hour later.
        ("2026-10-25T02:45", "2026-10-25T00:45+00:00", "2026-10-25T01:45+00:00"),
        ("2026-10-25T02:00", "2026-10-25T00:00+00:00", "2026-10-25T01:00+00:00"),
        ("2026-10-25 02:59:59", "2026-10-25T00:59:59+00:00", "2026-10-25T01:59:59+00:00"),
        # Never comes.
        ("2026-03-29T02:30", "2026-03-29T00:30+00:00", "2026-03-29T01:30+00:00"),
        ("2026-03-29 2:30am", "2026-03-29T00:30+00:00", "2026-03-29T01:30+00:00"),
        ("2026-10-25T03:00", "2026-10-25T02:00+00:00", "2026-10-25T02:00+00:00"),
    ],
)
def test_of_an_hour_that_comes_twice_neither_half_is_left_out(
    monkeypatch: pytest.MonkeyPatch, text: str, earlier: str, later: str
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    assert parse_date(text, now=NOW) == datetime.fromisoformat(earlier)
    assert parse_date(text, is_end=True, now=NOW) == datetime.fromisoformat(later)
    assert parse_date("2026-10-25T02:45+01:00", is_end=True) == datetime.fromisoformat("2026-10-25T01:45+00:00")


@pytest.mark.parametrize("text", ["30m", "5m", "10 m", "45m", "90m", "13m"])
def test_an_age_that_may_be_minutes_or_months_is_refused_with_both_spellings(text: str) -> None:
    number = text.removesuffix("m").strip()
    with pytest.raises(QueryError, match=f"write {number}min or {number}mo"):
        parse_date(text, now=NOW)


@pytest.mark.parametrize("text", ["2026-01-05T14:30", "24h", "1m", "now"])
def test_a_moment_as_an_end_is_the_moment(text: str) -> None:
    assert parse_date(text, is_end=True, now=NOW) == parse_date(text, now=NOW)


def test_the_29th_of_february_a_year_later_is_the_28th() -> None:
    assert parse_date("1y", now=local(2024, 2, 29)) == local(2023, 2, 28)


def test_the_present_is_the_clocks_unless_given() -> None:
    before = datetime.now(UTC)
    assert before <= parse_date("now") <= datetime.now(UTC)
    assert parse_date("1h") < before


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "next week",
        "last",
        "an",
        "5 moons ago",
        "november 26",
        "2026-W60",
        "7",
        "d",
        "7x",
        "yesterday 25:00",
        "13pm",
        "last week 15:00",
        "2026-13-01",
        "2026-02-30",
        "01/02/2026",
        "9999y",
        "2026-01-05T",
        "٧d٧",
    ],
)
def test_nonsense_is_an_error_that_tells_what_would_do(text: str) -> None:
    with pytest.raises(QueryError, match="7d") as caught:
        parse_date(text, now=NOW)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["0001-01-01", "9999-12-31", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00+14:00"])
@pytest.mark.parametrize("is_end", [False, True])
def test_the_ends_of_the_calendar_are_dates_or_out_of_range(text: str, is_end: bool) -> None:
    with contextlib.suppress(QueryError):
        assert parse_date(text, is_end=is_end).utcoffset() is not None


def test_what_no_calendar_holds_is_out_of_range() -> None:
    for text in ("9999y", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00+14:00"):
        with pytest.raises(QueryError, match="out of range"):
            parse_date(text, now=NOW)


@given(st.text(max_size=12) | st.from_regex(r"[0-9]{1,5} ?[hdwmy]", fullmatch=True) | st.dates().map(str))
def test_any_text_is_a_date_or_a_query_error(text: str) -> None:
    with contextlib.suppress(QueryError):
        assert parse_date(text, now=NOW).utcoffset() is not None
