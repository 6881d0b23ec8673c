"""What is no message of the protocol gets an answer, and the server lives on."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from sesame_core.mcp import wire
from sesame_core.mcp.wire import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR

from ..support.mcp_client import COMMAND, HANDSHAKE, Served, ends_within, environment, over_http

CALL = (
    '{"jsonrpc": "2.0", "id": %s, "method": "tools/call", '
    '"params": {"name": "search_sessions", "arguments": {"query": "%s"}}}'
)

#: Lines that are no message, with the id and the code of each answer.
BROKEN: list[tuple[str, list[tuple[Any, int]]]] = [
    ("fox", [(None, PARSE_ERROR)]),
    ("{", [(None, PARSE_ERROR)]),
    ('{"jsonrpc": "2.0", "id": 1, "method": "ping"', [(None, PARSE_ERROR)]),
    ('{"a": 1} {"b": 2}', [(None, PARSE_ERROR)]),
    ("\x00", [(None, PARSE_ERROR)]),
    ("[" * 100_000, [(None, PARSE_ERROR)]),
    ('{"id": ' + "9" * 5_000 + "}", [(None, PARSE_ERROR)]),
    ("[]", [(None, INVALID_REQUEST)]),
    ("5", [(None, INVALID_REQUEST)]),
    ('"fox"', [(None, INVALID_REQUEST)]),
    ("null", [(None, INVALID_REQUEST)]),
    ("{}", [(None, INVALID_REQUEST)]),
    (
        '[{"jsonrpc": "2.0", "id": 8, "method": "ping"}, {"jsonrpc": "2.0", "id": "x", "method": "ping"}, 5]',
        [(8, INVALID_REQUEST), ("x", INVALID_REQUEST)],
    ),
    ('[{"jsonrpc": "2.0", "method": "notifications/fox"}]', [(None, INVALID_REQUEST)]),
    *(
        (f'{{"jsonrpc": "2.0", "id": {name}, "method": "ping"}}', [(None, INVALID_REQUEST)])
        for name in ("1.5", "null", "true", "[]", "{}", "1e3")
    ),
    ('{"id": 8, "method": "ping"}', [(8, INVALID_REQUEST)]),
    ('{"jsonrpc": "1.0", "id": 8, "method": "ping"}', [(8, INVALID_REQUEST)]),
    ('{"jsonrpc": "2.0", "id": 8}', [(8, INVALID_REQUEST)]),
    ('{"jsonrpc": "2.0", "id": 8, "method": 5}', [(8, INVALID_REQUEST)]),
    ('{"jsonrpc": "2.0", "id": "x", "method": "ping", "params": [1]}', [("x", INVALID_PARAMS)]),
]


@pytest.mark.parametrize(("line", "told"), BROKEN, ids=lambda value: str(value)[:40])
def test_what_is_no_message_gets_an_answer_with_its_id_where_it_has_one(line: str, told: list[tuple[Any, int]]) -> None:
    message, answers = wire.read(line)
    assert message is None
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == told
    assert all(len(answer["error"]["message"]) < 300 for answer in answers)


@pytest.mark.parametrize("line", ["", "\n", "  \r\n"])
def test_an_empty_line_is_nothing(line: str) -> None:
    assert wire.read(line) == (None, ())


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc": "2.0", "id": 0, "method": "ping"}',
        '{"jsonrpc": "2.0", "id": "", "method": "ping", "params": null}',
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        '{"jsonrpc": "2.0", "id": 3, "result": {}}',
        '{"jsonrpc": "2.0", "id": 3, "error": {"code": 1, "message": "x"}}',
    ],
)
def test_a_message_stays_as_it_is(line: str) -> None:
    assert wire.read(line) == (json.loads(line), ())


def test_a_cut_emoji_becomes_a_replacement_character_and_a_whole_one_stays() -> None:
    message, answers = wire.read(CALL % (1, r"cut \ud83d whole \ud83e\udd8a"))
    assert answers == ()
    assert message is not None
    assert message["params"]["arguments"]["query"] == "cut \ufffd whole 🦊"


# -- the server ------------------------------------------------------------------------------------------------


@pytest.fixture
def exchange(indexed_sessions: Path) -> Iterator[Callable[[str], Any]]:
    """Send a line to a server on standard input and output, and return what it answers."""
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        writing, reading = server.stdin, server.stdout

        def send(line: str) -> Any:
            writing.write(line.encode("utf-8", "surrogateescape") + b"\n")
            writing.flush()
            return json.loads(reading.readline())

        send(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HANDSHAKE}))
        writing.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        yield send
        writing.close()
        assert ends_within(server, 10)
        assert reading.read() == b""


def test_over_standard_input_every_broken_line_is_answered_and_the_server_lives(
    exchange: Callable[[str], Any],
) -> None:
    for line, told in BROKEN:
        if len(told) == 1 and "\n" not in line:
            answer = exchange(line)
            assert (answer["id"], answer["error"]["code"]) == told[0], line[:80]
    assert exchange(CALL % (1, "backoff"))["result"]["structuredContent"]["total"] > 0
    answer = exchange(CALL % (2, r"backoff \ud83d"))
    assert (answer["id"], answer["result"]["isError"]) == (2, False)
    assert exchange(CALL % (3, "backoff \udcff"))["id"] == 3
    assert exchange(CALL % ('"\\ud83d"', "backoff"))["id"] == "\ufffd"
    unknown = exchange('{"jsonrpc": "2.0", "id": 5, "method": "tools/fox"}')
    assert (unknown["id"], unknown["error"]["code"]) == (5, -32601)
    assert exchange('{"jsonrpc": "2.0", "id": 6, "method": "ping"}')["id"] == 6


SECRET = "a-secret-of-thirty-two-characters"


def post(server: Served, body: bytes, **headers: str) -> tuple[int, str]:
    basic = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {SECRET}",
    }
    request = urllib.request.Request(server.url, body, {**basic, **headers})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_over_http_every_broken_body_is_answered_and_the_server_lives(indexed_sessions: Path) -> None:
    with over_http(SESAME_MCP_TOKEN=SECRET) as server:
        for line in [*(line for line, _ in BROKEN), CALL % (2, r"backoff \ud83d"), ""]:
            status, body = post(server, line.encode("utf-8", "surrogateescape"))
            assert (status, "error" in json.loads(body)) == (400, True), line[:80]
        assert server.post(Authorization=f"Bearer {SECRET}")[0] == 200
