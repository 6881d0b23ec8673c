"""All sessions that an answer is about, and what was found within one; the same on every backend."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sesame_core import Sesame
from sesame_core.types.query import Filters

from ..support.every_backend import BACKENDS, indexed

#: More than a search loads at first.
MANY = 70


@pytest.fixture(params=BACKENDS)
def sesame(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Sesame]:
    sessions = {f"session-{n:02}": ["the fox is here", f"den {n}"] for n in range(MANY)}
    sessions["long"] = ["a heron", "a fox and a heron", "nothing", "a fox", "Herons and foxes, both"]
    with indexed(request, tmp_path, sessions) as opened:
        yield opened


def test_all_sessions_are_found_whatever_page_is_shown(sesame: Sesame) -> None:
    for query, total in (("fox", MANY + 1), ("heron", 1), ("", MANY + 1), ("quagga", 0)):
        for offset in (0, 10, 65):
            answer = sesame.search(query, limit=5, offset=offset, found=1000)
            assert (len(answer.found), answer.total) == (total, total), query
            shown = [hit.stored.session.id for hit in answer.hits]
            ids = [stored.session.id for stored in answer.found]
            assert len(ids) == len(set(ids))
            assert set(shown) <= set(ids)
            assert len(sesame.search(query, limit=5, offset=offset, found=20).found) == min(20, total)
            assert sesame.search(query, limit=5, offset=offset).found == []
    assert [one.session.id for one in sesame.search("", Filters(agents=("owl",)), found=3, limit=3).found] == [
        hit.stored.session.id for hit in sesame.search("", Filters(agents=("owl",)), limit=3).hits
    ]


def test_words_are_found_within_a_session(sesame: Sesame) -> None:
    for text, found in (
        ("heron", ([0, 1, 4], True)),
        ("fox heron", ([1, 4], True)),
        ("heron quagga", ([0, 1, 4], False)),
        ("quagga", ([], False)),
        ('"a fox"', ([1, 3], True)),
        ("", ([], False)),
    ):
        assert sesame.find_within("long", text) == found, text


def test_failures_are_counted_by_session(sesame: Sesame) -> None:
    assert sesame.failures() == {}
    assert sesame.may_write()
