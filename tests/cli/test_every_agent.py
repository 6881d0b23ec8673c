"""A home in which every bundled agent has left a session: all are indexed without a configuration."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ..plugins.sesame_parser_codex import records as codex
from ..plugins.sesame_parser_opencode.making import OldDatabase, answered, asked
from ..support.agent_homes import ROOTS
from ..support.transcripts import Claude, Pi, write

DATA = Path(__file__).parents[1] / "data" / "copilot"
GEMINI = Path(__file__).parents[1] / "plugins" / "sesame_parser_gemini" / "data"


@pytest.fixture
def everyone(home: Path) -> Path:
    """A home with sessions of all six agents."""
    claude, pi = Claude("a", "/w"), Pi("b", "/w")
    write(claude.path, claude.user("mend the kettle"))
    write(pi.path, pi.header(), pi.user("mend the teapot"))
    rollout = home / ".codex" / "sessions" / "2026" / "08" / "01" / codex.name()
    rollout.parent.mkdir(parents=True)
    rollout.write_bytes(codex.lines(codex.meta(), codex.context(), codex.prompt("mend the samovar")))
    shutil.copytree(DATA, home / ".copilot" / "session-state")
    shutil.copytree(GEMINI, home / ".gemini" / "tmp" / "reef" / "chats")
    (home / ".local" / "share").mkdir(parents=True, exist_ok=True)
    database = OldDatabase(home / ".local" / "share")
    database.write("ses_1", [asked("mend the percolator"), answered("mended")])
    database.close()
    return home


def test_a_run_without_a_configuration_indexes_the_sessions_of_every_agent(
    everyone: Path, cli: Callable[..., Any]
) -> None:
    assert cli("index").code == 0
    status = cli("status", "--json").json
    assert {agent["agent"] for agent in status["agents"]} == set(ROOTS)
    assert (status["failedFiles"], status["unrecognised"], status["unreadAgents"]) == ([], [], [])
    for agent in ROOTS:
        assert cli("search", "--agent", agent, "--all-kinds", "--json").json["total"] >= 1
    for word in ("kettle", "teapot", "samovar", "percolator"):
        assert cli("search", word, "--json").json["total"] == 1


def test_the_sources_are_listed_in_the_order_of_the_parsers_names(everyone: Path, cli: Callable[..., Any]) -> None:
    sources = {source["parser"]["name"]: source["path"] for source in cli("config", "--json").json["sources"]}
    assert list(sources.items()) == [(agent, f"{everyone}/{place}") for agent, place in ROOTS.items()]
    looked = [root for root in cli("status", "--json").json["lookedIn"] if root["exists"]]
    assert [(root["parser"], root["path"]) for root in looked] == list(sources.items())


@pytest.mark.parametrize("agent", ROOTS)
def test_an_agent_alone_is_indexed_and_the_others_are_named_as_missing(
    everyone: Path, agent: str, cli: Callable[..., Any]
) -> None:
    for other, place in ROOTS.items():
        if other != agent:
            shutil.rmtree(everyone / place)
    assert cli("index").code == 0
    status = cli("status", "--json").json
    assert {one["agent"] for one in status["agents"]} == {agent}
    assert {root["parser"] for root in status["lookedIn"] if root["exists"]} == {agent}
    assert {root["parser"] for root in status["lookedIn"]} == {*ROOTS, "sesame"}
