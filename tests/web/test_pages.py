"""The pages without script: what is shown, where links lead, what forms do."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2

from ..support.web_client import Served, texts, tree_of


def test_without_a_query_the_latest_sessions_are_listed(visitor: httpx2.Client, cli: Callable[..., Any]) -> None:
    tree = tree_of(visitor.get("/").text)
    listed = cli("search", "--json").json["results"]
    paths = [one.get("href") for one in tree.findall(".//article[@class='hit']/h2/a")]
    assert paths == [f"/s/{session['sessionId']}" for session in listed]
    assert texts(tree, ".//section/h1") == [f"{len(listed)} sessions, latest first"]


def test_a_search_shows_the_answer_of_the_command_line_and_leads_to_the_passage(
    visitor: httpx2.Client, cli: Callable[..., Any]
) -> None:
    tree = tree_of(visitor.get("/", params={"q": "nix flake"}).text)
    assert texts(tree, ".//section/h1") == cli("search", "nix", "flake").out.splitlines()[:1]
    assert texts(tree, ".//mark")
    link = tree.find(".//article[@class='hit']/h2/a")
    assert link is not None
    read = visitor.get(link.get("href", ""))
    assert read.status_code == 200
    at = re.search(r"at=(\d+)", link.get("href", ""))
    assert at
    page = tree_of(read.text)
    (shown,) = (one for one in page.iter("article") if "is-at" in one.get("class", ""))
    assert (shown.get("id"), shown.get("data-seq")) == (f"m{at[1]}", at[1])
    assert list(shown.iter("mark"))


def test_what_is_unknown_is_a_page_with_a_line(visitor: httpx2.Client) -> None:
    for path, status in (("/s/nothing-like-it", 404), ("/nowhere", 404), ("/?page=0", 400), ("/?page=x", 400)):
        answer = visitor.get(path)
        assert answer.status_code == status
        assert texts(tree_of(answer.text), ".//p[@role='alert']")[0]


def test_marks_are_made_by_forms(visitor: httpx2.Client, indexed_sessions: Path) -> None:
    tree = tree_of(visitor.get("/").text)
    link = tree.find(".//article[@class='hit']/h2/a")
    assert link is not None
    path = link.get("href", "").partition("?")[0]
    for given in ({"starred": "1"}, {"tag": "nix, release"}, {"name": "A name"}, {"note": "read it again"}):
        answer = visitor.post(f"/mark{path.removeprefix('/s')}", data=given)
        assert answer.status_code == 303
        assert answer.headers["location"] == path
    read = tree_of(visitor.get(path).text)
    assert texts(read, ".//h1") == ["★ A name"]
    assert texts(read, ".//p[@class='note']") == ["read it again"]
    assert texts(read, ".//a[@class='tag']") == ["nix", "release"]


def test_a_list_says_how_many_headless_sessions_it_leaves_out(visitor: httpx2.Client) -> None:
    def shown(path: str) -> tuple[int, list[str]]:
        tree = tree_of(visitor.get(path).text)
        return len(tree.findall(".//article[@class='hit']")), texts(tree, ".//ul[@id='notes']/li")

    assert shown("/?all_kinds=1") == (shown("/")[0] + 1, [])
    assert shown("/")[1] == ["Left out: 1 headless run", "Show headless runs, too"]
    assert shown("/?agent=pi")[1] == []


def test_a_list_shows_no_name_twice(visitor: httpx2.Client) -> None:
    for path in ("/", "/?error=1"):
        hits = tree_of(visitor.get(path).text).findall(".//article[@class='hit']")
        shown = [(texts(hit, "h2")[0], *texts(hit, "p[@class='snippet']")) for hit in hits]
        assert [name for name, *snippet in shown if snippet == [name]] == []
        assert any(len(one) == 2 for one in shown)


def test_an_export_is_a_file_of_its_own(visitor: httpx2.Client) -> None:
    tree = tree_of(visitor.get("/").text)
    link = tree.find(".//article[@class='hit']/h2/a")
    assert link is not None
    path = link.get("href", "").partition("?")[0].removeprefix("/s")
    for kind in ("md", "html", "json"):
        answer = visitor.get(f"/export{path}", params={"as": kind})
        assert answer.headers["content-disposition"].startswith("attachment; ")
        assert answer.text
    assert visitor.get(f"/export{path}", params={"as": "exe"}).status_code == 400


def test_one_browser_is_let_in_by_a_token(server: Served) -> None:
    with server.visitor() as first, server.stranger() as second:
        assert first.get("/").status_code == 200
        assert second.post("/enter", data={"secret": server.token}).status_code == 401
        assert second.get("/").status_code == 401
        assert first.post("/leave").status_code == 303
        assert first.get("/").status_code == 401


def test_the_notes_below_an_answer_are_those_of_the_command_line(
    visitor: httpx2.Client, cli: Callable[..., Any]
) -> None:
    seen = set()
    for query in (
        "recieving zebra",
        "quagga",
        "agnt:pi nix",
        "gradiant the",
        "nix last week",
        "is:error -nix zebra agent:pi",
    ):
        printed = cli("search", "--no-refresh", *query.split()).out
        tree = tree_of(visitor.get("/", params={"q": query}).text)
        notes = [note for note in texts(tree, ".//ul[@id='notes']/li") if not note.startswith("Show the ")]
        assert notes, query
        for note in notes:
            assert note in " ".join(printed.split()).replace(" --", " "), (query, note)
            assert not re.search(r"sesame |--\w", note), note
        seen |= {note.partition(" ")[0] for note in notes}
    assert {"Not", "Note:"} <= seen
