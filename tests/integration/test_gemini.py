"""Real Gemini CLI: its sessions are found, resumed and found again, and it knows Sesame after `sesame integrate`."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ..support import gemini_agent
from ..support.gemini_agent import Model, calls, says
from ..support.terminal import shows

pytestmark = pytest.mark.once


@pytest.fixture
def model(home: Path) -> Iterator[Model]:
    gemini_agent.configure(home)
    with gemini_agent.serving() as served:
        yield served


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "Light house"
    place.mkdir()
    (place / "GEMINI.md").write_text("# Rules: wombatrule\n")
    return place


def test_a_session_with_tools_and_failures_is_found_resumed_and_found_again(
    model: Model, project: Path, cli: Callable[..., Any]
) -> None:
    lamp = str(project / "lamp.py")
    model.answers = [
        calls(
            ("run_shell_command", {"command": "echo kelpforest; exit 3", "description": "Look"}),
            ("read_file", {"file_path": "missing-squid.txt"}),
            ("nosuchtool", {}),
        ),
        calls(("write_file", {"file_path": lamp, "content": "wick = 'fresnel'\n"})),
        says("The lantern is lit."),
    ]
    gemini_agent.prompt(model, project, "light the lantern")
    cli("index")
    (found,) = json.loads(cli("sessions", "--json").out)["sessions"]
    assert (found["source"], found["cwd"]) == ("gemini", str(project))
    for words in ("lantern lit", "kelpforest", "missing-squid", "fresnel"):
        answer = json.loads(cli("search", "--json", words).out)
        assert [hit["sessionId"] for hit in answer["results"]] == [found["sessionId"]], words
    assert not json.loads(cli("search", "--json", "wombatrule").out)["results"]
    for narrowed in (("--error", "kelpforest"), ("--path", "lamp.py", "fresnel"), ("--cmd", "echo", "kelpforest")):
        assert json.loads(cli("search", "--json", *narrowed).out)["results"], narrowed

    line = cli("resume", found["sessionId"][:8], "--print").out.strip()
    directory, command = line.removeprefix("cd ").split(" && ")
    assert shlex.split(directory) == [str(project)]
    assert shlex.split(command) == ["gemini", "--resume", found["sessionId"]]
    model.answers = [says("The dinghy is moored.")]
    gemini_agent.prompt(model, project, "moor the dinghy", command=[*gemini_agent.program(), *shlex.split(command)[1:]])
    cli("index")
    (again,) = json.loads(cli("sessions", "--json").out)["sessions"]
    assert again["sessionId"] == found["sessionId"]
    assert json.loads(cli("search", "--json", "dinghy moored").out)["results"]
    shown = cli("show", found["sessionId"]).out
    # The first line has the first prompt as the session's name.
    for text in ("\nlight the lantern", "The lantern is lit.", "kelpforest\n", "moor the dinghy", "dinghy is moored."):
        assert shown.count(text) == 1, text


def test_a_program_that_gemini_starts_knows_its_session(model: Model, project: Path, cli: Callable[..., Any]) -> None:
    asks = (
        "import os; from sesame_parser_gemini.parser import GeminiParser as P; "
        "print('own', P().current_session(os.environ, os.getcwd()))"
    )
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(asks)}"
    model.answers = [[*says("I ask."), *calls(("run_shell_command", {"command": command}))], says("Asked.")]
    gemini_agent.prompt(model, project, "who am I?")
    cli("index")
    (found,) = json.loads(cli("sessions", "--json").out)["sessions"]
    assert f"own {found['sessionId']}\n" in cli("show", found["sessionId"]).out


def test_a_call_of_the_server_leaves_the_calling_session_out(
    model: Model, project: Path, home: Path, cli: Callable[..., Any]
) -> None:
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    cli("integrate", "gemini", "--yes")
    gemini_agent.prompt(model, project, "light the lantern")
    cli("index")
    (earlier,) = json.loads(cli("sessions", "--json").out)["sessions"]
    model.answers = [calls(("mcp_sesame_search_sessions", {"query": "lantern"})), says("Asked.")]
    gemini_agent.prompt(model, project, "was there a lantern before?")
    cli("index")
    (own,) = (
        one["sessionId"]
        for one in json.loads(cli("sessions", "--json").out)["sessions"]
        if one["sessionId"] != earlier["sessionId"]
    )
    (file,) = (home / ".gemini" / "tmp").glob(f"*/chats/session-*-{own[:8]}.jsonl")
    answered = file.read_text().replace("\\", "")
    assert f'"currentSessions":["{own}"]' in answered
    assert f'"session":"{earlier["sessionId"]}"' in answered


def test_sesame_resumes_a_session_in_geminis_own_screen(model: Model, project: Path, cli: Callable[..., Any]) -> None:
    model.answers = [says("The dinghy is moored.")]
    gemini_agent.prompt(model, project, "moor the dinghy")
    cli("index")
    (found,) = json.loads(cli("sessions", "--json").out)["sessions"]
    environment = {**gemini_agent.environment(model), "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "sesame_core", "resume", found["sessionId"]]
    assert shows(command, "The dinghy is moored.", environment)


def test_gemini_knows_the_server_and_the_skill_after_integrate_and_forgets_them(
    model: Model, project: Path, home: Path, cli: Callable[..., Any]
) -> None:
    settings = home / ".gemini" / "settings.json"
    before = b"// mine\n" + settings.read_bytes()
    settings.write_bytes(before)
    cli("integrate", "gemini", "--yes")
    listed = gemini_agent.run(model, project, "mcp", "list")
    assert "sesame" in listed
    assert "Connected" in listed
    assert "sesame" in gemini_agent.run(model, project, "skills", "list")
    assert cli("integrate", "gemini", "--yes").out.startswith("nothing to do")
    cli("integrate", "gemini", "--remove", "--yes")
    assert settings.read_bytes() == before
    assert "sesame" not in gemini_agent.run(model, project, "skills", "list")


def test_what_a_subagent_answers_and_what_tools_return_comes_without_frames(
    model: Model, project: Path, cli: Callable[..., Any]
) -> None:
    (project / "reef").mkdir()
    (project / "reef" / "GEMINI.md").write_text("# Rules: manateerule\n")
    (project / "reef" / "lamp.py").write_text("wick = 'fresnel'\n")
    answer = "The squid is gone.\n\nThe kelpforest is shallow."
    model.answers = [
        calls(("invoke_agent", {"agent_name": "generalist", "prompt": "look for the squid"})),
        calls(("complete_task", {"result": {"response": answer}})),
        calls(
            ("read_file", {"file_path": "reef/lamp.py"}),
            ("grep_search", {"pattern": "wick"}),
            ("glob", {"pattern": "reef/*.py"}),
            ("list_directory", {"dir_path": "reef"}),
        ),
        says("The lantern is lit."),
    ]
    gemini_agent.prompt(model, project, "light the lantern")
    cli("index")
    sessions = json.loads(cli("sessions", "--json").out)["sessions"]
    (own,) = (one["sessionId"] for one in sessions if not one["parentId"])
    texts = [chunk["text"] for chunk in json.loads(cli("show", own, "--json").out)["chunks"]]
    assert answer in texts
    assert any(text.strip() == "wick = 'fresnel'" for text in texts)
    for frame in ("GOAL", "manateerule", "wombatrule", "Found 1", "Directory listing"):
        assert not any(frame in text for text in texts), frame
