"""Sesame and real Codex, which talks to a model on this machine: what it writes is found, and resumed by it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ..support import npm
from ..support.agents_page import commands

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


def command(line: str, call: str) -> dict[str, Any]:
    arguments = json.dumps({"cmd": line})
    return {"type": "function_call", "id": f"f{call}", "call_id": call, "name": "exec_command", "arguments": arguments}


#: What a program may ask of a terminal, and an answer.
QUESTIONS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62;c"}
_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]_P][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
#: Seconds to wait for Codex's screen.
PATIENCE = 60


def shows(command: list[str], wanted: str, environment: dict[str, str]) -> bool:
    """Run a program on a terminal, and return whether it shows a text, in whatever cells."""
    screen, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, env=environment
    )
    os.close(theirs)
    shown, end = b"", time.monotonic() + PATIENCE
    try:
        while (left := end - time.monotonic()) > 0 and select.select([screen], [], [], left)[0]:
            try:
                piece = os.read(screen, 65_536)
            except OSError:
                return False  # it has ended
            shown += piece
            for question, answer in QUESTIONS.items():
                if question in piece:
                    os.write(screen, answer)
            if wanted.replace(" ", "").encode() in _ESCAPE.sub(b"", shown).replace(b" ", b""):
                return True
        return False
    finally:
        # Codex is a child of the program that npm installs.
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=PATIENCE)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(screen)


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
    assert shows([sys.executable, "-m", "sesame_core", "resume", thread], "the jaguar follows", environment)


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
