"""Copilot CLI's session files, from the file to what a search finds."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Filters, Sesame

from ...support.transcripts import append, everything, found, said
from ...support.transcripts import write as write_file
from .reading import AGENT, DATA, EVERY, FLAT, HISTORY, ID, OTHER_ID, answer, done, event, prompt, request, start


def log(session: str = ID) -> Path:
    return Path.home() / ".copilot" / "session-state" / session / "events.jsonl"


def test_all_layouts_are_found_without_configuration(home: Path, cli: Callable[..., Any]) -> None:
    shutil.copytree(DATA, home / ".copilot")
    ran = cli("index", "--json")
    assert (ran.json["added"], ran.json["skipped"], ran.json["errors"]) == (3, {}, [])
    with Sesame() as sesame:
        assert set(found(sesame.search("sail windmill oven well", Filters(agents=("copilot",))))) == {
            EVERY.parent.name,
            FLAT.stem,
            HISTORY.name.split("_")[1],
        }
        # A subagent's words are found in the session that started it.
        assert found(sesame.search("wooden gears", Filters(agents=("copilot",)))) == [EVERY.parent.name]
        for noise in ("apprentice", "reminded", "milling slowly", "logged", "approved", "snapshot", "opaque"):
            assert not any(hit for hit in sesame.search(f'"{noise}"').hits), noise


@pytest.mark.parametrize(
    ("filters", "is_found"),
    [
        (Filters(tool="bash"), True),
        (Filters(cmd="pytest -q"), True),
        (Filters(cmd="git diff"), True),
        (Filters(path="docs/gears.md"), True),
        (Filters(path="sail.py"), True),
        (Filters(tool="bash", is_error=True), True),
        (Filters(tool="edit", is_error=True), False),
        (Filters(branch="crosswind"), True),
        (Filters(repo="ann/windmill"), True),
        (Filters(model="gpt-5"), True),
        (Filters(cwd="/home/ann/windmill-wt"), True),
        (Filters(cwd="/home/ann/bakery"), False),
    ],
)
def test_each_filter_finds_what_a_session_has(home: Path, filters: Filters, is_found: bool) -> None:
    shutil.copytree(EVERY.parent, log(EVERY.parent.name).parent)
    with Sesame() as sesame:
        sesame.index()
        sessions, _ = sesame.list_sessions(filters)
        assert any(stored.session.id == EVERY.parent.name for stored in sessions) == is_found


def test_what_is_appended_is_read_alone_a_subagents_too() -> None:
    write_file(
        log(),
        start(),
        prompt("light the lamp"),
        answer(
            "", 3, request("c1", "task", description="Find oil", prompt="find oil"), request("c2", "bash", command="ls")
        ),
        event("subagent.started", 4, agent=AGENT, toolCallId="c1", agentDisplayName="finder"),
        prompt("find oil", 5, agent=AGENT),
    )
    with Sesame() as sesame:
        sesame.index()
        append(log(), answer("oil is in the cellar", 6, agent=AGENT), done("c2", "lamp.py", 7, success=False))
        report = sesame.index()
        assert (report.appended, report.updated) == (1, 0)
        assert found(sesame.search("cellar")) == [ID]
        (child,) = (stored for stored in sesame.list_sessions()[0] if stored.session.id == f"{ID}/{AGENT}")
        assert [chunk.text for chunk in sesame.list_messages(child)] == ["find oil", "oil is in the cellar"]
        sessions, _ = sesame.list_sessions(Filters(tool="bash", is_error=True))
        assert [stored.session.id for stored in sessions] == [ID]


@pytest.mark.parametrize("after", ["", "a much longer prompt than the one that was rewound " * 9])
def test_what_was_rewound_is_no_longer_found(after: str) -> None:
    kept = (start(), prompt("light the lamp"), answer("it burns"))
    write_file(log(), *kept, prompt("paint it vermilion", 4), answer("vermilion it is", 5))
    with Sesame() as sesame:
        sesame.index()
        assert found(sesame.search("vermilion")) == [ID]
        rest = (event("session.info", 6, infoType="rewind", message="Rewound."), *([prompt(after, 7)] if after else []))
        before = log().stat().st_mtime_ns
        write_file(log(), *kept, *rest)
        append(log(), prompt("and then ochre", 8))
        assert log().stat().st_mtime_ns > before
        report = sesame.index()
        assert (report.appended, report.updated) == (0, 1)
        assert found(sesame.search("vermilion")) == []
        assert found(sesame.search("ochre")) == [ID]
        assert said(sesame, "user") == ["light the lamp", *([after] if after else []), "and then ochre"]


def test_what_a_fork_copies_is_found_once() -> None:
    copied = (prompt("light the heliograph"), answer("it shines"))
    told = f'Forked from "light" ({ID}) as "dark" ({OTHER_ID}).'
    write_file(log(), start(), *copied)
    own = (event("session.info", 5, infoType="fork", message=told), prompt("dim the semaphore", 6))
    write_file(log(OTHER_ID), start(OTHER_ID), *copied, *own)
    with Sesame() as sesame:
        sesame.index()
        assert len(found(sesame.search("heliograph"))) == 1
        assert found(sesame.search("semaphore")) == [OTHER_ID]
        (fork,) = (s.session for s in sesame.list_sessions()[0] if s.session.id == OTHER_ID)
        assert fork.parent_id == ID


def test_the_results_of_a_search_of_sessions_are_not_indexed() -> None:
    calls = (
        {**request("c1", "sesame-search_sessions", query="redis"), "mcpServerName": "sesame"},
        request("c2", "session_store_sql", query="select 1"),
        request("c3", "bash", command="sesame search redis"),
    )
    results = (done(f"c{n}", "a xylophone elsewhere", n + 3) for n in (1, 2, 3))
    write_file(log(), start(), prompt("look it up"), answer("", 3, *calls), *results)
    with Sesame() as sesame:
        sesame.index()
        assert [chunk.kind for chunk in everything(sesame)] == ["message", "tool_call", "tool_call", "tool_call"]
        assert found(sesame.search("xylophone")) == []


def test_a_session_in_which_nobody_spoke_is_not_listed() -> None:
    write_file(log(), start(), event("session.resume", 2, context={"cwd": "/w"}))
    write_file(log(OTHER_ID))
    with Sesame() as sesame:
        report = sesame.index()
        assert (report.silent, report.unrecognised, report.errors) == (1, [], [])
        assert sesame.list_sessions()[0] == []


def test_the_file_next_to_the_log_and_artefacts_are_not_counted_as_sessions(home: Path) -> None:
    write_file(log(), start(), prompt("light"))
    for name, content in {
        "workspace.yaml": b"name: x\n",
        "files/data.jsonl": b'{"a": 1}\n',
        "checkpoints/index.md": b"# x\n",
        "inuse.7.lock": b"",
        "session.db": b"SQLite format 3\0",
    }.items():
        other = log().parent / name
        other.parent.mkdir(exist_ok=True)
        other.write_bytes(content)
    with Sesame() as sesame:
        report = sesame.index()
        assert (report.added, report.unrecognised, report.errors) == (1, [], [])


def test_the_calling_session_is_left_out_of_a_search(cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    write_file(log(), start(), prompt("light the heliograph"))
    write_file(log(OTHER_ID), start(OTHER_ID), prompt("sell the heliograph"))
    monkeypatch.setenv("COPILOT_AGENT_SESSION_ID", ID)
    ran = cli("search", "heliograph", "--json")
    assert [result["sessionId"] for result in ran.json["results"]] == [OTHER_ID]


def test_a_session_is_resumed_with_the_command_of_copilot(cli: Callable[..., Any]) -> None:
    write_file(log(), start(context={"cwd": str(Path.home())}), prompt("light the heliograph"))
    cli("index")
    ran = cli("resume", ID, "--print")
    assert ran.code == 0
    assert ran.out.strip().endswith(f"copilot --resume={ID}")
