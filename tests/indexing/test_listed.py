"""Sessions that are rows of a database are found, read again, missed and forgotten as files are."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sesame_core import Config, Selection, Sesame, Source
from sesame_core.config.model import Describing
from sesame_core.dataclass import replace
from sesame_core.errors import SesameError
from sesame_core.indexing import scan_cache

from ..support.chats import Chats, ChatsParser, damage, register
from ..support.every_backend import BACKENDS
from ..support.in_memory import plugins_with_memory

NOW = time.time()


class Home:
    """A database of chats, and an index of it."""

    def __init__(self, request: pytest.FixtureRequest, place: Path) -> None:
        self.root = place / "in"
        self.root.mkdir()
        self.chats = Chats(self.root / "one.chats")
        options = {}
        if request.param == "sqlite":
            options = {"directory": str(place / "data")}
        elif request.param == "postgres":
            options = {"dsn": request.getfixturevalue("database")}
        self.plugins = plugins_with_memory()
        register(self.plugins)
        self.config = Config(
            sources=(Source(parser=Selection(name="chats"), path=self.root),),
            backend=Selection(name=request.param, options=options),
            describe=Describing(directory=place / "metadata"),
        )

    def open(self, *exclude: str) -> Sesame:
        """Return Sesame over the chats."""
        sources = tuple(replace(source, exclude=exclude) for source in self.config.sources)
        return Sesame(replace(self.config, sources=sources), plugins=self.plugins)


@pytest.fixture(params=BACKENDS)
def history(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    home = Home(request, tmp_path)
    yield home
    home.chats.close()


@pytest.fixture(params=["sqlite"])
def on_sqlite(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    home = Home(request, tmp_path)
    yield home
    home.chats.close()


def found(sesame: Sesame, words: str) -> list[str]:
    return sorted(hit.session.id for hit in sesame.search(words).hits)


def test_chats_whose_text_is_only_in_the_log_are_found_while_the_program_runs(history: Home) -> None:
    history.chats.say("a", "the zebra crossing", at=NOW - 100)
    history.chats.say("b", "a zebra and an okapi", at=NOW - 50)
    assert b"zebra" not in history.chats.path.read_bytes()
    with history.open() as sesame:
        assert sesame.index().added == 2
        assert found(sesame, "zebra") == ["a", "b"]
        assert found(sesame, "okapi") == ["b"]
        report = sesame.index()
        assert (report.changed, report.unchanged) == (0, 2)


def test_of_a_database_only_the_chat_that_grew_is_read_again(history: Home) -> None:
    history.chats.say("a", "zebra", at=NOW - 100)
    history.chats.say("b", "okapi", at=NOW - 50)
    with history.open() as sesame:
        sesame.refresh(5)
        history.chats.say("a", "quokka", at=NOW - 10)
        report = sesame.refresh(5)
        assert (report.updated, report.added, report.unchanged) == (1, 0, 1)
        assert found(sesame, "quokka") == ["a"]


def test_a_chat_of_the_same_time_with_a_line_less_is_read_again(history: Home) -> None:
    history.chats.say("a", "zebra", "regret", at=NOW - 100)
    with history.open() as sesame:
        sesame.refresh(5)
        history.chats.db.execute("DELETE FROM line WHERE n = 1")
        assert sesame.refresh(5).updated == 1
        assert found(sesame, "regret") == []


def test_a_deleted_chat_stays_in_the_index_as_missing_and_comes_back(history: Home) -> None:
    path = history.chats.say("a", "zebra", at=NOW - 100)
    history.chats.say("b", "okapi", at=NOW - 50)
    with history.open() as sesame:
        sesame.index()
        history.chats.delete("a")
        assert sesame.refresh(5).missing == 1
        stored = sesame.get_session(str(path))
        assert stored.missing_since is not None
        assert found(sesame, "zebra") == ["a"]
        history.chats.say("a", "zebra", at=NOW - 100)
        report = sesame.refresh(5)
        assert (report.missing, report.changed) == (0, 0)


def test_a_full_index_keeps_the_deleted_chat_and_drops_the_excluded_one(history: Home) -> None:
    for name in ("a", "b", "c"):
        history.chats.say(name, f"zebra {name}", at=NOW - 100)
    with history.open() as sesame:
        sesame.index()
    history.chats.delete("a")
    with history.open("**/b") as sesame:
        sesame.index(full=True)
        assert found(sesame, "zebra") == ["a", "c"]


def test_an_excluded_chat_leaves_the_index(history: Home) -> None:
    for name in ("a", "b"):
        history.chats.say(name, f"zebra {name}", at=NOW - 100)
    with history.open() as sesame:
        sesame.index()
    with history.open("**/b") as sesame:
        sesame.refresh(5)
        assert found(sesame, "zebra") == ["a"]


def test_a_forgotten_chat_is_not_indexed_again(history: Home) -> None:
    history.chats.say("a", "zebra", at=NOW - 100)
    with history.open() as sesame:
        sesame.index()
        sesame.forget("a")
        history.chats.say("a", "okapi", at=NOW - 10)
        sesame.index()
        assert found(sesame, "zebra okapi") == []


def test_a_damaged_database_is_an_error_of_that_file_and_its_chats_stay(history: Home) -> None:
    history.chats.say("a", "zebra", at=NOW - 100)
    other = Chats(history.root / "two.chats")
    other.say("b", "okapi", at=NOW - 50)
    with history.open() as sesame:
        sesame.index()
        history.chats.close()
        damage(history.chats.path)
        other.say("b", "quokka", at=NOW - 10)
        report = sesame.refresh(5)
        assert [error.path for error in report.errors] == [str(history.chats.path)]
        assert "SQLite cannot read it" in report.errors[0].message
        assert (report.missing, report.updated) == (0, 1)
        assert found(sesame, "zebra") == ["a"]
    other.close()


def test_a_locked_database_is_an_error_until_it_is_free(history: Home) -> None:
    history.chats.say("a", "zebra", at=NOW - 100)
    history.chats.db.execute("PRAGMA journal_mode = DELETE")
    history.chats.db.execute("BEGIN EXCLUSIVE")
    with history.open() as sesame:
        (error,) = sesame.refresh(5).errors
        assert "locked" in error.message
        history.chats.db.execute("COMMIT")
        assert sesame.refresh(5).added == 1


def test_chats_of_a_deleted_database_are_missing(history: Home) -> None:
    history.chats.say("a", "zebra", at=NOW - 100)
    Chats(history.root / "two.chats").close()
    with history.open() as sesame:
        sesame.index()
        history.chats.close()
        history.chats.path.unlink()
        assert sesame.index().missing == 1
        assert found(sesame, "zebra") == ["a"]


def test_one_chat_or_its_log_can_be_named(history: Home) -> None:
    path = history.chats.say("a", "zebra", at=NOW - 100)
    history.chats.say("b", "zebra", at=NOW - 50)
    with history.open() as sesame:
        assert sesame.index([path]).added == 1
        assert found(sesame, "zebra") == ["a"]
        assert sesame.index([f"{history.chats.path}-wal"]).added == 1
        with pytest.raises(SesameError, match="no such file"):
            sesame.index([history.chats.path / "never"])


def test_a_chat_is_shown_by_its_path(history: Home) -> None:
    path = history.chats.say("a", "zebra", at=NOW - 100)
    with history.open() as sesame:
        sesame.index()
        assert sesame.get_session(str(path)).session.id == "a"


def test_processes_read_chats_ahead(history: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    from sesame_core.indexing import workers

    monkeypatch.setattr(workers, "WORTHWHILE", 1)
    for number in range(8):
        history.chats.say(f"c{number}", "zebra", at=NOW - number)
    with Sesame(replace(history.config, index_workers=2), plugins=history.plugins) as sesame:
        assert sesame.index().added == 8


def test_an_unchanged_database_is_not_listed_again_and_a_changed_one_alone_is(
    on_sqlite: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_cache, "LEAST", 1)
    second = Chats(on_sqlite.root / "two.chats")
    for number in range(3):
        on_sqlite.chats.say(f"c{number}", "zebra", at=NOW - 1000)
        second.say(f"d{number}", "okapi", at=NOW - 1000)
    past = NOW - 600
    for path in on_sqlite.root.iterdir():
        os.utime(path, (past, past))
    os.utime(on_sqlite.root, (past, past))
    with on_sqlite.open() as sesame:
        sesame.index()
        sesame.refresh(5)
        ChatsParser.listings = 0
        assert sesame.refresh(5).unchanged == 6
        assert ChatsParser.listings == 0
        second.say("d1", "quokka", at=NOW)
        report = sesame.refresh(5)
        assert (report.updated, report.unchanged) == (1, 5)
        assert found(sesame, "quokka") == ["d1"]
    second.close()
