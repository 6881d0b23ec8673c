"""Sesame and real OpenCode, which talks to a model on this machine alone."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ..support import npm
from ..support.model_server import Answers, ModelServer, serving
from ..support.terminal import shows

PACKAGE = "opencode-ai@1.18.33"
#: Seconds to wait for OpenCode.
PATIENCE = 90

pytestmark = pytest.mark.once


class OpenCode:
    """OpenCode in a home and a project of its own."""

    def __init__(self, home: Path, server: ModelServer) -> None:
        self.program = npm.installed(PACKAGE) / ".bin" / "opencode"
        self.server = server
        self.project = home / "project"
        self.project.mkdir()
        self.config = home / ".config" / "opencode" / "opencode.json"
        self.config.parent.mkdir(parents=True)
        model = {"name": "Fake", "tool_call": True, "limit": {"context": 128_000, "output": 4096}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Fake",
            "options": {"baseURL": server.url, "apiKey": "none"},
            "models": {"fake-1": model},
        }
        settings = {
            "model": "fake/fake-1",
            "small_model": "fake/fake-1",
            "autoupdate": False,
            "share": "disabled",
            "provider": {"fake": provider},
            "permission": {"*": "allow", "bash": "allow", "edit": "allow"},
        }
        self.config.write_text(json.dumps(settings))
        (home / ".cache" / "opencode").mkdir(parents=True)
        (home / ".cache" / "opencode" / "models.json").write_text("{}")
        quiet = ("DEFAULT_PLUGINS", "MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD")
        self.environment = {**os.environ, **{f"OPENCODE_DISABLE_{name}": "1" for name in quiet}}
        # It takes the directory from `PWD`, as a shell sets it.
        self.environment |= {"OPENCODE_MODELS_URL": "http://127.0.0.1:9", "PWD": str(self.project)}

    @contextmanager
    def running(self) -> Iterator[str]:
        """Run its server; yield its address."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        process = subprocess.Popen(
            [self.program, "serve", "--port", str(port), "--hostname", "127.0.0.1"],
            cwd=self.project,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        address = f"http://127.0.0.1:{port}"
        try:
            deadline = time.monotonic() + PATIENCE
            while True:
                try:
                    urllib.request.urlopen(f"{address}/session", timeout=5).close()
                    break
                except (urllib.error.URLError, ConnectionError, TimeoutError):
                    assert process.poll() is None, "OpenCode has ended"
                    assert time.monotonic() < deadline, "OpenCode does not answer"
                    time.sleep(0.2)
            yield address
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                # It waits now and then for a server of tools that has been told to end.
                process.kill()
                process.wait(PATIENCE)

    def run(self, *arguments: str) -> str:
        """Run a command, and return what it prints."""
        done = subprocess.run(
            [self.program, *arguments],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def call(method: str, address: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, method=method, data=data, headers={"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        content = answer.read()
    return json.loads(content) if content else None


def say(address: str, session: str, text: str) -> None:
    model = {"providerID": "fake", "modelID": "fake-1"}
    call("POST", f"{address}/session/{session}/message", {"model": model, "parts": [{"type": "text", "text": text}]})


@pytest.fixture
def opencode(home: Path) -> Iterator[OpenCode]:
    with serving(home / "llm") as server:
        server.script = [Answers("done")]
        yield OpenCode(home, server)


def found(cli: Callable[..., Any], words: str) -> list[str]:
    return [result["sessionId"] for result in cli("search", words, "--json").json["results"]]


def test_a_session_is_found_while_opencode_runs_and_goes_on_when_it_is_resumed(
    opencode: OpenCode, cli: Callable[..., Any]
) -> None:
    with opencode.running() as address:
        id = call("POST", f"{address}/session", {"title": "About zebras"})["id"]
        opencode.server.script = [
            Answers(calls=[("bash", {"command": "echo okapi-here; exit 3", "description": "x"})]),
            Answers(calls=[("write", {"filePath": str(opencode.project / "quokka.txt"), "content": "tenrec\n"})]),
            Answers("the zebra is mended"),
        ]
        say(address, id, "please mend the narwhal exporter")
        # The database has not been written to its file yet, and OpenCode is running.
        for words in (
            "narwhal exporter",
            "okapi-here",
            "tenrec",
            "zebra is mended",
            "file:quokka.txt",
            "cmd:okapi-here",
        ):
            assert found(cli, words) == [id], words
        calls = cli("show", id, "--json").json["chunks"]
        assert any("exit code 3" in chunk["text"] for chunk in calls)
        opencode.server.script = [Answers("manatee")]
        say(address, id, "and one thing more")
        assert found(cli, "manatee") == [id]
    resume = cli("resume", id, "--print").out.strip()
    assert resume == f"cd {opencode.project} && opencode --session {id}"
    # `opencode --session` needs a terminal; `opencode run --session` finds the session in the same way.
    opencode.server.script = [Answers("the pangolin is back")]
    opencode.run("run", "--session", id, "where is the pangolin today")
    assert found(cli, "pangolin is back") == [id]
    assert found(cli, '"where is the pangolin today"') == [id]
    path = os.pathsep.join([str(opencode.program.parent), os.environ["PATH"]])
    environment = {**opencode.environment, "TERM": "xterm-256color", "PATH": path}
    assert shows([sys.executable, "-m", "sesame_core", "resume", id], "the pangolin is back", environment)

    # The same session in another database, under the same ids.
    exported = opencode.project.parent / "export.json"
    exported.write_text(opencode.run("export", id))
    opencode.environment["OPENCODE_DB"] = "opencode-other.db"
    opencode.run("import", str(exported))
    assert (opencode.project.parent / ".local" / "share" / "opencode" / "opencode-other.db").exists()
    assert found(cli, "pangolin is back") == [id]


def test_a_command_and_a_call_of_the_server_leave_the_calling_session_out(
    opencode: OpenCode, cli: Callable[..., Any]
) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    assert cli("integrate", "opencode", "--yes").code == 0
    with opencode.running() as address:
        earlier, own = (call("POST", f"{address}/session", {"title": title})["id"] for title in ("Old", "New"))
        say(address, earlier, "look for the pangolin")
        searching = f"{shlex.quote(sys.executable)} -m sesame_core search pangolin --json"
        opencode.server.script = [
            Answers(calls=[("bash", {"command": searching, "description": "x"})]),
            Answers(calls=[("sesame_search_sessions", {"query": "pangolin"})]),
            Answers("done"),
        ]
        say(address, own, "where was the pangolin?")
    outputs = [one["content"] for one in opencode.server.asked[-1]["messages"] if one["role"] == "tool"]
    assert len(outputs) == 2
    for output in outputs:
        answer = json.loads(output[output.index("{") : output.rindex("}") + 1])
        assert (answer["currentSessions"], [one.get("session", one.get("sessionId")) for one in answer["results"]]) == (
            [own],
            [earlier],
        )


def test_opencode_knows_the_server_and_the_skill_that_it_was_told_of(
    opencode: OpenCode, cli: Callable[..., Any]
) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    before = "// mine\n" + opencode.config.read_text()
    opencode.config.write_text(before)
    assert cli("integrate", "opencode", "--yes").code == 0
    told = opencode.run("mcp", "list")
    assert "sesame" in told
    assert "connected" in told
    assert "sesame" in opencode.run("debug", "skill")
    assert cli("integrate", "opencode", "--remove", "--yes").code == 0
    assert opencode.config.read_text() == before
    assert "sesame" not in opencode.run("mcp", "list")
