"""Sesame in real pi: the oldest that is supported and a current one, offline, with a model of the tests' own."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sesame_core.generation.models import NOT_SET_UP

from ..support import npm
from ..support.agents_page import blocks, commands
from ..support.model_server import Answers, ModelServer, configured, known_to_llm
from ..support.pi_agent import MODEL, PATIENCE, Rpc, Terminal, environment, model, told

NIX = "01a0b03d-4300-7855-b6bd-70d8987fc91e"
BACKOFF = "d6bc0d35-ccec-43e4-a83f-b0efdb1ed801"

#: The npm package of each.
PACKAGES = {"0.73.1": "@mariozechner/pi-coding-agent@0.73.1", "1.6.0": "@earendil-works/pi-coding-agent@1.6.0"}
SETTLED = {"0.73.1": "agent_end", "1.6.0": "agent_settled"}

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def pis() -> dict[str, list[str]]:
    """The command line of each pi: the older one runs on the machine's own Node."""
    with ThreadPoolExecutor() as pool:
        wanted = [*PACKAGES.values(), npm.NODE]
        places = [pool.submit(npm.installed, package) for package in wanted]
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
    (result,) = found["results"]
    assert (result["session"], {passage["by"] for passage in result["passages"]}) == (BACKOFF, {"user", "assistant"})
    assert result["around"]
    assert found["currentSessions"] == [rpc.ask("get_state")["sessionId"]]
    assert "never trust a delay below 250 ms" in asked["passages"][0]["text"]
    assert "no session has the id or name 'no-such-session'" in failed
    # Only pi itself has asked a model: nothing lets Sesame do so.
    assert (asked["reason"], len(server.asked)) == (NOT_SET_UP, 4)


FOUND = {"answer": "At least 250 ms.", "found": True, "citations": [19]}
ABOUT = {"name": "A gearbox", "description": "Of zucchini.", "summary": "## Left\nAll.", "tags": ["gears"]}


def query() -> Answers:
    """The model's call of `query_session`."""
    question = "what is the smallest delay the client takes?"
    return Answers(calls=[("query_session", {"session": "d6bc0d35", "question": question})])


def kept_by_pi(home: Path) -> set[Path]:
    """All session files of pi's."""
    return set((home / ".pi" / "agent").rglob("*.jsonl"))


def test_where_the_configuration_says_so_the_sessions_own_model_answers_a_question(
    rpc: Rpc, server: ModelServer, home: Path
) -> None:
    configured(home, "agent")
    before = kept_by_pi(home)
    server.script = [query(), Answers("At least 250 ms."), Answers(json.dumps(FOUND)), Answers("it is 250 ms")]
    rpc.prompt("which delay did we settle on?")
    answer = json.loads(texts(server.asked[3])[-1])
    assert (answer["answer"], answer["model"], answer["reason"]) == ("At least 250 ms.", "fake/fake-1", None)
    malformed, good = answer["attempts"]
    assert "malformed answer: it is not valid JSON" in malformed["error"]
    assert (good["inputTokens"], good["outputTokens"]) == (1000, 50)
    assert answer["cost"] == pytest.approx(2 * (1000 * 0.1 + 50 * 0.4) / 1e6)
    for request in server.asked[1:3]:
        assert not request.get("tools")
        assert "should never trust a delay below 250 ms" in texts(request)[-1]
        assert "AGENTS.md" not in texts(request)[0]
    assert kept_by_pi(home) - before == {Path(rpc.ask("get_state")["sessionFile"])}, "nothing is kept of the answers"


