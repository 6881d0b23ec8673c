"""Sesame in real Copilot CLI, offline, with a model of the tests' own."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from sesame_core import Filters, Sesame
from sesame_parser_copilot.parser import CopilotParser

from ..support import npm
from ..support.agents_page import commands
from ..support.model_server import Answers, ModelServer, serving
from ..support.terminal import shows
from ..support.transcripts import everything, found, said

PACKAGE = "@github/copilot@1.0.102"

pytestmark = pytest.mark.once


@pytest.fixture
def server(home: Path) -> Iterator[ModelServer]:
    with serving(home / "llm") as server:
        server.script = [Answers("as you say")]
        yield server


@pytest.fixture
def own(server: ModelServer) -> dict[str, str]:
    """The variables with which Copilot CLI asks the model of the tests."""
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_BASE_URL": server.url,
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_MODEL": "fake-1",
        # It unpacks itself there, 235 MB, at its first start.
        "XDG_CACHE_HOME": str(npm.installed(PACKAGE).parent / "cache"),
    }


@pytest.fixture
def copilot(own: dict[str, str], home: Path) -> Callable[..., str]:
    """Run Copilot CLI in a directory of its own, and return what it prints."""
    modules = npm.installed(PACKAGE)
    work = home / "lighthouse"
    work.mkdir()

    def run(*arguments: str, program: str = str(modules / ".bin" / "copilot")) -> str:
        done = subprocess.run(
            [program, *arguments],
            env={**os.environ, **own},
            cwd=work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_a_session_with_tools_a_failure_and_a_resumption_is_found_and_recognises_itself(
    copilot: Callable[..., str], server: ModelServer, home: Path, cli: Callable[..., Any]
) -> None:
    (line,) = commands("copilot mcp add")
    settings = home / ".copilot" / "mcp-config.json"
    copilot(*shlex.split(line)[1:])
    by_hand = json.loads(settings.read_bytes())["mcpServers"]["sesame"]
    assert cli("integrate", "copilot", "--yes").code == 0
    by_sesame = json.loads(settings.read_bytes())["mcpServers"]["sesame"]
    assert {**by_hand, "command": by_sesame["command"], "args": by_sesame["args"]} == by_sesame
    assert "sesame" in copilot("mcp", "list")
    assert "sesame" in copilot("skill", "list")
    note = home / "lighthouse" / "note.txt"
    server.script = [
        Answers(
            "I look around.",
            calls=[
                ("bash", {"command": "echo heliograph-ok", "description": "Look"}),
                ("bash", {"command": "echo semaphore-broke; exit 3", "description": "Fail"}),
                ("create", {"path": str(note), "file_text": "the wick is short\n"}),
                ("view", {"path": str(home / "gone.txt")}),
                ("sesame-search_sessions", {"query": "xylophone"}),
            ],
        ),
        Answers("The lamp burns brightly."),
    ]
    permissions = ("--allow-all-tools", "--allow-all-paths")
    copilot(*permissions, "--name", "The lamp", "-p", "why is the xylophone in the lighthouse?")
    (log,) = (home / ".copilot" / "session-state").glob("*/events.jsonl")
    session = log.parent.name
    (answered,) = (
        json.loads(message["content"])
        for message in server.asked[-1]["messages"]
        if message["role"] == "tool" and "currentSessions" in message["content"]
    )
    assert answered["currentSessions"] == [session]

    with Sesame() as sesame:
        report = sesame.index()
        assert (report.skipped, report.errors) == ({}, [])
        assert said(sesame, "user") == ["why is the xylophone in the lighthouse?"]
        assert said(sesame, "metadata") == ["The lamp"]
        chunks = everything(sesame)
        assert [(c.tool_name, c.is_error) for c in chunks if c.kind == "tool_result"].count(("bash", True)) == 1
        assert {(c.tool_name, c.is_error) for c in chunks if c.kind == "tool_result"} == {
            *(("bash", False), ("bash", True), ("create", False), ("view", True)),
        }
        assert found(sesame.search("heliograph brightly")) == [session]
        (stored,) = sesame.list_sessions(Filters(path="note.txt"))[0]
        assert (stored.session.title, stored.session.cwd) == ("The lamp", str(home / "lighthouse"))

        resumed = CopilotParser().resumption(stored.session, log)
        assert (resumed.environment, resumed.problem) == ({}, None)
        server.script = [Answers("The heron is on the roof.")]
        copilot(*resumed.command[1:], *permissions, "-p", "where is the heron?")
        assert [message["content"] for message in server.asked[-1]["messages"] if message["role"] == "assistant"]
        assert [path.parent.name for path in log.parent.parent.glob("*/events.jsonl")] == [session]
        report = sesame.index()
        assert report.appended == 1
        assert said(sesame, "user") == ["why is the xylophone in the lighthouse?", "where is the heron?"]
        assert found(sesame.search("heron roof")) == [session]

    assert cli("integrate", "copilot", "--remove", "--yes").code == 0
    assert "sesame" not in copilot("mcp", "list")


def test_sesame_resumes_a_session_in_copilots_own_screen(
    copilot: Callable[..., str], own: dict[str, str], server: ModelServer, home: Path, cli: Callable[..., Any]
) -> None:
    work = home / "lighthouse"
    settings = home / ".copilot" / "config.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"trusted_folders": [str(work)], "trustedFolders": [str(work)]}))
    server.script = [Answers("The heron is on the roof.")]
    copilot("--allow-all-tools", "-p", "where is the heron?")
    cli("index")
    (found,) = cli("sessions", "--json").json["sessions"]
    path = os.pathsep.join([str(npm.installed(PACKAGE) / ".bin"), os.environ["PATH"]])
    environment = {**os.environ, **own, "TERM": "xterm-256color", "PATH": path}
    command = [sys.executable, "-m", "sesame_core", "resume", found["sessionId"]]
    assert shows(command, "The heron is on the roof.", environment)
