"""A whole turn in each agent, offline: its model lists and calls every tool, and gets every answer whole.

`pytest -s` prints what the agent's model was sent and said.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from sesame_core import Sesame
from sesame_core.mcp.bounds import ANSWER_BYTES
from sesame_core.mcp.tools import TOOLS
from sesame_core.rendering.budget import size

from ..support import gemini_agent, npm, pi_agent
from ..support.oversized import write_all
from ..support.wires import Call, Wires, declared, serving
from .test_claude_code import PACKAGE as CLAUDE
from .test_codex import PACKAGE as CODEX
from .test_copilot import PACKAGE as COPILOT
from .test_opencode import PACKAGE as OPENCODE
from .test_pi import PACKAGES as PI

BACKOFF = "d6bc0d35-ccec-43e4-a83f-b0efdb1ed801"
PROMPT = "Which smallest reconnect delay did we settle on?"
CONCLUSION = "It was 250 ms, as the earlier session says."
#: Seconds to wait for an agent's turn.
PATIENCE = 180
SERVER = [sys.executable, "-m", "sesame_core", "mcp"]
#: How Sesame's module is found by a server that an agent starts.
PASSED = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}

pytestmark = pytest.mark.once


@pytest.fixture
def model(indexed_sessions: Path) -> Iterator[Wires]:
    with serving(*TOOLS) as wires:
        question = {"session": "d6bc", "question": "what is the smallest delay?"}
        wires.script = [
            [("search_sessions", {"query": "reconnect backoff smallest delay"})],
            [
                ("list_sessions", {"limit": 3}),
                ("get_session", {"session": BACKOFF}),
                ("query_session", question),
                ("list_messages", {"session": BACKOFF, "offset": 10}),
                ("ask_history", {"question": "how", "about": "run the tests"}),
            ],
            [("list_sessions", {"agent": "pi", "cwd": "/nowhere/at/all"})],
            CONCLUSION,
        ]
        yield wires


@pytest.fixture
def project(home: Path) -> Path:
    place = home / "lighthouse"
    place.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=place, check=True)
    return place


def run(command: list[str | Path], cwd: Path, environment: Mapping[str, str] = {}) -> str:
    """Run an agent, and return what it prints."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={**os.environ, "PWD": str(cwd), "NO_COLOR": "1", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def written(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


def stdio(**more: Any) -> dict[str, Any]:
    return {"command": SERVER[0], "args": SERVER[1:], **({"env": PASSED} if PASSED else {}), **more}


