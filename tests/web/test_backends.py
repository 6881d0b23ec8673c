"""The pages are the same on every backend."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.datastructures import QueryParams

from sesame_core.web.asking import Asked
from sesame_core.web.desk import Desk
from sesame_core.web.reading import session_page
from sesame_core.web.searching import search_page

from ..support.every_backend import BACKENDS, indexed
from ..support.web_client import harmless, texts


@pytest.fixture(params=BACKENDS)
def desk(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Desk]:
    sessions = {f"session-{n:02}": ["the fox is here", f"den {n}"] for n in range(25)}
    sessions["long"] = ["a heron", *["a fox and a heron"] * 250]
    with indexed(request, tmp_path, sessions) as sesame:
        made = Desk(sesame, sesame)
        yield made
        made.close()


def test_a_search_its_pages_and_a_session_are_shown(desk: Desk) -> None:
    tree = harmless(search_page(desk, Asked(QueryParams("q=fox"))))
    assert len(tree.findall(".//article[@class='hit']")) == 20
    assert texts(tree, ".//nav[@class='pages']/a") == ["1", "2", "Next"]
    second = harmless(search_page(desk, Asked(QueryParams("q=fox&page=2"))))
    assert len(second.findall(".//article[@class='hit']")) == 6
    assert texts(second, ".//nav[@class='pages']/a") == ["Previous", "1", "2"]
    assert texts(tree, ".//aside//li") == ["owl 26", *texts(tree, ".//aside//li")[1:]]
    (hit,) = harmless(search_page(desk, Asked(QueryParams("q=heron")))).findall(".//article[@class='hit']//a")
    assert hit.get("href", "").startswith("/s/long?at=")
    read = harmless(session_page(desk, "long", QueryParams("find=heron")))
    assert texts(read, ".//nav[@id='found']/span") == ["251 messages with “heron”"]
    assert len(list(read.iter("article"))) == 200
    assert "No more results" in texts(harmless(search_page(desk, Asked(QueryParams("q=fox&page=9")))), ".//h1")[0]


def test_a_session_is_marked(desk: Desk) -> None:
    from sesame_core.web.marking import mark

    mark(desk, "session-03", {"starred": "1", "tag": "den, fox", "note": "a note"})
    mark(desk, "session-03", {"untag": "fox"})
    read = harmless(session_page(desk, "session-03", QueryParams()))
    assert texts(read, ".//p[@class='note']") == ["a note"]
    assert texts(read, ".//p[@class='tags']") == ["den"]
    (hit,) = harmless(search_page(desk, Asked(QueryParams("starred=1")))).findall(".//article[@class='hit']")
    assert hit.get("data-place") == "session-03:0" or hit.get("data-place", "").startswith("session-03")