def test_when_the_sessions_own_model_fails_it_is_not_asked_again_and_the_passages_are_the_answer(
    rpc: Rpc, version: str, server: ModelServer, home: Path
) -> None:
    configured(home, {"name": "agent", "seconds": 10})
    # What pi 0.73 speaks HTTP with tries three times by itself.
    failed = [Answers("no such luck", status=500)] * {"0.73.1": 3, "1.6.0": 1}[version]
    refused, late = Answers("", finish="content_filter"), Answers("late", delay=60)
    server.script = [query(), *failed, query(), refused, query(), late, Answers("it is 250 ms")]
    expected = len(server.script)
    rpc.prompt("which delay did we settle on?")
    assert len(server.asked) == expected
    answers = [json.loads(text) for text in texts(server.asked[-1]) if text.startswith("{")]
    assert all(answer["answer"] is None and answer["passages"] for answer in answers)
    told = [answer["reason"] for answer in answers]
    assert "500" in told[0]
    assert "no such luck" in told[0]
    assert told[1:] == ["agent: Provider finish_reason: content_filter", "agent: no answer within 10 seconds"]


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
    assert "@@the may mean several sessions, so none of them is included: @@" in content
    assert len(content.encode()) <= 12_000
    shown = told(said)
    assert "@@unheard_of: Sesame has no session with this name" in shown
    assert any(line.startswith("@@the may mean: @@") for line in shown)
    assert len(shown) == 5
    rpc.prompt("and once more @@simplify-the-nix-flake-infrastructure")
    assert len(references(rpc)) == 1
    assert content in texts(server.asked[1])


def test_a_run_is_indexed_though_pi_has_ended_and_found_without_what_it_was_told(
    pi: list[str], server: ModelServer, tmp_path: Path, cli: Callable[..., Any]
) -> None:
    asked = "zygomorphic gearbox, compare @@simplify-the-nix-flake-infrastructure"
    done = print_mode(pi, tmp_path, asked)
    assert (done.returncode, done.stdout) == (0, "as you say\n"), done.stderr
    assert f"Session {NIX}" in texts(server.asked[0])[-1]
    ((session, _),) = wait_for_hits(cli, "zygomorphic")
    assert cli("show", session, "--json").json["cwd"] == str(tmp_path)
    assert [result["sessionId"] for result in cli("search", "derivations", "--json").json["results"]] == [NIX]


