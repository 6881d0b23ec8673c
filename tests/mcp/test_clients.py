"""Clients get every answer whole, whatever the sessions contain: the SDKs of TypeScript and Python, two of each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from mcp import Client

from sesame_core import Sesame
from sesame_core.mcp.bounds import ANSWER_BYTES
from sesame_core.mcp.tools import TOOLS

from ..support import npm, pips
from ..support.mcp_client import COMMAND, over_stdio, text_of
from ..support.oversized import KINDS, write_all
from .test_inspector import INSPECTOR

pytestmark = pytest.mark.once

#: The TypeScript SDK of version 1; the inspector's is version 2.
SDK = "@modelcontextprotocol/sdk@1.32.2"
#: Earlier Python SDKs: of the protocol of 2025-03-26, and the last of version 1.
OF_2025 = ("mcp==1.9.4", "pydantic==2.11.10")
LAST_OF_1 = "mcp==1.30.0"
SCRIPTS = Path(__file__).parents[1] / "support" / "clients"

Calls: TypeAlias = list[tuple[str, dict[str, Any]]]
Answers: TypeAlias = list[dict[str, Any]]


def typescript(*modules: Path) -> Callable[[Calls], Answers]:
    node = npm.installed(npm.NODE) / ".bin" / "node"
    return lambda calls: _told([node, SCRIPTS / "calls.mjs", *modules], calls)


def typescript_1() -> Callable[[Calls], Answers]:
    place = npm.installed(SDK) / "@modelcontextprotocol" / "sdk" / "dist" / "esm" / "client"
    return typescript(place / "index.js", place / "stdio.js")


def typescript_2() -> Callable[[Calls], Answers]:
    place = npm.installed(INSPECTOR) / "@modelcontextprotocol" / "client" / "dist"
    return typescript(place / "index.mjs", place / "stdio.mjs")


def python_of_2025() -> Callable[[Calls], Answers]:
    place = pips.installed(*OF_2025)
    return lambda calls: _told([sys.executable, SCRIPTS / "calls.py"], calls, PYTHONPATH=str(place))


def python_1() -> Callable[[Calls], Answers]:
    place = pips.installed(LAST_OF_1)
    return lambda calls: _told([sys.executable, SCRIPTS / "calls.py"], calls, PYTHONPATH=str(place))


def python_2() -> Callable[[Calls], Answers]:
    def answers(calls: Calls) -> Answers:
        async def act(client: Client) -> Answers:
            assert [tool.name for tool in (await client.list_tools()).tools] == list(TOOLS)
            found = []
            for name, given in calls:
                result = await client.call_tool(name, given)
                text = text_of(result)
                same = result.structured_content is None or json.loads(text) == result.structured_content
                size = {"characters": len(text), "bytes": len(text.encode())}
                found.append({**size, "isError": result.is_error, "isSame": same})
            return found

        told: Answers = over_stdio(act)
        return told

    return answers


def _told(command: list[str | Path], calls: Calls, **more: str) -> Answers:
    asked = {"command": COMMAND[0], "args": COMMAND[1:], "env": dict(os.environ), "calls": calls}
    done = subprocess.run(
        list(map(str, command)),
        input=json.dumps(asked),
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["tools"] == list(TOOLS)
    answers: Answers = told["answers"]
    return answers


@pytest.fixture(
    params=[typescript_1, typescript_2, python_of_2025, python_1, python_2], ids=lambda client: client.__name__
)
def client(request: pytest.FixtureRequest) -> Callable[[Calls], Answers]:
    made: Callable[[Calls], Answers] = request.param()
    return made


@pytest.fixture
def oversized(home: Path) -> list[str]:
    ids = write_all()
    with Sesame() as sesame:
        assert sesame.index().errors == []
    return ids


def every_call(ids: list[str]) -> Calls:
    """One call of each tool but a search, with what it has by default, of each session."""
    calls: Calls = [("list_sessions", {}), ("list_sessions", {"limit": 100}), ("list_sessions", {"offset": 7})]
    for session in ids:
        calls += [("get_session", {"session": session}), ("list_messages", {"session": session})]
        calls += [("list_messages", {"session": session, "offset": 1, "limit": 200})]
        calls += [("query_session", {"session": session, "question": "where is the fox 狐狸?"})]
    return calls


def test_a_client_gets_every_answer_whole_and_in_bounds(
    client: Callable[[Calls], Answers], oversized: list[str]
) -> None:
    calls = every_call(oversized)
    answers = client(calls)
    assert len(answers) == len(calls) == 3 + 4 * len(KINDS)
    for call, answer in zip(calls, answers, strict=True):
        assert (answer["isError"], answer["isSame"]) == (False, True), call
        assert answer["characters"] <= answer["bytes"] <= ANSWER_BYTES, call


def test_a_client_gets_the_reason_of_each_refusal(client: Callable[[Calls], Answers], indexed_sessions: Path) -> None:
    calls: Calls = [
        ("get_session", {"session": "nobody"}),
        ("list_sessions", {"limit": 0}),
        ("list_sessions", {"agent": "zebra"}),
        ("list_sessions", {"zebra": 1}),
        ("query_session", {"session": "d6bc", "question": ""}),
    ]
    assert [answer["isError"] for answer in client(calls)] == [True] * len(calls)
