"""Arguments are taken as they were meant; a refusal names the argument, its value, and what is possible."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from sesame_core import Selection, Sesame, Source
from sesame_core.demo import sessions_dir
from sesame_core.errors import SesameError
from sesame_core.mcp import inputs
from sesame_core.mcp.arguments import LARGEST, read
from sesame_core.mcp.tools import TOOLS, Tools
from sesame_core.query.dates import HINT

from ..support.mcp_client import answered
from ..support.transcripts import Pi, write

BACKOFF = "d6bc0d35-ccec-43e4-a83f-b0efdb1ed801"
Call = Callable[[str, dict[str, Any]], dict[str, Any]]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    """The tools over the demo sessions, indexed once."""
    sources = [Source(parser=Selection(name=name), path=sessions_dir() / name) for name in ("claude-code", "pi")]
    with Sesame(sources=sources, data_dir=tmp_path_factory.mktemp("demo")) as sesame:
        sesame.index()
        yield Tools(sesame)


@pytest.fixture
def call(tools: Tools) -> Call:
    return lambda name, given: dict(tools.call(name, given))


def ids(answer: dict[str, Any]) -> list[str]:
    return [one["sessionId"] for one in answer["sessions"]]


# -- as it was meant -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ({"agent": "pi"}, {"agent": ["pi"]}),
        ({"agent": '["pi"]'}, {"agent": ["pi"]}),
        ({"agent": " pi "}, {"agent": ["pi"]}),
        ({"agent": "claude"}, {"agent": ["claude-code"]}),
        ({"agent": "PI"}, {"agent": ["pi"]}),
        ({"agent": []}, {}),
        ({"agent": None, "cwd": None, "limit": None}, {}),
        ({"cwd": ["/home/ann/code"]}, {"cwd": "/home/ann/code"}),
        ({"cwd": "/home/ann/code/"}, {"cwd": "/home/ann/code"}),
        ({"in": "lantern"}, {"repo": "lantern"}),
        ({"in": "/home/ann/code/"}, {"cwd": "/home/ann/code"}),
        ({"in": "here"}, {"here": True}),
        ({"exclude": BACKOFF}, {"exclude": [BACKOFF]}),
        ({"exclude": "d6bc0d35"}, {"exclude": [BACKOFF]}),
        ({"after": 2026}, {"after": "2026"}),
        ({"after": "2026-10-10T00:00:00.000Z"}, {"after": "2026-10-10T00:00:00+00:00"}),
        ({"after": "october 2026"}, {"after": "2026-10"}),
        ({"limit": "2"}, {"limit": 2}),
        ({"limit": " 2 "}, {"limit": 2}),
        ({"limit": "2.0"}, {"limit": 2}),
        ({"limit": 2.0}, {"limit": 2}),
        ({"limit": 10**40}, {"limit": 100}),
        ({"limit": "9" * 30}, {"limit": 100}),
        ({"offset": 2**63}, {"offset": LARGEST}),
        ({"all_kinds": "true"}, {"all_kinds": True}),
        ({"allKinds": True}, {"all_kinds": True}),
        ({"all-kinds": True}, {"all_kinds": True}),
        ({"currentSession": BACKOFF}, {"current_session": BACKOFF}),
        ({"maxBytes": "5000"}, {"max_bytes": 5000}),
        ({"repo": 7}, {"repo": "7"}),
    ],
    ids=str,
)
def test_what_is_clear_is_taken(given: dict[str, Any], same: dict[str, Any], call: Call) -> None:
    one, other = call("list_sessions", given), call("list_sessions", same)
    assert ids(one) == ids(other)
    assert one["total"] == other["total"]


@pytest.mark.parametrize(
    "word", ["today", "yesterday", "monday", "last week", "30min", "24h", "7d", "2w", "1mo", "3 days ago", "2026-11-27"]
)
def test_every_date_of_the_command_line_is_a_date_of_a_tool(word: str, call: Call) -> None:
    assert call("list_sessions", {"after": word, "before": "now"})["total"] >= 0
    assert call("search_sessions", {"query": "fox", "before": word})["total"] >= 0


@pytest.mark.parametrize(
    "name",
    [
        BACKOFF,
        BACKOFF.upper(),
        "d6bc",
        "d6bc0d35",
        "@@d6bc0d35",
        "SQLite migration sets reconnectBackoff to zero",
        "@@sqlite-migration-sets-reconnectbackoff-to-zero",
        '@@"sqlite migration"',
        "sqlite reconnectbackoff",
        "sqlite migration sets reconectbackoff to zero",
        " d6bc ",
    ],
)
@pytest.mark.parametrize("tool", ["get_session", "list_messages", "query_session"])
def test_a_session_may_be_named_in_every_way(tool: str, name: str, call: Call) -> None:
    question = {"question": "which delay?"} if tool == "query_session" else {}
    value = call(tool, {"session": name, **question})
    assert value.get("session", value)["sessionId"] == BACKOFF


@pytest.mark.parametrize("argument", ["sessionId", "session_id", "id", "Session"])
def test_the_session_may_be_passed_as_answers_call_it(argument: str, call: Call) -> None:
    assert call("get_session", {argument: [BACKOFF]})["sessionId"] == BACKOFF


def test_a_session_with_an_id_of_digits_may_be_a_number(home: Path) -> None:
    pi = Pi("2026080112")
    write(pi.path, pi.header(), pi.user("fox"))
    with Sesame() as sesame:
        sesame.index()
        assert Tools(sesame).call("get_session", {"session": 2026080112})["sessionId"] == pi.session


def test_the_key_of_a_session_names_it(call: Call) -> None:
    key = call("get_session", {"session": BACKOFF})["key"]
    assert call("get_session", {"session": key})["sessionId"] == BACKOFF


def test_nul_and_lone_surrogates_are_no_part_of_an_argument(call: Call) -> None:
    assert BACKOFF in call("search_sessions", {"query": "recon\0nect backoff \ud800"})["results"][0].values()
    assert call("get_session", {"session": "d6\0bc"})["sessionId"] == BACKOFF
    assert call("list_sessions", {"current_session": "\udfff"})["currentSessions"] == ["\ufffd"]


# -- refusals --------------------------------------------------------------------------------------------------

REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    ("list_sessions", {"agent": 5.5}, "no agent '5.5': there are"),
    ("list_sessions", {"agent": {"a": 1}}, 'agent must be a string or a list of strings, not {"a": 1}'),
    ("list_sessions", {"agent": [["pi"]]}, 'agent must be a string or a list of strings, not [["pi"]]'),
    ("list_sessions", {"agent": True}, "agent must be a string or a list of strings, not true"),
    ("list_sessions", {"agent": "cluade"}, "no agent 'cluade': did you mean claude-code?"),
    ("list_sessions", {"cwd": ["/a", "/b"]}, 'cwd must be a string, not ["/a", "/b"]'),
    ("list_sessions", {"cwd": {}}, "cwd must be a string, not {}"),
    ("list_sessions", {"limit": 0}, "limit must be a whole number of at least 1, not 0"),
    ("list_sessions", {"limit": -3}, "limit must be a whole number of at least 1, not -3"),
    ("list_sessions", {"limit": "five"}, 'limit must be a whole number of at least 1, not "five"'),
    ("list_sessions", {"limit": 1.5}, "limit must be a whole number of at least 1, not 1.5"),
    ("list_sessions", {"limit": True}, "limit must be a whole number of at least 1, not true"),
    ("list_sessions", {"limit": []}, "limit must be a whole number of at least 1, not []"),
    ("list_sessions", {"all_kinds": "perhaps"}, 'all_kinds must be true or false, not "perhaps"'),
    ("list_sessions", {"max_bytes": 10**7}, "max_bytes must be a whole number from 1 to 1000000, not 10000000"),
    ("list_sessions", {"after": "soon"}, f"after: 'soon' is not a date: {HINT}"),
    ("list_sessions", {"before": "2026-13-45"}, "before: '2026-13-45' is not a date: use"),
    ("list_sessions", {"after": "7d", "before": "soonish"}, "before: 'soonish' is not a date"),
    ("list_sessions", {"cwd": "  "}, "cwd: has no value"),
    ("list_sessions", {"in": " "}, "in: has no value"),
    ("list_sessions", {"in": "den", "repo": "fox"}, "in and repo are two conditions of the same kind: put one of them"),
    ("list_sessions", {"cmd": "--"}, "cmd: '--' does not contain a word"),
    ("search_sessions", {"query": "x", "role": "robot"}, "role: 'robot' is not a role: use user, assistant"),
    ("search_sessions", {"query": "x", "hits": 30}, "hits must be a whole number from 1 to 20, not 30"),
    ("search_sessions", {"query": ["a", "b"]}, 'query must be a string, not ["a", "b"]'),
    ("search_sessions", {}, "the argument 'query' is missing: it must be a string"),
    ("list_sessions", {"agnet": "pi"}, "unknown argument 'agnet'; did you mean 'agent'?"),
    ("get_session", {"session": "x" * 500, "zzz": 1}, "unknown argument 'zzz'; there are session"),
    ("query_session", {"session": "d6bc", "question": ""}, 'question must be a string that is not empty, not ""'),
    ("get_session", {"session": "nobody"}, "no session has the id or name 'nobody'"),
    ("list_sessions", {"limit": 0, "offset": -1}, "; offset must be a whole number of at least 0, not -1"),
]


@pytest.mark.parametrize(("name", "given", "told"), REFUSALS, ids=lambda value: str(value)[:40])
def test_a_refusal_names_the_argument_its_value_and_what_is_possible(
    name: str, given: dict[str, Any], told: str, tools: Tools
) -> None:
    result = answered(tools, name, given)
    (content,) = result.content
    text = content.text  # type: ignore[union-attr]
    assert result.is_error
    assert told in text
    assert "\n" not in text
    # An agent may have no shell, and what pydantic calls a type is not what a person does.
    assert not re.search(r"sesame [a-z]|--[a-z]|pydantic|input should", text)


def test_each_wrong_argument_is_told_once() -> None:
    with pytest.raises(SesameError) as told:
        read(inputs.ListSessions, {"agent": [{}], "limit": "x"})
    assert str(told.value).count("agent") == 1
    assert str(told.value).count("limit") == 1


def test_every_kind_of_value_is_read_or_refused_for_every_argument(call: Call) -> None:
    values = ["", " ", "x", "5", -1, 0, 1.5, 1e300, 10**30, True, [], ["x"], [None], [1], {}, {"a": []}, "[", "[]"]
    for tool in TOOLS.values():
        required = {"search_sessions": {"query": "x"}, "list_sessions": {}}.get(tool.name, {"session": "d6bc"})
        for argument in tool.takes.model_fields:
            for value in values:
                given = {**required, **({"question": "x"} if tool.name == "query_session" else {}), argument: value}
                with suppress(SesameError):
                    call(tool.name, given)
