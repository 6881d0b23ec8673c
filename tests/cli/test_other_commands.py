"""`sesame status`, `plugins`, `config`, `demo`, and the options of every command."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import version

from ..support.transcripts import CLAUDE_ID, Claude, write

pytestmark = pytest.mark.usefixtures("backend")


@pytest.mark.sqlite_only
def test_status_prints_what_is_indexed(indexed: Path, cli: Callable[..., Any]) -> None:
    out = cli("status").out
    for line in (
        "  Sessions:       10\n",
        "  Messages:       78\n",
        "  Chunks:         152\n",
        "  Files:          10\n",
        "  Newest message: 2026-11-12 03:00\n",
        "  Agents:                   sessions  messages  newest message\n",
        "    claude-code (headless)         1         3  2026-11-12 03:00\n",
    ):
        assert line in out
    status = json.loads(cli("status", "--json").out)
    assert (status["sessions"], status["messages"], status["chunks"], status["files"]) == (10, 78, 152, 10)
    assert status["bytes"] == sum(file.stat().st_size for file in Path(status["location"]).parent.glob("index.sqlite*"))
    assert sum(agent["sessions"] for agent in status["agents"]) == 10
    assert {plugin["name"] for plugin in status["plugins"]} >= {"pi", "claude-code", "default", "sqlite"}


@pytest.mark.sqlite_only
def test_what_a_person_has_to_know_stands_apart_from_the_directories(home: Path, cli: Callable[..., Any]) -> None:
    sessions = home / ".claude" / "projects" / "-w"
    write(sessions / f"{CLAUDE_ID}.jsonl", (claude := Claude()).user("fox"), b"{damaged", claude.user("badger"))
    write(sessions / "a.jsonl.bak", claude.user("fox"))
    cli("index")
    out = cli("status").out
    assert "\n\n  Skipped records: 1 damaged\n  Not recognised: " in out
    assert "\n\n  Plugins:\n" in out


def test_status_before_the_first_index_is_empty_and_no_error(cli: Callable[..., Any]) -> None:
    cli("workstations", "--prepare")  # by the owner of a shared index; others need none
    ran = cli("status")
    assert ran.code == 0
    assert "  Sessions:       0\n" in ran.out
    assert "  Last sync:      never\n" in ran.out


def test_plugins_are_listed(cli: Callable[..., Any]) -> None:
    lines = cli("plugins").out.splitlines()
    names = [line.split()[:2] for line in lines]
    bundled = [
        ["parser", "claude-code"],
        ["formatter", "default"],
        ["parser", "pi"],
        ["parser", "sesame"],
        ["backend", "sqlite"],
    ]
    assert [name for name in names if name in bundled] == bundled
    listed = json.loads(cli("plugins", "--json").out)
    (pi,) = [plugin for plugin in listed if plugin["name"] == "pi"]
    assert pi == {
        "name": "pi",
        "kind": "parser",
        "distribution": "sesame-search",
        "version": version(),
        "summary": "pi sessions, JSONL of versions 1 to 3",
        "error": None,
    }


@pytest.mark.sqlite_only
def test_config_shows_each_value_with_its_origin(demo_sessions: Path, cli: Callable[..., Any]) -> None:
    ran = cli("config")
    assert ran.code == 0
    found = "found: default root exists"
    assert ran.out.splitlines() == [
        f"config file   {demo_sessions}/.config/sesame/config.jsonc (does not exist: nothing is configured)",
        f"data          {demo_sessions}/.local/share/sesame (XDG_DATA_HOME)",
        ran.out.splitlines()[2],
        "backend       sqlite (default)",
        "redact        nothing is masked (default)",
        "share         shared unless `sesame share` says otherwise (default)",
        "refresh       0.3 s before a search (default)",
        "lock          5 s for another process that writes (default)",
        "workers       as many as pay read files for `sesame index` (default)",
        "models        none: no model is asked (default)",
        f"describe      only when asked, to {demo_sessions}/.local/share/sesame/sessions-meta (default)",
        "sources",
        f"  claude-code  {demo_sessions}/.claude/projects ({found})",
        f"  pi           {demo_sessions}/.pi/agent/sessions ({found})",
    ]
    assert re.fullmatch(r"workstation   [0-9a-f]{8} \(default\)", ran.out.splitlines()[2])
    described = json.loads(cli("config", "--json").out)
    assert [source["parser"]["name"] for source in described["sources"]] == ["claude-code", "pi"]
    assert described["problems"] == []


@pytest.mark.sqlite_only
def test_config_init_writes_a_file_once(home: Path, cli: Callable[..., Any]) -> None:
    file = home / ".config" / "sesame" / "config.jsonc"
    assert cli("config", "--init").out == f"wrote {file}\n"
    written = file.read_text("utf-8")
    ran = cli("config", "--init")
    assert (ran.code, ran.err) == (1, f"sesame: {file}: exists already and is left as it is\n")
    assert file.read_text("utf-8") == written
    assert cli("config").code == 0


@pytest.mark.sqlite_only
@pytest.mark.parametrize(
    ("redact", "shown"),
    [
        ('{"keep": ["EXAMPLE"]}', ", 1 exception "),
        ('{"patterns": {"a": "b+", "c": "d+"}}', ", 2 patterns of your own "),
    ],
)
def test_what_is_redacted_is_shown_with_its_numbers(
    redact: str, shown: str, home: Path, cli: Callable[..., Any]
) -> None:
    file = home / ".config" / "sesame" / "config.jsonc"
    file.parent.mkdir(parents=True)
    file.write_text(f'{{"redact": {redact}}}')
    assert shown in cli("config").out


@pytest.mark.sqlite_only
def test_a_configuration_with_a_problem_is_shown_and_exits_with_one(home: Path, cli: Callable[..., Any]) -> None:
    file = home / ".config" / "sesame" / "config.jsonc"
    file.parent.mkdir(parents=True)
    file.write_text('{"sources": [{"parser": "pie", "path": "/nowhere"}]}')
    ran = cli("config")
    assert ran.code == 1
    assert "did you mean 'pi'?" in ran.out
    file.write_text('{"sauces": []}')
    ran = cli("index")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"sesame: {file}: sauces: unknown key; did you mean 'sources'?\n"


def test_the_demo_uses_the_sessions_that_come_with_sesame_when_there_are_none(
    home: Path, utc: None, cli: Callable[..., Any]
) -> None:
    ran = cli("demo")
    assert (ran.code, ran.err) == (0, "")
    assert "You have no sessions yet.  These come with Sesame:\n14 added; " in ran.out
    assert "$ sesame search nix infrastructure simplify\nFound 1 session" in ran.out
    assert "01a0b03d:0 (Simplify the nix flake infrastructure)" in ran.out
    assert "Found 1 session" in cli("demo", "東京").out
    assert json.loads(cli("search", "--json", "nix").out)["resultCount"] == 0


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["it's", "$HOME", "nix"], "sesame search 'it'\"'\"'s' '$HOME' nix"),
        (["nix flake"], "sesame search 'nix flake'"),
        (["--", "-draft", "nix"], "sesame search -- -draft nix"),
        (['"nix flake"'], "sesame search '\"nix flake\"'"),
    ],
)
def test_demo_shows_a_search_that_a_shell_takes(
    home: Path, cli: Callable[..., Any], words: list[str], shown: str
) -> None:
    assert f"\n$ {shown}\n" in cli("demo", *words).out


def test_the_demo_uses_your_sessions_when_there_are_some(demo_sessions: Path, cli: Callable[..., Any]) -> None:
    out = cli("demo", "nix", "flake").out
    assert "come with Sesame" not in out
    assert "10 added; " in out
    assert "$ sesame search nix flake\nFound 1 session" in out
    out = cli("demo").out
    query = re.search(r"^\$ sesame search (\w+ \w+ \w+)$", out, re.M)
    assert query, "words of a prompt"
    first = re.search(r"^  \[1\.00\] (\S+):\d+ ", out, re.M)
    assert first
    assert out.endswith(f"\nNext:\n  sesame search {query[1]}\n  sesame show {first[1]}\n  sesame resume {first[1]}\n")


def test_the_demo_lists_sessions_whose_prompts_have_too_few_words(home: Path, cli: Callable[..., Any]) -> None:
    claude = Claude()
    write(claude.path, claude.user("go on"))
    out = cli("demo").out
    assert "$ sesame search\n1 session\n" in out
    assert "Next:" not in out


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version_is_printed(option: str, cli: Callable[..., Any]) -> None:
    ran = cli(option)
    assert (ran.code, ran.out, ran.err) == (0, f"sesame {version()}\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("frobnicate",),
        ("--frobnicate",),
        ("search", "--frobnicate"),
        ("search", "--limit", "many"),
        ("search", "--limit", "0"),
        ("index", "--frobnicate"),
        ("show",),
        ("forget",),
        ("show", "a", "b"),
        ("status", "now"),
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_two(arguments: tuple[str, ...], cli: Callable[..., Any]) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ("search", "--help"), ("index", "-h")], ids=" ".join)
def test_help_is_not_an_error(arguments: tuple[str, ...], cli: Callable[..., Any]) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Usage: ")


def test_python_m_is_the_same_program(sesame: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = sesame("--version")
    assert (done.returncode, done.stdout) == (0, f"sesame {version()}\n")