def claude(model: Wires, project: Path, home: Path) -> str:
    quiet = {"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    # Otherwise it asks its model without tools of a server that is not there within some time.
    quiet["MCP_CONNECTION_NONBLOCKING"] = "0"
    written(home / "mcp.json", {"mcpServers": {"sesame": stdio(type="stdio")}})
    program = npm.installed(CLAUDE) / ".bin" / "claude"
    options = ["--mcp-config", home / "mcp.json", "--strict-mcp-config", "--allowedTools", "mcp__sesame"]
    return run(
        [program, "-p", PROMPT, *options],
        project,
        {**quiet, "ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none"},
    )


def codex(model: Wires, project: Path, home: Path) -> str:
    command = json.dumps(SERVER[0]), json.dumps(SERVER[1:])
    provider = f'name = "Fake"\nbase_url = "{model.url}/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n'
    passed = "".join(f"{name} = {json.dumps(value)}\n" for name, value in {**PASSED, **places()}.items())
    written(
        home / ".codex" / "config.toml",
        # Of an answer it passes so much to each model of its catalogue, and 12,000 bytes to others.
        f"tool_output_token_limit = 10000\n"
        f'model = "fake-1"\nmodel_provider = "fake"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
        f"[model_providers.fake]\n{provider}"
        # It does not wait for another server before it asks its model.
        f"[mcp_servers.sesame]\nrequired = true\ncommand = {command[0]}\nargs = {command[1]}\n"
        f"[mcp_servers.sesame.env]\n{passed}"
        f'[projects."{project}"]\ntrust_level = "trusted"\n',
    )
    return run([npm.installed(CODEX) / ".bin" / "codex", "exec", PROMPT], project, {"FAKE_KEY": "x"})


def places() -> dict[str, str]:
    """Where a server finds this home's index, for an agent that passes few variables on."""
    return {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TZ") if name in os.environ}


def gemini(model: Wires, project: Path, home: Path) -> str:
    gemini_agent.configure(home)
    settings = home / ".gemini" / "settings.json"
    written(settings, {**json.loads(settings.read_bytes()), "mcpServers": {"sesame": stdio()}})
    return gemini_agent.prompt(gemini_agent.Model(url=model.url), project, PROMPT)


def opencode(model: Wires, project: Path, home: Path) -> str:
    options = {"baseURL": f"{model.url}/v1", "apiKey": "none"}
    limit = {"context": 128_000, "output": 4096}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": options,
        "models": {"fake-1": {"name": "Fake", "tool_call": True, "limit": limit}},
    }
    settings = {
        "model": "fake/fake-1",
        "small_model": "fake/fake-1",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"fake": provider},
        "permission": {"*": "allow"},
        "mcp": {"sesame": {"type": "local", "command": SERVER, "enabled": True, "environment": PASSED}},
    }
    written(home / ".config" / "opencode" / "opencode.json", settings)
    written(home / ".cache" / "opencode" / "models.json", "{}")
    quiet = ("DEFAULT_PLUGINS", "MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD")
    environment = {f"OPENCODE_DISABLE_{name}": "1" for name in quiet}
    environment["OPENCODE_MODELS_URL"] = "http://127.0.0.1:9"
    return run([npm.installed(OPENCODE) / ".bin" / "opencode", "run", PROMPT], project, environment)


def copilot(model: Wires, project: Path, home: Path) -> str:
    modules = npm.installed(COPILOT)
    server = stdio(type="local", tools=["*"], env={**PASSED, **places()})
    written(home / ".copilot" / "mcp-config.json", {"mcpServers": {"sesame": server}})
    environment = {
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_BASE_URL": f"{model.url}/v1",
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_MODEL": "fake-1",
        "XDG_CACHE_HOME": str(modules.parent / "cache"),
    }
    return run([modules / ".bin" / "copilot", "--allow-all-tools", "-p", PROMPT], project, environment)


def pi(model: Wires, project: Path, home: Path) -> str:
    agent = home / ".pi" / "agent"
    models = [{"id": "fake-1", "contextWindow": 128_000, "maxTokens": 4096, "cost": pi_agent.PRICES}]
    provider = {"baseUrl": f"{model.url}/v1", "api": "openai-completions", "apiKey": "none", "models": models}
    written(agent / "models.json", {"providers": {"fake": provider}})
    server = stdio(exposure="direct", description="Search past sessions")
    written(agent / "mcp.json", {"mcpServers": {"sesame": server}})
    node = npm.installed(npm.NODE) / ".bin" / "node"
    program = npm.installed(PI["1.6.0"]) / ".bin" / "pi"
    return run([node, program, *pi_agent.MODEL, "-p", PROMPT], project, pi_agent.environment())


@pytest.mark.parametrize("agent", [claude, codex, gemini, opencode, copilot, pi], ids=lambda agent: agent.__name__)
def test_the_model_of_an_agent_lists_and_calls_every_tool_in_one_turn(
    agent: Callable[[Wires, Path, Path], str], model: Wires, project: Path, home: Path
) -> None:
    said = agent(model, project, home)
    transcript(agent.__name__, model, said)
    assert CONCLUSION in said
    names = declared(model.asked[0])
    for tool in TOOLS:
        assert len([name for name in names if name.endswith(tool)]) == 1, (tool, names)
    answers = model.answers_of_tools()
    assert len(answers) == 7
    assert all(size(answer) <= ANSWER_BYTES for answer in answers)
    (found,) = (answer for answer in answers if "results" in answer)
    # Not every agent passes the id of its own session, which has the prompt.
    assert any(BACKOFF in result.values() for result in found["results"][:2])
    listed, empty = sorted((answer for answer in answers if "sessions" in answer), key=lambda answer: -answer["total"])
    assert len(listed["sessions"]) == 3
    assert "no session is in /nowhere/at/all" in str(empty["hints"])
    (facts,) = (answer for answer in answers if "resumeCommand" in answer)
    (asked,) = (answer for answer in answers if "passages" in answer)
    (read,) = (answer for answer in answers if "chunks" in answer)
    assert [facts["sessionId"], asked["session"]["sessionId"], read["sessionId"]] == [BACKOFF] * 3
    assert read["chunks"][0]["position"] == 10
    (ways,) = (answer for answer in answers if "ways" in answer)
    assert {"npm test", "pytest"} <= {way["name"] for way in ways["ways"]}


