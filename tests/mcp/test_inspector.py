"""`sesame mcp` with a client that has no line in common with the SDK: npm's MCP inspector, on its command line."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from ..support import npm
from ..support.mcp_client import COMMAND, over_http
from .test_server import CALLS

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def inspector() -> list[str]:
    """The command line of the inspector."""
    modules = npm.installed(INSPECTOR)
    script = modules / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
    node = npm.installed(npm.NODE) / ".bin" / "node"
    return [str(node), str(script), "--cli"]


@pytest.fixture
def inspect(inspector: list[str], indexed_sessions: Path) -> Callable[..., Any]:
    """What the inspector makes of an answer."""

    def run(server: list[str], *options: str) -> Any:
        variables = ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "PYTHONPATH"]
        given = [f"-e{name}={os.environ[name]}" for name in variables if name in os.environ]
        command = [*inspector, *server, *(given if server == COMMAND else []), *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), done.stderr

    return run


def test_the_inspector_has_nothing_to_say_against_the_schemas(inspect: Callable[..., Any]) -> None:
    listed, remarks = inspect(COMMAND, "--method", "tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]] == list(CALLS)
    assert remarks == ""


@pytest.mark.parametrize("name", CALLS)
def test_the_inspector_calls_every_tool(name: str, inspect: Callable[..., Any]) -> None:
    arguments = [f"{key}={json.dumps(value)}" for key, value in CALLS[name].items()]
    result, _ = inspect(COMMAND, "--method", "tools/call", "--tool-name", name, "--tool-arg", *arguments)
    assert not result.get("isError"), result
    (content,) = result["content"]
    assert json.loads(content["text"])


def test_the_inspector_is_served_over_http(inspect: Callable[..., Any]) -> None:
    secret = "a-secret-of-thirty-two-characters"
    with over_http(SESAME_MCP_TOKEN=secret) as server:
        target = [server.url, "--transport", "http", "--header", f"Authorization: Bearer {secret}"]
        load = ["--load", "--load-concurrency", "50", "--load-requests", "100"]
        summary, _ = inspect(
            target, "--method", "tools/call", "--tool-name", "search_sessions", "--tool-arg", "query=nix", *load
        )
    assert (summary["ok"], summary["toolErrors"], summary["errors"]) == (100, 0, 0)
