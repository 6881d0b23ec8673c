"""Gemini CLI's session files, from the file to what a search finds, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ...support.both_backends import Index, found, sessions, the_session
from .writing import CONTEXT, DOCUMENT, HEADER, LOG, SESSION, as_lines, gemini, listed, user

Run = Callable[..., Any]


@pytest.fixture
def chats(home: Path) -> Path:
    """The sessions of a project in the default root."""
    place = home / ".gemini" / "tmp" / "lighthouse" / "chats"
    place.mkdir(parents=True)
    (place.parent / ".project_root").write_text(str(home))
    return place


def the_index(index: Index, cli: Run) -> dict[str, Any]:
    index.prepare(cli)
    ran = cli("index", "--json", "--yes") if index.backend == "postgres" else cli("index", "--json")
    assert ran.code == 0, ran.err
    made: dict[str, Any] = ran.json
    assert made["errors"] == []
    return made


def test_sessions_of_both_formats_are_found_without_configuration_and_other_files_need_no_reason(
    index: Index, chats: Path, cli: Run
) -> None:
    for own in (LOG, DOCUMENT):
        (chats / own.name).write_bytes(own.read_bytes())
    (chats / f"{LOG.name}.unreadable-1772445600000").write_bytes(LOG.read_bytes()[:900])
    (chats / f"{LOG.name}.tmp-4711").write_text("")
    (chats.parent / "logs.json").write_text('[{"sessionId": "x", "type": "user", "message": "kelp"}]')
    (chats.parent / "shell_history").write_text("kelp\n")
    nested = chats.parent.parent / "tmp" / "slug" / "chats"
    nested.mkdir(parents=True)
    (nested / "session-2026-03-02T10-00-00000000.jsonl").write_text("")
    made = the_index(index, cli)
    assert (made["added"], made["skipped"], made["unrecognised"]) == (2, {}, [])
    assert {one["source"] for one in sessions(cli)} == {"gemini"}
    assert found(cli, "lampwick", "--agent", "gem") == [SESSION]
    assert found(cli, "buoy", "moored") == ["9a8b7c6d-1111-4222-8333-444455556666"]
    assert found(cli, "wombatrule") == []
    assert found(cli, "fresnel", "--path", "lamp.py") == [SESSION]
    assert found(cli, "lampwick", "--error", "--cmd", "pytest") == [SESSION]


def test_a_json_session_that_was_resumed_as_a_log_next_to_it_is_one_session(
    index: Index, chats: Path, cli: Run
) -> None:
    value = json.loads(DOCUMENT.read_bytes())
    (chats / DOCUMENT.name).write_bytes(DOCUMENT.read_bytes())
    messages = value.pop("messages")
    (chats / f"{DOCUMENT.name}l").write_bytes(as_lines(value, *messages, user("new", 1, "weigh the kelpanchor")))
    the_index(index, cli)
    assert found(cli, "buoy") == [value["sessionId"]]
    assert found(cli, "kelpanchor") == [value["sessionId"]]
    assert cli("show", value["sessionId"]).out.count("is the buoy moored?\n") == 1


def test_a_second_file_of_a_session_with_only_context_hides_nothing(index: Index, chats: Path, cli: Run) -> None:
    stub = chats / LOG.name.replace("10-00", "11-30")
    (chats / LOG.name).write_bytes(LOG.read_bytes())
    stub.write_bytes(as_lines(HEADER, listed(user("c", 0, CONTEXT))))
    the_index(index, cli)
    assert the_session(cli)["path"] == str(chats / LOG.name)
    assert found(cli, "wombat") == []


def test_a_session_that_gemini_has_deleted_stays_in_the_index(chats: Path, cli: Run) -> None:
    path = chats / LOG.name
    path.write_bytes(LOG.read_bytes())
    cli("index")
    path.unlink()
    assert cli("index", "--json").json["missing"] == 1
    assert found(cli, "lampwick") == [SESSION]
    assert "its file is gone" in cli("resume", SESSION, "--print").err


def test_a_log_that_grows_is_appended_to_and_one_that_changes_is_read_again(chats: Path, cli: Run) -> None:
    path = chats / LOG.name
    path.write_bytes(as_lines(HEADER, user("u", 1, "moor the kelpbuoy"), gemini("g", 2, "Mooring.")))
    cli("index")
    with path.open("ab") as file:
        file.write(as_lines(gemini("h", 3, "It is moored to the squidpost.")))
    assert cli("index", "--json").json["appended"] == 1
    assert found(cli, "squidpost") == [SESSION]
    with path.open("ab") as file:
        file.write(as_lines(gemini("g", 2, "Mooring it now.")))
    made = cli("index", "--json").json
    assert (made["appended"], made["updated"]) == (0, 1)
    shown = cli("show", SESSION).out
    assert shown.count("Mooring") == 1
    assert "Mooring it now." in shown


def test_a_search_that_gemini_starts_leaves_out_the_session_that_waits_for_it(
    chats: Path, home: Path, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (chats / LOG.name).write_bytes(as_lines(HEADER, user("u", 1, "moor the kelpbuoy"), gemini("g", 2, "I look.")))
    cli("index")
    assert found(cli, "kelpbuoy") == [SESSION]
    monkeypatch.chdir(home)
    monkeypatch.setenv("GEMINI_CLI", "1")
    assert found(cli, "kelpbuoy") == []
    assert found(cli, "kelpbuoy", "--include-current") == [SESSION]


def test_a_rewound_turn_is_marked_and_not_lost(chats: Path, cli: Run) -> None:
    (chats / LOG.name).write_bytes(LOG.read_bytes())
    cli("index")
    assert found(cli, "crimson") == [SESSION]
    (hit,) = cli("search", "crimson", "--json").json["results"]
    assert hit["onAbandonedBranch"]
    (hit,) = cli("search", "teal", "--json").json["results"]
    assert not hit["onAbandonedBranch"]


def test_hundreds_of_small_subagents_belong_to_their_session(chats: Path, cli: Run) -> None:
    (chats / LOG.name).write_bytes(LOG.read_bytes())
    (chats / SESSION).mkdir()
    for number in range(300):
        own = f"{number:08}-0000-4000-8000-000000000000"
        header = {**HEADER, "sessionId": own, "kind": "subagent"}
        content = (
            as_lines(header, user("u", 1, "survey the kelpreef"))
            if number % 3
            else (b"" if number % 2 else as_lines(header))
        )
        (chats / SESSION / f"{own}.jsonl").write_bytes(content)
    made = cli("index", "--json").json
    assert (made["errors"], made["skipped"]) == ([], {})
    assert made["silent"] == 50
    every = cli("sessions", "--all-kinds", "--limit", "500", "--json").json["sessions"]
    assert sum(one["parentId"] == SESSION for one in every) == 200
