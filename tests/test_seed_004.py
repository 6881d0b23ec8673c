"""The invariants of seed 004 and every row of its table of edge cases, by the command line and on both backends."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sesame_core.api.sesame import Sesame
from sesame_parser_claude_code.parser import ClaudeCodeParser

from .support.transcripts import CLAUDE_ID, OTHER_CLAUDE_ID, Claude, Record, append, write

Run = Callable[..., Any]
Process = Callable[..., subprocess.CompletedProcess[str]]


class Index:
    """An index on one of the backends, and what it holds."""

    def __init__(self, backend: str, home: Path, dsn: str | None) -> None:
        self.backend, self.home, self.dsn = backend, home, dsn
        if dsn is not None:
            file = home / ".config" / "sesame" / "config.jsonc"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps({"backend": {"name": "postgres", "options": {"dsn": dsn}}}))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask the database itself."""
        if self.dsn is None:
            (file,) = (self.home / ".local" / "share").rglob("index*.sqlite")
            db = sqlite3.connect(file)
            try:
                return db.execute(sql).fetchall()
            finally:
                db.close()
        with psycopg.connect(self.dsn) as postgres:
            postgres.execute("SET search_path = sesame")
            return postgres.execute(sql).fetchall()  # type: ignore[arg-type]


@pytest.fixture(params=["sqlite", "postgres"])
def index(request: pytest.FixtureRequest, home: Path) -> Index:
    dsn = request.getfixturevalue("database") if request.param == "postgres" else None
    return Index(request.param, home, dsn)


def sessions(cli: Run) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli("sessions", "--json").json["sessions"]
    return found


def the_session(cli: Run) -> dict[str, Any]:
    (found,) = sessions(cli)
    return found


def found(cli: Run, *words: str) -> list[str]:
    return [result["sessionId"] for result in cli("search", *words, "--json", "--no-refresh").json["results"]]


def texts(cli: Run, session: str) -> list[str]:
    return [chunk["text"] for chunk in cli("show", session, "--json").json["chunks"]]


def write_at(path: Path, time: int, *records: Record | bytes) -> Path:
    """Write a file whose modification time is known."""
    write(path, *records)
    os.utime(path, ns=(time, time))
    return path


# -- invariants -------------------------------------------------------------------------------------------


def test_inv_001_the_same_machine_always_is_the_same_workstation(index: Index, sesame: Process) -> None:
    for session in (CLAUDE_ID, OTHER_CLAUDE_ID):
        claude = Claude(session)
        write(claude.path, claude.user("why"))
        assert sesame("index").returncode == 0
    listed = json.loads(sesame("sessions", "--json").stdout)["sessions"]
    (workstation,) = {session["workstation"] for session in listed}
    assert len(listed) == 2
    assert re.fullmatch("[0-9a-f]{8}", workstation)


def test_inv_002_the_same_directory_always_is_the_same_project(index: Index, cli: Run) -> None:
    for session, cwd in ((CLAUDE_ID, "/home/bo/fox"), (OTHER_CLAUDE_ID, "/home/bo/fox"), ("other", "/home/bo/owl")):
        claude = Claude(session, cwd)
        write(claude.path, claude.user("why"))
    assert cli("index").code == 0
    projects = {session["sessionId"]: session["key"].split(":")[1] for session in sessions(cli)}
    expected = {cwd: hashlib.sha256(cwd.encode()).hexdigest()[:8] for cwd in ("/home/bo/fox", "/home/bo/owl")}
    assert projects == {
        CLAUDE_ID: expected["/home/bo/fox"],
        OTHER_CLAUDE_ID: expected["/home/bo/fox"],
        "other": expected["/home/bo/owl"],
    }


