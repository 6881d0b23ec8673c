"""An agent's database that cannot be read is an error that names it, and stays open in no state."""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from sesame_core.sdk.databases import MAGIC, reading


def nothing_but_its_first_bytes(path: Path) -> None:
    path.write_bytes(MAGIC + b"x" * 4096)


def another_format(path: Path) -> None:
    path.write_bytes(b"no database at all" * 100)


def cut_in_its_first_page(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE chat (text)")
        db.commit()
    path.write_bytes(path.read_bytes()[:50])


def a_directory(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("damage", [nothing_but_its_first_bytes, another_format, cut_in_its_first_page, a_directory])
@pytest.mark.parametrize("has_log", [False, True])
def test_what_is_no_database_is_named_and_closed(damage: Callable[[Path], None], has_log: bool, tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    damage(path)
    if has_log:
        path.with_name("agent.db-wal").write_bytes(b"")
    with pytest.raises(OSError, match="SQLite cannot read it") as told, reading(path):
        pass
    assert told.value.filename == str(path)
    del told
    gc.collect(1)  # an open connection would warn, and a warning is an error; it is too new for the last generation


def test_a_statement_that_fails_closes_the_database(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE chat (text)")
        db.commit()
    with pytest.raises(OSError, match="no such table"), reading(path) as db:
        db.execute("SELECT * FROM never")
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.execute("SELECT 1")
