"""The page of a session: which messages it has, where it leads, what is folded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from starlette.datastructures import QueryParams

from sesame_core import Sesame
from sesame_core.errors import QueryError, UnknownSessionError
from sesame_core.web.desk import Desk
from sesame_core.web.reading import BEFORE, MARKDOWN, SHOWN, session_page

from ..search.test_family import fork, subagent
from ..support.transcripts import CLAUDE_ID, Claude, Pi, write
from ..support.web_client import harmless, texts

Read = Callable[..., Element]


@pytest.fixture
def read(home: Path) -> Iterator[Read]:
    """Index what is written at the first call; return a session's page."""
    sesame = Sesame()
    desk: list[Desk] = []

    def page(session: str, query: str = "") -> Element:
        if not desk:
            assert not sesame.index().errors
            desk.append(Desk(sesame, sesame, is_read_only=True))
        return harmless(session_page(desk[0], session, QueryParams(query)))

    yield page
    for one in desk:
        one.close()


def positions(tree: Element) -> list[int]:
    return [int(one.get("data-seq", "")) for one in tree.iter("article")]


def link(tree: Element, path: str) -> str | None:
    found = tree.find(path)
    return None if found is None else found.get("href")


def message(tree: Element, position: int) -> Element:
    (found,) = (one for one in tree.iter("article") if one.get("id") == f"m{position}")
    return found


def long_session(count: int) -> None:
    pi = Pi("long")
    write(pi.path, pi.header(), *(pi.user(f"fox number {n}") for n in range(count)))


def test_a_long_session_opens_at_its_end_and_at_any_passage_and_pages_both_ways(read: Read) -> None:
    long_session(1000)
    latest = read("long")
    assert positions(latest) == list(range(1000 - SHOWN, 1000))
    assert link(latest, ".//nav//a[@rel='next']") is None
    seen = positions(latest)
    tree = latest
    while (earlier := link(tree, ".//nav//a[@rel='prev']")) is not None:
        tree = read("long", earlier.partition("?")[2])
        seen = positions(tree) + seen
    assert seen == list(range(1000))
    while (later := link(tree, ".//nav//a[@rel='next']")) is not None:
        before = positions(tree)[-1]
        tree = read("long", later.partition("?")[2])
        assert positions(tree)[0] == before + 1
    assert positions(tree)[-1] == 999
    at = read("long", "at=500")
    assert positions(at) == list(range(500 - BEFORE, 500 - BEFORE + SHOWN))
    assert "is-at" in message(at, 500).get("class", "")
    for first, last in ((0, SHOWN), (1000 - SHOWN, 1000)):
        assert positions(read("long", f"at={first if first == 0 else 999}")) == list(range(first, last))


