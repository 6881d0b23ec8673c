"""A list fits the screen: the first entry has the most lines, and none is left out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sesame_core.rendering.screen.entries import Entry, age, listed
from sesame_core.rendering.screen.style import Screen
from sesame_core.text.cells import cells
from sesame_core.types.answer import Snippet

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def entry(number: int, **more: object) -> Entry:
    values = {
        "place": f"35ea950{number}:21",
        "title": Snippet(f"Fix the burrow number {number} of the fox, which is too long a title for one line"),
        "project": "den",
        "modified": NOW,
        "about": "~/code/den · pi",
        "passage": Snippet("the fox digs " * 20, ((4, 7),)),
    }
    return Entry(**(values | more))  # type: ignore[arg-type]


def screen(columns: int = 80, rows: int = 24) -> Screen:
    return Screen(width=columns, height=rows, has_color=False)


@pytest.mark.parametrize("columns", [20, 40, 80, 120, 300])
@pytest.mark.parametrize("room", [1, 10, 20, 22, 30, 100])
def test_every_entry_is_listed_on_whatever_screen(columns: int, room: int) -> None:
    lines = listed([entry(number) for number in range(10)], screen(columns), room)
    assert [line[:11] for line in lines if line.startswith("35ea")] == [f"35ea950{number}:21" for number in range(10)]
    assert len(lines) <= max(room, 10)
    assert all(cells(line) <= columns for line in lines)


def test_the_first_entries_have_what_room_there_is() -> None:
    lines = listed([entry(number) for number in range(10)], screen(), 22)
    starts = [n for n, line in enumerate(lines) if line.startswith("35ea")]
    assert [end - start for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)] == [4] + [2] * 9


def test_a_list_that_fits_has_blank_lines_between() -> None:
    lines = listed([entry(number) for number in range(3)], screen(), 22)
    assert [n for n, line in enumerate(lines) if not line] == [4, 9]


def test_the_place_of_a_subagent_leaves_room_for_the_title() -> None:
    place = "71f2223f-f559-40f9-a659-23cd85132c85/a02e9a47eab53372c:21"
    lines = listed([entry(1, place=place)], screen(80), 10)
    assert lines[0].startswith("Fix the burrow")
    assert lines[-1].startswith(f"  {place} · ~/code")
    assert all(cells(line) <= 40 for line in listed([entry(1, place=place)], screen(40), 10))


def test_what_was_asked_for_is_shown_whole() -> None:
    asked = entry(1, asked=[Snippet(f"line {number}") for number in range(40)])
    assert sum("line" in line for line in listed([asked], screen(), 10)) >= 40


@pytest.mark.parametrize(("columns", "right"), [(80, "den · now"), (59, "now")])
def test_project_and_age_stand_at_the_right(columns: int, right: str) -> None:
    heading = listed([entry(1, modified=datetime.now(UTC))], screen(columns), 1)[0]
    assert heading.endswith(f" {right}")
    assert cells(heading) == columns


def test_colours_are_the_only_difference_that_colours_make() -> None:
    plain = listed([entry(1)], screen(), 10)
    colored = listed([entry(1)], Screen(width=80, height=24), 10)
    assert "\x1b[1;33mfox\x1b[0m" in "".join(colored)
    import re

    assert [re.sub(r"\x1b\[[\d;]*m", "", line) for line in colored] == plain


@pytest.mark.parametrize(
    ("ago", "said"),
    [
        (timedelta(seconds=5), "now"),
        (timedelta(seconds=-5), "now"),
        (timedelta(minutes=5), "5 min"),
        (timedelta(hours=23), "23 h"),
        (timedelta(days=6), "6 d"),
        (timedelta(days=20), "2 w"),
        (timedelta(days=160), "5 mo"),
        (timedelta(days=800), "2 y"),
    ],
)
def test_an_age_has_one_unit(ago: timedelta, said: str) -> None:
    assert age(NOW - ago, NOW) == said
    assert age(None) == ""
