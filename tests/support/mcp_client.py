"""The MCP SDK's client, connected to this program, for tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from sesame_core.mcp import calls
from sesame_core.mcp.tools import Tools

REPOSITORY = Path(__file__).resolve().parents[2]
#: The first request of a client, for protocol versions with a handshake.
HANDSHAKE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
COMMAND = [sys.executable, "-m", "sesame_core", "mcp"]


def environment(**more: str) -> dict[str, str]:
    """The environment of this process, with variables of agents only if a test passes them."""
    return {**os.environ, **more}


def over_stdio(act: Callable[[Client], Awaitable[Any]], **more: str) -> Any:
    """Start a server on standard input and output, and return the result of `act` for its client."""

    async def run() -> Any:
        server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environment(**more))
        async with Client(stdio_client(server)) as client:
            return await act(client)

    return anyio.run(run)


def described() -> list[types.Tool]:
    """Return the tools as the SDK's types."""
    return [types.Tool.model_validate(tool) for tool in calls.described()]


def answered(tools: Tools, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    """Return a tool's answer as the SDK's type, without a server."""
    return types.CallToolResult.model_validate(calls.answered(lambda: tools, name, arguments))


def text_of(result: types.CallToolResult) -> str:
    """Return the text of an answer."""
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def value_of(result: types.CallToolResult) -> dict[str, Any]:
    """Return the value of an answer that is not an error: compact JSON, sent once."""
    assert not result.is_error, text_of(result)
    assert result.structured_content is None
    value = json.loads(text_of(result))
    assert isinstance(value, dict)
    return value


def read_to_its_end(ask: Callable[..., dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the pages of a session, each asked for where the one before ends.

    :param ask: returns the page at `offset` and `text_offset`; without them, the first.
    """
    where: dict[str, int] = {}
    while True:
        page = ask(**where)
        yield page
        if page["nextOffset"] is None:
            return
        following = {"offset": page["nextOffset"], "text_offset": page["nextTextOffset"]}
        assert following != where
        where = following


@dataclass
class Served:
    """A server over HTTP."""

    url: str
    process: subprocess.Popen[str]
    #: Its first line of output.
    greeting: str

    def post(self, **headers: str) -> tuple[int, str]:
        """Start a session with these headers; return the status and the body."""
        opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HANDSHAKE}
        return self.send(json.dumps(opening).encode(), **headers)

    def send(self, body: bytes, **headers: str) -> tuple[int, str]:
        """Send a body with these headers; return the status and the body of the answer."""
        basic = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        request = urllib.request.Request(self.url, body, {**basic, **headers})
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()


@contextmanager
def over_http(*options: str, before: str = "", **more: str) -> Iterator[Served]:
    """Run a server over HTTP on a free port.

    :param before: Python that runs in it first.
    """
    run = [sys.executable, "-c", f"{before}\nfrom sesame_core.cli import main; main()", "mcp"] if before else COMMAND
    process = subprocess.Popen(
        [*run, "--http", "127.0.0.1:0", *options], env=environment(**more), stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        greeting = process.stderr.readline()
        assert greeting.startswith("MCP on http://"), greeting + process.stderr.read()
        yield Served(greeting.split()[2], process, greeting)
    finally:
        process.terminate()
        process.wait(30)
        process.stderr.close()


def resident(pid: int) -> int:
    """Return the resident memory of a process, in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def ends_within(process: subprocess.Popen[Any], seconds: float) -> bool:
    """Return whether a process ends in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            return True
        time.sleep(0.02)
    return False