def test_pi_asks_how_an_error_was_fixed_when_a_command_fails(indexed_sessions: Path, project: Path, home: Path) -> None:
    (project / "power.nix").write_text("lib.mkIf isLaptop true;\n")
    missing = "error: attribute 'isLaptop' missing at $PWD/power.nix:1:11"
    (project / "check").write_text(f'! grep -n isLaptop power.nix || {{ echo "{missing}"; exit 1; }}\n')
    error = f"error: attribute 'isLaptop' missing at {project}/power.nix:1:11"
    with serving(*TOOLS) as model:
        model.script = [
            [("bash", {"command": "sh check"})],
            [("ask_history", {"question": "fix", "about": error})],
            [("bash", {"command": "sed -i 's/lib.mkIf isLaptop true/true/' power.nix && sh check && echo checked"})],
            "It was fixed as in an earlier session.",
        ]
        said = pi(model, project, home)
        transcript("pi", model, said)
    assert "earlier session" in said
    (answer,) = model.answers_of_tools()
    # pi does not pass the id of its own session, in which the error has no end yet.
    fix, *_ = answer["fixes"]
    assert (fix["same"], fix["held"], fix["outcome"], fix["command"]) == (True, True, "verified", "nix flake check")
    assert "services.tlp.enable = true;" in fix["steps"][0]["text"]
    assert "checked" in json.dumps(model.asked[-1])


@pytest.mark.parametrize("agent", [claude, codex, pi], ids=lambda agent: agent.__name__)
def test_no_answer_about_an_oversized_session_is_cut_by_an_agent(
    agent: Callable[[Wires, Path, Path], str], project: Path, home: Path
) -> None:
    ids = write_all()
    with Sesame() as sesame:
        assert sesame.index().errors == []
    calls: list[Call] = [("list_sessions", {"limit": 100}), ("list_sessions", {"limit": 100, "offset": 6})]
    for session in ids:
        calls += [("get_session", {"session": session}), ("list_messages", {"session": session, "offset": 1})]
        calls += [("query_session", {"session": session, "question": "where is the fox 狐狸?"})]
    with serving(*TOOLS) as model:
        model.script = [*([one] for one in calls), CONCLUSION]
        assert CONCLUSION in agent(model, project, home)
    answers = model.answers_of_tools()
    assert len(answers) == len(calls)
    assert "truncated output" not in json.dumps(model.asked[-1])
    assert max(size(answer) for answer in answers) <= ANSWER_BYTES


def transcript(name: str, model: Wires, said: str) -> None:
    """Print a turn: the last request has all of it, in the agent's own protocol."""
    print(f"# {name}: the tools that its model sees")
    print("\n".join(tool for tool in declared(model.asked[0]) if tool.endswith(tuple(TOOLS))))
    for number, request in enumerate(model.asked):
        print(f"\n# {name}: request {number + 1}, what is new in it")
        key = next(key for key in ("messages", "input", "contents") if key in request)
        before = len(model.asked[number - 1][key]) if number else max(0, len(request[key]) - 1)
        print(json.dumps(request[key][before:], ensure_ascii=False, indent=1))
    print(f"\n# {name}: what it prints\n{said}")