def test_inv_003_the_key_is_workstation_project_session_on_both_backends(home: Path, database: str, cli: Run) -> None:
    claude = Claude()
    write(claude.path, claude.user("why"))
    keys = []
    for backend, dsn in (("sqlite", None), ("postgres", database)):
        index = Index(backend, home, dsn)
        assert cli("index").code == 0
        keys.append(the_session(cli)["key"])
        assert index.rows("SELECT key FROM sessions") == [(keys[-1],)]
    assert re.fullmatch(f"[0-9a-f]{{8}}:[0-9a-f]{{8}}:{CLAUDE_ID}", keys[0])
    assert keys[0] == keys[1]


def test_inv_003_the_key_is_the_primary_key_of_the_teams_database(database: str, home: Path, cli: Run) -> None:
    index = Index("postgres", home, database)
    assert cli("index").code == 0
    sql = (
        "SELECT a.attname FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid "
        "AND a.attnum = i.indkey[0] WHERE i.indisprimary AND i.indrelid = 'sessions'::regclass"
    )
    assert index.rows(sql) == [("key",)]


def test_inv_004_what_changes_without_its_modification_time_is_not_indexed_again(index: Index, cli: Run) -> None:
    claude = Claude()
    first = claude.user("the quick fox")
    path = write_at(claude.path, 10**18, first)
    assert cli("index").code == 0
    write_at(path, 10**18, Claude().user("a lazy owl"))
    assert cli("index").code == 0
    assert (found(cli, "fox"), found(cli, "owl")) == ([CLAUDE_ID], [])
    # GOTCHA-001: touching the file is what helps.
    os.utime(path, ns=(10**18 + 1, 10**18 + 1))
    assert cli("index").code == 0
    assert (found(cli, "fox"), found(cli, "owl")) == ([], [CLAUDE_ID])


def test_inv_005_what_is_indexed_is_plain_text(index: Index, cli: Run) -> None:
    claude = Claude()
    said = ['look at <b class="fox">bold</b> & {"owl": ["one"]}', "line one\nline two"]
    write(claude.path, claude.user(said[0]), claude.answer(said[1]))
    assert cli("index").code == 0
    assert texts(cli, CLAUDE_ID) == said
    assert sorted(text for (text,) in index.rows("SELECT content FROM chunks")) == sorted(said)
    for word in ("bold", "fox", "owl", "class"):
        assert found(cli, word) == [CLAUDE_ID]


def test_inv_006_a_line_of_more_than_a_megabyte_is_skipped_with_a_warning(index: Index, cli: Run) -> None:
    claude = Claude()
    huge = claude.user("unicorn " * 150_000)
    assert len(json.dumps(huge)) > 1 << 20
    write(claude.path, claude.user("the quick fox"), huge, claude.user("a lazy owl"))
    done = cli("index", "--json")
    assert done.code == 0
    assert done.json["skipped"] == {"oversized": 1}
    assert found(cli, "unicorn") == []
    assert found(cli, "fox") == found(cli, "owl") == [CLAUDE_ID]
    warned = cli("status")
    assert "oversized" in warned.out + warned.err


def test_inv_007_tool_counts_are_json_in_one_column(index: Index, cli: Run) -> None:
    claude = Claude()
    calls = [claude.call("Bash", "toolu_1", command="ls"), claude.call("Bash", "toolu_2", command="pwd")]
    write(claude.path, claude.user("why"), *calls, claude.call("Read", "toolu_3", file_path="/w/a.py"))
    assert cli("index").code == 0
    ((counts,),) = index.rows("SELECT tool_counts FROM sessions")
    assert (json.loads(counts) if isinstance(counts, str) else counts) == {"Bash": 2, "Read": 1}
    assert the_session(cli)["toolCounts"] == {"Bash": 2, "Read": 1}


def test_exchanges_and_the_times_of_first_and_last_message_are_kept(index: Index, cli: Run) -> None:
    claude = Claude()
    write(claude.path, claude.user("why"), claude.answer("because"), claude.user("and then"), claude.answer("the end"))
    assert cli("index").code == 0
    session = the_session(cli)
    assert session["exchangeCount"] == 2
    assert session["created"] == "2026-08-01T10:00:01.000Z"
    assert session["modified"] == "2026-08-01T10:00:04.000Z"
    assert index.rows("SELECT exchange_count FROM sessions") == [(2,)]


