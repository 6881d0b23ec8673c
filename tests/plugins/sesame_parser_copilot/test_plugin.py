"""The parser of Copilot CLI as a plugin: which files it takes for its own, where it looks, what it resumes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import ConfigError, ParseError, ResumeError, Session
from sesame_core.integration.environment import current_sessions
from sesame_core.integration.install import skill
from sesame_core.plugin.manager import PluginManager
from sesame_core.plugin.parser import Expiring, Integrable, Naming, Resuming, TailParser
from sesame_core.testing import ParserConformance
from sesame_parser_claude_code.parser import ClaudeCodeParser
from sesame_parser_copilot import sesame_register_parsers
from sesame_parser_copilot.parser import CopilotParser
from sesame_parser_pi.parser import PiParser

from .reading import AGENT, EVERY, FLAT, HISTORY, ID, Write, line, prompt, read, start

PARSER = CopilotParser()


class TestConformance(ParserConformance):
    name = "copilot"

    @pytest.fixture
    def session_file(self, tmp_path: Path) -> Path:
        # Without the file next to it, which has the name.
        path = tmp_path / EVERY.parent.name / EVERY.name
        path.parent.mkdir()
        path.write_bytes(EVERY.read_bytes())
        return path


class TestConformanceOfTheFlatLayout(ParserConformance):
    name = "copilot"

    @pytest.fixture
    def session_file(self) -> Path:
        return FLAT


class TestConformanceOfTheFirstVersions(ParserConformance):
    name = "copilot"

    @pytest.fixture
    def session_file(self, tmp_path: Path) -> Path:
        # On one line, since a part of it is not JSON.
        path = tmp_path / HISTORY.name
        path.write_text(json.dumps(json.loads(HISTORY.read_bytes())))
        return path


# -- recognising files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.jsonl", b""),
        ("x.jsonl", b"\n\0\0\n"),
        ("x.jsonl", b"not json\n"),
        ("x.jsonl", b"[1]\n"),
        ("x.jsonl", b'{"type":"session","version":3,"id":"x"}\n'),
        ("x.jsonl", b'{"type":"user","sessionId":"x","message":{}}\n'),
        ("x.jsonl", b'{"timestamp":"2026","type":"session_meta","payload":{}}\n'),
        ("x.jsonl", b'{"type":"session.start"}\n'),
        ("x.jsonl", b'{"type":"user.message","data":"x","id":"y"}\n'),
        ("x.jsonl", b"[" * 100_000),
        ("session_x.json", b'{"sessionId": "x", "messages": []}'),
        ("session_x.json", b'{"chatMessages": '[:5]),
        ("session-x.json", HISTORY.read_bytes()),
        ("x.json", HISTORY.read_bytes()),
    ],
)
def test_other_files_are_not_taken_for_sessions(tmp_path: Path, name: str, content: bytes) -> None:
    (path := tmp_path / name).write_bytes(content)
    assert not PARSER.matches(path)


@pytest.mark.parametrize("file", [EVERY, FLAT, HISTORY])
def test_no_other_parser_takes_its_files(file: Path) -> None:
    assert PARSER.matches(file)
    assert not PiParser().matches(file)
    assert not ClaudeCodeParser().matches(file)


@pytest.mark.parametrize(
    "place", ["files/copy.jsonl", "research/events.jsonl", "rewind-file-snapshots/b/events.jsonl", "other.jsonl"]
)
def test_artefacts_in_a_sessions_directory_are_neither_sessions_nor_odd(write: Write, place: str) -> None:
    log = write(prompt("light"))
    other = log.parent / place
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_bytes(log.read_bytes())
    assert PARSER.matches(log)
    assert not PARSER.matches(other)
    assert PARSER.why_not(other) is None
    other.write_bytes(b"not json\n")
    assert PARSER.why_not(other) is None


def test_a_log_that_starts_with_damage_is_a_session(tmp_path: Path) -> None:
    (path := tmp_path / "events.jsonl").write_bytes(b"\xef\xbb\xbf\0\0{torn\n" + line(start()) + b"\n")
    assert PARSER.matches(path)


def test_other_names_directories_and_dangling_links_are_not_taken_for_sessions(tmp_path: Path) -> None:
    (tmp_path / "directory.jsonl").mkdir()
    (tmp_path / "dangling.jsonl").symlink_to(tmp_path / "gone")
    assert not any(PARSER.matches(path) for path in (*tmp_path.iterdir(), tmp_path / "no.jsonl"))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"chatMessages": [], "x": }'])
def test_a_json_object_that_is_none_is_an_error_of_the_file(tmp_path: Path, content: bytes) -> None:
    (path := tmp_path / "session_x.json").write_bytes(content)
    with pytest.raises(ParseError, match="JSON"):
        list(PARSER.parse(path))


@pytest.mark.parametrize("value", [None, 7, "x", [7, None, "x", []], {"a": 1}])
@pytest.mark.parametrize("key", ["chatMessages", "timeline", "sessionId", "startTime"])
def test_values_of_any_shape_in_a_json_object_harm_nothing(tmp_path: Path, key: str, value: object) -> None:
    document = {**json.loads(HISTORY.read_bytes()), key: value}
    (path := tmp_path / HISTORY.name).write_text(json.dumps(document))
    reading = read(path)
    assert reading.said("user") == ["which well has the sweetest water?"]


# -- where sessions are -----------------------------------------------------------------------------------


def test_the_default_roots_are_in_the_home_of_copilot_and_of_its_older_versions(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    names = ("session-state", "history-session-state")
    assert list(PARSER.default_roots()) == [home / ".copilot" / name for name in names]
    monkeypatch.setenv("COPILOT_HOME", "~/elsewhere")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    homes = (home / "elsewhere", Path("/state/.copilot"))
    assert list(PARSER.default_roots()) == [place / name for place in homes for name in names]


# -- the plugin -------------------------------------------------------------------------------------------


def test_the_plugin_is_found_by_its_name() -> None:
    parser = PluginManager().parser("copilot", {"line_limit": 5, "thinking": True})
    assert isinstance(parser, CopilotParser)
    assert all(isinstance(parser, ability) for ability in (TailParser, Naming, Resuming, Integrable))
    assert not isinstance(parser, Expiring), "Copilot CLI deletes no session by itself"
    assert [provider.name for provider in sesame_register_parsers()] == ["copilot"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"thinkin": True}, "no option 'thinkin'; did you mean 'thinking'"),
        ({"thinking": "yes"}, "must be true or false"),
        ({"line_limit": 0}, "positive whole number"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        PluginManager().parser("copilot", options)


def test_the_calling_session_is_known_by_its_variable() -> None:
    assert current_sessions(environment={"COPILOT_AGENT_SESSION_ID": ID}) == (ID,)


# -- resuming ---------------------------------------------------------------------------------------------


def resumed(path: Path) -> Any:
    return PARSER.resumption(read(path).session, path)


def test_a_session_is_resumed_by_its_id_in_the_directory_where_it_was_last(home: Path, write: Write) -> None:
    found = resumed(write(prompt("light"), root=home / ".copilot"))
    assert (found.command, found.directory) == (("copilot", f"--resume={ID}"), "/home/ann/lighthouse")
    assert (found.environment, found.problem, found.is_bound) == ({}, None, False)


def test_a_session_of_another_home_needs_its_variable(
    home: Path, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = write(prompt("light"), root=tmp_path / "other")
    assert resumed(other).environment == {"COPILOT_HOME": str(tmp_path / "other")}
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path / "other"))
    assert resumed(other).environment == {}
    assert resumed(write(prompt("light"), root=home / ".copilot")).environment == {"COPILOT_HOME": None}


def test_a_copy_of_a_session_must_be_copied_back(home: Path, write: Write, tmp_path: Path) -> None:
    path = write(prompt("light"))
    moved = path.parent.rename(tmp_path / ID)
    assert resumed(moved / "events.jsonl").problem == (
        f"Copilot CLI does not look for sessions in {tmp_path}: copy {moved} to {home / '.copilot' / 'session-state'}"
    )


def test_a_subagent_is_resumed_with_its_parent(home: Path, write: Write) -> None:
    path = write(prompt("light"), root=home / ".copilot")
    child = Session(id=f"{ID}/{AGENT}", agent="copilot", kind="subagent", parent_id=ID)
    assert PARSER.resumption(child, path).command == ("copilot", f"--resume={ID}")


@pytest.mark.parametrize("file", [FLAT, HISTORY], ids=["flat", "history"])
def test_a_session_of_an_older_layout_is_one_that_recent_versions_cannot_load(home: Path, file: Path) -> None:
    path = home / ".copilot" / file.parent.name / file.name
    path.parent.mkdir(parents=True)
    path.write_bytes(file.read_bytes())
    found = resumed(path)
    assert found.command == ("copilot", f"--resume={read(path).session.id}")
    assert "recent versions of Copilot CLI cannot load this layout" in found.problem


def test_a_session_without_its_file_is_not_resumed(tmp_path: Path) -> None:
    with pytest.raises(ResumeError, match="its file is gone"):
        PARSER.resumption(Session(id=ID, agent="copilot"), tmp_path / ID / "events.jsonl")


# -- integration ------------------------------------------------------------------------------------------


def test_the_server_and_the_skill_are_installed_shown_undone_and_nothing_else_changes(
    home: Path, cli: Callable[..., Any]
) -> None:
    settings = home / ".copilot" / "mcp-config.json"
    settings.parent.mkdir()
    theirs = {"mcpServers": {"other": {"type": "http", "url": "https://example.invalid"}}}
    settings.write_text(json.dumps(theirs, indent=4))
    before = settings.read_bytes()
    shown = cli("integrate", "copilot")
    assert (shown.code, settings.read_bytes()) == (1, before)
    assert "mcpServers.sesame" in shown.out
    assert cli("integrate", "copilot", "--yes").code == 0
    command = [sys.executable, "-m", "sesame_core", "mcp"]
    server = {"tools": ["*"], "type": "local", "command": command[0], "args": command[1:]}
    assert json.loads(settings.read_bytes()) == {"mcpServers": {**theirs["mcpServers"], "sesame": server}}
    own = home / ".copilot" / "skills" / "sesame" / "SKILL.md"
    assert own.read_text() == skill(command[:-1])
    assert "nothing to do" in cli("integrate", "copilot", "--yes").out
    assert cli("integrate", "copilot", "--remove", "--yes").code == 0
    assert json.loads(settings.read_bytes()) == theirs
    assert not own.exists()


def test_the_integration_is_put_into_the_chosen_home(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path / "there"))
    assert cli("integrate", "copilot", "--yes").code == 0
    assert (tmp_path / "there" / "mcp-config.json").is_file()
    assert (tmp_path / "there" / "skills" / "sesame" / "SKILL.md").is_file()
