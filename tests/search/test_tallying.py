"""Counts of sessions, the same on every backend, and how they fit a screen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Sesame
from sesame_core.rendering.screen.style import Screen
from sesame_core.rendering.tallies import tallies_json, tallies_text
from sesame_core.text.cells import cells
from sesame_core.types.query import Filters
from sesame_core.types.tally import By, Tallies, Tally

from ..support.every_backend import BACKENDS, indexed


def record(id: str, role: str, day: int, **fields: Any) -> dict[str, Any]:
    return {"type": "message", "id": id, "role": role, "timestamp": f"2026-11-{day:02}T12:00:00Z", **fields}


@pytest.fixture(params=BACKENDS)
def sesame(request: pytest.FixtureRequest, home: Path, utc: None, tmp_path: Path) -> Iterator[Sesame]:
    with indexed(request, tmp_path, {}) as sesame:
        (source,) = sesame.config.sources
        assert source.path is not None
        for name, agent, cwd, day in (("a", "owl", "/w/den", 2), ("b", "owl", "/w/den", 8), ("c", "fox", "/w/日本", 9)):
            header = {"type": "sesame-session", "version": 1, "id": f"session-{name}", "agent": agent, "cwd": cwd}
            call = {"id": "1", "name": "Bash" if name == "a" else "bash", "arguments": {"command": "make"}}
            edit = {"id": "2", "name": "edit", "arguments": {"path": "/w/den/a.py"}}
            result = {"callId": "1", "text": "broken", "isError": True}
            lines = [
                header,
                record("1", "user", day, text="why?"),
                record("2", "assistant", day, text="so", toolCalls=[call, edit]),
                record("3", "tool", day, toolResults=[result]),
            ]
            (source.path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        assert not sesame.index().errors
        yield sesame


def groups(found: Tallies) -> list[tuple[str, int]]:
    return [(tally.group, tally.sessions) for tally in found.groups]


def test_all_sessions_are_counted_and_those_of_each_group(sesame: Sesame) -> None:
    found = sesame.stats()
    total = found.total
    assert (total.sessions, total.prompts, total.calls) == (3, 3, 6)
    assert (total.failures, total.files) == (3, 3)
    assert groups(found) == [("2026-11-09", 1), ("2026-11-08", 1), ("2026-11-02", 1)]
    assert groups(sesame.stats(by="week")) == [("2026-W46", 1), ("2026-W45", 2)]
    assert groups(sesame.stats(by="agent")) == [("owl", 2), ("fox", 1)]
    assert groups(sesame.stats(by="project")) == [("/w/den", 2), ("/w/日本", 1)]
    tools = sesame.stats(by="tool")
    assert [(tally.group, tally.calls, tally.sessions) for tally in tools.groups] == [("bash", 3, 3), ("edit", 3, 3)]
    assert {tally.failures for tally in tools.groups} == {None}


def test_filters_narrow_what_is_counted(sesame: Sesame) -> None:
    assert sesame.stats(Filters(agents=("owl",))).total.sessions == 2
    sesame.mark("session-c", starred=True)
    assert groups(sesame.stats(Filters(starred=True), by="agent")) == [("fox", 1)]
    assert sesame.stats(Filters(tags=("none",))).groups == []


BYS: tuple[By, ...] = ("day", "week", "agent", "project", "tool")


@pytest.mark.parametrize("width", [20, 40, 80, 120])
@pytest.mark.parametrize("by", BYS)
def test_no_line_is_wider_than_the_screen(by: By, width: int) -> None:
    names = ["/home/ann/" + "日本語" * 12, "a" * 90, "", "x\ny\x1b[31m"]
    tallies = [
        Tally(group=name, sessions=10**n, messages=10 ** (n + 2), prompts=n, calls=10**n, failures=n, files=n)
        for n, name in enumerate(names)
    ]
    found = Tallies(by=by, total=Tally(sessions=1, messages=2, failures=0, files=1), groups=tallies)
    headline, _, table = tallies_text(found, 3, Screen(width=width, height=24, has_color=False)).partition("\n\n")
    lines = [*headline.split("\n"), *table.split("\n")]
    assert " ".join(headline.split()) == "1 session, 2 messages, 0 prompts, 0 tool calls, 0 failures, 1 file; undated"
    assert all(cells(line) <= width for line in lines if "…" not in line[:2]), lines
    assert not any(ord(character) < 32 for line in lines for character in line)
    assert lines[-1] == "… and 1 more: --limit 4"
    assert tallies_json(found, 3)["groupCount"] == 4


def test_counts_are_printed_as_bars_and_as_json(indexed_sessions: Path, cli: Callable[..., Any]) -> None:
    out = cli("stats", "--by", "agent").out
    assert out.startswith("9 sessions, 75 messages, 14 prompts, 45 tool calls, 5 failures, 16 files; 2026-09-03 to ")
    assert "█" in out
    assert [one["group"] for one in cli("stats", "--by", "agent", "--json").json["groups"]] == ["pi", "claude-code"]
    refused = cli("stats", "--by", "month")
    assert (refused.code, refused.err) == (2, "sesame: 'month' is not a group: use day, week, agent, project, tool\n")
    assert cli("stats", "--agent", "pi", "--tag", "x").out == "No sessions found\n"
