"""Numbers with nouns, dates, and parts of a line."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sesame_core.rendering.reports import report_text
from sesame_core.rendering.sessions import sessions_text
from sesame_core.rendering.text import count, days, one_line, page, place
from sesame_core.rendering.transcripts import transcript_text
from sesame_core.types.index import StoredSession
from sesame_core.types.report import FileProblem, IndexReport
from sesame_core.types.transcript import Session

pytestmark = pytest.mark.usefixtures("utc")

APRIL = datetime(2026, 4, 17, 9, tzinfo=UTC)
EVENING = datetime(2026, 4, 17, 21, tzinfo=UTC)
NOVEMBER = datetime(2026, 11, 28, tzinfo=UTC)


@pytest.mark.parametrize(
    ("number", "noun", "expected"),
    [
        (0, "message", "0 messages"),
        (1, "message", "1 message"),
        (2, "message", "2 messages"),
        (1, "copy", "1 copy"),
        (3, "copy", "3 copies"),
        (2, "day", "2 days"),
        (2, "fix", "2 fixes"),
        (1, "changed file", "1 changed file"),
        (1, "more person", "1 more person"),
        (2, "more person", "2 more people"),
    ],
)
def test_one_is_singular_and_everything_else_plural(number: int, noun: str, expected: str) -> None:
    assert count(number, noun) == expected


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (APRIL, EVENING, "2026-04-17"),
        (APRIL, NOVEMBER, "2026-04-17 to 2026-11-28"),
        (None, NOVEMBER, "2026-11-28"),
        (APRIL, None, "2026-04-17"),
        (None, None, "undated"),
    ],
)
def test_a_span_of_days_says_each_day_once(first: datetime | None, last: datetime | None, expected: str) -> None:
    assert days(first, last) == expected


@pytest.mark.parametrize("text", ["/w/a\nb", "/w/a\rb", "/w/a\tb", "/w/a\u2028b", "/w/a\x1b[31m\nb", "/w/a\x0bb"])
def test_a_part_of_a_line_has_no_line_feeds(text: str) -> None:
    assert len(one_line(text).splitlines()) == 1
    assert "\t" not in one_line(text)


def test_two_spaces_in_a_directory_stay_two() -> None:
    assert place("/w/my  code") == "/w/my  code"
    assert place(None) == place("") == "(no directory)"


def test_a_page_says_which_results_it_has() -> None:
    assert page(10, "452 sessions", offset=0, first="10 best") == "10 best of 452 sessions"
    assert page(10, "452 sessions", offset=10, first="10 best") == "Results 11 to 20 of 452 sessions"
    assert page(1, "452 sessions", offset=451, first="1 best") == "Result 452 of 452 sessions"


def stored(**fields: object) -> StoredSession:
    session = Session(id="abc12345", agent="pi", kind="interactive", key="k", prompts=("why",), **fields)  # type: ignore[arg-type]
    return StoredSession(number=1, session=session, path="/s/a\nb.jsonl")


def test_a_directory_with_a_line_feed_does_not_break_a_list() -> None:
    lines = sessions_text([stored(cwd="/w/two\nlines", message_count=1)], 1, abbreviate=str).splitlines()
    assert lines == ["1 session", "", "  abc12345 (why) - undated", "  /w/two lines · pi · 1 message"]
    lines = transcript_text(stored(cwd="/w/two\nlines", message_count=2, modified=NOVEMBER), []).splitlines()
    assert lines[1:] == ["  /w/two lines", "  pi, 2 messages, 2026-11-28", "  /s/a b.jsonl"]


def test_a_page_of_a_list_says_where_it_is() -> None:
    def headline(shown: int, total: int, offset: int) -> str:
        return sessions_text([stored()] * shown, total, abbreviate=str, offset=offset).splitlines()[0]

    assert headline(2, 2, 0) == "2 sessions, latest first"
    assert headline(2, 9, 0) == "Latest 2 of 9 sessions"
    assert headline(2, 9, 4) == "Results 5 to 6 of 9 sessions"
    assert headline(0, 9, 20) == "No more results: 9 sessions"
    assert headline(0, 0, 0) == "No sessions found"


def test_a_path_with_a_line_feed_does_not_break_a_report() -> None:
    report = IndexReport(errors=[FileProblem(path="/s/a\nb", message="odd\nfile")], chunks=1)
    assert report_text(report).splitlines()[-1] == "error: /s/a b: odd file"
    assert "; 1 chunk from" in report_text(report)
