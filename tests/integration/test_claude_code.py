"""Sesame in real Claude Code, which connects to no model for this."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

import sesame_parser_claude_code

from ..support import npm
from ..support.agents_page import commands

REPOSITORY = Path(__file__).resolve().parents[2]
#: The folder that Claude Code takes as a plugin.
PLUGIN = Path(sesame_parser_claude_code.__file__).with_name("plugin")
PACKAGE = "@anthropic-ai/claude-code@2.1.197"

pytestmark = pytest.mark.once


@pytest.fixture
def claude() -> Callable[..., str]:
    """Run Claude Code, and return what it prints."""
    program = npm.installed(PACKAGE) / ".bin" / "claude"
    quiet = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}

    def run(*arguments: str) -> str:
        environment = {**os.environ, **quiet}
        done = subprocess.run(
            [program, *arguments], env=environment, capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout

    return run


def test_claude_code_connects_to_the_server_it_was_told_of(
    claude: Callable[..., str], home: Path, cli: Callable[..., Any]
) -> None:
    (line,) = commands("claude mcp add")
    claude(*shlex.split(line)[1:])
    file = home / ".claude.json"
    by_hand = json.loads(file.read_bytes())["mcpServers"]["sesame"]
    assert cli("integrate", "claude", "--yes").code == 0
    by_sesame = json.loads(file.read_bytes())["mcpServers"]["sesame"]
    assert by_sesame.keys() == by_hand.keys()
    assert by_sesame["type"] == by_hand["type"] == "stdio"
    told = claude("mcp", "get", "sesame")
    assert "Scope: User config" in told
    assert "Connected" in told
    assert cli("integrate", "claude", "--remove", "--yes").code == 0
    assert "sesame" not in claude("mcp", "list")


def test_the_plugin_of_the_repository_is_valid_and_brings_the_skill_and_the_server(
    claude: Callable[..., str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = home / "bin" / "sesame"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sesame_core "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    for place in (REPOSITORY, PLUGIN):
        assert "Validation passed" in claude("plugin", "validate", "--strict", str(place))
    claude("plugin", "marketplace", "add", str(REPOSITORY))
    claude("plugin", "install", "sesame@sesame")
    told = claude("plugin", "details", "sesame")
    assert "Skills (1)  sesame" in told
    assert "MCP servers (1)  sesame" in told
    assert "plugin:sesame:sesame: sesame mcp - ✔ Connected" in claude("mcp", "list")
    claude("plugin", "uninstall", "sesame@sesame")
    assert "sesame" not in claude("mcp", "list")
