"""Sessions that nothing reads: each known place is found where its agent puts it, and only while nothing covers it."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Provider, Sesame, hookimpl
from sesame_core.config.model import Config, Selection, Source
from sesame_core.indexing.emptiness import NAMED, unread_sentence
from sesame_core.indexing.unread import unread_roots
from sesame_core.mcp.tools import Tools
from sesame_core.plugin.agents import UNREAD
from sesame_core.plugin.manager import PluginManager
from sesame_core.types.roots import UnreadRoot

from ..support.both_backends import Index, Run
from ..support.transcripts import pi_session

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the places below are those of Linux")

#: A file as each agent leaves it in an otherwise empty home.
LEFT = {
    "Aider": ".aider.chat.history.md",
    "Amazon Q": ".local/share/amazon-q/data.sqlite3",
    "Amp": ".local/share/amp/threads/T-1.json",
    "Antigravity": ".gemini/antigravity/conversations/1.pb",
    "Claude Desktop": ".config/Claude/local-agent-mode-sessions/a/b/1.jsonl",
    "Cline": ".cline/data/sessions/1/1.json",
    "Continue": ".continue/sessions/sessions.json",
    "Copilot Chat": ".config/Code/User/workspaceStorage/0a/chatSessions/1.json",
    "Crush": ".local/share/crush/projects.json",
    "Cursor": ".cursor/chats/0a/1/store.db",
    "Droid": ".factory/sessions/-w/1.jsonl",
    "Goose": ".local/share/goose/sessions/sessions.db",
    "gptme": ".local/share/gptme/logs/1/conversation.jsonl",
    "Grok": ".grok/sessions/1.json",
    "Hermes Agent": ".hermes/sessions/1.json",
    "iFlow": ".iflow/projects/-w/1.jsonl",
    "Kilo Code": ".local/share/kilo/kilo.db",
    "Kimi": ".kimi/sessions/0a/1/context.jsonl",
    "Kiro": ".kiro/sessions/cli/1.jsonl",
    "Mistral Vibe": ".vibe/logs/session/1/messages.jsonl",
    "Oh My Pi": ".omp/agent/sessions/-w/1.jsonl",
    "OpenClaw": ".openclaw/agents/main/sessions/1.jsonl",
    "OpenHands": ".openhands/conversations/1/base_state.json",
    "Qoder": ".qoder/projects/-w/1.jsonl",
    "Qwen Code": ".qwen/projects/-w/chats/1.jsonl",
    "Roo Code": ".config/VSCodium/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1/ui_messages.json",
    "Windsurf": ".codeium/windsurf/cascade/1.pb",
    "Zed": ".local/share/zed/threads/threads.db",
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory in which no agent was started."""
    monkeypatch.chdir(tmp_path)


