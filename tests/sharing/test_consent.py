"""What sends one session alone does not agree to send all others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Runtime, Sesame
from sesame_core.config import paths
from sesame_core.errors import SesameError

from ..support.transcripts import Claude, write
from .test_before_the_first_send import rows
from .test_team_database import ONE, THREE, TWO, levels, seen, text_of

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("home")]


def file_of(session: str) -> Path:
    (path,) = (Path.home() / ".claude").rglob(f"{session}.jsonl")
    return path


def test_a_first_run_over_one_file_asks_for_all_that_follows(cli: Any, team: str) -> None:
    done = cli("index", str(file_of(THREE)))
    assert done.code == 1
    assert "/home/bo/diary" in done.err
    cli("search", "lighthouse")
    assert rows(team) == set()
    assert cli("index", "--yes", str(file_of(THREE))).code == 0
    assert levels(team) == {THREE: "shared"}


def test_describing_after_a_run_of_an_agent_sends_nothing(cli: Any, team: str) -> None:
    """The extension of pi calls this after each run."""
    done = cli("describe", "--due", f"--index={file_of(THREE)}", "--", THREE)
    assert done.code == 1
    assert "sesame index" in done.err
    cli("search", "lighthouse")
    assert rows(team) == set()


def test_a_program_that_indexes_one_path_gets_an_error(team: str) -> None:
    with Sesame() as sesame, pytest.raises(SesameError, match="sesame index"):
        sesame.index([file_of(THREE)])
    assert rows(team) == set()


def test_a_program_that_writes_its_own_session_does_not_send_it(cli: Any, team: str) -> None:
    with Sesame() as sesame:
        runtime = Runtime(sesame)
        appended = runtime.append_message(runtime.new_session("bot", "ann"), "user", "a pelican of the runtime")
    assert not appended.is_indexed
    assert "sesame index" in (appended.reason or "")
    cli("search", "pelican")
    assert rows(team) == set()
    cli("index", "--yes")
    assert seen(text_of(team), "pelican") != set()


def test_an_imported_session_is_not_sent(cli: Any, team: str) -> None:
    with Sesame() as sesame:
        runtime = Runtime(sesame, Path.home() / "elsewhere")
        made = runtime.new_session("bot", "ann")
        runtime.append_message(made, "user", "a pelican of another program")
    done = cli("import", str(Path.home() / "elsewhere" / f"{made}.jsonl"))
    assert "not indexed yet" in done.out
    cli("search", "pelican")
    assert rows(team) == set()


def test_sessions_of_another_installation_under_the_same_id_are_no_consent(
    cli: Any,
    team: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another user of the machine, or a copy of it, has the same id until one is given."""
    cli("index", "--yes")
    for name in ("audiences.json", "withheld.json", "installation", "workstations.json"):
        (paths.data_dir() / name).unlink(missing_ok=True)
    write(Path.home() / ".claude" / "projects" / "-new" / "n.jsonl", Claude("n", "/home/bo/new").user("a new pelican"))
    cli("search", "pelican")
    monkeypatch.setenv("SESAME_WORKSTATION_ID", "bob")
    assert "have been sent" in cli("search", "pelican").out
    assert seen(text_of(team), "pelican") == set()
    assert cli("index").code == 1


def test_a_rule_is_applied_although_the_record_of_consent_is_damaged(cli: Any, team: str) -> None:
    cli("index", "--yes")
    (paths.data_dir() / "audiences.json").write_text("{")
    done = cli("share", "/home/bo/diary", "private")
    assert done.code == 1
    assert "the next search or run applies it" in done.err
    cli("search", "anything")
    assert levels(team) == {TWO: "shared", THREE: "shared"}


@pytest.mark.parametrize("sessions", [[["a"]], None])
def test_a_list_of_private_files_with_damaged_sessions_is_made_anew(
    sessions: object,
    cli: Any,
    team: str,
) -> None:
    cli("share", "/home/bo/diary", "private")
    cli("index", "--yes")
    path = paths.data_dir() / "withheld.json"
    value = json.loads(path.read_text())
    for known in value["files"].values():
        known["sessions"] = sessions
    path.write_text(json.dumps(value))
    assert cli("share").code == 0
    assert cli("index").code == 0
    assert levels(team) == {TWO: "shared", THREE: "shared"}
    assert ONE in path.read_text()


def test_an_empty_pattern_is_refused(cli: Any, team: str) -> None:
    done = cli("share", "", "private")
    assert done.code == 2
    assert "cannot be empty" in done.err
