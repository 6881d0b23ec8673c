"""Session files that change, vanish or refuse while they are read; the run goes on, and nothing indexed is lost."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

BOTH = pytest.mark.parametrize("number", [0, 1], ids=["pi", "claude-code"])


def while_reading(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen once, after the first record of a file was read."""
    from sesame_core.sdk.jsonl import JsonLines

    original, done = JsonLines.__iter__, False

    def interrupted(self: JsonLines) -> Any:
        nonlocal done
        for record in original(self):
            yield record
            if not done:
                done = True
                happens()

    monkeypatch.setattr(JsonLines, "__iter__", interrupted)


def before_reading(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen after the files were found and before they are read."""
    from sesame_core.indexing.indexer import Indexer

    original = Indexer._index_all

    def late(self: Indexer, changed: Any, *rest: Any) -> None:
        happens()
        original(self, changed, *rest)

    monkeypatch.setattr(Indexer, "_index_all", late)


@BOTH
@pytest.mark.parametrize("known", [False, True])
def test_an_unreadable_file_is_an_error_and_keeps_what_was_known(unprivileged: Any, number: int, known: bool) -> None:
    world = unprivileged.world
    world.populate(6)
    if known:
        world.index()
        world.append(number, 6, "and the otter")
    with unprivileged():
        world.path(number).chmod(0)
        report = world.index()
        assert [(p.path, p.message) for p in report.errors] == [(str(world.path(number)), "Permission denied")]
        assert len(world.content()) == (6 if known else 5)
        world.path(number).chmod(0o644)
        assert world.index().errors == []
        assert world.content() == world.fresh()
        world.check()


def test_an_unreadable_directory_does_not_stop_the_others(unprivileged: Any) -> None:
    world = unprivileged.world
    world.populate(6)
    world.index()
    with unprivileged():
        world.claude.chmod(0)
        world.append(0, 6, "and the otter")
        report = world.index()
        assert report.appended == 1
        assert len(world.content()) == 6
        world.claude.chmod(0o755)
        assert world.index().errors == []
        world.check()
    assert world.content() == world.fresh()


@BOTH
def test_a_file_replaced_by_a_directory_keeps_its_session(world: Any, number: int) -> None:
    world.populate(4)
    world.index()
    world.path(number).unlink()
    world.path(number).mkdir()
    for full in (False, True):
        assert world.index(full=full).errors == []
    assert world.found("fox2") == {world.session_id(2)}
    world.path(number).rmdir()
    world.write(number, "the otter is back")
    assert world.index().errors == []
    assert world.content() == world.fresh()
    world.check()


@BOTH
def test_a_file_that_becomes_a_directory_just_before_it_is_read(
    world: Any, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.populate(4)

    def happens() -> None:
        world.path(number).unlink()
        world.path(number).mkdir()

    before_reading(monkeypatch, happens)
    (problem,) = world.index().errors
    assert (problem.path, problem.message) == (str(world.path(number)), os.strerror(errno.EISDIR))
    assert len(world.content()) == 3


@BOTH
@pytest.mark.parametrize("known", [False, True])
def test_a_file_deleted_between_scan_and_parse_takes_nothing_with_it(
    world: Any, number: int, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.populate(6)
    if known:
        world.index()
        world.append(number, 6, "and the otter")
    with monkeypatch.context() as patch:
        before_reading(patch, world.path(number).unlink)
        report = world.index()
    assert len(report.errors) <= 1
    assert len(world.content()) == (6 if known else 5)
    world.check()
    later = world.index()
    assert later.errors == []
    assert later.missing == (1 if known else later.missing)
    assert len(world.content()) == (6 if known else 5)


@BOTH
@pytest.mark.parametrize("known", [False, True])
def test_a_file_that_grows_while_it_is_read_is_caught_up_with(
    world: Any, number: int, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.populate(4)
    if known:
        world.index()
        world.append(number, 6, "seven")
    with monkeypatch.context() as patch:
        while_reading(patch, lambda: [world.append(n, 6 + known, f"the otter{n} came") for n in range(4)])
        assert world.index().errors == []
    world.check()
    assert world.index().errors == []
    world.check()
    assert world.content() == world.fresh()
    assert world.found(f"otter{number}") == {world.session_id(number)}
    assert world.index().unchanged == 4


@BOTH
@pytest.mark.parametrize("happens", ["truncated", "rewritten", "emptied", "deleted"])
def test_a_file_that_changes_under_the_readers_eyes(
    world: Any, number: int, happens: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records longer than what is read at once, so that the rest is read after the change."""
    for n in range(2):
        world.write(n, *(f"beetle{k} " + f"word{k} " * 50_000 for k in range(8)))

    def change() -> None:
        path = world.path(number)
        if happens == "truncated":
            os.truncate(path, path.stat().st_size // 3)
        elif happens == "emptied":
            os.truncate(path, 0)
        elif happens == "rewritten":
            world.write(number, "only the otter")
        else:
            path.unlink()
        if path.exists():
            os.utime(path, ns=(1, path.stat().st_mtime_ns + 10**9))

    with monkeypatch.context() as patch:
        while_reading(patch, change)
        world.index()
    world.check()
    report = world.index()
    world.check()
    assert len(report.errors) <= (happens == "emptied")
    assert world.found("beetle3") >= {world.session_id(1 - number)}
    if happens == "rewritten":
        assert world.content() == world.fresh()


def test_a_hundred_appends_leave_the_full_text_index_in_step(world: Any) -> None:
    for number in (0, 1):
        world.write(number, "the first fox", "a second fox")
    world.index()
    for n in range(50):
        for number in (0, 1):
            world.append(number, 2 + n, f"word{n} camelCaseWord{n} \u7b2c{n}")
        assert world.index().appended == 2
    world.check()
    assert world.content() == world.fresh()
    assert all(len(texts) == 52 for texts in world.content().values())
    for n in (0, 25, 49):
        assert (
            world.found(f"word{n}") == world.found(f"+camelCaseWord{n}") == {world.session_id(0), world.session_id(1)}
        )
    with closing(sqlite3.connect(world.database())) as db:
        assert db.execute("SELECT count(*) FROM sessions").fetchone() == (2,)


@BOTH
def test_shorter_content_in_a_files_place_leaves_nothing_of_the_longer(world: Any, number: int) -> None:
    world.populate(2, texts=50)
    world.index()
    world.write(number, "only the otter")
    assert world.index().updated == 1
    world.check()
    assert world.content()[world.session_id(number)] == ["only the otter"]
    assert world.found("beetle40") == {world.session_id(1 - number)}
    assert world.content() == world.fresh()
