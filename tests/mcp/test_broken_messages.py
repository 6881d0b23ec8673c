"""What is no message of the protocol gets an answer, and the server lives on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from ..support.mcp_client import COMMAND, HANDSHAKE, ends_within, environment, over_http

pytestmark = pytest.mark.once

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602

CALL = (
    '{"jsonrpc": "2.0", "id": %s, "method": "tools/call", '
    '"params": {"name": "list_sessions", "arguments": {"repo": "%s"}}}'
)
#: Lines that are no message, with the id and the code of the answer.
BROKEN: list[tuple[str, Any, int]] = [
    ("fox", None, PARSE_ERROR),
    ("{", None, PARSE_ERROR),
    ('{"jsonrpc": "2.0", "id": 1, "method": "ping"', None, PARSE_ERROR),
    ('{"a": 1} {"b": 2}', None, PARSE_ERROR),
    ("\x00", None, PARSE_ERROR),
    ("[" * 100_000, None, PARSE_ERROR),
    ('{"id": ' + "9" * 5_000 + "}", None, PARSE_ERROR),
    ("[]", None, INVALID_REQUEST),
    ("[[]]", None, INVALID_REQUEST),
    ("5", None, INVALID_REQUEST),
    ('"fox"', None, INVALID_REQUEST),
    ("null", None, INVALID_REQUEST),
    ("{}", None, INVALID_REQUEST),
    ('{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', 1.5, INVALID_REQUEST),
    ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, INVALID_REQUEST),
    ('{"jsonrpc": "2.0", "id": true, "method": "ping"}', None, INVALID_REQUEST),
    ('{"jsonrpc": "2.0", "id": [], "method": "ping"}', None, INVALID_REQUEST),
    ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', None, INVALID_REQUEST),
    ('{"jsonrpc": "2.0", "id": 1e400, "method": "ping"}', None, INVALID_REQUEST),
    ('{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', None, INVALID_REQUEST),
    ('{"id": 8, "method": "ping"}', 8, INVALID_REQUEST),
    ('{"jsonrpc": "1.0", "id": 8, "method": "ping"}', 8, INVALID_REQUEST),
    ('{"jsonrpc": "2.0", "id": 8}', 8, INVALID_REQUEST),
    ('{"jsonrpc": "2.0", "id": 8, "method": 5}', 8, INVALID_REQUEST),
    ('{"jsonrpc": "2.0", "id": "x", "method": "ping", "params": [1]}', "x", INVALID_PARAMS),
    ('{"jsonrpc": "2.0", "id": 8, "method": "tools/fox"}', 8, METHOD_NOT_FOUND),
    ('{"jsonrpc": "2.0", "id": 8, "method": "tools/call"}', 8, INVALID_PARAMS),
    ('{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": 5}}', 8, INVALID_PARAMS),
    (
        '{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "x", "arguments": []}}',
        8,
        INVALID_PARAMS,
    ),
]
#: Lines that nobody waits for an answer to.
UNANSWERED = (
    "",
    "  \r",
    '{"jsonrpc": "2.0", "id": 3, "result": {}}',
    '{"jsonrpc": "2.0", "id": 3, "error": {"code": 1, "message": "x"}}',
    '{"jsonrpc": "2.0", "method": "notifications/fox"}',
)
#: Texts that no transport can encode, and some that look like them.
TEXTS = [r"fox \ud83d", r"\udc00", r"\ud83d\ud83d", "fox \udcff", r"whole \ud83e\udd8a", r"nul \u0000"]


class Exchange:
    """A server on standard input and output."""

    def __init__(self, server: subprocess.Popen[bytes]) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        self._in, self._out = server.stdin, server.stdout

    def send(self, line: str) -> None:
        self._in.write(line.encode("utf-8", "surrogateescape") + b"\n")
        self._in.flush()

    def read(self) -> Any:
        return json.loads(self._out.readline())

    def ask(self, line: str) -> Any:
        self.send(line)
        return self.read()


@pytest.fixture
def exchange(indexed_sessions: Path) -> Iterator[Exchange]:
    pytest.importorskip("sesame_core.mcp.stdio", reason="the SDK's own loop drops what it cannot read")
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        one = Exchange(server)
        one.ask(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HANDSHAKE}))
        one.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        yield one
        server.stdin.close()
        assert ends_within(server, 10)
        assert server.stdout.read() == b""


def test_over_standard_input_every_broken_line_is_answered_and_the_server_lives(exchange: Exchange) -> None:
    for line, name, code in BROKEN:
        answer = exchange.ask(line)
        assert (answer["id"], answer["error"]["code"]) == (name, code), line[:80]
        assert len(answer["error"]["message"]) < 300
    for line in (
        "",
        "  \r",
        '{"jsonrpc": "2.0", "id": 3, "result": {}}',
        '{"jsonrpc": "2.0", "method": "notifications/fox"}',
    ):
        exchange.send(line)
    assert exchange.ask('{"jsonrpc": "2.0", "id": 6, "method": "ping"}') == {"jsonrpc": "2.0", "id": 6, "result": {}}


def test_each_request_of_a_batch_gets_its_answer(exchange: Exchange) -> None:
    exchange.send('[{"jsonrpc": "2.0", "id": 8, "method": "ping"}, {"jsonrpc": "2.0", "id": "x", "method": "ping"}, 5]')
    answers = [exchange.read() for _ in range(3)]
    assert sorted(str(answer["id"]) for answer in answers) == ["8", "None", "x"]
    assert exchange.ask('{"jsonrpc": "2.0", "id": 6, "method": "ping"}')["id"] == 6


@pytest.mark.parametrize(
    "text", [r"fox \ud83d", r"\udc00", r"\ud83d\ud83d", "fox \udcff", r"whole \ud83e\udd8a", r"nul \u0000"]
)
def test_a_cut_emoji_is_answered_as_any_text(text: str, exchange: Exchange) -> None:
    answer = exchange.ask(CALL % (2, text))
    assert (answer["id"], answer["result"].get("isError", False)) == (2, False)
    assert json.loads(answer["result"]["content"][0]["text"])["total"] == 0


SECRET = "a-secret-of-thirty-two-characters"


def test_over_http_every_broken_body_is_answered_and_the_server_lives(indexed_sessions: Path) -> None:
    with over_http(SESAME_MCP_TOKEN=SECRET) as server:
        for line in [*(line for line, _, _ in BROKEN), CALL % (2, r"backoff \ud83d"), ""]:
            status, body = server.send(line.encode("utf-8", "surrogateescape"), Authorization=f"Bearer {SECRET}")
            assert (status, "error" in json.loads(body)) == (400, True), line[:80]
        assert server.post(Authorization=f"Bearer {SECRET}")[0] == 200
