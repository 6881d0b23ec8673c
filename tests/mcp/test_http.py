"""`sesame mcp --http`: only bearers of the token are served, and only under the server's own names."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import stat
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from sesame_core.errors import QueryError, SesameError
from sesame_core.mcp import http
from sesame_core.mcp.tools import TOOLS

from ..support.mcp_client import Served, ends_within, over_http, value_of
from .test_server import CALLS

pytestmark = pytest.mark.once

SECRET = "a-secret-of-thirty-two-characters"


@pytest.fixture
def served(indexed_sessions: Path) -> Iterator[Served]:
    with over_http(SESAME_MCP_TOKEN=SECRET) as server:
        yield server


def with_client(server: Served, act: Callable[[Client], Awaitable[Any]], **headers: str) -> Any:
    async def run() -> Any:
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as connection,
            Client(streamable_http_client(server.url, http_client=connection)) as client,
        ):
            return await act(client)

    return anyio.run(run)


def test_the_client_lists_and_calls_every_tool_and_fifty_at_once(served: Served) -> None:
    async def act(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(TOOLS)
        several = list(CALLS.items())

        async def one(name: str, arguments: dict[str, Any]) -> None:
            value_of(await client.call_tool(name, arguments))

        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(one, *several[number % len(several)])

    with_client(served, act, Authorization=f"Bearer {SECRET}")


def test_without_the_token_nothing_is_said(served: Served) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": SECRET}, {"Authorization": "Bearer "}):
        status, body = served.post(**headers)
        assert (status, "search_sessions" in body) == (401, False)
    status, _ = served.post(Authorization=f"Bearer {SECRET}é".encode().decode("latin-1"))
    assert status == 401


def test_a_page_of_the_web_gets_nothing_even_with_the_token(served: Served) -> None:
    bearer = f"Bearer {SECRET}"
    assert served.post(Authorization=bearer, Host="evil.example")[0] == 421
    assert served.post(Authorization=bearer, Origin="https://evil.example")[0] == 403
    assert served.post(Authorization=bearer, Origin="http://localhost.evil.example")[0] == 403
    assert served.post(Authorization=bearer, Origin="http://localhost:3000")[0] == 200
    assert served.post(Authorization=bearer)[0] == 200


def test_over_http_the_servers_own_environment_says_nothing_about_the_caller(indexed_sessions: Path) -> None:
    async def act(client: Client) -> dict[str, Any]:
        return value_of(await client.call_tool("list_sessions", {}))

    with over_http(SESAME_MCP_TOKEN=SECRET, CLAUDE_CODE_SESSION_ID=CALLS["get_session"]["session"]) as server:
        value = with_client(server, act, Authorization=f"Bearer {SECRET}")
    assert (value["total"], value["currentSessions"]) == (9, [])


def test_a_token_is_made_once_and_is_the_owners_alone(home: Path) -> None:
    file = home / ".local" / "share" / "sesame" / "mcp-token"
    with over_http() as server:
        made = file.read_text().strip()
        assert server.greeting.endswith(f"; a new token is in {file}\n")
        assert made not in server.greeting
        assert server.post(Authorization=f"Bearer {made}")[0] == 200
        server.process.send_signal(signal.SIGINT)
        assert ends_within(server.process, 10)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(made) >= 40
    assert http.token(None) == (made, f"the token is in {file}")


def test_the_token_of_a_named_file_wins_over_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(http.TOKEN, SECRET)
    assert http.token(None) == (SECRET, "the token is that of SESAME_MCP_TOKEN")
    named = home / "token"
    named.write_text("x" * 40 + "\n")
    assert http.token(named)[0] == "x" * 40


@pytest.mark.parametrize(
    "weak", ["", "short", "with spaces in it, and long enough", "é" * 40, "x" * 30 + "\n" + "y" * 30]
)
def test_a_token_that_is_not_a_secret_is_refused(weak: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = home / "token"
    named.write_text(weak)
    with pytest.raises(SesameError, match="must be 22 or more plain characters"):
        http.token(named)


def test_a_token_that_cannot_be_read_is_reported(home: Path) -> None:
    with pytest.raises(SesameError, match="the token cannot be read or created"):
        http.token(home)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("127.0.0.1:8765", ("127.0.0.1", 8765)),
        ("8765", ("127.0.0.1", 8765)),
        (":8765", ("127.0.0.1", 8765)),
        ("[::1]:80", ("::1", 80)),
        ("box.local:0", ("box.local", 0)),
    ],
)
def test_a_place_is_a_host_and_a_port(text: str, place: tuple[str, int]) -> None:
    read = http.Place.read(text)
    assert (read.host, read.port) == place


@pytest.mark.parametrize("text", ["", "localhost", "localhost:", "localhost:http", "localhost:65536", "localhost:-1"])
def test_an_invalid_address_is_reported(text: str) -> None:
    with pytest.raises(QueryError, match=r"is not HOST:PORT, such as 127\.0\.0\.1:8765"):
        http.Place.read(text)


def test_an_address_in_use_is_reported(home: Path, cli: Callable[..., Any]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        ran = cli("mcp", "--http", f"127.0.0.1:{port}")
    assert ran.code == 1
    assert ran.err == f"sesame: cannot listen on 127.0.0.1:{port}: {os.strerror(errno.EADDRINUSE)}\n"


def test_options_of_http_alone_make_no_sense(home: Path, cli: Callable[..., Any]) -> None:
    ran = cli("mcp", "--allow-host", "box")
    assert (ran.code, ran.out) == (2, "")
    assert "use them with --http HOST:PORT" in ran.err


def test_everywhere_is_not_a_name_but_further_names_may_be_allowed() -> None:
    settings = http._security(http.Place("0.0.0.0", 80), ["box.local"])
    assert {"box.local", "box.local:*", "localhost:*"} <= set(settings.allowed_hosts)
    assert not any("0.0.0.0" in host for host in settings.allowed_hosts)
    assert "https://box.local" in settings.allowed_origins
    assert "[fe80::1]:*" in http._security(http.Place("fe80::1", 80), []).allowed_hosts


def test_a_client_that_is_slow_or_sends_too_much_is_left(indexed_sessions: Path) -> None:
    before = (
        "import sesame_core.runtime.serving as s, sesame_core.mcp.http as h\n"
        "s.HEAD_SECONDS = s.TAKE_SECONDS = s.KEEP_SECONDS = s.BODY_SECONDS = 0.2; h.BODY_BYTES = 20_000"
    )
    with over_http(before=before, SESAME_MCP_TOKEN=SECRET) as server:
        own = f"Host: 127.0.0.1\r\nAuthorization: Bearer {SECRET}\r\n"
        head = f"POST /mcp HTTP/1.1\r\n{own}Content-Length: 50000\r\n\r\n"
        for sent, starts in (
            (b"", b""),
            (b"POST /mcp HTTP/1.1\r\nHost: ", b""),
            (head.encode(), b"HTTP/1.1 408 "),
            (head.encode() + b"x" * 30_000, b"HTTP/1.1 413 "),
        ):
            with socket.create_connection(("127.0.0.1", urlsplit(server.url).port), 30) as connection:
                connection.sendall(sent)
                answer = b""
                with contextlib.suppress(ConnectionError):
                    while part := connection.recv(65536):
                        answer += part
            assert answer.startswith(starts), answer
            assert bool(answer) == bool(starts)
        assert server.post(Authorization=f"Bearer {SECRET}")[0] == 200
