"""`"sources": []`: a machine that indexes nothing, whatever its agents have."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Sesame
from sesame_core.config import paths

from ..support.transcripts import Claude, Pi, write


@pytest.fixture
def none(home: Path) -> Path:
    """A home with sessions, of which none is a source."""
    made, other = Claude("a", "/w"), Pi("b", "/w")
    write(made.path, made.user("a pelican"))
    write(other.path, other.header(), other.user("a heron"))
    file = paths.config_file()
    file.parent.mkdir(parents=True)
    file.write_text('{"sources": []}')
    return made.path


def test_nothing_is_indexed(none: Path, cli: Callable[..., Any]) -> None:
    done = cli("index")
    assert (done.code, done.out) == (
        0,
        'no session files found; 0 chunks from 0 B in 0.0 s\nlooked in no directory: "sources" is []\n',
    )
    assert cli("index", "--full").code == 0
    assert cli("sessions", "--json").json["sessions"] == []
    with Sesame() as sesame:
        assert sesame.roots() == []
        assert sesame.search("pelican").total == 0


def test_an_empty_answer_says_so(none: Path, cli: Callable[..., Any]) -> None:
    for command in (["search", "pelican"], ["sessions"]):
        assert f'the index is empty, and "sources" in {paths.config_file()} is []' in cli(*command).out


def test_the_configuration_is_shown(none: Path, cli: Callable[..., Any]) -> None:
    assert cli("config", "--json").json["sources"] == []
    assert "none is configured, or found" in cli("config").out


def test_a_file_that_is_named_is_indexed_all_the_same(none: Path, cli: Callable[..., Any]) -> None:
    assert cli("index", str(none)).code == 0
    assert cli("search", "pelican", "--json").json["resultCount"] == 1
    assert cli("search", "heron", "--json").json["resultCount"] == 0


def test_a_directory_in_the_environment_is_a_source_all_the_same(
    none: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESSIONS_DIR", str(none.parent))
    assert cli("index", "--json").json["added"] == 1


def test_what_was_indexed_before_stays(home: Path, cli: Callable[..., Any]) -> None:
    made = Claude("a", "/w")
    write(made.path, made.user("a pelican"))
    cli("index")
    paths.config_file().parent.mkdir(parents=True, exist_ok=True)
    paths.config_file().write_text('{"sources": []}')
    assert cli("index", "--json").json["missing"] == 0
    assert cli("search", "pelican", "--json").json["resultCount"] == 1


@pytest.mark.once
def test_a_reader_of_a_team_s_index_is_not_told_to_index(
    empty_database: str, home: Path, cli: Callable[..., Any]
) -> None:
    backend = {"name": "postgres", "options": {"dsn": empty_database}}
    with Sesame() as sesame:
        assert sesame.config.backend.name == "sqlite"
    paths.config_file().parent.mkdir(parents=True, exist_ok=True)
    paths.config_file().write_text(json.dumps({"backend": backend, "sources": []}))
    (paths.data_dir() / "audiences.json").unlink()
    made = Claude("a", "/w")
    write(made.path, made.user("a pelican"))
    assert cli("workstations", "--prepare").code == 0
    done = cli("search", "pelican")
    assert "have been sent" not in done.out + done.err
    assert "not refreshed" not in done.out + done.err
    assert cli("status", "--json").json["sessions"] == 0
