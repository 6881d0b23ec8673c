"""The first commands of somebody who has just installed Sesame."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Sesame

from ..support.transcripts import Claude, Pi, found, pi_session, write


@pytest.mark.upstream(35)
def test_searching_before_the_first_index_finds_nothing_and_makes_nothing(home: Path, cli: Callable[..., Any]) -> None:
    pi_session("unindexed", "the bowerbird builds")
    done = cli("search", "bowerbird", "--no-refresh")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith('No sessions found matching "bowerbird"\n')
    assert not list((home / ".local").rglob("*.sqlite*"))
    # Without the flag, a search indexes what it can in its short time.
    assert "Found 1 session" in cli("search", "bowerbird").out


@pytest.mark.upstream(40)
def test_unquoted_words_are_all_searched(cli: Callable[..., Any]) -> None:
    pi_session("both", "the platypus meets the dingo")
    pi_session("dingo", "only a dingo")
    answer = cli("search", "platypus", "dingo", "--json").json
    assert answer["query"] == "platypus dingo"
    assert [result["sessionId"] for result in answer["results"]] == ["both", "dingo"]
    assert answer["wordsNotFound"] == []


@pytest.mark.upstream(41)
def test_indexing_says_one_thing_and_nothing_per_file_or_unknown_record(cli: Callable[..., Any]) -> None:
    for number in range(20):
        pi = Pi(f"noisy{number}")
        unknown = pi.entry("context_edit", targetId="x", replacement=None)
        write(pi.path, pi.header(), pi.user("hello"), unknown, pi.entry("from_the_future", x=1))
    done = cli("index")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("20 added; 20 chunks from ")
    assert len(done.out.splitlines()) == 1
    # Progress is there for whoever wants it; the command line draws it on a terminal only.
    progress: list[tuple[int, int]] = []
    with Sesame() as sesame:
        sesame.index(full=True, on_progress=lambda p: progress.append((p.files_done, p.files_total)))
    assert progress[-1] == (20, 20)


@pytest.mark.upstream(42)
def test_status_json_paging_totals_resuming_showing_and_hours(cli: Callable[..., Any]) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    for hours in range(1, 6):
        pi_session(f"page{hours}", f"the kingfisher dives {hours}", start=now - timedelta(hours=hours - 0.5))
    assert cli("index").code == 0
    status = cli("status", "--json").json
    assert (status["sessions"], status["messages"], status["files"]) == (5, 5, 5)
    # Pages, from the library; the command line gets them with the agents' tools.
    with Sesame() as sesame:
        pages = [found(sesame.search("kingfisher", limit=2, offset=offset)) for offset in (0, 2, 4)]
        assert [len(page) for page in pages] == [2, 2, 1]
        assert sorted(session for page in pages for session in page) == [f"page{number}" for number in range(1, 6)]
        assert sesame.search("kingfisher", limit=2).total == 5
        assert [len(sesame.list_sessions(limit=2, offset=offset)[0]) for offset in (0, 2, 4)] == [2, 2, 1]
    assert "2 best of 5 sessions" in cli("search", "kingfisher", "-n", "2").out
    assert cli("search", "kingfisher", "--after", "3h", "--json").json["total"] == 3
    gone = cli("resume", "page1", "--print")
    assert (gone.code, gone.out) == (1, "")
    assert "the session's directory does not exist: /home/bo/fox; the nearest that exists: /home" in gone.err
    assert "the kingfisher dives 1" in cli("show", "page1").out
    # No result is no failure; a script asks the JSON.  Who spoke is told with each hit.
    nothing = cli("search", "absentword", "--json")
    assert (nothing.code, nothing.json["resultCount"]) == (0, 0)
    assert nothing.json["wordsNotFound"] == ["absentword"]
    roles = {result["matchedRole"] for result in cli("search", "kingfisher", "--json").json["results"]}
    assert roles == {"user"}


@pytest.mark.upstream(43)
def test_sessions_of_several_agents_are_in_one_index(cli: Callable[..., Any]) -> None:
    claude = Claude()
    write(claude.path, claude.user("the fairywren of Claude Code"))
    pi_session("from-pi", "the fairywren of pi")
    assert cli("index").code == 0
    results = cli("search", "fairywren", "--json").json["results"]
    assert {result["source"] for result in results} == {"claude-code", "pi"}
    only = cli("search", "fairywren", "--agent", "pi", "--json").json["results"]
    assert [result["sessionId"] for result in only] == ["from-pi"]
    # A third agent is a plugin: docs/examples/sesame-parser-xyz, with its own test.
    assert {plugin["kind"] for plugin in cli("plugins", "--json").json} == {"parser", "formatter", "backend"}
