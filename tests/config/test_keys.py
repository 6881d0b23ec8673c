"""The keys of sessions in the index, by the command line and on both backends."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sesame_core.api.sesame import Sesame

from ..support.both_backends import Index, Run, sessions, the_session
from ..support.transcripts import CLAUDE_ID, OTHER_CLAUDE_ID, Claude, write

Process = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.seed("004", "INV-001")
def test_the_same_machine_always_is_the_same_workstation(index: Index, sesame: Process) -> None:
    for session in (CLAUDE_ID, OTHER_CLAUDE_ID):
        claude = Claude(session)
        write(claude.path, claude.user("why"))
        assert sesame("index").returncode == 0
    listed = json.loads(sesame("sessions", "--json").stdout)["sessions"]
    (workstation,) = {session["workstation"] for session in listed}
    assert len(listed) == 2
    assert re.fullmatch("[0-9a-f]{8}", workstation)


@pytest.mark.seed("004", "INV-002")
def test_the_same_directory_always_is_the_same_project(index: Index, cli: Run) -> None:
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


@pytest.mark.seed("004", "INV-003")
def test_the_key_is_workstation_project_session_on_both_backends(home: Path, database: str, cli: Run) -> None:
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


@pytest.mark.seed("004", "INV-003")
def test_the_key_is_the_primary_key_of_the_teams_database(database: str, home: Path, cli: Run) -> None:
    index = Index("postgres", home, database)
    assert cli("index").code == 0
    sql = (
        "SELECT a.attname FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid "
        "AND a.attnum = i.indkey[0] WHERE i.indisprimary AND i.indrelid = 'sessions'::regclass"
    )
    assert index.rows(sql) == [("key",)]


@pytest.mark.seed("004", "edge case")
def test_a_missing_directory_is_the_project_of_nothing(index: Index, cli: Run) -> None:
    claude = Claude()
    record = claude.user("the quick fox")
    del record["cwd"]
    write(claude.path, record)
    assert cli("index").code == 0
    session = the_session(cli)
    assert session["cwd"] is None
    assert session["key"].split(":")[1] == hashlib.sha256(b"").hexdigest()[:8]


@pytest.mark.seed("004", "edge case")
def test_the_same_session_from_two_workstations_is_two(
    database: str, home: Path, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude = Claude()
    write(claude.path, claude.user("the quick fox"))
    Index("postgres", home, database)
    for name in ("aaaaaaaa", "bbbbbbbb"):
        monkeypatch.setenv("SESAME_WORKSTATION_ID", name)
        monkeypatch.setenv("SESAME_DATA_DIR", str(home / name))
        assert cli("index", "--yes").code == 0
    with Sesame() as sesame:
        stored = [(one.session.id, one.session.workstation) for one in sesame.list_sessions()[0]]
    assert sorted(stored) == [(CLAUDE_ID, "aaaaaaaa"), (CLAUDE_ID, "bbbbbbbb")]
    assert len({session["key"] for session in sessions(cli)}) == 2