# -- edge cases, in the order of the table ----------------------------------------------------------------


def test_edge_case_an_empty_file_is_a_session_without_exchanges(index: Index, cli: Run) -> None:
    write(Claude().path)
    assert cli("index").code == 0
    session = the_session(cli)
    assert (session["sessionId"], session["exchangeCount"], session["messageCount"]) == (CLAUDE_ID, 0, 0)


def test_edge_case_a_malformed_line_is_skipped_with_a_warning(index: Index, cli: Run) -> None:
    claude = Claude()
    write(claude.path, claude.user("the quick fox"), b'{"type": "user", "mess\n', claude.user("a lazy owl"))
    done = cli("index", "--json")
    assert done.code == 0
    assert done.json["skipped"] == {"damaged": 1}
    assert found(cli, "fox") == found(cli, "owl") == [CLAUDE_ID]


def test_edge_case_a_missing_session_id_is_taken_from_the_file_name(index: Index, cli: Run) -> None:
    claude = Claude()
    record = claude.user("the quick fox")
    del record["sessionId"]
    write(claude.path, record)
    assert cli("index").code == 0
    assert the_session(cli)["sessionId"] == CLAUDE_ID


def test_edge_case_a_missing_directory_is_the_project_of_nothing(index: Index, cli: Run) -> None:
    claude = Claude()
    record = claude.user("the quick fox")
    del record["cwd"]
    write(claude.path, record)
    assert cli("index").code == 0
    session = the_session(cli)
    assert session["cwd"] is None
    assert session["key"].split(":")[1] == hashlib.sha256(b"").hexdigest()[:8]


def test_edge_case_a_file_deleted_between_scan_and_parse_is_an_error_and_skipped(
    index: Index, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, kept = Claude(), Claude(OTHER_CLAUDE_ID)
    write(gone.path, gone.user("the quick fox"))
    write(kept.path, kept.user("a lazy owl"))
    parse = ClaudeCodeParser.parse

    def too_late(self: ClaudeCodeParser, path: Path) -> Any:
        if path.name == gone.path.name:
            path.unlink()
        return parse(self, path)

    monkeypatch.setattr(ClaudeCodeParser, "parse", too_late)
    done = cli("index", "--json")
    assert [error["path"] for error in done.json["errors"]] == [str(gone.path)]
    assert [session["sessionId"] for session in sessions(cli)] == [OTHER_CLAUDE_ID]
    assert found(cli, "owl") == [OTHER_CLAUDE_ID]


def test_edge_case_the_same_session_from_two_workstations_is_two(
    database: str, home: Path, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude = Claude()
    write(claude.path, claude.user("the quick fox"))
    Index("postgres", home, database)
    for name in ("aaaaaaaa", "bbbbbbbb"):
        monkeypatch.setenv("SESAME_WORKSTATION_ID", name)
        monkeypatch.setenv("SESAME_DATA_DIR", str(home / name))
        assert cli("index").code == 0
    with Sesame() as sesame:
        stored = [(one.session.id, one.session.workstation) for one in sesame.list_sessions()[0]]
    assert sorted(stored) == [(CLAUDE_ID, "aaaaaaaa"), (CLAUDE_ID, "bbbbbbbb")]
    assert len({session["key"] for session in sessions(cli)}) == 2


def test_edge_case_unchanged_time_and_changed_content_stays_stale_when_it_grows(index: Index, cli: Run) -> None:
    claude = Claude()
    path = write_at(claude.path, 10**18, claude.user("the quick fox"))
    assert cli("index").code == 0
    append(path, claude.user("a lazy owl"))
    os.utime(path, ns=(10**18, 10**18))
    assert cli("index").code == 0
    assert found(cli, "owl") == []


def test_edge_case_a_sessions_dir_that_is_not_there_is_no_error(
    index: Index, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESSIONS_DIR", str(index.home / "nowhere"))
    done = cli("index")
    assert done.code == 0
    assert sessions(cli) == []
