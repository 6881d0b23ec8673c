"""Sesame and real Codex, which talks to a model on this machine: what it writes is found, and resumed by it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ..support import npm
from ..support.agents_page import commands
from ..support.terminal import end_programs_in, shows
from ..support.transcripts import Claude
from ..support.transcripts import write as write_records

PACKAGE = "@openai/codex@0.171.0"

pytestmark = pytest.mark.once

CONFIG = """model = "fake-1"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.fake]
name = "Fake"
base_url = "http://127.0.0.1:%d/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
[features]
daemon_auto_start = false  # it would outlive the test
"""


class Model:
    """A server of OpenAI's Responses: each answer is the next of the script."""

    def __init__(self) -> None:
        #: Items that the next responses consist of, in the protocol's form; the last response is repeated.
        self.script: list[list[dict[str, Any]]] = []
        #: The texts that a request had.
        self.asked: list[str] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                self._reply("application/json", b'{"object": "list", "data": [], "models": []}')

            def do_POST(self) -> None:
                model.asked.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
                items = model.script.pop(0) if len(model.script) > 1 else model.script[0]
                usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
                events = [
                    {"type": "response.created", "response": {"id": "r"}},
                    *({"type": "response.output_item.done", "item": one, "output_index": 0} for one in items),
                    {"type": "response.completed", "response": {"id": "r", "output": items, "usage": usage}},
                ]
                body = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
                with suppress(BrokenPipeError, ConnectionResetError):
                    self._reply("text/event-stream", body.encode())

            def _reply(self, kind: str, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.port: int = self._server.server_port

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def text(said: str) -> dict[str, Any]:
    return {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": said}]}


def server_call(tool: str, call: str, **arguments: Any) -> dict[str, Any]:
    """A call of a tool of the server `sesame`."""
    given = json.dumps(arguments)
    named = {"namespace": "mcp__sesame", "name": tool, "arguments": given}
    return {"type": "function_call", "id": f"f{call}", "call_id": call, **named}


def command(line: str, call: str) -> dict[str, Any]:
    arguments = json.dumps({"cmd": line})
    return {"type": "function_call", "id": f"f{call}", "call_id": call, "name": "exec_command", "arguments": arguments}


@pytest.fixture
def model() -> Iterator[Model]:
    made = Model()
    yield made
    made.close()


@pytest.fixture
def project(home: Path) -> Path:
    place = home / "fox"
    place.mkdir()
    (place / "AGENTS.md").write_text("# Rules: RULESNOISE\n")
    for line in (
        "init -q -b burrow",
        "remote add origin https://example.invalid/bo/fox.git",
        "add -A",
        "-c user.name=Bo -c user.email=bo@example.invalid commit -qm init",
    ):
        subprocess.run(["git", *line.split()], cwd=place, check=True)
    return place


@pytest.fixture
def codex(home: Path, model: Model, project: Path) -> Callable[..., str]:
    """Run Codex in the project, and return what it prints."""
    program = npm.installed(PACKAGE) / ".bin" / "codex"
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(
        CONFIG % model.port + f'[projects."{project}"]\ntrust_level = "trusted"\n'
    )

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [program, *arguments],
            cwd=project,
            env={**os.environ, "FAKE_KEY": "x"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def sessions(cli: Callable[..., Any], *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(cli("search", *words, "--all-kinds", "--json").out)["results"]
    return found


def test_what_codex_writes_is_found_and_resumed_by_it(
    codex: Callable[..., str], model: Model, project: Path, cli: Callable[..., Any]
) -> None:
    model.script = [
        [text("I look for the ocelot"), command("echo found-the-margay && false", "c1")],
        [command("apply_patch <<'P'\n*** Begin Patch\n*** Add File: den.txt\n+a serval\n*** End Patch\nP", "c2")],
        [text("the caracal is tame")],
    ]
    codex("exec", "where do the lynxes live")
    assert cli("index").code == 0
    (thread,) = {one["sessionId"] for one in sessions(cli, "lynxes")}
    for words in (
        ("ocelot",),
        ("margay", "--error"),
        ("serval", "--path", "den.txt"),
        ("caracal", "--branch", "burrow"),
    ):
        assert [one["sessionId"] for one in sessions(cli, *words)] == [thread], words
    assert sessions(cli, "RULESNOISE") == []
    assert sessions(cli, "echo", "--repo", "bo/fox", "--cmd", "echo found-the-margay")

    told = json.loads(cli("resume", thread, "--json").out)
    assert (told["command"], told["cwd"]) == (["codex", "resume", thread], str(project))
    model.script = [[text("the jaguar follows")]]
    codex("exec", "resume", thread, "and then")
    assert "where do the lynxes live" in model.asked[-1]
    assert [one["sessionId"] for one in sessions(cli, "jaguar")] == [thread]
    shown = cli("show", thread).out

    assert shown.count("the caracal is tame") == 1
    program = npm.installed(PACKAGE) / ".bin"
    environment = {**os.environ, "FAKE_KEY": "x", "TERM": "xterm-256color", "PATH": f"{program}:{os.environ['PATH']}"}
    try:
        assert shows([sys.executable, "-m", "sesame_core", "resume", thread], "the jaguar follows", environment)
    finally:
        # Its screen has installed and started a server that outlives it.
        end_programs_in(project.parent / ".codex")


def test_a_search_that_codex_starts_leaves_its_own_session_out(
    codex: Callable[..., str], model: Model, home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = home / "environment"
    model.script = [[command(f"env > {out}", "c1")], [text("done")]]
    codex("exec", "look at the ocelot")
    assert cli("index").code == 0
    (thread,) = {one["sessionId"] for one in sessions(cli, "ocelot")}
    given = dict(line.partition("=")[::2] for line in out.read_text().splitlines())
    assert given["CODEX_THREAD_ID"] == thread
    monkeypatch.setenv("CODEX_THREAD_ID", given["CODEX_THREAD_ID"])
    assert sessions(cli, "ocelot") == []


def test_a_call_of_the_server_leaves_the_calling_thread_out(
    codex: Callable[..., str], model: Model, home: Path, cli: Callable[..., Any]
) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    codex("mcp", "add", "sesame", "--", sys.executable, "-m", "sesame_core", "mcp")
    config = home / ".codex" / "config.toml"
    # Else the first answer may come before the server has started.
    waiting = "[mcp_servers.sesame]\nrequired = true\nstartup_timeout_sec = 90"
    config.write_text(config.read_text().replace("[mcp_servers.sesame]", waiting))
    model.script = [[text("an ocelot")]]
    codex("exec", "who was here before")
    model.script = [[server_call("search_sessions", "c1", query="ocelot before")], [text("done")]]
    codex("exec", "was there an ocelot before?")
    assert cli("index").code == 0
    earlier, own = sorted(one["sessionId"] for one in sessions(cli, "ocelot"))
    (output,) = (one["output"] for one in json.loads(model.asked[-1])["input"] if one["type"] == "function_call_output")
    told = output if isinstance(output, str) else "".join(part["text"] for part in output)
    assert f'"currentSessions":["{own}"]' in told
    assert f'"session":"{earlier}"' in told


def test_a_session_that_codex_imports_from_claude_code_is_found_once(
    codex: Callable[..., str], model: Model, project: Path, home: Path, cli: Callable[..., Any]
) -> None:
    claude = Claude(
        "0b3e6c1a-5d6f-4a3e-9a51-3f1f0c1d2e01", cwd=str(project), start=datetime.now(UTC) - timedelta(days=1)
    )
    bash = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "cat den.py"}}
    write_records(
        claude.path,
        claude.user("why is the ocelot slow"),
        claude.answer("I look at the den.", bash),
        claude.result("serval = 1\n"),
        claude.answer("The caracal is cold."),
    )
    thread = imported(npm.installed(PACKAGE) / ".bin" / "codex", project)
    assert cli("index").code == 0
    for words in ("ocelot slow", "caracal cold", "serval"):
        assert [one["sessionId"] for one in sessions(cli, words)] == [claude.session], words
    model.script = [[text("the margay follows")]]
    codex("exec", "resume", thread, "and then")
    assert "The caracal is cold." in model.asked[-1]
    assert [one["sessionId"] for one in sessions(cli, "margay")] == [thread]
    claude.path.unlink()
    assert cli("index").code == 0
    assert [one["sessionId"] for one in sessions(cli, "caracal cold")] == [claude.session]
    told = json.loads(cli("resume", claude.session, "--json").out)
    assert (told["command"], told["cwd"]) == (["codex", "resume", thread], str(project))


def imported(program: Path, project: Path) -> str:
    """Let Codex import the recent sessions of Claude Code; return the id of the thread."""
    with subprocess.Popen(
        [program, "app-server"],
        cwd=project,
        env={**os.environ, "FAKE_KEY": "x"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout

        def ask(number: int, method: str, **parameters: Any) -> dict[str, Any]:
            assert process.stdin
            request = {"id": number, "method": method, "params": parameters}
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            return until(lambda said: said.get("id") == number)

        def until(is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
            assert process.stdout
            said: dict[str, Any] = next(one for one in map(json.loads, process.stdout) if is_it(one))
            return said

        client = {"name": "test", "title": "test", "version": "1"}
        ask(1, "initialize", clientInfo=client, capabilities={"experimentalApi": True})
        process.stdin.write('{"method": "initialized"}\n')
        found = ask(2, "externalAgentConfig/detect", includeHome=True, cwds=[str(project)])["result"]["items"]
        wanted = [item for item in found if item["itemType"] == "SESSIONS"]
        ask(3, "externalAgentConfig/import", migrationItems=wanted)
        done = until(lambda said: said.get("method") == "externalAgentConfig/import/completed")
        process.stdin.close()
        thread: str = done["params"]["itemTypeResults"][0]["successes"][0]["target"]
        return thread


def test_codex_knows_the_skill_and_the_server_that_it_was_told_of(
    codex: Callable[..., str], model: Model, home: Path, cli: Callable[..., Any]
) -> None:
    config = home / ".codex" / "config.toml"
    before = config.read_bytes()
    assert cli("integrate", "codex", "--yes").code == 0
    assert "nothing to do" in cli("integrate", "codex", "--yes").out
    by_sesame = tomllib.loads(config.read_text())["mcp_servers"]["sesame"]
    (listed,) = json.loads(codex("mcp", "list", "--json"))
    assert (listed["name"], listed["enabled"]) == ("sesame", True)
    assert {name: listed["transport"][name] for name in by_sesame} == by_sesame
    model.script = [[text("ok")]]
    codex("exec", "hello")
    assert "past coding-agent sessions" in model.asked[-1]
    assert cli("integrate", "codex", "--remove", "--yes").code == 0
    assert config.read_bytes() == before
    assert not (home / ".codex" / "skills" / "sesame").exists()
    (line,) = commands("codex mcp add")
    codex(*shlex.split(line)[1:])
    by_hand = tomllib.loads(config.read_text())["mcp_servers"]["sesame"]
    assert by_hand == {**by_sesame, "command": "sesame", "args": ["mcp"]}
    assert cli("integrate", "codex", "--yes").code == 0
    assert tomllib.loads(config.read_text())["mcp_servers"]["sesame"] == by_sesame
