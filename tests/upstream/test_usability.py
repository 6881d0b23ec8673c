"""§4.5 of the list of upstream's weaknesses: what it is like to use."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Sesame

from ..support.transcripts import Claude, Pi, found, pi_session, write


def test_weakness_40_unquoted_words_are_all_searched(cli: Callable[..., Any]) -> None:
    pi_session("both", "the platypus meets the dingo")
    pi_session("dingo", "only a dingo")
    answer = cli("search", "platypus", "dingo", "--json").json
    assert answer["query"] == "platypus dingo"
    assert [result["sessionId"] for result in answer["results"]] == ["both", "dingo"]
    assert answer["wordsNotFound"] == []


def test_weakness_41_indexing_says_one_thing_and_nothing_per_file_or_unknown_record(cli: Callable[..., Any]) -> None:
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


def test_weakness_42_status_json_paging_totals_resuming_showing_and_hours(cli: Callable[..., Any]) -> None:
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
    assert "Found 2 of 5 sessions" in cli("search", "kingfisher", "-n", "2").out
    assert cli("search", "kingfisher", "--after", "3h", "--json").json["total"] == 3
    assert cli("resume", "page1", "--print").out.startswith("cd /home/bo/fox && pi --session ")
    assert "the kingfisher dives 1" in cli("show", "page1").out
    # No result is no failure; a script asks the JSON.  Who spoke is told with each hit.
    nothing = cli("search", "absentword", "--json")
    assert (nothing.code, nothing.json["resultCount"]) == (0, 0)
    assert nothing.json["wordsNotFound"] == ["absentword"]
    roles = {result["matchedRole"] for result in cli("search", "kingfisher", "--json").json["results"]}
    assert roles == {"user"}


def test_weakness_43_sessions_of_several_agents_are_in_one_index(cli: Callable[..., Any]) -> None:
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


@pytest.mark.parametrize("module", ["library", "command line"])
def test_weakness_44_the_library_and_the_command_run_under_plain_python(module: str, home: Path) -> None:
    pi_session("plain", "nix infrastructure simplify")
    script = (
        "from sesame_core import Sesame\n"
        "with Sesame() as sesame:\n"
        "    sesame.index()\n"
        "    for hit in sesame.search('nix infrastructure simplify').hits:\n"
        "        print(hit.session.id)\n"
    )
    arguments = ["-c", script] if module == "library" else ["-m", "sesame_core", "search", "nix"]
    done = subprocess.run([sys.executable, "-W", "error", *arguments], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "plain" in done.stdout
