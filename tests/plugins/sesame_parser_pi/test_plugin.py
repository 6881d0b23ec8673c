"""The parser of pi as a plugin: which files it takes for its own, and where it looks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sesame_core import ConfigError, ResumeError, Session
from sesame_core.plugin.manager import PluginManager
from sesame_core.plugin.parser import Resuming, TailParser
from sesame_core.testing import ParserConformance
from sesame_parser_pi import sesame_register_parsers
from sesame_parser_pi.parser import PiParser

from .reading import DATA, HEADER, Write, line, message, read

# -- what each kind of entry says -------------------------------------------------------------------------


class TestConformance(ParserConformance):
    name = "pi"

    @pytest.fixture
    def session_file(self) -> Path:
        return DATA / "every-entry.jsonl"


# -- recognising files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"not json\n",
        b"[1]\n" + line(HEADER),
        line(message("user", content="x")) + b"\n" + line(HEADER),
        b'{"type":"user","sessionId":"x"}\n',
        b"[" * 100_000,
        b" " * (1 << 20) + line(HEADER),
    ],
)
def test_other_files_are_not_taken_for_sessions(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    assert not PiParser().matches(path)


def test_other_names_directories_and_dangling_links_are_not_taken_for_sessions(tmp_path: Path, write: Write) -> None:
    (tmp_path / "directory.jsonl").mkdir()
    (tmp_path / "dangling.jsonl").symlink_to(tmp_path / "gone")
    names = (write(name="s.json"), tmp_path / "directory.jsonl", tmp_path / "dangling.jsonl", tmp_path / "no.jsonl")
    assert not any(PiParser().matches(path) for path in names)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("sessions/--home-ann--/s.jsonl", "interactive"),
        ("sessions/subagents/--home-ann--/s.jsonl", "subagent"),
        ("sessions/--home-ann--/subagent-artifacts/run/s.jsonl", "subagent"),
        ("subagent-sessions/--home-ann--/s.jsonl", "subagent"),
        ("sessions/--home-ann-pi-subagents--/s.jsonl", "interactive"),
    ],
)
def test_a_directory_of_the_layout_makes_a_subagent_but_not_a_projects_name(home: Path, name: str, kind: str) -> None:
    path = home / ".pi" / "agent" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(line(HEADER) + b"\n")
    assert read(path).session.kind == kind


def test_a_root_named_after_subagents_makes_no_subagents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(tmp_path / "pi-subagents"))
    assert read(write(name="pi-subagents/s.jsonl")).session.kind == "interactive"


# -- where sessions are -----------------------------------------------------------------------------------


def test_the_default_root_is_below_the_home_directory(home: Path) -> None:
    assert list(PiParser().default_roots()) == [home / ".pi" / "agent" / "sessions"]


def test_the_agent_directory_can_be_moved(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", "~/elsewhere")
    assert list(PiParser().default_roots()) == [home / "elsewhere" / "sessions"]


def test_a_session_directory_comes_before_the_agents_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(home, json.dumps({"sessionDir": "/from/settings"}))
    own_root = home / ".pi" / "agent" / "sessions"
    assert list(PiParser().default_roots()) == [Path("/from/settings"), own_root]
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", "~/flat")
    assert list(PiParser().default_roots()) == [home / "flat", own_root]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"sessionDir": 5}', '{"sessionDir": ""}', '{"sessionDir": "relative/dir"}']
)
def test_settings_that_name_no_absolute_directory_are_skipped(home: Path, text: str) -> None:
    configure(home, text)
    assert list(PiParser().default_roots()) == [home / ".pi" / "agent" / "sessions"]


def configure(home: Path, text: str) -> None:
    agent = home / ".pi" / "agent"
    agent.mkdir(parents=True)
    (agent / "settings.json").write_text(text, encoding="utf-8")


# -- the plugin -------------------------------------------------------------------------------------------


def test_the_plugin_is_found_by_its_name() -> None:
    parser = PluginManager().parser("pi", {"line_limit": 5, "thinking": True, "excluded_bash": True})
    assert isinstance(parser, PiParser)
    assert parser.version == 2
    assert isinstance(parser, TailParser)
    assert isinstance(parser, Resuming)
    assert [provider.name for provider in sesame_register_parsers()] == ["pi"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"thinkin": True}, "no option 'thinkin'; did you mean 'thinking'"),
        ({"thinking": "yes"}, "must be true or false"),
        ({"excluded_bash": 1}, "must be true or false"),
        ({"line_limit": 0}, "positive whole number"),
        ({"line_limit": True}, "positive whole number"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        PluginManager().parser("pi", options)


def test_a_session_is_resumed_by_its_file_and_not_at_all_when_that_is_deleted(tmp_path: Path) -> None:
    session, path = Session(id="x", agent="pi"), DATA / "branched.jsonl"
    assert list(PiParser().resumption(session, path).command) == ["pi", "--session", str(path)]
    with pytest.raises(ResumeError, match="its file is gone"):
        PiParser().resumption(session, tmp_path / "gone.jsonl")
