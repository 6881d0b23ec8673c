"""`sesame mcp` over standard input and output, with the SDK's own client."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import TypeAdapter

pytest.importorskip("mcp", reason="the extra mcp is not installed")

import jsonschema
import mcp_types as types
from mcp import Client

from sesame_core import Sesame
from sesame_core.config.file import load
from sesame_core.dataclass import replace
from sesame_core.installation import adding
from sesame_core.integration.environment import VARIABLES
from sesame_core.mcp.calls import THREADS
from sesame_core.mcp.tools import TOOLS, Tools
from sesame_core.rendering import brief, budget
from sesame_core.rendering.schemas.sessions import ListedSessionJson, ReadChunkJson
from sesame_core.search.windows import MAX_SNIPPET_BYTES, MAX_WINDOW_ITEMS
from sesame_core.types.answer import MAX_HITS

from ..support.mcp_client import (
    COMMAND,
    HANDSHAKE,
    answered,
    described,
    ends_within,
    environment,
    over_stdio,
    read_to_its_end,
    resident,
    text_of,
    value_of,
)
from ..support.model_server import Answers, serving
from ..support.transcripts import Claude, Pi, write

PINNED = Path(__file__).parents[1] / "data" / "mcp-tools.json"
BACKOFF = "d6bc0d35-ccec-43e4-a83f-b0efdb1ed801"

#: One call of each tool.
CALLS: dict[str, dict[str, Any]] = {
    "search_sessions": {"query": "reconnect backoff"},
    "list_sessions": {"limit": 3},
    "list_messages": {"session": BACKOFF, "offset": 2, "limit": 3},
    "get_session": {"session": BACKOFF},
    "query_session": {"session": BACKOFF, "question": "what is the smallest delay?"},
    "ask_history": {"question": "fix", "about": "SqliteError: FOREIGN KEY constraint failed"},
}


Call = Callable[..., dict[str, Any]]


# -- the contract ----------------------------------------------------------------------------------------------


def test_the_tools_are_those_that_are_pinned() -> None:
    """Clients remember schemas: after a change on purpose, run `python -m tests.mcp.test_server` and read the diff."""
    assert as_pinned() == PINNED.read_text(encoding="utf-8")


def as_pinned() -> str:
    tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in described()]
    return json.dumps(tools, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("tool", described(), ids=lambda tool: tool.name)
def test_every_argument_of_every_tool_is_typed_and_described(tool: types.Tool) -> None:
    assert tool.description
    assert tool.output_schema is None
    assert tool.annotations is not None
    assert tool.annotations.read_only_hint is True
    assert "use" in tool.description.lower()
    for argument in tool.input_schema["properties"].values():
        kinds = [kind["type"] for kind in argument.get("anyOf", [argument])]
        assert kinds == ["array", "string"] or kinds[0] in ("string", "integer", "boolean")
        assert argument["description"].endswith((".", "…"))
    jsonschema.Draft202012Validator.check_schema(tool.input_schema)


def test_the_client_lists_and_calls_every_tool(indexed_sessions: Path) -> None:
    async def act(client: Client) -> None:
        assert (client.server_info.name, client.server_info.title) == ("sesame", "Sesame")
        assert client.instructions is not None
        assert "search_sessions" in client.instructions
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(TOOLS) == list(CALLS)
        for tool in tools:
            value = value_of(await client.call_tool(tool.name, CALLS[tool.name]))
            jsonschema.validate(value, TypeAdapter(TOOLS[tool.name].answers).json_schema())
        mistake = await client.call_tool("get_session", {"session": "nobody"})
        assert mistake.is_error is True
        assert text_of(mistake).startswith("no session has the id or name 'nobody'")

    over_stdio(act)


def test_a_client_of_the_time_of_handshakes_is_served_too(indexed_sessions: Path) -> None:
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HANDSHAKE},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for request in requests:
            server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        assert [answer["id"] for answer in answers] == [1, 2]
        assert len(answers[1]["result"]["tools"]) == len(TOOLS)
        server.stdin.close()
        assert ends_within(server, 10)
        assert server.stdout.read() == b""


# -- the same as on the command line ---------------------------------------------------------------------------


def test_a_search_answers_what_the_command_line_prints(
    demo_sessions: Path, cli: Callable[..., Any], tools_of: Callable[..., Call]
) -> None:
    given = {"query": "reconnect", "agent": ["claude-code"], "after": "2026-10-01", "branch": "reconnect", "limit": 2}
    value = tools_of()("search_sessions", given)
    options = ["--agent=claude-code", "--after=2026-10-01", "--branch=reconnect", "-n2"]
    printed = cli("search", "reconnect", *options, "--brief")
    assert value == printed.json
    assert value["results"]
    assert printed.out == json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def test_lists_and_messages_are_those_of_the_command_line(
    demo_sessions: Path, cli: Callable[..., Any], tools_of: Callable[..., Call]
) -> None:
    run = tools_of()
    listed = run("list_sessions", {"limit": 3, "offset": 1, "cwd": "/home/ann/code"})
    printed = cli("sessions", "-n", 3, "--offset", 1, "--cwd", "/home/ann/code", "--json").json
    printed.pop("index")  # the command line reads the index as it is
    found = printed.pop("sessions")
    assert {name: listed[name] for name in printed} == printed
    assert listed["sessions"] == [_some_of(ListedSessionJson, session) for session in found]
    read = run("list_messages", {"session": "d6bc", "offset": 2, "limit": 3})
    shown = cli("show", "d6bc", "--offset", 2, "--limit", 3, "--json").json
    shown.pop("summary")  # a page need not repeat it; get_session has it
    shown.pop("index")
    chunks = shown.pop("chunks")
    assert _some_of(ListedSessionJson, read) == _some_of(ListedSessionJson, shown)
    assert read["chunks"] == [_some_of(ReadChunkJson, chunk) for chunk in chunks]
    asked = run("query_session", {"session": "d6bc", "question": "smallest delay"})
    told = cli("ask", "d6bc", "smallest", "delay", "--json").json
    assert {name: asked[name] for name in told} == told


def _some_of(kind: type[Any], value: dict[str, Any]) -> dict[str, Any]:
    return {name: value[name] for name in kind.__annotations__}


def test_a_session_has_the_command_that_resumes_it(demo_sessions: Path, tools_of: Callable[..., Call]) -> None:
    value = tools_of()("get_session", {"session": "d6bc"})
    resume, there = value["resumeCommand"], "/home/ann/code/chat-client"
    assert (resume["command"], resume["cwd"], resume["environment"]) == (["claude", "--resume", BACKOFF], there, {})
    assert resume["problem"].startswith(f"the session's directory does not exist: {there}; the nearest that exists: /")
    assert value["resumeProblem"] is None
    assert value["prompts"][0].startswith("After the update to 4.2")


# -- bounds ----------------------------------------------------------------------------------------------------


def many(count: int, *, size: int = 3000) -> None:
    for number in range(count):
        pi = Pi(f"019b{number:04d}-fox")
        texts = [pi.user(f"fox {number} " + "word " * (size // 5)), *(pi.answer(f"line {n} " * 300) for n in range(20))]
        write(pi.path, pi.header(), *texts)


def test_a_search_keeps_to_its_bounds_whatever_is_asked_for(home: Path, tools_of: Callable[..., Call]) -> None:
    many(30)
    greedy = {"query": "fox", "limit": 1000, "context_before": 1000, "context_after": 1000, "max_bytes": 10**9}
    value = tools_of()("search_sessions", greedy)
    assert (len(value["results"]), value["total"], value["nextOffset"]) == (MAX_HITS, 30, MAX_HITS) == (20, 30, 20)
    for result in value["results"]:
        assert len(result["around"]) + 1 == MAX_WINDOW_ITEMS == 16
        assert all(len(item.encode()) <= budget.WINDOW for item in result["around"])
        assert all(len(passage["text"].encode()) <= MAX_SNIPPET_BYTES == 1024 for passage in result["passages"])


def test_a_search_that_says_nothing_has_two_passages_and_four_items_on_each_side(
    home: Path, tools_of: Callable[..., Call]
) -> None:
    many(30)
    value = tools_of()("search_sessions", {"query": "line fox"})
    assert len(value["results"]) == brief.RESULTS == 5
    assert "cutToBudget" not in value
    for result in value["results"]:
        first, second = result["passages"]
        expected = {*range(max(0, first["at"] - 4), min(21, first["at"] + 5))} - {first["at"], second["at"]}
        assert {int(line.partition(" ")[0]) for line in result["around"]} == expected


def test_a_session_is_read_to_the_end_page_by_page_and_nothing_is_lost(
    home: Path, tools_of: Callable[..., Call]
) -> None:
    pi = Pi()
    texts = ["fox", "日本語" * 3000, "", "🦊" * 5000, *("short" for _ in range(10)), "end"]
    write(pi.path, pi.header(), *(pi.user(text) for text in texts))
    run = tools_of()
    read: dict[int, str] = {}
    given = {"session": pi.session, "limit": 4, "max_bytes": 5000}
    pages = 0
    for page in read_to_its_end(lambda **where: run("list_messages", {**given, **where})):
        assert sum(len(chunk["text"].encode()) for chunk in page["chunks"]) <= 5000
        for chunk in page["chunks"]:
            read[chunk["position"]] = read.get(chunk["position"], "") + chunk["text"]
        pages += 1
    assert list(read.values()) == [text for text in texts if text]
    assert pages > 8


def test_a_page_after_the_end_is_empty(demo_sessions: Path, tools_of: Callable[..., Call]) -> None:
    page = tools_of()("list_messages", {"session": "d6bc", "offset": 10**6})
    assert (page["chunks"], page["nextOffset"]) == ([], None)


# -- what the caller is told -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("search_sessions", {}, "the argument 'query' is missing"),
        ("search_sessions", {"query": "x", "contxt_after": 3}, "unknown argument 'contxt_after'; did you mean"),
        ("search_sessions", {"query": "x", "limit": 0}, "limit must be a whole number of at least 1, not 0"),
        ("search_sessions", {"query": ["x", "y"]}, 'query must be a string, not ["x", "y"]'),
        ("search_sessions", {"query": "x", "after": "soon"}, "'soon' is not a date: use a day (2026-11-27)"),
        ("search_sessions", {"query": "x", "role": "fox"}, "'fox' is not a role: use user, assistant"),
        ("get_session", {"session": "nobody"}, "find ids with search_sessions or list_sessions"),
        ("get_session", {"session": "01a"}, "'01a' may mean several sessions:"),
        ("query_session", {"session": "d6bc", "question": ""}, "question must be a string that is not empty"),
        ("forget", {}, "unknown tool 'forget'; there are search_sessions, list_sessions"),
    ],
)
def test_a_mistake_is_an_answer_that_says_what_to_do(
    name: str, arguments: dict[str, Any], told: str, indexed_sessions: Path
) -> None:
    with Sesame() as sesame:
        result = answered(Tools(sesame), name, arguments)
    assert result.is_error is True
    assert told in text_of(result)
    assert "Traceback" not in text_of(result)
    assert "pydantic" not in text_of(result)


def test_an_unexpected_failure_shows_no_secrets(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Tools):
        def call(self, name: str, arguments: dict[str, Any], *_: object) -> dict[str, Any]:
            raise RuntimeError("secret")

    with Sesame() as sesame:
        result = answered(Broken(sesame), "get_session", {})
    assert text_of(result) == "internal error (RuntimeError); the server's log has the details"
    assert "secret" in caplog.text


def test_numbers_in_quotes_and_nulls_are_taken_as_meant(demo_sessions: Path, tools_of: Callable[..., Call]) -> None:
    value = tools_of()("search_sessions", {"query": "nix", "limit": "1", "cwd": None, "tools": None, "offset": "0"})
    assert len(value["results"]) == 1


def test_lone_surrogates_reach_no_transport(home: Path) -> None:
    with Sesame() as sesame:
        result = answered(Tools(sesame), "search_sessions", {"query": "fox \ud800"})
    value_of(result)
    result.model_dump_json().encode()


def test_words_that_were_not_found_are_reported(demo_sessions: Path, tools_of: Callable[..., Call]) -> None:
    value = tools_of()("search_sessions", {"query": "zebra backoff"})
    assert value["wordsNotFound"] == ["zebra"]
    value = tools_of()("search_sessions", {"query": "zebra"})
    looked = ["looked in ~/.claude/projects, ~/.pi/agent/sessions"]
    assert value == {"total": 0, "wordsNotFound": ["zebra"], "hints": looked, "results": []}


def test_what_was_just_written_is_found(home: Path, tools_of: Callable[..., Call]) -> None:
    run = tools_of()
    assert run("search_sessions", {"query": "fox"})["total"] == 0
    claude = Claude()
    write(claude.path, claude.user("the fox"), claude.answer("it ran"))
    value = run("search_sessions", {"query": "fox"})
    assert (value["total"], "index" in value) == (1, False)


# -- the caller's own session ----------------------------------------------------------------------------------


@pytest.mark.once
@pytest.mark.parametrize("variable", VARIABLES)
def test_the_callers_own_session_is_left_out_and_that_is_reported(variable: str, indexed_sessions: Path) -> None:
    asked = {"query": "reconnect backoff"}

    async def act(client: Client) -> None:
        value = value_of(await client.call_tool("search_sessions", asked))
        assert BACKOFF not in [result["session"] for result in value["results"]]
        assert value["currentSessions"] == [BACKOFF]
        value = value_of(await client.call_tool("search_sessions", {**asked, "include_current": True}))
        assert value["results"][0]["session"] == BACKOFF
        assert "currentSessions" not in value

    over_stdio(act, **{variable: BACKOFF})


@pytest.mark.once
@pytest.mark.parametrize("meta", [{"threadId": BACKOFF}, {"threadId": BACKOFF, "sessionId": BACKOFF, "progress": 1}])
def test_a_call_may_name_its_session_beside_its_arguments(meta: dict[str, Any], indexed_sessions: Path) -> None:
    asked = {"query": "reconnect backoff"}

    async def act(client: Client) -> None:
        value = value_of(await client.call_tool("search_sessions", asked, meta=meta))
        assert BACKOFF not in [result["session"] for result in value["results"]]
        assert value["currentSessions"] == [BACKOFF]
        value = value_of(await client.call_tool("search_sessions", {**asked, "include_current": True}, meta=meta))
        assert value["results"][0]["session"] == BACKOFF
        value = value_of(await client.call_tool("list_sessions", {"current_session": "other"}, meta=meta))
        assert value["currentSessions"] == ["other"]
        value = value_of(await client.call_tool("search_sessions", asked))
        assert ("currentSessions" in value, value["results"][0]["session"]) == (False, BACKOFF)

    over_stdio(act)


@pytest.mark.parametrize(
    "meta", [{}, {"threadId": ""}, {"threadId": 7, "sessionId": ["x"]}, {"sessionid": BACKOFF}, None]
)
def test_a_call_that_names_no_session_is_in_the_one_of_the_environment(
    meta: dict[str, Any] | None, demo_sessions: Path, tools_of: Callable[..., Call]
) -> None:
    run = tools_of(current=lambda: ["other"])
    assert run("list_sessions", {}, meta)["currentSessions"] == ["other"]


def test_a_caller_may_say_itself_which_session_it_is_in(demo_sessions: Path, tools_of: Callable[..., Call]) -> None:
    run = tools_of(current=lambda: ["other"])
    value = run("search_sessions", {"query": "reconnect backoff", "current_session": "d6bc0d35"})
    assert (value["currentSessions"], BACKOFF in str(value["results"])) == (["d6bc0d35"], False)
    value = run("list_sessions", {"current_session": BACKOFF})
    assert (value["total"], BACKOFF in str(value["sessions"])) == (8, False)
    value = run("list_sessions", {})
    assert (value["total"], value["currentSessions"]) == (9, ["other"])


# -- the process -----------------------------------------------------------------------------------------------


def test_without_the_sdk_one_line_says_what_to_install(home: Path) -> None:
    code = "import sys; sys.modules['mcp'] = None; from sesame_core.cli import main; main()"
    ran = subprocess.run([sys.executable, "-c", code, "mcp"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith("sesame: the MCP server needs a package that is not installed (mcp")
    assert ran.stderr.endswith(f"): {adding('mcp')}\n")
    assert ran.stderr.count("\n") == 1


@pytest.mark.once
def test_the_server_ends_with_its_client_even_in_the_middle_of_a_call(indexed_sessions: Path, home: Path) -> None:
    """A model that does not answer must not keep a server whose client is gone."""
    config = home / ".config" / "sesame" / "config.jsonc"
    config.parent.mkdir(parents=True)
    config.write_text('{"models": ["slow"]}')
    question = {"name": "query_session", "arguments": CALLS["query_session"]}
    with serving(home / "llm", "slow") as models, contextlib.ExitStack() as stack:
        models.script = [Answers("{}", delay=50)]
        server = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment(LLM_USER_PATH=str(home / "llm"))
        )
        stack.enter_context(server)
        stack.callback(server.kill)
        assert server.stdin is not None
        for request in (
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HANDSHAKE},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": question},
        ):
            server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        deadline = time.monotonic() + 60
        while not models.asked and time.monotonic() < deadline:
            time.sleep(0.02)
        assert models.asked
        server.stdin.close()
        assert ends_within(server, 10)


@pytest.mark.once
def test_fifty_calls_at_once_all_answer_in_bounded_memory(indexed_sessions: Path) -> None:
    several = list(CALLS.items())

    async def act(client: Client) -> tuple[int, int]:
        pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and _is_child(path)]
        (server,) = pids

        async def round_of(count: int) -> None:
            async with anyio.create_task_group() as group:
                for number in range(count):
                    group.start_soon(one, *several[number % len(several)])

        async def one(name: str, arguments: dict[str, Any]) -> None:
            value_of(await client.call_tool(name, arguments))

        for _ in range(3):
            await round_of(50)
        before = resident(server)
        for _ in range(6):
            await round_of(50)
        return before, resident(server)

    before, after = over_stdio(act)
    assert after - before < 16 << 20


def _is_child(process: Path) -> bool:
    try:
        stat = (process / "stat").read_text()
    except OSError:
        return False
    return int(stat.rpartition(")")[2].split()[1]) == os.getpid() and "sesame_core" in _command(process)


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_text()
    except OSError:
        return ""


def test_calls_that_wait_for_each_other_share_a_refresh(demo_sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refreshes: list[float] = []
    asking: list[int] = []

    class Counted(Sesame):
        def refresh(self, seconds: float | None = None, **options: Any) -> Any:
            refreshes.append(time.monotonic())
            while len(asking) < THREADS:  # however long a busy machine takes to start them
                time.sleep(0.01)
            time.sleep(0.2)
            return super().refresh(seconds, **options)

    def asked(tools: Tools) -> Any:
        asking.append(1)
        return refresh(tools)

    refresh = Tools._refresh
    monkeypatch.setattr(Tools, "_refresh", asked)
    # Time enough that nothing is left to the background, which refreshes, too.
    with Counted(replace(load(), refresh_seconds=60)) as sesame:
        tools = Tools(sesame)
        threads = [
            threading.Thread(target=tools.call, args=("search_sessions", {"query": "nix"})) for _ in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(refreshes) == 2


if __name__ == "__main__":
    PINNED.write_text(as_pinned(), encoding="utf-8")