@pytest.mark.parametrize("model", ["cheap", "agent"])
def test_a_session_is_described_when_that_is_automatic_and_due_by_its_own_model_or_another(
    model: str,
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
    configured(home, model, describe={"automatic": True, "minNewUserMessages": 1})
    server.script = [Answers("as you say"), Answers("?"), Answers(json.dumps(ABOUT))]
    with Rpc(pi, tmp_path, SETTLED[version]) as rpc:
        rpc.prompt("a zygomorphic gearbox")
        session = rpc.ask("get_state")["sessionId"]
        status = rpc.wait_for_status()
        assert status.startswith("Sesame described: (A gearbox) by ")
        cost = {"agent": "$0.000240", "cheap": "cost not known"}[model]
        assert status.startswith("Sesame described: (A gearbox) by ")
        assert status.endswith(f", 2 attempts, 2000 tokens in, 100 out, {cost}")
        assert wait_for_hits(cli, "zucchini") == [(session, "A gearbox")]
        assert all(entry["type"] != "custom" for entry in entries(rpc)), "nothing is written into pi's file"
    assert written(home, session)["model"] == {"agent": "fake/fake-1"}.get(model, model)


def test_a_session_is_described_though_pi_has_ended(
    pi: list[str], server: ModelServer, tmp_path: Path, home: Path, cli: Callable[..., Any]
) -> None:
    configured(home, "agent", describe={"automatic": True, "minNewUserMessages": 1})
    has_ended = threading.Event()
    server.script = [Answers("as you say"), Answers(json.dumps(ABOUT), after=has_ended)]
    before = kept_by_pi(home)
    assert print_mode(pi, tmp_path, "a zygomorphic gearbox").stdout == "as you say\n"
    metadata = home / ".local" / "share" / "sesame" / "sessions-meta"
    assert not [*metadata.glob("*.meta.json")], "pi does not wait for it"
    has_ended.set()
    ((session, name),) = wait_for_hits(cli, "zucchini")
    assert (name, written(home, session)["model"]) == ("A gearbox", "fake/fake-1")
    (file,) = kept_by_pi(home) - before
    assert session in file.name


def written(home: Path, session: str) -> dict[str, Any]:
    """The metadata of a session."""
    file = home / ".local" / "share" / "sesame" / "sessions-meta" / f"{session}.meta.json"
    value: dict[str, Any] = json.loads(file.read_bytes())
    return value


def wait_for_hits(cli: Callable[..., Any], query: str) -> list[tuple[str, str]]:
    """Wait until the index, as it is, has sessions about something; return their ids and names."""
    end = time.monotonic() + PATIENCE
    while not (found := cli("search", query, "--no-refresh", "--json").json["results"]):
        assert time.monotonic() < end, f"{query!r} is not found"
        time.sleep(0.1)
    return [(hit["sessionId"], hit["name"]) for hit in found]


def print_mode(pi: list[str], cwd: Path, prompt: str) -> subprocess.CompletedProcess[str]:
    """Let pi answer one prompt and end."""
    return subprocess.run(
        [*pi, "-p", *MODEL, prompt],
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_a_prompt_that_is_sent_while_pi_works_has_its_references_told_before_its_turn_where_pi_has_a_place_for_it(
    rpc: Rpc, version: str, server: ModelServer, tmp_path: Path
) -> None:
    work = f"until [ -e {tmp_path}/done ]; do sleep 0.05; done"
    server.script = [Answers(calls=[("bash", {"command": work})]), Answers("as you say")]
    rpc.start("take your time")
    rpc.wait_for("tool_execution_start")
    rpc.steer("rather as in @@simplify-the-nix-flake-infrastructure")
    rpc.wait_for("queue_update")
    (tmp_path / "done").touch()
    rpc.settle()
    assert len(server.asked) == 2, "it takes no turn of its own"
    *_, before, steered = texts(server.asked[1])
    assert steered == "rather as in @@simplify-the-nix-flake-infrastructure"
    assert before.startswith("Past sessions that the prompt refers to") == (version != "0.73.1")
    assert [entry["content"] for entry in references(rpc)] == [before] * (version != "0.73.1")
    rpc.prompt("and once more @@simplify-the-nix-flake-infrastructure")
    assert len(references(rpc)) == 1


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
        assert "included “Simplify the nix flake infrastructure”" in terminal.shown
        assert "1 of 2 sessions" in terminal.shown
        assert (
            "SQLite migration sets reconnectBackoff to zero · 2026-10-14 · /home/ann/code/chat-client" in terminal.shown
        )
        assert "schemaVersion" not in terminal.shown
    assert texts(server.asked[0])[-2].strip() == "as in @@simplify-the-nix-flake-infrastructure"
    assert f"Session {NIX}" in texts(server.asked[0])[-1]


def test_a_session_without_a_title_is_named_by_its_first_prompt(
    pi: list[str], version: str, server: ModelServer, tmp_path: Path, cli: Callable[..., Any]
) -> None:
    print_mode(pi, tmp_path, "a zygomorphic gearbox")
    ((session, _),) = wait_for_hits(cli, "zygomorphic")
    with Rpc(pi, tmp_path, SETTLED[version]) as rpc:
        assert told(rpc.prompt(f"as in @@{session}")) == [f"@@{session}: included “a zygomorphic gearbox”"]


def test_pi_answers_though_sesame_has_gone(
    version: str, pis: dict[str, list[str]], server: ModelServer, tmp_path: Path, cli: Callable[..., Any], home: Path
) -> None:
    assert cli("integrate", "pi", "--yes").code == 0
    file = home / ".pi" / "agent" / "extensions" / "sesame" / "index.js"
    file.write_text(file.read_text().replace(json.dumps(sys.executable), '"/no/such/sesame"'))
    with Rpc(pis[version], tmp_path, SETTLED[version]) as rpc:
        said = rpc.prompt("as in @@anything")
        (line,) = told(said)
        moved = "/no/such/sesame does not run; when Sesame has moved: sesame integrate pi"
        assert line == f"Sesame cannot look up what you refer to: {moved}"
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
