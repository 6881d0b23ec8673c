"""The demo sessions are valid, small, ours, and hold what the documentation asks them for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Filters, Selection, Sesame, Source
from sesame_core.demo import sessions_dir
from sesame_core.plugin.manager import BUNDLED

#: Of the two agents that most of the documentation shows.
FILES = sorted(path for agent in ("claude-code", "pi") for path in (sessions_dir() / agent).rglob("*.jsonl"))
#: What finds the one session of each other agent, and the projects that they are about.
OTHERS = {
    "codex": ("tide table hour early", "harbour-tides"),
    "copilot": ("rank bean before bench", "seed-catalogue"),
    "gemini": ("photo gallery thumbnails", "gallery"),
    "opencode": ("beehive scale drifts", "beehive"),
}
PROJECTS = ("lantern-cli", "infra", "orders-api", "tidepool", "nikki", "company-website", "chat-client")
SCENARIOS = {
    "pi": [
        "publish job release workflow",
        "nix flake infrastructure",
        "PostgreSQL orders index",
        "packaging exports wheel",
        "検索 索引 東京",
    ],
    "claude-code": [
        "carousel company website",
        "SQLite migration reconnectBackoff websocket",
        "order-dependent agent monkeypatch",
        "changelog MQTT",
    ],
}


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def blocks(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    content = record.get("message", {}).get("content")
    if isinstance(content, list):
        yield from content


def test_every_agent_that_has_a_parser_has_sessions() -> None:
    agents = {name for name, package in BUNDLED.items() if "_parser_" in package} - {"sesame"}
    assert {folder.name for folder in sessions_dir().iterdir()} == agents == {*SCENARIOS, *OTHERS}


@pytest.fixture(scope="module")
def all_of_them(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sesame]:
    """An index of all sessions."""
    sources = [Source(parser=Selection(name=folder.name), path=folder) for folder in sessions_dir().iterdir()]
    with Sesame(sources=sources, data_dir=tmp_path_factory.mktemp("demo")) as sesame:
        report = sesame.index()
        assert (report.added, report.skipped, report.errors) == (14, {}, [])
        yield sesame


@pytest.mark.parametrize("agent", OTHERS)
def test_a_session_of_each_agent_is_found_with_its_project_times_tools_and_a_failure(
    agent: str, all_of_them: Sesame
) -> None:
    words, project = OTHERS[agent]
    best = all_of_them.search(words).hits[0].session
    assert (best.agent, best.cwd) == (agent, f"/home/ann/code/{project}")
    stored = all_of_them.list_sessions(Filters(agents=(agent,)))[0]
    assert len(stored) == 1
    session = stored[0].session
    assert session.tool_counts
    assert session.modified is not None
    assert "2026-09-01" <= session.modified.isoformat() < "2026-12-01"


def test_there_are_ten_sessions_of_those_and_all_take_less_than_140_kilobytes() -> None:
    assert len(FILES) == 10
    assert sum(path.stat().st_size for path in sessions_dir().rglob("*") if path.is_file()) < 140_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_line_is_an_object_and_the_file_ends_with_a_newline(path: Path) -> None:
    assert path.read_bytes().endswith(b"}\n")
    assert all(isinstance(record, dict) and record["type"] for record in records(path))


@pytest.mark.parametrize(
    ("agent", "words"), [(agent, words) for agent, scenarios in SCENARIOS.items() for words in scenarios]
)
def test_each_scenario_has_a_session_with_all_its_words(agent: str, words: str) -> None:
    texts = [path.read_text("utf-8") for path in FILES if agent in path.relative_to(sessions_dir()).parts]
    assert any(all(word in text for word in words.split()) for text in texts)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_entry_follows_one_that_stands_before_it(path: Path) -> None:
    seen: set[str | None] = {None}
    for record in records(path):
        if "parentUuid" in record:
            assert record["parentUuid"] in seen
            seen.add(record["uuid"])
        elif "parentId" in record:
            assert record["parentId"] in seen
            seen.add(record["id"])
    assert len(seen) > 3


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_tool_call_has_its_result(path: Path) -> None:
    calls, results = set(), set()
    for record in records(path):
        calls |= {block["id"] for block in blocks(record) if block["type"] in ("tool_use", "toolCall")}
        results |= {block["tool_use_id"] for block in blocks(record) if block["type"] == "tool_result"}
        if record.get("message", {}).get("role") == "toolResult":
            results.add(record["message"]["toolCallId"])
    assert calls
    assert calls == results


def test_some_tool_results_are_errors_and_titles_are_given() -> None:
    lines = [record for path in FILES for record in records(path)]
    errors = [b for record in lines for b in blocks(record) if b.get("is_error")]
    errors += [record for record in lines if record.get("message", {}).get("isError")]
    titles = [record for record in lines if record["type"] in ("session_info", "ai-title")]
    assert len(errors) >= 4
    assert len(titles) == 8


def test_one_session_is_headless_and_one_a_subagents() -> None:
    headless = [path for path in FILES if any(r.get("entrypoint") == "sdk-cli" for r in records(path))]
    subagents = [path for path in FILES if path.parent.name == "subagents"]
    assert len(headless) == len(subagents) == 1
    parent = subagents[0].parent.parent.with_suffix(".jsonl")
    assert records(subagents[0])[0]["sessionId"] == records(parent)[0]["sessionId"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_happens_in_autumn_2026_in_the_made_up_home(path: Path) -> None:
    times = [record["timestamp"] for record in records(path) if "timestamp" in record]
    assert all("2026-09-01" <= time < "2026-12-01" for time in times)
    assert times == sorted(times)
    assert {record["cwd"] for record in records(path) if "cwd" in record} <= {
        f"/home/ann/code/{project}" for project in PROJECTS
    }
