"""A value of any length is refused by name or read as a word; it never reads as a damaged index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Filters, Sesame
from sesame_core.errors import QueryError
from sesame_core.query.fields import FIELDS, KEYS
from sesame_core.query.filters import LONGEST

from ..support.every_backend import BACKENDS, indexed

pytestmark = pytest.mark.once

LONG = "f/ox " * 20_000
NAMED = [
    field
    for field in FIELDS
    if field.filter and not field.is_switch and field.name not in ("exclude", "after", "before", "role")
]


@pytest.fixture(scope="module", params=BACKENDS)
def sesame(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sesame]:
    with indexed(request, tmp_path_factory.mktemp("long"), {"s1": ["the fox"]}) as opened:
        yield opened


@pytest.mark.parametrize("field", NAMED, ids=lambda field: field.name)
def test_a_value_longer_than_any_path_is_refused_by_name(field: Any, sesame: Sesame) -> None:
    for value, told in ((LONG, "has 100000 characters"), ("x" * (LONGEST + 1), f"use at most {LONGEST}")):
        filters = Filters(**{field.filter: (value,) if field.is_repeatable else value})
        for ask in (lambda f: sesame.search("fox", f), sesame.list_sessions, lambda f: sesame.kept_out(f, 0)):
            with pytest.raises(QueryError, match=told):
                ask(filters)
    longest = Filters(**{field.filter: "%_\\" * (LONGEST // 3)}) if not field.is_repeatable else Filters()
    sesame.search("fox", longest)


@pytest.mark.parametrize("key", KEYS)
def test_a_query_with_a_long_field_finds_its_words(key: str, sesame: Sesame) -> None:
    for value in ("x" * 100_000, f'"{LONG}"'):
        answer = sesame.search(f"fox {key}:{value}")
        assert [hit.session.id for hit in answer.hits] == ["s1"], key


def test_on_the_command_line_the_option_is_named(demo_sessions: Path, cli: Callable[..., Any]) -> None:
    ran = cli("search", "fox", "--repo", LONG)
    assert ran.code == 2
    assert ran.err.startswith("sesame: repo: 'f/ox f/ox f/ox f/ox '… has 99999 characters; use at most 4096")
