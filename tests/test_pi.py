"""Sesame in real pi: the oldest that is supported and a current one, offline, with a model of the tests' own."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from . import npm
from .agents_page import blocks, commands
from .model_server import Answers, ModelServer, configured, known_to_llm
from .pi_agent import MODEL, PATIENCE, Rpc, Terminal, environment, model, told

NIX = "01a0b03d-4300-7855-b6bd-70d8987fc91e"
BACKOFF = "d6bc0d35-ccec-43e4-a83f-b0efdb1ed801"

#: The npm package of each.
PACKAGES = {"0.73.1": "@mariozechner/pi-coding-agent@0.73.1", "1.6.0": "@earendil-works/pi-coding-agent@1.6.0"}
SETTLED = {"0.73.1": "agent_end", "1.6.0": "agent_settled"}

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def pis(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The command line of each pi: the older one runs on the machine's own Node."""
    with ThreadPoolExecutor() as pool:
        wanted = [*PACKAGES.values(), npm.NODE]
        places = [pool.submit(npm.installed, pytestconfig, tmp_path_factory, package) for package in wanted]
    old, new, node = (place.result() / ".bin" for place in places)
    return {"0.73.1": ["node", str(old / "pi")], "1.6.0": [str(node / "node"), str(new / "pi")]}


@pytest.fixture(params=PACKAGES)
def version(request: pytest.FixtureRequest) -> str:
    """The version of pi."""
    name: str = request.param
    return name


@pytest.fixture
def pi(version: str, pis: dict[str, list[str]], demo_sessions: Path, cli: Callable[..., Any]) -> list[str]:
    """The command line of pi, which knows Sesame, which knows the demo sessions."""
    assert cli("index").code == 0
    assert cli("integrate", "pi", "--yes").code == 0
    return pis[version]


@pytest.fixture
def server(home: Path) -> Iterator[ModelServer]:
    with model(home) as server:
        yield server


@pytest.fixture
def rpc(pi: list[str], version: str, server: ModelServer, tmp_path: Path) -> Iterator[Rpc]:
    with Rpc(pi, tmp_path, SETTLED[version]) as rpc:
        yield rpc


def texts(request: dict[str, Any]) -> list[str]:
    """What stands in the messages that the model was given."""
    contents = [message.get("content") or "" for message in request["messages"]]
    return [c if isinstance(c, str) else "".join(part.get("text", "") for part in c) for c in contents]


def entries(rpc: Rpc) -> list[dict[str, Any]]:
    """The entries of the session's file."""
    return [json.loads(line) for line in Path(rpc.ask("get_state")["sessionFile"]).read_text().splitlines()]


def references(rpc: Rpc) -> list[dict[str, Any]]:
    return [entry for entry in entries(rpc) if entry.get("customType") == "sesame-reference"]


def test_the_model_calls_both_tools(rpc: Rpc, server: ModelServer) -> None:
    server.script = [
        Answers(
            calls=[("sesame_search", {"query": "websocket reconnect backoff", "agent": "claude-code", "limit": 1})]
        ),
        Answers(calls=[("query_session", {"session": "d6bc0d35", "question": "which smallest delay do we trust?"})]),
        Answers(calls=[("query_session", {"session": "no-such-session", "question": "why?"})]),
        Answers("it is 250 ms"),
    ]
    rpc.prompt("which delay did we settle on?")
    declared = {tool["function"]["name"] for tool in server.asked[0]["tools"]}
    assert declared >= {"sesame_search", "query_session"}
    found, asked, failed = (json.loads(text) if text[0] == "{" else text for text in texts(server.asked[3])[-5::2])
    assert [result["sessionId"] for result in found["results"]] == [BACKOFF]
    assert found["results"][0]["contextAfter"]
    assert found["currentSessions"] == [rpc.ask("get_state")["sessionId"]]
    assert "never trust a delay below 250 ms" in asked["passages"][0]["text"]
    assert "no session has the id 'no-such-session'" in failed


def test_references_are_told_once_each_and_unresolved_ones_fail_nothing(rpc: Rpc, server: ModelServer) -> None:
    said = rpc.prompt(
        "should we do as in @@simplify-the-nix-flake-infrastructure, or @@d6bc0d35: which smallest delay do we trust?\n"
        'See also @@"find tests order", @@the, and @@unheard_of. The diff is @@ -1,2 +1 @@, mail to me@@home.'
    )
    (entry,) = references(rpc)
    content = entry["content"]
    assert content in texts(server.asked[0])
    assert f"Session {NIX} (Simplify the nix flake infrastructure)" in content
    assert "Our flake has grown to 900 lines" in content
    assert "@@d6bc0d35 was asked: which smallest delay do we trust?" in content
    assert "never trust a delay below 250 ms" in content
    assert "@@find tests order means (by likeness of the name):\nSession 71f2223f" in content
    assert "@@the may mean several sessions, and none of them is told: @@" in content
    assert len(content.encode()) <= 12_000
    shown = told(said)
    assert "@@unheard_of: Sesame knows no session of this name" in shown
    assert any(line.startswith("@@the may mean: @@") for line in shown)
    assert len(shown) == 5
    rpc.prompt("and once more @@simplify-the-nix-flake-infrastructure")
    assert len(references(rpc)) == 1
    assert content in texts(server.asked[1])


