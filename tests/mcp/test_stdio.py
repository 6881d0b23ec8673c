"""`sesame mcp` message by message, compared with the SDK's server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import methods
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from sesame_core.mcp.stdio import ENVELOPE, VERSIONS
from sesame_core.mcp.tools import TOOLS

from ..support.mcp_client import COMMAND, HANDSHAKE, ends_within, environment, text_of, value_of
from ..support.model_server import Answers, configured, serving
from ..support.transcripts import Claude, write

pytestmark = pytest.mark.once

BACKOFF = "d6bc0d35-ccec-43e4-a83f-b0efdb1ed801"
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Talk:
    """A server, and a client that writes what it likes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def say(self, *messages: Any) -> None:
        """Send messages: objects as JSON, bytes as they are."""
        assert self.process.stdin is not None
        for message in messages:
            self.process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode())
            self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        """Return the next message."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the server has ended"
        return json.loads(line)

    def ask(self, method: str, number: Any = 1, **params: Any) -> Any:
        """Return what answers a request."""
        self.say({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return self.hear()

    def call(self, name: str, number: Any = 1, **arguments: Any) -> Any:
        """Return the result of a call."""
        return self.ask("tools/call", number, name=name, arguments=arguments)["result"]


@contextmanager
def talking(*, shakes: bool = True, **more: str) -> Iterator[Talk]:
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**more)
    ) as process:
        talk = Talk(process)
        try:
            if shakes:
                assert talk.ask("initialize", 0, **HANDSHAKE)["result"]["protocolVersion"] == "2025-06-18"
                talk.say(READY)
            yield talk
        finally:
            process.kill()


@pytest.fixture
def talk(home: Path) -> Iterator[Talk]:
    with talking() as opened:
        yield opened


# -- as the SDK does it ----------------------------------------------------------------------------------------


def test_the_versions_are_those_that_the_sdk_knows() -> None:
    assert sorted(VERSIONS) == sorted(HANDSHAKE_PROTOCOL_VERSIONS)


def test_every_answer_is_valid_for_the_sdk_in_every_version(talk: Talk) -> None:
    for version in (*VERSIONS, "2099-01-01", "zzz"):
        result = talk.ask("initialize", 1, **{**HANDSHAKE, "protocolVersion": version})["result"]
        agreed = result["protocolVersion"]
        assert agreed == (version if version in VERSIONS else "2025-11-25")
        methods.validate_server_result("initialize", agreed, result)
        talk.say(READY)
        for method, params in (("ping", {}), ("tools/list", {}), ("tools/call", {"name": "list_sessions"})):
            result = talk.ask(method, 2, **params)["result"]
            assert methods.serialize_server_result(method, agreed, result) == result, method


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_the_sdks_client_is_served_in_the_version_that_it_wants(mode: Any, indexed_sessions: Path) -> None:
    async def run() -> None:
        server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environment())
        async with Client(stdio_client(server), mode=mode) as client:
            assert mode == "2026-07-28" or client.server_info.name == "sesame"
            assert len((await client.list_tools()).tools) == len(TOOLS)
            value = value_of(await client.call_tool("get_session", {"session": BACKOFF}))
            assert value["sessionId"] == BACKOFF
            mistake = await client.call_tool("nothing", {})
            assert mistake.is_error is True
            assert text_of(mistake).startswith("unknown tool 'nothing'")

    anyio.run(run)


def test_both_ways_to_serve_tell_the_same_about_the_server_and_its_tools(home: Path) -> None:
    found: list[Any] = []

    async def run(mode: Any) -> None:
        server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environment())
        async with Client(stdio_client(server), mode=mode) as client:
            tools = [tool.model_dump(exclude_none=True) for tool in (await client.list_tools()).tools]
            found.append((client.server_info, client.instructions, client.server_capabilities.tools, tools))

    anyio.run(run, "legacy")
    anyio.run(run, "auto")
    assert found[0] == found[1]


def test_a_handshake_loads_neither_the_sdk_nor_the_tools(home: Path) -> None:
    code = (
        "import sys; from sesame_core.cli import main\n"
        "from sesame_core.mcp.calls import Calls; Calls.warm_up = lambda self: None\n"
        "try: main()\n"
        "finally: sys.stderr.write(' '.join(sys.modules))"
    )
    said = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HANDSHAKE})
    ran = subprocess.run([sys.executable, "-c", code, "mcp"], input=said, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout)["result"]["serverInfo"]["name"] == "sesame"
    assert not {"mcp", "mcp_types", "pydantic", "anyio", "asyncio"} & set(ran.stderr.split())


# -- messages that are not requests ----------------------------------------------------------------------------


#: A line, and the id and the code of the error that answers it.
INVALID: list[tuple[bytes, Any, int]] = [
    (b"{", None, -32700),
    (b"fox", None, -32700),
    (b"[" * 100_000, None, -32700),
    (b"null", None, -32600),
    (b"[]", None, -32600),
    (b"7", None, -32600),
    (b"{}", None, -32600),
    (b'{"jsonrpc": "1.0", "id": 5, "method": "ping"}', 5, -32600),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', 1.5, -32600),
    (b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": [1], "method": "ping"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": 5}', 5, -32600),
    (b'{"jsonrpc": "2.0", "id": 5, "method": 7}', 5, -32600),
    (b'{"jsonrpc": "2.0", "id": 5, "method": "fox/run"}', 5, -32601),
    (b'{"jsonrpc": "2.0", "id": 5, "method": "resources/list"}', 5, -32601),
    (b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": [1]}', 5, -32602),
    (b'{"jsonrpc": "2.0", "id": 5, "method": "initialize"}', 5, -32602),
    (b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {}}', 5, -32602),
    (b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "x", "arguments": []}}', 5, -32602),
]
#: Lines that need no answer.
SILENT = [
    b"",
    b"   ",
    b'{"jsonrpc": "2.0", "method": "notifications/fox"}',
    b'{"jsonrpc": "2.0", "method": "notifications/cancelled"}',
    b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}}',
    b'{"jsonrpc": "2.0", "id": 7, "result": {}}',
]


def test_what_is_no_valid_request_has_an_error_as_its_answer(talk: Talk) -> None:
    for line, number, code in INVALID:
        talk.say(line)
        answer = talk.hear()
        assert (answer["id"], answer["error"]["code"]) == (number, code), line[:80]
        assert answer["error"]["message"]
        assert talk.ask("ping", "next") == {"jsonrpc": "2.0", "id": "next", "result": {}}


def test_what_needs_no_answer_has_none(talk: Talk) -> None:
    for line in SILENT:
        talk.say(line)
        assert talk.ask("ping", "next")["id"] == "next", line


def test_a_batch_is_answered_message_by_message(talk: Talk) -> None:
    talk.say([{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in (1, 2)] + [READY, 7])
    assert [talk.hear().get("id") for _ in range(3)] == [1, 2, None]


def test_lone_surrogates_and_bytes_that_are_not_utf_8_are_answered(talk: Talk) -> None:
    for query in (rb"\ud83d", rb"fox \udc00 end", rb"\ud83d\ud83d", b"a\xff"):
        call = b'{"name":"search_sessions","arguments":{"query":"%b"}}' % query
        talk.say(b'{"jsonrpc":"2.0","id":"%b","method":"tools/call","params":%b}' % (query, call))
        answer = talk.hear()
        assert answer["id"] == json.loads(b'"%b"' % query.replace(b"\xff", "\ufffd".encode()))
        assert answer["result"]["isError"] is False


def test_a_client_of_a_later_version_is_answered_what_the_sdk_would_drop(home: Path) -> None:
    meta = {ENVELOPE: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    with talking(shakes=False) as talk:
        assert "2026-07-28" in talk.ask("server/discover", 1, _meta=meta)["result"]["supportedVersions"]
        talk.say(b"{")
        assert talk.hear()["error"]["code"] == -32700
        arguments = {"name": "search_sessions", "arguments": {"query": "\ud83d"}, "_meta": meta}
        assert talk.ask("tools/call", 2, **arguments)["result"]["isError"] is False


def test_a_long_message_arrives_whole(talk: Talk) -> None:
    result = talk.call("get_session", session="🦊" * 200_000)
    assert result["isError"] is True


# -- calls -----------------------------------------------------------------------------------------------------


def test_a_cancelled_call_has_no_answer_and_the_server_goes_on(home: Path, indexed_sessions: Path) -> None:
    configured(home, "slow")
    with serving(home / "llm", "slow") as models, talking(LLM_USER_PATH=str(home / "llm")) as talk:
        models.script = [Answers("{}", delay=2)]
        call = {"name": "query_session", "arguments": {"session": BACKOFF, "question": "why?"}}
        talk.say({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        _until(lambda: bool(models.asked))
        talk.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        assert talk.ask("ping", 2)["id"] == 2
        _until(lambda: len(models.asked) > 1)  # the call has gone on, and its first answer was malformed
        assert talk.ask("ping", 3)["id"] == 3


def test_a_call_that_takes_long_tells_its_progress_to_a_client_that_asks_for_it(
    home: Path, indexed_sessions: Path
) -> None:
    configured(home, "slow")
    with serving(home / "llm", "slow") as models, talking(LLM_USER_PATH=str(home / "llm")) as talk:
        models.script = [Answers(json.dumps({"answer": "x", "found": False, "citations": []}), delay=3)]
        call = {"name": "query_session", "arguments": {"session": BACKOFF, "question": "why?"}}
        talk.say({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**call, "_meta": {"progressToken": 7}}})
        told: list[Any] = []
        while "id" not in (message := talk.hear()):
            told.append(message)
    assert json.loads(message["result"]["content"][0]["text"])["answer"] == "x"
    assert told
    for note in told:
        types.ProgressNotification.model_validate(note)
        assert (note["method"], note["params"]["progressToken"]) == ("notifications/progress", 7)
    assert told[-1]["params"]["message"] == "waiting for a language model"
    times = [note["params"]["progress"] for note in told]
    assert times == sorted(set(times))


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_sdks_client_is_told_the_progress(mode: Any, home: Path, indexed_sessions: Path) -> None:
    configured(home, "slow")
    told: list[str | None] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async def run() -> None:
        server = StdioServerParameters(
            command=COMMAND[0], args=COMMAND[1:], env=environment(LLM_USER_PATH=str(home / "llm"))
        )
        async with Client(stdio_client(server), mode=mode) as client:
            given = {"session": BACKOFF, "question": "why?"}
            value_of(await client.call_tool("query_session", given, progress_callback=heard))

    with serving(home / "llm", "slow") as models:
        models.script = [Answers(json.dumps({"answer": "x", "found": False, "citations": []}), delay=3)]
        anyio.run(run)
    assert told[-1:] == ["waiting for a language model"]


# -- a broken configuration ------------------------------------------------------------------------------------

BROKEN = [
    ("{", "config.jsonc"),
    ('{"models": 7}', "models"),
    ('{"backend": {"name": "nothing"}}', "nothing"),
    ('{"sources": [{"parser": "nothing"}]}', "nothing"),
    ('{"redact": {"patterns": {"a": "("}}}', "redact.patterns.a"),
    ('{"fox": 1}', "fox"),
]


def test_with_a_broken_configuration_each_call_says_what_is_wrong_until_it_is_mended(home: Path) -> None:
    file = home / ".config" / "sesame" / "config.jsonc"
    file.parent.mkdir(parents=True)
    file.write_text(BROKEN[0][0])
    with talking() as talk:
        assert len(talk.ask("tools/list")["result"]["tools"]) == len(TOOLS)
        for text, told in BROKEN:
            file.write_text(text)
            for tool, arguments in (("list_sessions", {}), ("search_sessions", {"query": "x"})):
                result = talk.call(tool, **arguments)
                (content,) = result["content"]
                if result["isError"]:
                    assert told in content["text"]
                    assert "\n" not in content["text"]
                else:  # what reads no source needs none
                    assert told in json.loads(result["content"][0]["text"])["index"]["reason"]
            file.write_text("{}")
            assert talk.call("list_sessions")["isError"] is False
        file.unlink()
        assert talk.call("list_sessions")["isError"] is False


# -- the end ---------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("shakes", [True, False])
def test_sigint_ends_a_server_whose_client_keeps_the_pipe_open(home: Path, shakes: bool) -> None:
    meta = {ENVELOPE: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    with talking(shakes=shakes) as talk:
        assert "result" in talk.ask("tools/list", 1, **({} if shakes else {"_meta": meta}))
        talk.process.send_signal(signal.SIGINT)
        assert ends_within(talk.process, 20)
        assert talk.process.stderr is not None
        assert (talk.process.returncode, talk.process.stderr.read()) == (130, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_sigint_ends_a_server_in_the_middle_of_a_call(home: Path, indexed_sessions: Path) -> None:
    configured(home, "slow")
    with serving(home / "llm", "slow") as models, talking(LLM_USER_PATH=str(home / "llm")) as talk:
        models.script = [Answers("{}", delay=50)]
        call = {"name": "query_session", "arguments": {"session": BACKOFF, "question": "why?"}}
        talk.say({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
        _until(lambda: bool(models.asked))
        talk.process.send_signal(signal.SIGINT)
        assert ends_within(talk.process, 20)
        assert talk.process.returncode == 130


def test_a_script_that_closes_its_end_after_its_last_request_gets_the_answers(indexed_sessions: Path) -> None:
    said = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HANDSHAKE},
        READY,
        *({"jsonrpc": "2.0", "id": n, "method": "tools/list"} for n in (2, 3)),
    ]
    ran = subprocess.run(
        COMMAND, input="".join(json.dumps(m) + "\n" for m in said).encode(), capture_output=True, check=True
    )
    assert sorted(json.loads(line)["id"] for line in ran.stdout.splitlines()) == [1, 2, 3]


def test_a_client_that_reads_no_more_ends_the_server(home: Path) -> None:
    with talking() as talk:
        assert talk.process.stdout is not None
        talk.process.stdout.close()
        talk.say({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert ends_within(talk.process, 20)
        assert talk.process.returncode == 1


def test_what_a_plugin_prints_is_no_message(home: Path) -> None:
    code = (
        "import os, sys; from sesame_core.mcp import calls\n"
        "plain = calls.described\n"
        "def noisy():\n"
        "    print('fox', flush=True); os.write(1, b'raw'); assert not sys.stdin.read(); return plain()\n"
        "calls.described = noisy\n"
        "from sesame_core.cli import main; main()"
    )
    said = "".join(
        json.dumps(message) + "\n"
        for message in (
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HANDSHAKE},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        )
    )
    ran = subprocess.run([sys.executable, "-c", code, "mcp"], input=said, capture_output=True, text=True, check=True)
    assert [json.loads(line)["id"] for line in ran.stdout.splitlines()] == [1, 2]
    assert ran.stderr == "fox\nraw"


# -- freshness -------------------------------------------------------------------------------------------------


def test_the_first_call_finds_what_was_never_indexed(demo_sessions: Path) -> None:
    with talking() as talk:
        value = json.loads(talk.call("search_sessions", query="reconnect backoff")["content"][0]["text"])
        assert value["total"] > 0


def test_a_session_that_is_written_between_two_calls_is_found_by_the_second(home: Path) -> None:
    with talking() as talk:
        assert json.loads(talk.call("search_sessions", query="fox")["content"][0]["text"])["total"] == 0
        claude = Claude()
        write(claude.path, claude.user("the fox"), claude.answer("it ran"))
        assert json.loads(talk.call("search_sessions", query="fox")["content"][0]["text"])["total"] == 1


def _until(is_so: Any) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)
