"""Places where nothing can be written: no permission, a read-only file system, a full disk."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sesame_core import BackendError, ConfigError, SesameError

pytestmark = pytest.mark.once

Cli = Callable[..., tuple[int, str, str]]
Mount = Callable[[str], Path]


def one_line(caught: pytest.ExceptionInfo[SesameError], *parts: object) -> None:
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert str(part) in message


# -- no permission ----------------------------------------------------------------------------------------


def test_a_read_only_data_directory_can_be_searched(unprivileged: Any) -> None:
    world = unprivileged.world
    world.populate()
    world.index()
    world.write(1, "fox1 saw the otter")
    world.data.chmod(0o555)
    with unprivileged():
        assert world.found("fox1") == {world.session_id(1)}
        assert len(world.content()) == 6
        for full in (False, True):
            with pytest.raises(BackendError) as caught:
                world.index(full=full)
            one_line(caught, world.data)
            assert re.search("Permission denied|readonly", str(caught.value))
        with world.sesame() as sesame:
            assert str(world.data) in (sesame.refresh(1.0).reason or "")
            assert sesame.status().sessions == 6
    assert {p.name for p in world.data.iterdir()} <= {"index.sqlite", "index.lock"}


@pytest.mark.parametrize("mode", [0, 0o444, 0o111])
def test_a_data_directory_without_permission_is_named(unprivileged: Any, mode: int) -> None:
    world = unprivileged.world
    world.populate()
    world.index()
    world.data.chmod(mode)
    with unprivileged():
        for use in (lambda: world.found("fox1"), world.index, lambda: world.index(full=True)):
            with pytest.raises(BackendError) as caught:
                use()
            one_line(caught, world.data, "ermission denied")


def test_an_index_that_may_not_be_read_is_named(unprivileged: Any) -> None:
    world = unprivileged.world
    world.populate()
    world.index()
    with unprivileged():
        world.database().chmod(0)
        for use in (lambda: world.found("fox1"), world.index):
            with pytest.raises(BackendError) as caught:
                use()
            one_line(caught, world.database())


def test_a_data_directory_that_cannot_be_made_is_named(unprivileged: Any) -> None:
    world = unprivileged.world
    world.populate()
    world.data = world.home / "deep" / "data"
    with unprivileged():
        world.home.chmod(0o555)
        assert world.found("fox1") == set()
        with pytest.raises(BackendError) as caught:
            world.index()
        one_line(caught, f"cannot write to {world.data}: Permission denied")


def test_a_file_in_the_data_directorys_place_is_named(world: Any) -> None:
    world.populate()
    world.data.write_text("not a directory")
    assert world.found("fox1") == set()
    with pytest.raises(BackendError) as caught:
        world.index()
    one_line(caught, f"cannot write to {world.data}")
    assert world.data.read_text() == "not a directory"


def test_an_unwritable_config_directory_is_named(unprivileged: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from sesame_core.config import file as config_file

    world = unprivileged.world
    world.configure(monkeypatch)
    (world.home / "config" / "config.jsonc").unlink()
    with unprivileged():
        (world.home / "config").chmod(0o555)
        with pytest.raises(ConfigError) as caught:
            config_file.initialise()
        one_line(caught, world.home / "config", "ermission denied")
    assert list((world.home / "config").iterdir()) == []


def test_an_unreadable_config_file_is_named(unprivileged: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from sesame_core.config import file as config_file

    world = unprivileged.world
    world.configure(monkeypatch)
    config_file.load()
    with unprivileged():
        (world.home / "config" / "config.jsonc").chmod(0)
        with pytest.raises(ConfigError) as caught:
            config_file.load()
        one_line(caught, world.home / "config" / "config.jsonc", "ermission denied")


# -- a read-only file system ------------------------------------------------------------------------------


def test_an_index_on_a_read_only_file_system_can_be_searched(world: Any, mounted: Mount) -> None:
    place = mounted("size=8m")
    world.populate()
    world.data = place / "data"
    world.index()
    mounted("ro")
    assert world.found("fox1") == {world.session_id(1)}
    assert len(world.content()) == 6
    for full in (False, True):
        with pytest.raises(BackendError) as caught:
            world.index(full=full)
        one_line(caught, f"cannot write to {world.data}: Read-only file system")
    mounted("rw")
    world.append(1, 6, "the otter came too")
    assert world.index().appended == 1
    assert world.content() == world.fresh()


def test_what_a_killed_run_committed_is_found_on_a_read_only_file_system(
    world: Any, mounted: Mount, in_child: Callable[[Callable[[], object]], int]
) -> None:
    """Its write-ahead log is still there, and nobody may put it into the database."""
    place = mounted("size=16m")
    world.populate()
    world.data = place / "data"
    world.index()
    world.append(1, 6, "the otter came too")

    def die() -> None:
        with world.sesame() as reader, world.sesame() as sesame:
            reader.search("fox1")
            sesame.index()
            os.kill(os.getpid(), signal.SIGKILL)

    assert in_child(die) == -signal.SIGKILL
    assert (world.data / "index.sqlite-wal").stat().st_size > 0
    mounted("ro")
    assert world.found("otter") == {world.session_id(1)}


# -- a full disk ------------------------------------------------------------------------------------------


def fill(place: Path, leave: int) -> None:
    """Take all space but a rest."""
    with (place / "ballast").open("wb") as file:
        free = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize
        file.write(bytes(max(0, free - leave)))


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("space", [0, 4096, 64 << 10, 256 << 10])
def test_a_full_disk_stops_a_run_and_loses_nothing(world: Any, mounted: Mount, full: bool, space: int) -> None:
    place = mounted("size=16m")
    world.data = place / "data"
    world.populate()
    world.index()
    before = world.content()
    for number in range(6, 16):
        world.write(number, *(f"otter{n} " + " ".join(f"word{number}x{n}x{k}" for k in range(200)) for n in range(40)))
    fill(place, space)
    with pytest.raises(BackendError) as caught:
        world.index(full=full)
    one_line(caught, world.data)
    assert "full" in str(caught.value) or "space" in str(caught.value)
    assert world.content() == before
    assert world.found("fox1") == {world.session_id(1)}
    mounted("size=64m")
    report = world.index(full=full)
    assert report.errors == []
    world.check()
    assert world.content() == world.fresh()


def test_a_disk_that_is_full_from_the_start(world: Any, mounted: Mount) -> None:
    place = mounted("size=1m")
    world.data = place / "data"
    world.populate()
    fill(place, 0)
    with pytest.raises(BackendError) as caught:
        world.index()
    one_line(caught, place)
    assert world.found("fox1") == set()
    (place / "ballast").unlink()
    mounted("size=32m")
    world.index()
    assert world.content() == world.fresh()


def test_the_command_line_names_the_full_disk_in_one_line(
    world: Any, mounted: Mount, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = mounted("size=16m")
    world.data = place / "data"
    world.populate()
    world.index()
    world.write(6, *(f"otter{n} " + "x" * 4000 for n in range(200)))
    fill(place, 64 << 10)
    world.configure(monkeypatch)
    code, out, err = cli("index")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert str(world.data) in err
    code, out, _ = cli("search", "fox1")
    assert code == 0
    assert "fox1 met" in out
    assert "The index was not refreshed" in out


def test_a_failing_disk_is_not_blamed_on_the_parser(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite's own limit stands for the disk's, so that this runs everywhere."""
    from sesame_backend_sqlite import opening

    world.populate()
    world.index()
    before = world.content()
    original = opening.for_writing

    def limited(path: Path) -> sqlite3.Connection:
        db = original(path)
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages + 4}")
        return db

    for number in range(6):
        world.append(number, 6, *(f"otter{n} " + "x" * 4000 for n in range(300)))
    with monkeypatch.context() as patch:
        patch.setattr(opening, "for_writing", limited)
        with pytest.raises(BackendError, match=r"database or disk is full; .*free some space") as caught:
            world.index()
        one_line(caught, world.database())
    assert world.content() == before
    with closing(sqlite3.connect(world.database())) as db:
        assert db.execute("SELECT count(*) FROM files WHERE error IS NOT NULL").fetchone() == (0,)
    assert world.index().appended == 6
    world.check()