def leave(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("what nothing may read")
    return path


def agents(*covered: Path) -> list[str]:
    return [root.agent for root in unread_roots(lambda: map(os.path.realpath, covered))]


def test_every_agent_of_the_table_leaves_a_file_here() -> None:
    assert set(LEFT) == set(UNREAD)


@pytest.mark.parametrize("agent", LEFT)
def test_the_files_of_an_agent_without_a_parser_are_seen_and_not_opened(home: Path, agent: str) -> None:
    leave(home / LEFT[agent]).chmod(0)
    assert agents() == [agent]


def test_an_empty_home_has_none(home: Path) -> None:
    assert agents() == []


@pytest.mark.parametrize(
    ("variable", "value", "file", "agent"),
    [
        ("AMP_DATA_DIR", "d", "d/threads/T-1.json", "Amp"),
        ("XDG_DATA_HOME", "d", "d/amp/threads/T-1.json", "Amp"),
        ("CLINE_DIR", "d", "d/data/sessions/1/1.json", "Cline"),
        ("CLINE_DATA_DIR", "d", "d/sessions/1/1.json", "Cline"),
        ("CLINE_SESSION_DATA_DIR", "d", "d/1/1.json", "Cline"),
        ("CONTINUE_GLOBAL_DIR", "d", "d/sessions/1.json", "Continue"),
        ("CRUSH_GLOBAL_DATA", "d", "d/projects.json", "Crush"),
        ("CURSOR_CONFIG_DIR", "d", "d/chats/0a/1/store.db", "Cursor"),
        ("XDG_CONFIG_HOME", "d", "d/Cursor/User/globalStorage/state.vscdb", "Cursor"),
        ("FACTORY_HOME_OVERRIDE", "d", "d/.factory/sessions/-w/1.jsonl", "Droid"),
        ("GOOSE_PATH_ROOT", "d", "d/data/sessions/sessions.db", "Goose"),
        ("HERMES_HOME", "d", "d/sessions/1.json", "Hermes Agent"),
        ("QWEN_HOME", "d", "d/projects/-w/chats/1.jsonl", "Qwen Code"),
        ("QWEN_RUNTIME_DIR", "d", "d/projects/-w/chats/1.jsonl", "Qwen Code"),
        ("AIDER_CHAT_HISTORY_FILE", "d/history.md", "d/history.md", "Aider"),
    ],
)
def test_an_agent_s_own_variable_moves_its_place(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, file: str, agent: str
) -> None:
    leave(home / file)
    assert agents() == []
    monkeypatch.setenv(variable, str(home / value))
    assert agents() == [agent]


def test_a_variable_that_is_set_to_nothing_counts_as_not_set(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMP_DATA_DIR", "")
    monkeypatch.setenv("GOOSE_PATH_ROOT", "")
    leave(home / LEFT["Amp"])
    assert agents() == ["Amp"]


def test_a_variable_with_braces_or_a_star_in_its_value_is_a_path(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("${AMP_DATA_DIR}", "${AMP_DATA_DIR:-x}", "*", "{data}"):
        monkeypatch.setenv("AMP_DATA_DIR", str(home / name))
        assert agents() == []
        leave(home / name / "threads" / "T-1.json")
        assert [root.path for root in unread_roots(list)] == [f"{home}/{name}/threads"]
        (home / name / "threads" / "T-1.json").unlink()


def test_the_history_of_aider_is_seen_in_the_working_directory(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = home / "work"
    leave(work / ".aider.chat.history.md")
    assert agents() == []
    monkeypatch.chdir(work)
    assert agents() == ["Aider"]


@pytest.mark.parametrize("place", [".cursor/chats", ".cursor/projects", ".factory/sessions", ".qwen/projects/-w/chats"])
def test_a_place_without_any_entry_is_no_place_of_sessions(home: Path, place: str) -> None:
    (home / place).mkdir(parents=True)
    assert agents() == []


def test_a_directory_that_may_not_be_listed_is_not_said_to_have_sessions(home: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may list any directory")
    (place := leave(home / LEFT["Droid"]).parent).chmod(0)
    try:
        assert agents() == []
    finally:
        place.chmod(0o700)


def test_an_agent_with_two_places_has_both_named(home: Path) -> None:
    leave(home / LEFT["Cursor"])
    leave(home / ".cursor/projects/home-bo/agent-transcripts/1/1.jsonl")
    leave(home / ".cursor/projects/home-al/agent-transcripts/1/1.jsonl")
    found = [root.path for root in unread_roots(list)]
    assert found == [f"{home}/.cursor/chats", f"{home}/.cursor/projects/*/agent-transcripts"]


# -- what covers a place ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("root", [".factory/sessions", ".factory", ".factory/sessions/-w"])
def test_a_root_at_above_or_in_a_place_covers_it(home: Path, root: str) -> None:
    leave(home / LEFT["Droid"])
    assert agents(home / root) == []


@pytest.mark.parametrize("root", [".", "..", "/", ".factory2", ".factory/sessions2", ".cursor"])
def test_the_home_directory_and_one_beside_cover_nothing(home: Path, root: str) -> None:
    leave(home / LEFT["Droid"])
    assert agents(home / root) == ["Droid"]


def test_a_root_covers_the_place_that_is_a_link_to_it(home: Path) -> None:
    leave(home / "disk" / "1.jsonl")
    (home / ".factory").mkdir()
    (home / ".factory" / "sessions").symlink_to(home / "disk")
    assert agents() == ["Droid"]
    assert agents(home / "disk") == []


def test_a_root_covers_all_that_a_star_means(home: Path) -> None:
    leave(home / LEFT["Qwen Code"])
    assert agents(home / ".qwen" / "projects") == []
    assert agents(home / ".qwen" / "projects" / "-w") == []


class Droids:
    """A third party's parser."""

    version = 1

    def default_roots(self) -> list[Path]:
        return [Path.home() / ".factory" / "sessions"]

    def matches(self, path: Path) -> bool:
        return False

    def parse(self, path: Path) -> Any:
        return iter(())


def with_droids(create: Callable[[Any], Any] = lambda options: Droids()) -> PluginManager:
    """Return a plugin manager with the parser, as if it were installed."""
    plugin = types.ModuleType("droids")
    vars(plugin)["sesame_register_parsers"] = hookimpl(
        lambda: [Provider(name="droid", summary="made up", create=create)]
    )
    plugins = PluginManager()
    plugins.register(plugin, "droid")
    return plugins


def test_an_installed_parser_of_a_third_party_silences_its_agent(home: Path) -> None:
    leave(home / LEFT["Droid"])
    leave(home / LEFT["Amp"])
    with Sesame(Config()) as sesame:
        assert [root.agent for root in sesame.unread_roots()] == ["Amp", "Droid"]
    with Sesame(Config(), plugins=with_droids()) as sesame:
        assert [root.agent for root in sesame.unread_roots()] == ["Amp"]
        assert [root.path for root in sesame.looked_in() if root.parser == "droid"] == [f"{home}/.factory/sessions"]


def test_an_installed_parser_silences_its_agent_where_sources_are_configured_too(home: Path) -> None:
    leave(home / LEFT["Droid"])
    config = Config(sources=(Source(parser=Selection(name="pi")),))
    with Sesame(config, plugins=with_droids()) as sesame:
        assert sesame.unread_roots() == []


def test_a_source_of_any_parser_silences_the_place_it_reads(home: Path) -> None:
    place = leave(home / LEFT["Claude Desktop"]).parents[2]
    config = Config(sources=(Source(parser=Selection(name="claude-code"), path=place),))
    with Sesame(config) as sesame:
        assert sesame.unread_roots() == []


def test_a_parser_that_fails_covers_nothing(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    leave(home / LEFT["Droid"])

    def create(options: Any) -> Any:
        raise RuntimeError("broken")

    with Sesame(Config(), plugins=with_droids(create)) as sesame:
        assert [root.agent for root in sesame.unread_roots()] == ["Droid"]
        assert sesame.search("kettle").hits == []
    # However often the parsers are asked.
    assert caplog.text.count("sessions of 'droid' are skipped") == 1


# -- the sentence ----------------------------------------------------------------------------------------------


def test_the_sentence_names_each_agent_once_and_of_many_the_first(home: Path) -> None:
    roots = [UnreadRoot(agent=agent, path=f"{home}/{agent}") for agent in "ABCDEF"]
    assert unread_sentence([]) is None
    assert unread_sentence([roots[0], roots[0]]) == (
        "A keeps sessions in ~/A: no installed plugin reads them; see docs/tutorial-plugin.md"
    )
    assert unread_sentence(roots[:2]) == (
        "A keeps sessions in ~/A, B in ~/B: no installed plugin reads them; see docs/tutorial-plugin.md"
    )
    assert f"(and {len(roots) - NAMED} more: see sesame status)" in (unread_sentence(roots) or "")


# -- everywhere it is said -------------------------------------------------------------------------------------


def test_a_home_with_sessions_of_pi_and_cursor(home: Path, cli: Callable[..., Any]) -> None:
    pi_session("one", "a kettle")
    leave(home / LEFT["Cursor"])
    assert "Cursor" not in cli("index").out
    said = "Cursor keeps sessions in ~/.cursor/chats: no installed plugin reads them; see docs/tutorial-plugin.md"
    looked = "looked in ~/.pi/agent/sessions"
    assert f"Note: {looked}\nNote: {said}" in cli("search", "teapot").out
    assert cli("search", "teapot", "--json").json["hints"][:2] == [looked, said]
    why = "1 session matches without --agent codex; agents in it: pi"
    for command in (["search", "--agent", "codex"], ["sessions", "--agent", "codex"]):
        assert f"Note: {why}\nNote: {said}" in cli(*command).out
        assert cli(*command, "--json").json["hints"] == [why, said]
    with Sesame() as sesame:
        tools = Tools(sesame)
        assert tools.call("search_sessions", {"query": "teapot"})["hints"][:2] == [looked, said]  # type: ignore[index]
        assert tools.call("list_sessions", {"agent": "codex"})["hints"] == [why.replace("--", ""), said]
    for command in (["search", "kettle"], ["search"], ["sessions"]):
        assert "Cursor" not in cli(*command).out
        assert cli(*command, "--json").json["hints"] == []
    status = cli("status")
    assert (
        "  Looked in:\n    pi              ~/.pi/agent/sessions\n    not there       ~/.claude/projects, " in status.out
    )
    assert "  Sessions that no installed plugin reads:\n    Cursor          ~/.cursor/chats\n" in status.out
    value = cli("status", "--json").json
    assert value["unreadAgents"] == [{"agent": "Cursor", "path": f"{home}/.cursor/chats"}]
    assert {"parser": "pi", "path": f"{home}/.pi/agent/sessions", "exists": True} in value["lookedIn"]
    assert {"parser": "claude-code", "path": f"{home}/.claude/projects", "exists": False} in value["lookedIn"]


def test_a_home_with_nothing_but_sessions_of_cursor(home: Path, cli: Callable[..., Any]) -> None:
    leave(home / LEFT["Cursor"])
    said = "Cursor keeps sessions in ~/.cursor/chats: no installed plugin reads them; see docs/tutorial-plugin.md"
    first, looked, last = cli("index").out.splitlines()
    assert first.startswith("no session files found")
    assert looked.startswith("looked in directories that do not exist: ~/.claude/projects, ~/.codex/sessions, ")
    assert last == said
    value = cli("index", "--json").json
    assert value["unreadAgents"] == [{"agent": "Cursor", "path": f"{home}/.cursor/chats"}]
    assert not any(root["exists"] for root in value["lookedIn"])
    for command in (["search", "kettle"], ["sessions"]):
        hints = cli(*command, "--json").json["hints"]
        assert hints[0].startswith(
            "the index is empty: no session files found; looked in directories that do not exist: "
        )
        assert hints[1:] == [said]


def test_a_machine_that_only_searches_is_told_of_no_agent(home: Path, cli: Callable[..., Any]) -> None:
    leave(home / LEFT["Cursor"])
    file = home / ".config" / "sesame" / "config.jsonc"
    file.parent.mkdir(parents=True)
    file.write_text('{"sources": []}')
    for command in (["index"], ["search", "kettle"], ["sessions"], ["status"]):
        assert "Cursor" not in cli(*command).out
    assert cli("status", "--json").json["unreadAgents"] == []


def test_a_run_of_one_file_says_nothing_of_other_agents(home: Path, cli: Callable[..., Any]) -> None:
    leave(home / LEFT["Cursor"])
    value = cli("index", str(pi_session("one", "a kettle")), "--json").json
    assert (value["lookedIn"], value["unreadAgents"]) == (None, None)


def test_a_source_that_does_not_exist_is_named_once(home: Path, cli: Callable[..., Any]) -> None:
    file = home / ".config" / "sesame" / "config.jsonc"
    file.parent.mkdir(parents=True)
    file.write_text('{"sources": [{"parser": "pi", "path": "/no/such/place"}]}')
    out = cli("index").out
    assert out.count("/no/such/place") == 1
    assert "looked in" not in out


def test_an_answer_from_a_shared_index_has_looked_in_what_others_share_too(index: Index, cli: Run) -> None:
    index.prepare(cli)
    pi_session("one", "a kettle")
    assert cli("index").code == 0
    (hint,) = (hint for hint in cli("search", "teapot", "--json").json["hints"] if hint.startswith("looked in"))
    others = ", and in what others share" if index.dsn else ""
    assert hint == f"looked in ~/.pi/agent/sessions{others}"
