"""`sesame who` and `sesame digest` on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("digest --day --week", "--day and --week: a digest has one period"),
        ("digest --day --since monday", "--day and --since: a digest has one period"),
        ("digest --md --json", "--md and --json: a digest has one format"),
        ("digest --by week", "'week' is not a group: use project, person, day"),
        ("digest --since someday", "'someday' is not a date"),
        ("who", "FILE|TOPIC is missing"),
    ],
)
def test_a_wrong_line_is_one_clear_error(
    indexed_sessions: Path, cli: Callable[..., Any], line: str, message: str
) -> None:
    ran = cli(*line.split())
    assert ran.code != 0
    assert message in ran.err


def test_words_of_a_path_with_spaces_need_no_quotes(indexed_sessions: Path, cli: Callable[..., Any]) -> None:
    assert "changed in 1 session" in cli("who", "src/socket.ts").out
    assert json.loads(cli("who", "reconnect", "backoff", "--json").out)["subject"] == "topic"
    assert json.loads(cli("who", "socket.ts", "--topic", "--json").out)["subject"] == "topic"


def test_an_empty_index_says_that_nothing_is_known(home: Path, cli: Callable[..., Any]) -> None:
    ran = cli("who", "src/a.py")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "src/a.py: no session is known to have changed or read it")
    ran = cli("digest")
    assert ran.code == 0
    assert ran.out.startswith("No session since ")


def test_an_end_without_a_beginning_is_that_of_seven_days(
    indexed_sessions: Path, cli: Callable[..., Any], utc: None
) -> None:
    out = cli("digest", "--before", "2026-10-20").out
    assert "since 2026-10-13 23:59 until 2026-10-20 23:59" in out


def test_the_session_that_asks_is_left_out(
    indexed_sessions: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (person,) = json.loads(cli("who", "src/socket.ts", "--json").out)["people"]
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", person["sessions"][0]["sessionId"])
    ran = cli("who", "src/socket.ts")
    assert "no session is known to have changed or read it" in ran.out
    assert "Not searched: the session this was started from" in ran.out
    assert "changed in 1 session" in cli("who", "src/socket.ts", "--include-current").out