def test_a_run_is_indexed_though_pi_has_ended_and_found_without_what_it_was_told(
    pi: list[str], server: ModelServer, tmp_path: Path, cli: Callable[..., Any]
) -> None:
    asked = "zygomorphic gearbox, compare @@simplify-the-nix-flake-infrastructure"
    done = subprocess.run(
        [*pi, "-p", *MODEL, asked],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout) == (0, "as you say\n"), done.stderr
    assert f"Session {NIX}" in texts(server.asked[0])[-1]
    end = time.monotonic() + PATIENCE
    while not (found := cli("search", "zygomorphic", "--no-refresh", "--json").json["results"]):
        assert time.monotonic() < end, "it is not indexed"
        time.sleep(0.1)
    assert [result["cwd"] for result in found] == [str(tmp_path)]
    assert [result["sessionId"] for result in cli("search", "derivations", "--json").json["results"]] == [NIX]


def test_a_session_is_described_when_that_is_automatic_and_due(
    pi: list[str],
    version: str,
    server: ModelServer,
    tmp_path: Path,
    home: Path,
    cli: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known_to_llm(home / "llm", server.url, "cheap")
    monkeypatch.setenv("LLM_USER_PATH", str(home / "llm"))
    configured(home, "cheap", describe={"automatic": True, "minNewUserMessages": 1})
    about = {"name": "A gearbox", "description": "Of zucchini.", "summary": "## Left\nAll.", "tags": ["gears"]}
    server.script = [Answers("as you say"), Answers(json.dumps(about))]
    with Rpc(pi, tmp_path, SETTLED[version]) as rpc:
        rpc.prompt("a zygomorphic gearbox")
        session = rpc.ask("get_state")["sessionId"]
        end = time.monotonic() + PATIENCE
        while not (found := cli("search", "zucchini", "--no-refresh", "--json").json["results"]):
            assert time.monotonic() < end, "it is not described"
            time.sleep(0.1)
        assert [(hit["sessionId"], hit["name"]) for hit in found] == [(session, "A gearbox")]
        assert all(entry["type"] != "custom" for entry in entries(rpc)), "nothing is written into pi's file"


def test_the_commands_search_and_index(rpc: Rpc, cli: Callable[..., Any]) -> None:
    said = rpc.prompt("/sesame websocket reconnect backoff", select="SQLite migration")
    assert told(said, "set_editor_text") == [f"@@{BACKOFF} "]
    assert told(said) == ["Your prompt refers to “SQLite migration sets reconnectBackoff to zero”"]
    assert told(rpc.prompt("/sesame xyzzyplugh")) == ["Sesame finds no session about “xyzzyplugh”"]
    rpc.prompt("a zygomorphic gearbox")
    (line,) = told(rpc.prompt("/index-session"))
    assert re.match(r"(1 added|1 appended|1 unchanged|no session files)", line), line
    assert cli("search", "zygomorphic", "--no-refresh", "--json").json["resultCount"] == 1
    commands = {command["name"] for command in rpc.ask("get_commands")["commands"]}
    assert commands >= {"sesame", "index-session", "skill:sesame"}


def test_on_a_terminal_a_reference_is_completed_and_results_are_shown_for_people(
    pi: list[str], server: ModelServer, tmp_path: Path
) -> None:
    server.script = [Answers(calls=[("sesame_search", {"query": "tight loop", "limit": 1})]), Answers("as you say")]
    with Terminal(pi, tmp_path) as terminal:
        terminal.wait_for("fake-1")
        terminal.type("as in @@nix")
        terminal.wait_for("Simplify the nix flake")
        terminal.type("\t")
        terminal.wait_for("@@simplify-the-nix-flake-infrastructure")
        terminal.type("\r")
        terminal.wait_for("as you say")
        assert "told about “Simplify the nix flake infrastructure”" in terminal.shown
        assert "1 of 2 sessions" in terminal.shown
        assert (
            "SQLite migration sets reconnectBackoff to zero · 2026-10-14 · /home/ann/code/chat-client" in terminal.shown
        )
        assert "schemaVersion" not in terminal.shown
    assert texts(server.asked[0])[-2].strip() == "as in @@simplify-the-nix-flake-infrastructure"
    assert f"Session {NIX}" in texts(server.asked[0])[-1]


def test_pi_answers_though_sesame_has_gone(
    version: str, pis: dict[str, list[str]], server: ModelServer, tmp_path: Path, cli: Callable[..., Any], home: Path
) -> None:
    assert cli("integrate", "pi", "--yes").code == 0
    file = home / ".pi" / "agent" / "extensions" / "sesame" / "index.js"
    file.write_text(file.read_text().replace(json.dumps(sys.executable), '"/no/such/sesame"'))
    with Rpc(pis[version], tmp_path, SETTLED[version]) as rpc:
        said = rpc.prompt("as in @@anything")
        (line,) = told(said)
        assert line.startswith("Sesame cannot look up what you refer to: ")
        assert texts(server.asked[0])[-1] == "as in @@anything"


@pytest.mark.parametrize("version", ["1.6.0"], indirect=True)
def test_pi_writes_down_the_server_as_the_page_says(
    version: str, pis: dict[str, list[str]], home: Path, tmp_path: Path
) -> None:
    (line,) = commands("pi mcp add")
    command = [*pis[version], *shlex.split(line)[1:]]
    subprocess.run(command, cwd=tmp_path, env=environment(), check=True, capture_output=True, timeout=PATIENCE)
    written = json.loads((home / ".pi" / "agent" / "mcp.json").read_bytes())
    assert written in [json.loads(block) for block in blocks("json")]
