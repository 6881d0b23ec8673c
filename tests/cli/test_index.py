"""`sesame index`, as people and programs meet it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .terminal import on_a_terminal, pi_session, without_seconds

pytestmark = pytest.mark.usefixtures("backend")


def test_index_says_what_it_did(demo_sessions: Path, cli: Callable[..., Any]) -> None:
    first = cli("index")
    assert (first.code, first.err) == (0, "")
    assert without_seconds(first.out) == "10 added; 152 chunks from 108.5 kB in 0.0 s\n"
    assert without_seconds(cli("index").out) == "10 unchanged; 0 chunks from 0 B in 0.0 s\n"
    assert without_seconds(cli("index", "--full").out) == "10 added; 152 chunks from 108.5 kB in 0.0 s\n"


def test_index_reports_in_json(demo_sessions: Path, cli: Callable[..., Any]) -> None:
    report = json.loads(cli("index", "--json").out)
    assert report.pop("seconds") >= 0
    assert report.pop("bytes") > 100_000
    assert [root["parser"] for root in report.pop("lookedIn") if root["exists"]] == ["claude-code", "pi"]
    assert report == {
        "schemaVersion": 1,
        "added": 10,
        "updated": 0,
        "appended": 0,
        "described": 0,
        "withheld": 0,
        "silent": 0,
        "unchanged": 0,
        "missing": 0,
        "pending": 0,
        "absentRoots": [],
        "skipped": {},
        "losses": [],
        "errors": [],
        "unrecognised": [],
        "unreadAgents": [],
        "chunks": 152,
        "stopped": False,
    }


def test_a_path_is_indexed_though_it_belongs_to_no_source(tmp_path: Path, cli: Callable[..., Any]) -> None:
    file = pi_session(tmp_path / "elsewhere" / "one.jsonl", "where do foxes sleep")
    assert without_seconds(cli("index", file).out).startswith("1 added; 1 chunk")
    assert "where do foxes sleep" in cli("search", "--no-refresh", "foxes").out


def test_a_path_that_does_not_exist_is_named(tmp_path: Path, cli: Callable[..., Any]) -> None:
    ran = cli("index", tmp_path / "nowhere")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"sesame: {tmp_path / 'nowhere'}: no such file or directory\n"


def test_without_any_sessions_index_says_so(cli: Callable[..., Any]) -> None:
    ran = cli("index")
    counted, looked = without_seconds(ran.out).splitlines()
    assert (ran.code, counted) == (0, "no session files found; 0 chunks from 0 B in 0.0 s")
    assert looked.startswith("looked in directories that do not exist: ~/.claude/projects, ~/.codex/sessions, ")


def test_a_file_that_fails_is_named_and_the_others_are_indexed(
    home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sesame_parser_pi.parser import PiParser

    folder = home / ".pi" / "agent" / "sessions" / "--w-den--"
    bad = pi_session(folder / "bad.jsonl", "unreadable", session_id="0199cccc-0000-7000-8000-000000000002")
    pi_session(folder / "good.jsonl", "where do foxes sleep")
    parse = PiParser.parse

    def failing(self: PiParser, path: Path) -> Any:
        if path.name == "bad.jsonl":
            raise PermissionError(13, "Permission denied")
        return parse(self, path)

    monkeypatch.setattr(PiParser, "parse", failing)
    ran = cli("index")
    assert ran.code == 1
    assert without_seconds(ran.out.splitlines()[0]).startswith("1 added; 1 chunk")
    assert f"error: {bad}: Permission denied" in ran.out
    assert cli("index", "--json").code == 1
    assert "Found 1 session" in cli("search", "foxes").out


def test_a_damaged_line_is_counted_and_named(home: Path, cli: Callable[..., Any]) -> None:
    file = pi_session(home / ".pi" / "agent" / "sessions" / "--w-den--" / "one.jsonl", "foxes", "wolves")
    lines = file.read_text("utf-8").splitlines()
    file.write_text("\n".join([*lines[:2], '{"type": "mess', *lines[2:]]) + "\n", encoding="utf-8")
    ran = cli("index")
    assert ran.code == 0
    assert "skipped records: 1 " in ran.out
    assert f"  {file}:3: " in ran.out
    assert "Found 1 session" in cli("search", "wolves").out


def test_progress_is_shown_only_on_a_terminal_and_leaves_nothing_behind(demo_sessions: Path) -> None:
    code, shown = on_a_terminal(["index"])
    assert code == 0
    assert re.search(r"\] 10/10 files  0/0 MB  \d+ chunks/s", shown)
    assert without_seconds(shown.rpartition("\x1b[K")[2]) == "10 added; 152 chunks from 108.5 kB in 0.0 s\n"
