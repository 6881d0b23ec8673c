"""The page on a team's index: each person's own view, and one that only reads for who may only read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
pytest.importorskip("httpx2", reason="the extra mcp is not installed")

import httpx2

from ...support.web_client import harmless, served, texts
from .workstation import Workstation


def environment(of: Workstation) -> dict[str, str]:
    _, made = of.command("web")
    return {name: made[name] for name in ("HOME", "SESAME_CONFIG_DIR", "SESAME_DATA_DIR", "SESAME_WORKSTATION_ID")}


def names(visitor: httpx2.Client, query: str) -> set[str]:
    found = visitor.get("/api/search", params={"q": query, "limit": "50"}).json()["results"]
    return {f"{one['workstation']} {one['sessionId']}" for one in found}


def test_each_person_has_the_view_of_the_role_and_who_may_only_read_marks_nothing(
    workstation: Callable[..., Workstation], roles: Callable[[str], str]
) -> None:
    workstation("owner").ok("workstations", "--prepare")
    ann, ben = workstation("ann", dsn=roles("writer")), workstation("ben", dsn=roles("writer"))
    for one in (ann, ben):
        one.write("s1", f"the lighthouse keeper of {one.name}", "found it")
        one.write("s2", f"the diary of the lighthouse of {one.name}", "read it")
        one.ok("index")
    ben.ok("share", "*", "private")
    ben.ok("index")
    reader = workstation("eve", dsn=roles("reader"))
    with served(**environment(reader)) as server, server.visitor() as visitor:
        assert names(visitor, "lighthouse") == {"ann s1", "ann s2"}
        page = visitor.get("/", params={"q": "lighthouse"}).text
        assert "ben" not in page
        assert "read-only: nothing is indexed or marked here" in texts(harmless(page), ".//footer")[0]
        read = visitor.get("/s/s1").text
        assert "lighthouse keeper of ann" in read
        assert "This page is read-only" in read
        assert '<form action="/mark' not in read
        assert visitor.post("/mark/s1", data={"starred": "1"}).status_code == 403
        assert visitor.post("/api/marks/s1", json={"starred": True}).status_code == 403
    with served(**environment(ann)) as server, server.visitor() as visitor:
        assert names(visitor, "lighthouse") == {"ann s1", "ann s2"}
        ann.write("s3", "a lighthouse that is new", "yes")
        assert "ann s3" in names(visitor, "lighthouse")
        assert visitor.post("/mark/s1", data={"starred": "1", "tag": "lamp"}).status_code == 303
        assert names(visitor, "tag:lamp lighthouse") == {"ann s1"}
        harmless(visitor.get("/s/s1").text)


def test_a_server_that_is_not_there_is_said_in_a_line(workstation: Callable[..., Workstation]) -> None:
    nowhere = workstation("eve", dsn="host=127.0.0.1 port=9 dbname=none connect_timeout=2")
    ran = nowhere.run("web", "--no-open")
    assert ran.returncode == 1
    assert len(ran.stderr.strip().splitlines()) == 1
