"""Words of a query that name a time are searched, and the answer names the filter that they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Filters, Sesame
from sesame_core.query.dates import parse_date

from ..support.transcripts import Pi, library, write

HINT = 'For "yesterday": --after yesterday --before yesterday'


@pytest.fixture
def sesame(tmp_path: Path) -> Iterator[Sesame]:
    pi = Pi("a")
    write(tmp_path / "sessions" / "a.jsonl", pi.header(), pi.user("it worked yesterday, and may fail the second time"))
    with library(tmp_path / "sessions", tmp_path / "data", parser="pi") as opened:
        opened.index()
        yield opened


def test_a_time_is_searched_and_hinted_at(sesame: Sesame) -> None:
    answer = sesame.search("what worked yesterday?")
    assert [hit.session.id for hit in answer.hits] == ["a"]
    assert answer.hints == (HINT,)


@pytest.mark.parametrize("text", ["may fail", "second time", '"worked yesterday"', "yesterday after:7d", "*", ""])
def test_without_a_time_there_is_no_hint(text: str, sesame: Sesame) -> None:
    assert not [hint for hint in sesame.search(text).hints if hint.startswith("For ")]


@pytest.mark.parametrize("side", ["after", "before"])
def test_where_the_time_is_restricted_already_there_is_no_hint(side: str, sesame: Sesame) -> None:
    answer = sesame.search("yesterday", Filters(**{side: parse_date("today", is_end=True)}))
    assert not [hint for hint in answer.hints if hint.startswith("For ")]


def test_the_hint_is_in_text_and_in_json(indexed_sessions: Path, cli: Callable[..., Any]) -> None:
    assert f"Note: {HINT}\n" in cli("search", "nix", "yesterday").out
    assert cli("search", "nix", "yesterday", "--json").json["hints"] == [HINT]
    option, after, *_ = HINT.partition(": ")[2].split()
    assert cli("search", "nix", option, after).code == 0