def test_a_page_of_a_long_session_reads_what_it_shows(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    long_session(3000)
    read("long")
    from sesame_backend_sqlite.reader import SqliteReader

    taken = []
    chunks = SqliteReader.chunks

    def counted(self: Any, ranges: Any) -> Any:
        found = chunks(self, ranges)
        taken.append(sum(map(len, found)))
        return found

    monkeypatch.setattr(SqliteReader, "chunks", counted)
    read("long", "at=1500&q=fox")
    assert sum(taken) == SHOWN


def test_an_invalid_place_is_said(read: Read) -> None:
    long_session(3)
    for query in ("at=3", "at=99999999"):
        with pytest.raises(UnknownSessionError, match="no position"):
            read("long", query)
    for query in ("at=-1", "at=x", "from=-1", "from=1e3", "at=99999999999999999999"):
        with pytest.raises(QueryError, match="must be a number"):
            read("long", query)
    assert positions(read("long", "from=7")) == [2]
    assert positions(read("long:1")) == [0, 1, 2]


def test_find_leads_from_place_to_place(read: Read) -> None:
    pi = Pi("den")
    words = ["fox", "den", "a fox", "x"] * 100
    write(pi.path, pi.header(), *map(pi.user, words))
    tree = read("den", "find=fox")
    assert texts(tree, ".//nav[@id='found']/span") == ["200 messages with “fox”"]
    assert positions(tree)[0] == 0
    assert {"".join(one.itertext()) for one in tree.iter("mark")} == {"fox"}
    assert link(tree, ".//a[@class='found-next']") == "/s/den?find=fox&at=2#m2"
    later = read("den", "find=fox&at=200")
    assert link(later, ".//a[@class='found-prev']") == "/s/den?find=fox&at=198#m198"
    assert link(later, ".//a[@class='found-next']") == "/s/den?find=fox&at=202#m202"
    assert texts(read("den", "find=quagga"), ".//nav[@id='found']/span") == ["Nothing in this session has “quagga”"]
    assert "with a word of" in texts(read("den", "find=fox+quagga"), ".//nav[@id='found']/span")[0]


def test_calls_outputs_and_injected_text_are_folded_and_edits_are_diffs(read: Read) -> None:
    s = Claude()
    write(
        s.path,
        s.user("a summary of what was before", isCompactSummary=True),
        s.user("go **on**"),
        s.call("Bash", "c1", command="npm test", description="Run the tests"),
        s.result("1 failed\nat fox.js:7", "c1", is_error=True),
        s.call("Edit", "c2", file_path="/a/fox.py", old_string="a = 1\nb = 2", new_string="a = 1\nb = 3"),
        s.answer("see ![a pixel](https://evil.example/pixel.png) and <img src=x>"),
    )
    tree = read(CLAUDE_ID)
    folded = {one.get("data-seq"): one.find("details") for one in tree.iter("article")}
    assert [seq for seq, of in folded.items() if of is not None and of.get("open") is None] == ["0", "2", "3", "4"]
    assert texts(tree, ".//article[@id='m2']/details/summary") == ["#2 Bash $ npm test # Run the tests"]
    assert "failed" in message(tree, 3).get("class", "")
    assert [line for side in ("del", "ins") for line in texts(message(tree, 4), f".//{side}")] == ["-b = 2", "+b = 3"]
    assert "is-prompt" in message(tree, 1).get("class", "")
    assert texts(message(tree, 1), ".//strong") == ["on"]
    assert texts(tree, ".//article[@id='m5']/div") == ["see !a pixel and <img src=x>"]
    assert link(message(tree, 5), ".//p/a") == "https://evil.example/pixel.png"
    assert message(read(CLAUDE_ID, "at=3"), 3).find("details[@open]") is not None


def test_a_message_that_is_very_long_has_a_link_to_the_rest(read: Read) -> None:
    pi = Pi("den")
    write(pi.path, pi.header(), pi.user("short"), pi.user("word " * 9_000))
    (link_to,) = [one.get("href") for one in read("den").findall(".//p[@class='rest']/a")]
    assert link_to is not None
    whole = read("den", link_to.partition("?")[2])
    assert positions(whole) == [1]
    assert texts(whole, ".//article/div")[0].count("word") == 9_000


def test_subagents_have_a_link_where_they_were_started(read: Read) -> None:
    subagent("b2", "count the wolves", 2)
    subagent("a1", "count the foxes", 1)
    s = Claude()
    write(
        s.path,
        s.user("go"),
        s.call("Agent", "c1", prompt="count the wolves"),
        s.call("Agent", "c2", prompt="count the foxes"),
        s.answer("done"),
    )
    tree = read(CLAUDE_ID)
    assert link(message(tree, 1), "p[@class='sub']/a") == f"/s/{CLAUDE_ID}/b2"
    assert link(message(tree, 2), "p[@class='sub']/a") == f"/s/{CLAUDE_ID}/a1"
    below = read(f"{CLAUDE_ID}/a1")
    assert positions(below) == [0, 1]
    assert link(below, ".//dd/a") == f"/s/{CLAUDE_ID}"
    assert texts(below, ".//dt").count("From") == 1  # the time
    assert "Started by" in texts(below, ".//dt")


def test_a_subagent_that_started_on_another_page_has_no_place_on_this_one(read: Read) -> None:
    subagent("a1", "count the foxes", 60)
    s = Claude()
    before = [s.call("Bash", f"c{n}", command=f"step {n}") for n in range(300)]
    write(s.path, s.user("go"), *before, s.call("Agent", "c", prompt="count the foxes"), s.answer("done"))
    assert read(CLAUDE_ID, "from=0").find(".//p[@class='sub']") is None
    tree = read(CLAUDE_ID)
    assert link(message(tree, 301), "p[@class='sub']/a") == f"/s/{CLAUDE_ID}/a1"
    for one in (tree, read(CLAUDE_ID, "from=0")):
        assert texts(one, ".//details[@class='below']/summary") == ["1 subagent"]


def test_forks_have_a_link_where_they_leave_the_session(read: Read) -> None:
    s = Claude()
    records = [s.user("go"), s.answer("here"), s.user("and there")]
    write(s.path, *records)
    fork("aaaaaaaa-1111", records[:2], "another <b>way</b>")
    tree = read(CLAUDE_ID)
    (path,) = {one.get("href", "") for one in tree.findall(".//p[@class='sub']/a")}
    assert link(message(tree, 1), "p[@class='sub']/a") == path
    assert texts(tree, ".//p[@class='sub']")[0].startswith("Fork: ")
    assert texts(tree, ".//details[@class='below']/summary") == ["1 session made from this one"]
    made = read(path.removeprefix("/s/"))
    assert "Made from" in texts(made, ".//dt")
    assert link(made, ".//dd/a") == f"/s/{CLAUDE_ID}"


def test_an_abandoned_branch_says_where_it_begins_and_how_to_get_past_it(read: Read) -> None:
    pi = Pi("den")
    records = [pi.header(), pi.user("start"), pi.answer("ok")]
    fork = pi.last
    records += [pi.user("the wrong way"), pi.answer("lost")]
    pi.last = fork
    records += [pi.user("the right way"), pi.answer("found")]
    write(pi.path, *records)
    tree = read("den")
    left = [one.get("data-seq") for one in tree.iter("article") if "abandoned" in one.get("class", "")]
    assert left == ["2", "3"]
    assert link(tree, ".//p[@class='branch']/a") == "/s/den?at=4#m4"


def test_a_session_that_can_be_resumed_has_its_command_line(read: Read, home: Path) -> None:
    s = Claude(cwd=str(home))
    write(s.path, s.user("go"), s.answer("ok"))
    assert texts(read(CLAUDE_ID), ".//code[@class='command']") == [f"cd {home} && claude --resume {CLAUDE_ID}"]


@pytest.mark.once
def test_of_messages_made_to_be_slow_as_markdown_the_later_ones_are_shown_as_they_are(read: Read) -> None:
    slow = "**a** " + "[" * 16_000
    pi = Pi("slow")
    write(pi.path, pi.header(), *(pi.user(f"{slow} {n}") for n in range(60)))
    tree = read("slow")
    bold = [one.find(".//strong") is not None for one in tree.iter("article")]
    assert bold == sorted(bold, reverse=True)
    assert sum(bold) == MARKDOWN // (len(slow) + 3)
    later = list(tree.iter("article"))[sum(bold) :]
    assert all("**a**" in texts(one, ".//pre")[0] for one in later)
