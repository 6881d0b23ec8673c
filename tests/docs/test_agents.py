"""docs/agents.md is for copying: each configuration on it starts a server that answers, each promise is kept."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from sesame_core.mcp import http
from sesame_core.mcp.bounds import ANSWER_BYTES, LEAST_BYTES
from sesame_core.mcp.tools import TOOLS
from sesame_core.plugin.manager import PluginManager
from sesame_core.plugin.parser import Integrable
from sesame_core.rendering import brief
from sesame_core.search import windows
from sesame_core.search.agents import agent_named
from sesame_core.types.answer import MAX_HITS
from sesame_parser_pi.integration import PACKAGE

from ..support.agents_page import PAGE, blocks, commands
from ..support.mcp_client import environment, over_http

REPOSITORY = Path(__file__).resolve().parents[2]


def servers() -> list[dict[str, Any]]:
    """Every server on the page, in whichever form."""
    found = [json.loads(block)["mcpServers"]["sesame"] for block in blocks("json")]
    return found + [tomllib.loads(block)["mcp_servers"]["sesame"] for block in blocks("toml")]


def registered() -> list[list[str]]:
    """What the agents' own commands on the page register: the words behind the dashes."""
    lines = [shlex.split(line) for line in commands("")]
    return [line[line.index("--") + 1 :] for line in lines if "--" in line]


def test_every_command_registers_what_the_files_say() -> None:
    started = [[server["command"], *server["args"]] for server in servers() if "command" in server]
    assert len(started) >= 5
    assert len(registered()) >= 4
    assert {tuple(command) for command in [*started, *registered()]} == {("sesame", "mcp")}


def test_every_agent_that_can_be_set_up_is_by_the_command_on_the_page(home: Path, cli: Callable[..., Any]) -> None:
    lines = commands("sesame integrate")
    plugins = PluginManager()
    parsers = [info.name for info in plugins.catalogue() if info.kind == "parser"]
    able = {name for name in parsers if isinstance(plugins.parser(name), Integrable)}
    assert {agent_named(line.split()[-1], parsers) for line in lines} == able
    written = [line for command in lines for line in cli(*shlex.split(command)[1:], "--yes").out.splitlines()]
    for place in re.findall(r"\(`~/([^`]+)`\)", PAGE) + re.findall(r"`mcpServers` in `~/([^`]+)`", PAGE):
        assert any(line.startswith(f"write {home / place}") for line in written), place


def test_what_is_copied_starts_a_server_that_answers(
    demo_sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "sesame"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sesame_core "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    server = next(server for server in servers() if "command" in server)

    async def run() -> list[str]:
        given = StdioServerParameters(command=server["command"], args=server["args"], env=environment())
        async with Client(stdio_client(given)) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert anyio.run(run) == list(TOOLS)


@pytest.mark.once
def test_what_is_copied_for_http_is_served(demo_sessions: Path) -> None:
    (server,) = (server for server in servers() if "url" in server)
    (command,) = commands("sesame mcp --http")
    assert http.Place.read(shlex.split(command)[-1]).url == server["url"]
    token = "a-secret-of-thirty-two-characters"
    with over_http(SESAME_MCP_TOKEN=token) as running:
        assert running.post(**{k: v.replace("TOKEN", token) for k, v in server["headers"].items()})[0] == 200


def test_every_tool_is_in_the_table() -> None:
    table = PAGE.partition("## The tools\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(TOOLS)


def test_every_name_of_the_extension_for_pi_is_in_the_table_and_its_bound_on_the_page() -> None:
    extension = (PACKAGE / "index.js").read_text(encoding="utf-8")
    tools = re.findall(r'registerTool\({\s*name: "([\w-]+)"', extension)
    commands = ["/" + name for name in re.findall(r'registerCommand\("([\w-]+)"', extension)]
    table = PAGE.partition("| in pi |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `([\w/-]+)", table, re.MULTILINE) == [*tools, *commands]
    (bound,) = re.findall(r"REFERENCE_BYTES = ([\d_]+);", extension)
    assert f"at most {int(bound):,} bytes for one prompt" in PAGE


def test_the_limits_on_the_page_are_the_real_ones() -> None:
    promise = " ".join(PAGE.partition("**Limits.**")[2].partition("\n- ")[0].split())
    numbers = [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", promise)]
    real = [windows.MAX_WINDOW_ITEMS, windows.MAX_SNIPPET_BYTES, MAX_HITS, brief.BYTES]
    assert numbers == [*real, 80]
    assert brief.PASSAGE == windows.MAX_SNIPPET_BYTES
    bounds = PAGE.partition("**Bounds.**")[2].partition("\n- ")[0]
    numbers = [int(number.replace(",", "")) for number in re.findall(r"\d+,\d+", bounds)]
    assert numbers[:2] == [ANSWER_BYTES, LEAST_BYTES]


def test_the_extra_that_is_installed_exists() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name in re.findall(r"sesame-search\[(\w+)\]", PAGE):
        assert name in project["optional-dependencies"]


def test_the_question_on_the_page_is_answered(demo_sessions: Path, cli: Callable[..., Any]) -> None:
    (block,) = (block for block in blocks("console") if "sesame ask" in block)
    command, *expected = block.splitlines()
    assert cli("index").code == 0
    out = cli(*shlex.split(command)[2:]).out.splitlines()
    assert out[: len(expected) - 1] == expected[:-1]
