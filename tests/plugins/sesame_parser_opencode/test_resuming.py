"""How OpenCode resumes a session, and learns of Sesame."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import ResumeError, Resumption, Session
from sesame_parser_opencode.parser import OpenCodeParser

from .making import JsonTree, NewDatabase, OldDatabase, Reading, asked


def resumed(path: Path) -> Resumption:
    return OpenCodeParser().resumption(Reading(path).session, path)


@pytest.fixture
def data(home: Path) -> Path:
    place = home / ".local" / "share"
    place.mkdir(parents=True)
    return place


@pytest.mark.parametrize("kind", [OldDatabase, NewDatabase])
def test_a_session_is_resumed_by_its_id_in_its_directory(kind: type[OldDatabase], data: Path) -> None:
    layout = kind(data)
    found = resumed(layout.write("ses_a", [asked("go")]))
    assert (found.command, found.directory, found.environment) == (("opencode", "--session", "ses_a"), "/w/app", {})
    layout.close()


def test_a_subagent_is_resumed_with_the_session_that_started_it(data: Path) -> None:
    layout = OldDatabase(data)
    layout.write("ses_a", [asked("go")])
    assert resumed(layout.write("ses_b", [asked("go")], parent_id="ses_a")).command[-1] == "ses_a"
    layout.close()


def test_a_session_of_another_database_is_resumed_with_it(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = OldDatabase(data, "opencode-beta.db")
    path = layout.write("ses_a", [asked("go")])
    assert resumed(path).environment == {"OPENCODE_DB": str(layout.path)}
    monkeypatch.setenv("OPENCODE_DB", "opencode-beta.db")
    assert resumed(path).environment == {}
    default = OldDatabase(data)
    assert resumed(default.write("ses_b", [asked("go")])).environment == {"OPENCODE_DB": None}
    for one in (layout, default):
        one.close()


def test_a_session_in_a_tree_is_not_resumed_and_it_says_which_version_copies_it(data: Path) -> None:
    path = JsonTree(data).write("ses_a", [asked("go")])
    with pytest.raises(ResumeError, match=r"1\.2 to 1\.17"):
        resumed(path)
    with pytest.raises(ResumeError, match="gone"):
        OpenCodeParser().resumption(Session(id="ses_x", agent="opencode"), path.with_name("ses_x.json"))


@pytest.mark.usefixtures("needs_mcp")
def test_the_server_and_the_skill_are_written_once_and_removed(home: Path, cli: Callable[..., Any]) -> None:
    file = home / ".config" / "opencode" / "opencode.json"
    file.parent.mkdir(parents=True)
    before = '{\n\t"model": "p/m",\n\t"mcp": {\n\t\t"other": {\n\t\t\t"type": "local"\n\t\t}\n\t}\n}\n'
    file.write_text(before)
    shown = cli("integrate", "opencode")
    assert (shown.code, file.read_text()) == (1, before)
    assert "mcp.sesame" in shown.out
    assert cli("integrate", "opencode", "--yes").code == 0
    settings = json.loads(file.read_text())
    assert settings["mcp"]["sesame"]["type"] == "local"
    assert settings["mcp"]["sesame"]["command"][-1] == "mcp"
    assert (settings["model"], "other" in settings["mcp"]) == ("p/m", True)
    assert (file.parent / "skills" / "sesame" / "SKILL.md").exists()
    assert "nothing to do" in cli("integrate", "opencode", "--yes").out
    assert cli("integrate", "opencode", "--remove", "--yes").code == 0
    assert json.loads(file.read_text()) == json.loads(before)
    assert not (file.parent / "skills" / "sesame" / "SKILL.md").exists()


@pytest.mark.usefixtures("needs_mcp")
def test_comments_of_a_configuration_stay(home: Path, cli: Callable[..., Any]) -> None:
    file = home / ".config" / "opencode" / "opencode.jsonc"
    file.parent.mkdir(parents=True)
    file.write_text('{\n  // mine\n  "model": "p/m"\n}\n')
    assert cli("integrate", "opencode", "--yes").code == 0
    assert file.read_text().startswith('{\n  // mine\n  "model": "p/m",\n  "mcp": {')
    assert cli("integrate", "opencode", "--remove", "--yes").code == 0
    assert file.read_text() == '{\n  // mine\n  "model": "p/m"\n}\n'


@pytest.mark.usefixtures("needs_mcp")
def test_the_configuration_is_where_the_variables_say(
    home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCODE_CONFIG", str(home / "mine.json"))
    monkeypatch.setenv("OPENCODE_CONFIG_DIR", str(home / "place"))
    assert cli("integrate", "opencode", "--yes").code == 0
    assert "sesame" in json.loads((home / "mine.json").read_text())["mcp"]
    assert (home / "place" / "skills" / "sesame" / "SKILL.md").exists()


@pytest.fixture
def needs_mcp() -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
