"""The session from which OpenCode has started Sesame."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sesame_parser_opencode.parser import OpenCodeParser

from .making import Layout, NewDatabase, OldDatabase, Part, answered, asked, tool

NOW = round(time.time() * 1000)


@pytest.fixture(params=[OldDatabase, NewDatabase])
def running(request: pytest.FixtureRequest, home: Path) -> Iterator[Layout]:
    place = home / ".local" / "share"
    place.mkdir(parents=True)
    made: Layout = request.param(place)
    yield made
    made.close()


def write(layout: Layout, id: str, *parts: Part, minutes: float = 0, **facts: Any) -> None:
    """Write a session whose last call is this many minutes old."""
    at = NOW - round(minutes * 60_000)
    layout.write(id, [asked("go", at=at - 2), answered(*parts, at=at - 1)], time_updated=at - 1, **facts)
    for table in ("part", "session_message"):
        if layout.db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():  # type: ignore[attr-defined]
            layout.db.execute(f"UPDATE {table} SET time_updated = ? WHERE session_id = ?", (at, id))  # type: ignore[attr-defined]


def current(directory: str = "/w/app/src", **variables: str) -> str | None:
    return OpenCodeParser().current_session({"OPENCODE": "1", **variables}, directory)


def test_the_session_whose_command_runs_is_the_caller(running: Layout) -> None:
    write(running, "ses_a", tool("bash", {"command": "ls"}, "x"))
    write(running, "ses_b", tool("bash", {"command": "sesame search"}, status="running"), minutes=1)
    assert current() == "ses_b"
    assert OpenCodeParser().current_session({}, "/w/app") is None


def test_of_several_the_newest_in_this_directory_is_the_caller(running: Layout) -> None:
    part = tool("bash", {"command": "sesame search"}, status="running")
    write(running, "ses_a", part, minutes=2)
    write(running, "ses_b", part, minutes=1)
    write(running, "ses_c", part, directory="/w/other")
    assert current() == "ses_b"
    assert current("/w/application") == "ses_c"
    assert current("/w/other") == "ses_c"


def test_a_call_of_a_program_that_was_killed_is_not_the_caller(running: Layout) -> None:
    write(running, "ses_a", tool("bash", {"command": "sleep"}, status="running"), minutes=60)
    assert current() is None


def test_a_command_of_a_subagent_is_the_subagents(running: Layout) -> None:
    write(running, "ses_a", tool("task", {"prompt": "x"}, status="running"))
    write(running, "ses_b", tool("bash", {"command": "sesame"}, status="running"), minutes=1, parent_id="ses_a")
    assert current() == "ses_a/ses_b"


def test_a_search_leaves_out_the_session_that_runs_it(
    running: Layout, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    write(running, "ses_a", {"type": "text", "text": "zebra one"}, tool("bash", {"command": "x"}, status="running"))
    write(running, "ses_b", {"type": "text", "text": "zebra two"}, tool("bash", {"command": "x"}, "y"), minutes=1)

    def found(*options: str) -> list[str]:
        return sorted(result["sessionId"] for result in cli("search", "zebra", "--json", *options).json["results"])

    assert found() == ["ses_a", "ses_b"]
    monkeypatch.setenv("OPENCODE", "1")
    assert found() == ["ses_b"]
    assert found("--include-current") == ["ses_a", "ses_b"]


def test_a_damaged_database_keeps_no_search_from_its_answer(
    running: Layout, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCODE", "1")
    running.close()
    (running.place / "opencode.db").write_bytes(b"not a database" * 1000)
    assert cli("search", "zebra").code == 0
