"""The page about the page, held against the pages and the endpoints that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from sesame_core import Sesame
from sesame_core.web.api import ENDPOINTS
from sesame_core.web.asking import RESULTS
from sesame_core.web.facets import COUNTED
from sesame_core.web.reading import SHOWN
from sesame_core.web.showing import LONG

from ..support.transcripts import Claude, write
from ..support.web_client import served

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "web.md").read_text(encoding="utf-8")


def test_the_endpoints_on_the_page_are_those_of_the_program() -> None:
    documented = re.findall(r"^\| `(GET|POST) /api(\S+)` \|", PAGE, re.MULTILINE)
    assert documented == [("POST" if one.sent else "GET", one.path) for one in ENDPOINTS]


def test_each_parameter_is_named() -> None:
    for endpoint in ENDPOINTS:
        (row,) = re.findall(
            rf"^\| `{'POST' if endpoint.sent else 'GET'} /api{re.escape(endpoint.path)}` \| (.*) \|$", PAGE, re.M
        )
        named = set(re.findall(r"`(\w+)`", row))
        assert named == {one.name for one in endpoint.parameters} | set(endpoint.sent), endpoint.path
        assert ("filter" in row) == bool(endpoint.fields)


def test_every_hook_is_in_a_page(indexed_sessions: Path) -> None:
    selectors = re.findall(
        r"`([^`]+)`", " ".join(re.findall(r"^\| (`[#.\[\w][^|]*) \|", PAGE.partition("## Hooks")[2], re.M))
    )
    assert len(selectors) > 15
    session = Claude(cwd=str(indexed_sessions))  # its directory exists, so that it can be resumed
    write(session.path, session.user("resume this"), session.answer("I do."))
    with Sesame() as sesame:
        sesame.index()
    with served() as server, server.visitor() as visitor:
        html = visitor.get("/", params={"q": "the", "agent": "pi"}).text
        hit = re.search(r'href="(/s/[^"]+)"', html)
        assert hit
        path = hit[1].replace("&amp;", "&").partition("#")[0]
        html += visitor.get(f"/s/{session.session}").text
        html += visitor.get(path + "&find=the").text + visitor.get("/", params={"q": "the quaggas"}).text
    for selector in selectors:
        tag, name, kind, attribute = re.fullmatch(
            r"(\w*)(#[\w-]+)?(\.[\w-]+)?(\[[\w-]+(?:=\w+)?\])?", selector
        ).groups()
        if name:
            assert f'id="{name[1:]}"' in html, selector
        if kind:
            assert re.search(rf'<{tag or "[a-z]+"}\b[^>]*class="[^"]*\b{kind[1:]}\b', html), selector
        if attribute and "=" not in attribute:
            assert f"{attribute[1:-1]}=" in html, selector


def test_the_numbers_on_the_page_are_those_of_the_program() -> None:
    assert f"at most {SHOWN} messages" in PAGE
    assert f"more than {LONG:,} characters" in PAGE
    assert f"the {COUNTED:,} best" in PAGE
    assert RESULTS < COUNTED
