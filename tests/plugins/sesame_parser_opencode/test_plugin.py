"""The parser of OpenCode as a plugin: the kit, in each layout; where it looks; what it takes for its own."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sesame_core.testing import ParserConformance
from sesame_parser_opencode.parser import OpenCodeParser

from .making import JsonTree, Layout, NewDatabase, OldDatabase, OldestTree, answered, asked, tool


def sample(layout: Layout) -> Path:
    messages = [
        asked("mend the zebra"),
        answered("I look at it", tool("bash", {"command": "ls"}, "zebra.py")),
        answered("mended"),
        asked("thanks a lot"),
    ]
    path = layout.write("ses_one", messages)
    layout.write("ses_two", [asked("another one")])
    layout.close()
    return path


class TestOldestTree(ParserConformance):
    name = "opencode"

    @pytest.fixture
    def session_file(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        return sample(OldestTree(tmp_path_factory.mktemp("data")))


class TestJsonTree(ParserConformance):
    name = "opencode"

    @pytest.fixture
    def session_file(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        return sample(JsonTree(tmp_path_factory.mktemp("data")))


class TestOldDatabase(ParserConformance):
    name = "opencode"

    @pytest.fixture
    def session_file(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        return sample(OldDatabase(tmp_path_factory.mktemp("data")))


class TestNewDatabase(ParserConformance):
    name = "opencode"

    @pytest.fixture
    def session_file(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        return sample(NewDatabase(tmp_path_factory.mktemp("data")))


def roots() -> list[str]:
    return [str(root) for root in OpenCodeParser().default_roots()]


def test_sessions_are_in_the_users_data_directory(home: Path) -> None:
    assert roots() == [str(home / ".local" / "share" / "opencode")]


def test_the_data_directory_follows_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/d")
    assert roots() == ["/d/opencode"]


@pytest.mark.parametrize(
    ("named", "more"),
    [("/elsewhere/x.db", ["/elsewhere/x.db"]), ("other.db", []), (":memory:", []), ("", [])],
)
def test_a_database_elsewhere_is_one_more_root(monkeypatch: pytest.MonkeyPatch, named: str, more: list[str]) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/d")
    monkeypatch.setenv("OPENCODE_DB", named)
    assert roots() == ["/d/opencode", *more]


def listed(place: Path) -> list[str]:
    parser = OpenCodeParser()
    containers = list(parser.containers(place.resolve()))
    return sorted(Path(unit.path).name for container in containers for unit in parser.units(container))


def test_every_database_of_a_channel_is_read_and_copies_kept_aside_are_not(tmp_path: Path) -> None:
    for name in ("opencode.db", "opencode-beta.db", "kilo.db", "opencode.db.backup", "opencode.db.corrupt-1"):
        database = OldDatabase(tmp_path, name)
        database.write(f"ses_{name}", [asked("hello there")])
        database.close()
    assert listed(tmp_path) == ["ses_kilo.db", "ses_opencode-beta.db", "ses_opencode.db"]


def test_databases_of_other_programs_and_files_that_are_none_are_left_alone(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "other.db")
    db.execute("CREATE TABLE session(id TEXT)")
    db.close()
    (tmp_path / "noise.db").write_bytes(bytes(range(256)) * 16)
    (tmp_path / "opencode.db").write_bytes(b"")
    assert listed(tmp_path) == []


def test_snapshots_logs_and_outputs_are_not_walked(tmp_path: Path) -> None:
    for name in ("snapshot", "log", "tool-output", "repos"):
        (tmp_path / name).mkdir()
        inner = OldDatabase(tmp_path / name)
        inner.write("ses_x", [asked("hello there")])
        inner.close()
    assert listed(tmp_path) == []
