"""Files that are no index any more, or never were one of ours."""

from __future__ import annotations

import os
import random
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sesame_core import BackendError

Damage = Callable[[bytes], bytes]


def garbage_in_the_middle(seed: int) -> Damage:
    """Overwrite a third of the pages, but not the first."""

    def damage(data: bytes) -> bytes:
        dice = random.Random(seed)
        pages = [data[n : n + 8192] for n in range(0, len(data), 8192)]
        for number in dice.sample(range(1, len(pages)), len(pages) // 3):
            pages[number] = dice.randbytes(8192)
        return b"".join(pages)

    return damage


DAMAGES: dict[str, Damage] = {
    "header overwritten": lambda data: b"no header at all" * 8 + data[128:],
    "schema overwritten": lambda data: data[:100] + b"\xff" * 3000 + data[3100:],
    "truncated": lambda data: data[: len(data) // 2],
    "truncated to a piece of the header": lambda data: data[:50],
    "all garbage": lambda data: random.Random(1).randbytes(len(data)),
    "text": lambda data: b"This is not a database.\n" * 100,
    **{f"garbage in the middle {seed}": garbage_in_the_middle(seed) for seed in range(8)},
}


def spoil(world: Any, damage: Damage) -> Path:
    world.populate()
    world.index()
    path: Path = world.database()
    path.write_bytes(damage(path.read_bytes()))
    return path


def tells(error: BaseException, path: Path) -> None:
    """The message names the file and the command that repairs it, on one line."""
    message = str(error)
    assert str(path) in message
    assert "is damaged" in message
    assert "sesame index --full" in message
    assert "\n" not in message


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_index_is_rebuilt_and_kept_aside(world: Any, name: str) -> None:
    path = spoil(world, DAMAGES[name])
    damaged = path.read_bytes()
    whole = True
    for use in (lambda: world.found("fox1"), world.content, world.index):
        try:
            use()
        except BackendError as error:
            whole = False
            tells(error, path)
    if not name.startswith("garbage in"):
        assert not whole
    report = world.index(full=True)
    assert report.errors == []
    assert world.content() == world.fresh()
    world.check()
    kept = list(world.data.glob("damaged-*.sqlite"))
    # A rebuild reads only what it takes over: garbage in other pages is not noticed, whichever page it hits.
    assert len(kept) == 1 or whole or name.startswith("garbage in")
    for aside in kept:
        assert aside.read_bytes() == damaged
    assert world.index().unchanged == 6


@pytest.mark.parametrize("old", [b"UNIQUE (file", b"CREATE TABLE files", b"VIRTUAL TABLE heads_fts"])
def test_a_schema_that_is_no_text_is_damage(world: Any, old: bytes) -> None:
    """SQLite quotes it in its message, and Python cannot decode that."""

    def damage(data: bytes) -> bytes:
        assert old in data
        return data.replace(old, old[:3] + b"\xb2" + old[4:])

    path = spoil(world, damage)
    for use in (lambda: world.found("fox1"), world.index):
        with pytest.raises(BackendError) as caught:
            use()
        tells(caught.value, path)
    world.index(full=True)
    assert world.content() == world.fresh()
    assert list(world.data.glob("damaged-*.sqlite"))


@pytest.mark.parametrize(
    ("table", "column"), [("sessions", "tool_counts"), ("files", "skipped"), ("files", "checkpoint")]
)
def test_a_value_that_is_no_json_is_damage(world: Any, table: str, column: str) -> None:
    world.populate()
    world.index()
    world.path(1).unlink()
    with closing(sqlite3.connect(world.database())) as db:
        db.execute(f"UPDATE {table} SET {column} = 'x' || {column}")
        db.commit()
    path = world.database()
    world.append(0, 6, "and the otter")
    with pytest.raises(BackendError) as caught:
        [world.found("fox1"), world.index()]
    tells(caught.value, path)
    world.index(full=True)
    assert world.content() == world.fresh()
    world.check()


def test_an_empty_file_is_filled(world: Any) -> None:
    path = spoil(world, lambda _: b"")
    assert world.found("fox1") == set()
    world.index()
    assert world.database() == path
    assert world.content() == world.fresh()


def test_an_empty_file_is_rebuilt(world: Any) -> None:
    spoil(world, lambda _: b"")
    world.index(full=True)
    assert world.content() == world.fresh()
    assert not list(world.data.glob("damaged-*"))


def test_the_command_line_says_it_in_one_line(
    world: Any, cli: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = spoil(world, DAMAGES["header overwritten"])
    world.configure(monkeypatch)
    for command in (["index"], ["search", "fox1"], ["search", "fox1", "--no-refresh"], ["status"], ["show", "0199"]):
        code, out, err = cli(*command)
        assert (code, out, err.count("\n")) == (1, "", 1), command
        tells(Exception(err.strip()), path)
    code, out, err = cli("index", "--full")
    assert (code, err) == (0, "")
    assert "6 added" in out
    code, out, _ = cli("search", "fox1")
    assert code == 0
    assert "fox1 met" in out


def test_a_damaged_index_still_gives_back_what_was_forgotten_when_that_can_be_read(world: Any) -> None:
    """Tombstones are copied first: forgotten sessions do not come back because another page is broken."""
    world.populate()
    world.index()
    with world.sesame() as sesame:
        sesame.forget(world.session_id(1))
    with closing(sqlite3.connect(world.database())) as db:
        root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'files'").fetchone()[0]
        size = db.execute("PRAGMA page_size").fetchone()[0]
    data = bytearray(world.database().read_bytes())
    data[(root - 1) * size : root * size] = b"\xfe" * size
    world.database().write_bytes(data)
    with pytest.raises(BackendError, match="damaged"):
        world.index()
    world.index(full=True)
    assert world.session_id(1) not in world.content()
    assert len(world.content()) == 5
    assert list(world.data.glob("damaged-*.sqlite"))


def untouched(path: Path, use: Callable[[], object], pattern: str) -> None:
    """Using the file fails with a message and does not change it."""
    before = path.read_bytes()
    with pytest.raises(BackendError, match=pattern) as caught:
        use()
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("full", [False, True])
def test_an_index_of_a_newer_version_is_left_alone(world: Any, full: bool) -> None:
    world.populate()
    world.index()
    path = world.database()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA user_version = 999")
        db.execute("ALTER TABLE sessions RENAME COLUMN cwd TO place")
    pattern = "written by a newer Sesame .schema 999, .*upgrade with: .* -m pip install --upgrade "
    untouched(path, lambda: world.found("fox1"), pattern)
    untouched(path, lambda: world.index(full=full), pattern)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("pragma", ["user_version = 7", "application_id = 7", "encoding = 'UTF-8'"])
@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_of_another_program_is_left_alone(world: Any, full: bool, pragma: str, journal: str) -> None:
    world.populate()
    world.data.mkdir()
    path = world.data / "index.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"PRAGMA journal_mode = {journal}")
        db.execute(f"PRAGMA {pragma}")
        db.execute("CREATE TABLE recipes (name)")
    pattern = "database of another program"
    untouched(path, lambda: world.found("fox1"), pattern)
    untouched(path, lambda: world.index(full=full), pattern)


def test_a_directory_in_the_indexs_place_is_named(world: Any) -> None:
    world.populate()
    (world.data / "index.sqlite").mkdir(parents=True)
    for full in (False, True):
        with pytest.raises(BackendError, match=re.escape(str(world.data / "index.sqlite"))):
            world.index(full=full)
    with pytest.raises(BackendError, match=re.escape(str(world.data / "index.sqlite"))):
        world.found("fox1")
    assert os.listdir(world.data / "index.sqlite") == []
