"""A log of several sessions that grows, is forked and is rewound, in an index on any backend."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from sesame_core import Filters, Sesame
from sesame_core.config.model import Config, Describing, Selection, Source

from ...support.every_backend import BACKENDS
from ...support.in_memory import plugins_with_memory
from ...support.transcripts import append, found, write
from .reading import AGENT, ID, OTHER_ID, answer, done, event, prompt, request, start


@pytest.fixture(params=BACKENDS)
def sesame(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sesame]:
    options = {}
    if request.param == "sqlite":
        options = {"directory": str(tmp_path / "data")}
    elif request.param == "postgres":
        server, database = request.getfixturevalue("postgres"), f"sesame_{uuid.uuid4().hex}"
        with psycopg.connect(server, autocommit=True) as db:
            db.execute(f"CREATE DATABASE {database}")  # type: ignore[arg-type]
        options = {"dsn": make_conninfo(server, dbname=database)}
    config = Config(
        sources=(Source(parser=Selection(name="copilot"), path=tmp_path / "session-state"),),
        backend=Selection(name=request.param, options=options),
        describe=Describing(directory=tmp_path / "metadata"),
    )
    with Sesame(config, plugins=plugins_with_memory()) as sesame:
        yield sesame


def test_it_grows_is_forked_and_is_rewound(sesame: Sesame, tmp_path: Path) -> None:
    log, fork = (tmp_path / "session-state" / name / "events.jsonl" for name in (ID, OTHER_ID))
    kept = (
        prompt("light the heliograph"),
        answer("", 3, request("c1", "task", description="Find oil", prompt="find oil")),
        event("subagent.started", 4, agent=AGENT, toolCallId="c1", agentDisplayName="finder"),
        prompt("find oil", 5, agent=AGENT),
    )
    write(log, start(), *kept)
    assert sesame.index().added == 1
    append(log, answer("oil is in the cellar", 6, agent=AGENT), done("c1", "broken", 7, success=False))
    assert sesame.index().appended == 1
    assert found(sesame.search("cellar")) == [ID]
    listed = {stored.session.id: stored.session for stored in sesame.list_sessions()[0]}
    assert listed.keys() == {ID, f"{ID}/{AGENT}"}
    assert (listed[f"{ID}/{AGENT}"].parent_id, listed[f"{ID}/{AGENT}"].title) == (ID, "Find oil")
    assert [s.session.id for s in sesame.list_sessions(Filters(is_error=True, agents=("copilot",)))[0]] == [ID]

    told = event("session.info", 8, infoType="fork", message=f'Forked from "x" ({ID}) as "y" ({OTHER_ID}).')
    write(fork, start(OTHER_ID), *kept[:1], told, prompt("dim the semaphore", 9))
    assert sesame.index().added == 1
    assert len(found(sesame.search("heliograph"))) == 1
    assert found(sesame.search("semaphore")) == [OTHER_ID]

    write(log, start(), *kept[:1])
    append(log, prompt("paint it ochre", 10))
    assert sesame.index().updated == 1
    assert found(sesame.search("cellar")) == []
    assert found(sesame.search("ochre")) == [ID]
