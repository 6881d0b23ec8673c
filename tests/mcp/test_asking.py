"""The tool that answers from the history: the command line's answers, in bounded size, without secrets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from sesame_core import Sesame
from sesame_core.config.model import Selection, Source
from sesame_core.errors import QueryError
from sesame_core.mcp.bounds import LEAST_BYTES
from sesame_core.mcp.tools import Tools
from sesame_core.rendering.budget import size

from ..support import worked
from ..support.worked import asks, runs, says

Call = Callable[..., dict[str, Any]]


def test_the_history_answers_what_the_command_line_prints(
    demo_sessions: Path, tools_of: Callable[..., Call], cli: Callable[..., Any]
) -> None:
    about = "error: attribute 'isLaptop' missing"
    answer = tools_of()("ask_history", {"question": "fix", "about": about})
    (printed,) = cli("fix", about, "--json").json["fixes"]
    (fix,) = answer["fixes"]
    assert {name: fix[name] for name in ("sessionId", "position", "error", "why", "held")} == {
        name: printed[name] for name in ("sessionId", "position", "error", "why", "held")
    }
    ways = tools_of()("ask_history", {"question": "how", "about": "npm test", "limit": 1})
    assert ways["ways"][0]["variants"] == cli("how", "npm", "test", "--json").json["ways"][0]["variants"]


def test_a_line_s_writers_and_those_who_worked_on_a_file_are_told(
    demo_sessions: Path, tools_of: Callable[..., Call], tmp_path: Path
) -> None:
    file = tmp_path / "chat-client" / "src" / "socket.ts"
    file.parent.mkdir(parents=True)
    (tmp_path / "chat-client" / ".git").mkdir()
    file.write_text("  const base = Math.max(250, Number(settings.reconnectBackoff) || 500);\n")
    wrote = tools_of()("ask_history", {"question": "blame", "about": f"{file}:1"})
    (session,) = wrote["sessions"]
    assert (session["session"][:8], session["lines"], wrote["nextOffset"]) == ("d6bc0d35", "line 1", None)
    assert "Fix both sides" in session["asked"]
    worked_on = tools_of()("ask_history", {"question": "who", "about": "src/socket.ts"})
    assert (worked_on["subject"], len(worked_on["people"])) == ("file", 1)


def test_a_file_of_this_machine_is_not_read_for_a_caller_on_another(
    demo_sessions: Path, tools_of: Callable[..., Call]
) -> None:
    with pytest.raises(QueryError, match="reads a file of the machine"):
        tools_of(is_local=False)("ask_history", {"question": "blame", "about": "/etc/passwd:1"})


def test_an_answer_from_the_history_keeps_to_its_bytes_and_continues(
    demo_sessions: Path, tools_of: Callable[..., Call]
) -> None:
    asked = {"question": "how", "about": "run the tests", "max_bytes": 1}
    first = tools_of()("ask_history", asked)
    assert size(first) <= LEAST_BYTES
    assert first["nextOffset"] is not None
    names = [way["name"] for way in first["ways"]]
    while (offset := first["nextOffset"]) is not None:
        first = tools_of()("ask_history", {**asked, "offset": offset})
        names += [way["name"] for way in first["ways"]]
    assert len(names) == len(set(names)) == first["total"]


def test_a_question_that_nobody_can_ask_is_refused_with_those_that_one_can(
    demo_sessions: Path, tools_of: Callable[..., Call]
) -> None:
    with pytest.raises(QueryError, match="question 'zzz' is not known; it is one of fix, how, blame, who"):
        tools_of()("ask_history", {"question": "zzz", "about": "x"})
    with pytest.raises(QueryError, match="the argument 'about' is missing"):
        tools_of()("ask_history", {"question": "fix"})


def test_a_secret_in_a_command_that_fixed_something_is_replaced(home: Path, tools_of: Callable[..., Call]) -> None:
    token = "ghp_" + "a1B2c3D4e5F6a7B8c9D0e1F2a3B4c5D6e7F8"
    failed = "error: could not read Password for the remote: terminal prompts disabled"
    steps = [
        asks("push it"),
        runs("git push", failed, fails=True),
        runs(f"git remote set-url origin https://{token}@example.org/x.git", None),
        runs("git push", "done"),
        says(f"I set the token {token} because there was none."),
    ]
    worked.write(home / "in", "s1", steps)
    with Sesame(sources=[Source(parser=Selection(name="sesame"), path=home / "in")], data_dir=home / "d") as sesame:
        sesame.index()
        answer = Tools(sesame).call("ask_history", {"question": "fix", "about": f"{failed} {token}"})
    assert len(answer["fixes"]) == 1  # type: ignore[arg-type]
    assert token not in json.dumps(answer)
