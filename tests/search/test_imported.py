"""A session that another agent has imported is one session with two copies, on every backend."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Filters, Sesame
from sesame_core.config.model import Selection, Source

from ..support.every_backend import BACKENDS, opened
from ..support.transcripts import found

CWD = "/home/bo/fox"


def put(place: Path, agent: str, id: str, *texts: str, cwd: str = CWD, **fields: Any) -> Path:
    header = {"type": "sesame-session", "version": 1, "id": id, "agent": agent, "cwd": cwd, **fields}
    messages = [{"type": "message", "id": f"{agent}{n}", "role": "user", "text": text} for n, text in enumerate(texts)]
    path = place / agent / f"{id}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in (header, *messages)))
    return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "in"
    place.mkdir()
    return place


@pytest.fixture(params=BACKENDS)
def sesame(request: pytest.FixtureRequest, tmp_path: Path, place: Path) -> Iterator[Sesame]:
    with opened(request, tmp_path, Source(parser=Selection(name="sesame"), path=place)) as sesame:
        yield sesame


def test_the_original_represents_a_session_although_the_import_is_longer(sesame: Sesame, place: Path) -> None:
    put(place, "owl", "s-1", "a quick ocelot", "and a margay")
    put(place, "elk", "s-1", "a quick ocelot", "and a margay", "and what elk adds", parentId="s-1")
    sesame.index()
    for words in ("ocelot", "margay", "quick ocelot margay"):
        answer = sesame.search(words)
        assert [(hit.session.agent, hit.session.id) for hit in answer.hits] == [("owl", "s-1")]
        assert answer.total == 1
    listed, total = sesame.list_sessions()
    assert ([one.session.agent for one in listed], total) == (["owl"], 1)
    assert sesame.get_session("s-1").session.agent == "owl"
    assert sesame.status().sessions == 1


def test_what_only_the_import_has_is_found_as_the_session(sesame: Sesame, place: Path) -> None:
    put(place, "owl", "s-1", "a quick ocelot")
    put(place, "elk", "s-1", "a quick ocelot", "a serval that owl has lost", parentId="s-1")
    sesame.index()
    assert found(sesame.search("serval")) == ["s-1"]
    assert [hit.session.agent for hit in sesame.search("ocelot", Filters(agents=("elk",))).hits] == ["elk"]


def test_several_imports_of_one_session_are_one_session(sesame: Sesame, place: Path) -> None:
    original = put(place, "owl", "s-1", "a quick ocelot")
    for agent in ("elk", "yak"):
        put(place, agent, "s-1", "a quick ocelot", parentId="s-1")
    put(place, "elk", "s-2", "the ocelot goes on in elk", parentId="s-1")
    sesame.index()
    assert sorted(found(sesame.search("ocelot"))) == ["s-1", "s-2"]
    assert sesame.get_session("s-1").session.agent == "owl"
    original.unlink()
    sesame.index()
    assert sorted(found(sesame.search("ocelot"))) == ["s-1", "s-2"]
    assert sesame.get_session("s-1").session.agent in ("elk", "yak")
    sesame.forget("s-1")
    assert found(sesame.search("ocelot")) == ["s-2"]


def test_an_import_whose_original_is_not_indexed_loses_nothing(sesame: Sesame, place: Path) -> None:
    put(place, "elk", "s-1", "a quick ocelot", parentId="s-1")
    sesame.index()
    (hit,) = sesame.search("ocelot").hits
    assert (hit.session.id, hit.session.agent, hit.session.is_imported) == ("s-1", "elk", True)
    assert sesame.list_sessions()[1] == 1


def test_a_fork_names_another_parent_and_is_a_session_of_its_own(sesame: Sesame, place: Path) -> None:
    put(place, "owl", "s-1", "a quick ocelot")
    put(place, "elk", "s-2", "a slow ocelot", parentId="s-1")
    sesame.index()
    assert sorted(found(sesame.search("ocelot"))) == ["s-1", "s-2"]
    assert not any(one.session.is_imported for one in sesame.list_sessions()[0])
