"""Pages follow each other without gap or repetition, with one total; sessions and messages are listed page by page."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sesame_core.plugin.backend import StorageBackend
from sesame_core.search.engine import search
from sesame_core.search.results import FIRST
from sesame_core.testing import a_chunk, a_file, a_session
from sesame_core.testing.builders import NOON, Content
from sesame_core.testing.memory import MemoryBackend
from sesame_core.types.answer import Answer, Page
from sesame_core.types.query import Filters


@pytest.fixture
def backend() -> StorageBackend:
    return MemoryBackend()


def fill(backend: StorageBackend, sessions: Iterable[Content]) -> None:
    with backend.writer() as writer:
        for number, content in enumerate(sessions):
            writer.replace(a_file(f"/s/{number}.jsonl"), content)


def family(count: int) -> list[Content]:
    """Return sessions of which the last ones to be found are subagents of the first ones."""
    made = [a_session("fox " + "and more " * number, id=f"s{number}") for number in range(count)]
    made += [
        a_session("fox " + "and more " * (count + n), id=f"s{n}/a", kind="subagent", parent_id=f"s{n}")
        for n in range(0, count, 5)
    ]
    return made


def pages(backend: StorageBackend, text: str, size: int, filters: Filters | None = None) -> list[Answer]:
    """Return all pages of an answer, up to the first empty one."""
    found = []
    while True:
        page = Page(limit=size, offset=size * len(found))
        found.append(search(backend.reader(), text, filters or Filters(), page))
        if not found[-1].hits:
            return found


@pytest.mark.parametrize("count", [4, 29, FIRST + 40])
@pytest.mark.parametrize("size", [1, 7, 10, 64])
def test_pages_together_are_the_whole_answer(backend: StorageBackend, count: int, size: int) -> None:
    fill(backend, family(count))
    whole = search(backend.reader(), "fox", Filters(), Page(limit=1000))
    found = pages(backend, "fox", size)
    ids = [hit.session.id for answer in found for hit in answer.hits]
    assert ids == [hit.session.id for hit in whole.hits]
    assert sorted(ids) == sorted(f"s{number}" for number in range(count))
    assert {answer.total for answer in found} == {whole.total}


def test_the_scores_of_a_page_are_those_of_the_whole_answer(backend: StorageBackend) -> None:
    fill(backend, family(20))
    whole = search(backend.reader(), "fox", Filters(), Page(limit=20))
    part = search(backend.reader(), "fox", Filters(), Page(limit=5, offset=5))
    assert [hit.score for hit in part.hits] == [hit.score for hit in whole.hits[5:10]]
    assert part.confidence == whole.confidence


def test_copies_are_on_no_page_and_not_in_the_total(backend: StorageBackend) -> None:
    made = [a_session(a_chunk(f"fox number {n // 2}", origin=n // 2 + 1), id=f"s{n}") for n in range(20)]
    fill(backend, made)
    found = pages(backend, "fox", 3)
    assert [len(answer.hits) for answer in found] == [3, 3, 3, 1, 0]
    assert {answer.total for answer in found} == {10}


def test_sessions_that_only_a_title_finds_count_on_every_page(backend: StorageBackend) -> None:
    fill(backend, [a_session("fox", id="a"), a_session("elk", id="b", title="fox"), a_session("gnu", id="c")])
    found = pages(backend, "fox", 1)
    assert [len(answer.hits) for answer in found] == [1, 1, 0]
    assert {answer.total for answer in found} == {2}


def test_the_newest_are_listed_page_by_page(backend: StorageBackend) -> None:
    fill(backend, [a_session("x", id=f"s{n}", modified=NOON + timedelta(hours=n // 3)) for n in range(10)])
    found = pages(backend, "*", 4)
    assert [len(answer.hits) for answer in found] == [4, 4, 2, 0]
    assert {answer.total for answer in found} == {10}
    assert [hit.session.id for answer in found for hit in answer.hits] == [f"s{n}" for n in reversed(range(10))]


# -- the command line ------------------------------------------------------------------------------------------


@pytest.fixture
def run(indexed_sessions: Path, cli: Any) -> Any:
    return cli


def test_search_pages_with_offset(run: Any) -> None:
    whole = run("search", "nix", "carousel", "reconnect", "--json").json
    ids = [result["sessionId"] for result in whole["results"]]
    assert len(ids) >= 3
    for offset in range(len(ids) + 1):
        page = run("search", "nix", "carousel", "reconnect", "--json", "--offset", offset, "-n", 1).json
        assert [result["sessionId"] for result in page["results"]] == ids[offset : offset + 1]
        assert page["total"] == whole["total"]
    assert run("search", "nix", "--offset", "-1").code == 2


def test_sessions_lists_what_there_is_page_by_page(run: Any) -> None:
    whole = run("sessions", "--json").json
    assert whole["total"] == whole["sessionCount"] == len(whole["sessions"])
    assert (whole["offset"], whole["schemaVersion"]) == (0, 1)
    moments = [session["modified"] for session in whole["sessions"]]
    assert moments == sorted(moments, reverse=True)
    page = run("sessions", "--json", "--offset", 2, "--limit", 3).json
    assert (page["offset"], page["sessionCount"], page["total"]) == (2, 3, whole["total"])
    assert page["sessions"] == whole["sessions"][2:5]
    everything = run("sessions", "--json", "--all-kinds").json
    assert everything["total"] > whole["total"]
    assert {session["kind"] for session in everything["sessions"]} >= {"headless"}


def test_sessions_takes_the_filters_of_search(run: Any) -> None:
    one = run("sessions", "--json", "--cwd", "/home/ann/code/infra").json
    assert [session["cwd"] for session in one["sessions"]] == ["/home/ann/code/infra"]
    assert {s["source"] for s in run("sessions", "--json", "--agent", "pi").json["sessions"]} == {"pi"}
    late = run("sessions", "--json", "--after", "2026-10-01", "--before", "2026-10-31").json
    assert {session["modified"][:7] for session in late["sessions"]} == {"2026-10"}
    assert run("sessions", "--after", "someday").code == 2


def test_sessions_for_people(run: Any) -> None:
    lines = run("sessions", "--limit", 1, "--agent", "claude-code", "--cwd", "/home/ann/code/chat-client").out
    assert lines.splitlines()[1:] == [
        "",
        "  d6bc0d35 (SQLite migration sets reconnectBackoff to zero) - 2026-10-14",
        "  /home/ann/code/chat-client · claude-code · 11 messages",
    ]
    assert run("sessions", "--cwd", "/nowhere").out.splitlines() == [
        "No sessions found",
        "",
        "Note: 9 sessions match without --cwd /nowhere; no session is in /nowhere",
    ]


def test_show_pages_through_a_session(run: Any) -> None:
    whole = run("show", "d6bc", "--json").json
    assert len(whole["chunks"]) == whole["chunkCount"]
    shown: list[Any] = []
    while page := run("show", "d6bc", "--json", "--offset", len(shown), "--limit", 8).json["chunks"]:
        assert len(page) <= 8
        shown += page
    assert shown == whole["chunks"]
    assert run("show", "d6bc", "--offset", 3, "-n", 1).out.splitlines()[-2].startswith("#3 ")


def test_show_around_goes_without_offset_and_limit(run: Any) -> None:
    assert len(run("show", "d6bc", "--around", 0, "--json").json["chunks"]) == 5
    for more in (["--offset", "1"], ["--limit", "2"]):
        ran = run("show", "d6bc", "--around", "3", *more)
        assert (ran.code, ran.out) == (2, "")
        assert "--around" in ran.err
