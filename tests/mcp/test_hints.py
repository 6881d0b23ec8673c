"""An answer without results says which argument kept them out, and what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from sesame_core import Sesame
from sesame_core.dataclass import replace
from sesame_core.mcp.hints import for_agents
from sesame_core.mcp.tools import Tools
from sesame_core.types.report import IndexReport

from ..support.transcripts import Claude, Pi, write

Hints = Callable[..., list[str]]


@pytest.fixture
def hints(demo_sessions: Path) -> Iterator[Hints]:
    """The hints of a search, or of a list, that finds nothing."""
    with Sesame() as sesame:
        sesame.index()

        def told(**given: Any) -> list[str]:
            name = "search_sessions" if "query" in given else "list_sessions"
            answer = Tools(sesame).call(name, given)
            assert answer["total"] == 0, given
            found: list[str] = list(answer.get("hints", []))
            assert found, given
            assert not any("--" in hint or "sesame " in hint for hint in found), found
            return found

        yield told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"cwd": "/home/ann/cod"}, "without cwd /home/ann/cod"),
        ({"cwd": "/nowhere/at/all"}, "no session is in /nowhere/at/all"),
        ({"repo": "chat-clint"}, "did you mean"),
        ({"repo": "zebra"}, "without repo zebra; repositories in "),
        ({"branch": "reconect"}, "did you mean reconnect?"),
        ({"branch": "zebra"}, "without branch zebra; branches in "),
        ({"model": "zebra-9"}, "without model zebra-9; models in "),
        ({"after": "2030-01-01"}, "without after 2030-01-01; nearest days with some: "),
        ({"before": "2001-01-01"}, "without before 2001-01-01; nearest days with some: "),
        ({"after": "2026-10-20", "before": "2026-10-01"}, "; the first is later than the second"),
        ({"path": "zebra.py"}, "without path zebra.py"),
        ({"cmd": "zebra all"}, "without cmd"),
        ({"agent": ["pi"], "branch": "reconnect"}, "without agent pi; agents in "),
        ({"agent": "codex"}, "without agent codex; agents in "),
    ],
    ids=str,
)
def test_a_filter_that_fits_nothing_is_named_with_what_is_there(given: dict[str, Any], told: str, hints: Hints) -> None:
    for more in ({}, {"query": "reconnect"}):
        found = hints(**given, **more)
        assert any(told in hint or ("did you mean" in told and "did you mean" in hint) for hint in found), found


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"tool": "Bsh"}, "did you mean Bash?"),
        ({"tool": "Zebra"}, "without tool Zebra; tools in "),
        ({"role": "summary"}, "without role summary"),
        ({"tools": True, "role": "user"}, "without role user"),
        ({"error": True, "path": "zebra.py"}, "without path zebra.py"),
    ],
    ids=str,
)
def test_a_filter_of_passages_that_fits_nothing_is_named(given: dict[str, Any], told: str, hints: Hints) -> None:
    found = hints(query="reconnect", **given)
    assert any(told in hint for hint in found), found


def test_here_without_sessions_says_so(hints: Hints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert any("without here" in hint for hint in hints(here=True))
    assert any("without here" in hint for hint in hints(here=True, query="reconnect"))


def test_an_agent_that_no_parser_reads_is_refused_and_named(demo_sessions: Path) -> None:
    with Sesame() as sesame, pytest.raises(Exception, match=r"no agent 'zebra': there are .*claude-code"):
        Tools(sesame).call("search_sessions", {"query": "x", "agent": ["zebra"]})


def test_a_time_in_the_query_names_the_arguments(demo_sessions: Path) -> None:
    with Sesame() as sesame:
        sesame.index()
        (hint,) = Tools(sesame).call("search_sessions", {"query": "reconnect last week"})["hints"]
    assert hint.startswith('For "last week": after ')


class Behind(Tools):
    """The tools while three files are not read yet."""

    def _refresh(self) -> IndexReport:
        return replace(super()._refresh(), pending=3)


def test_files_that_are_not_read_yet_are_in_the_hints(demo_sessions: Path) -> None:
    with Sesame() as sesame:
        sesame.index()
        tools = Behind(sesame)
        for name, given in (
            ("search_sessions", {"query": "zebra"}),
            ("search_sessions", {"query": "reconnect"}),
            ("search_sessions", {"query": "reconnect", "repo": "zebra"}),
            ("list_sessions", {}),
            ("list_sessions", {"repo": "zebra"}),
        ):
            first, *more = tools.call(name, given)["hints"]
            assert first.startswith("3 of ")
            assert first.endswith(" are not indexed yet: this answer lacks the sessions in them")
            assert bool(more) == ("zebra" in given.values())
        hints = tools.call("search_sessions", {"query": "zebra"})["hints"]
        assert hints[-1].startswith("Not found in what is indexed so far (")
        assert hints[-1].endswith("zebra")


def test_an_empty_index_says_where_it_looked_and_names_no_command(home: Path) -> None:
    with Sesame() as sesame:
        tools = Tools(sesame)
        for name, given in (("search_sessions", {"query": "fox"}), ("list_sessions", {})):
            (hint,) = tools.call(name, given)["hints"]
            assert hint.startswith("the index is empty: no session files found")
        claude, pi = Claude(), Pi()
        write(claude.path, claude.user("the fox"), claude.answer("it ran"))
        write(pi.path, pi.header(), pi.user("the fox"))
        assert tools.call("search_sessions", {"query": "fox"})["total"] == 2


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("3 sessions match without --all-kinds", "3 sessions match without all_kinds"),
        ("the index is empty: 3 session files in ~/x not indexed; index with: sesame index", None),
        ("nearest: /home/bo/--agent-notes", "nearest: /home/bo/--agent-notes"),
        ("branches in them: fix/sesame search", "branches in them: fix/sesame search"),
    ],
)
def test_options_become_arguments_and_commands_go(hint: str, told: str | None) -> None:
    assert for_agents([hint]) == [hint.partition("; index with")[0] if told is None else told]


def test_a_search_for_an_error_or_a_command_names_the_tool_that_answers_it(demo_sessions: Path) -> None:
    with Sesame() as sesame:
        sesame.index()
        told = [
            Tools(sesame).call("search_sessions", {"query": query}).get("hints", [])
            for query in ("error: no such zebra table", "cargo test --zebra", "tests that depend on their order")
        ]
    assert told == [
        ["An error: for what was done after it: ask_history, question fix"],
        ["A command: for how it was run: ask_history, question how"],
        [],
    ]
