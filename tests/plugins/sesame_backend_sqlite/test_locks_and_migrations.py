"""Locks, rebuilds and migrations of the index file."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_backend_sqlite import schema
from sesame_core import BackendError, Sesame
from sesame_core.errors import LockedError
from sesame_core.types.report import Progress

from ...support.transcripts import found, pi_session


def index_once(*texts: str) -> Path:
    """Index a session per text; return the index file."""
    for number, text in enumerate(texts):
        pi_session(f"session{number}", text)
    with Sesame() as sesame:
        sesame.index()
        return Path(sesame.status().location)


@pytest.mark.upstream(31)
def test_a_full_rebuild_is_never_seen_half_done() -> None:
    index_once(*(f"the rosella number {number}" for number in range(6)))
    seen: list[int] = []

    def look(progress: Progress) -> None:
        with Sesame() as other:
            seen.append(len(other.search("rosella").hits))
        if progress.files_done == 4:
            raise KeyboardInterrupt

    with Sesame() as sesame:
        with pytest.raises(KeyboardInterrupt):
            sesame.index(full=True, on_progress=look)
        assert seen == [6, 6, 6, 6]
        assert len(sesame.search("rosella").hits) == 6
        assert sesame.index(full=True).added == 6
        assert len(sesame.search("rosella").hits) == 6


@pytest.mark.upstream(32)
def test_only_a_living_holder_locks_and_leftovers_do_not(home: Path, cli: Callable[..., Any]) -> None:
    location = index_once("the drongo dances")
    lock = location.parent / "index.lock"
    # What a killed run leaves: an empty lock, or one that names a process that lives but is another.
    for left in ("", json.dumps({"pid": os.getpid(), "holder": "index"})):
        lock.write_text(left)
        (location.parent / "index.holder").write_text(left)
        assert cli("index").code == 0
    script = (
        "import sys; from sesame_core import Sesame\n"
        "Sesame().index(full=True, on_progress=lambda _: (print('held', flush=True), sys.stdin.read()))"
    )
    holder = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        done = cli("index")
        assert done.code == 1
        assert f"process {holder.pid}" in done.err
        with Sesame() as sesame, pytest.raises(LockedError):
            sesame.index()
    finally:
        holder.kill()
        holder.communicate()
    # Killed without a chance to clean up: the lock is free again.
    assert cli("index").code == 0


@pytest.mark.upstream(34)
def test_searching_only_reads_and_writers_wait_for_each_other(
    monkeypatch: pytest.MonkeyPatch, cli: Callable[..., Any]
) -> None:
    location = index_once("the shrike waits")
    before = location.read_bytes()
    foreign = sqlite3.connect(location, isolation_level=None, check_same_thread=False)
    foreign.execute("BEGIN IMMEDIATE")
    # A search does not care about a foreign writer …
    done = cli("search", "shrike", "--no-refresh", "--json")
    assert (done.code, done.json["resultCount"]) == (0, 1)
    # … and indexing waits for it.
    pi_session("new", "the new shrike")
    release = threading.Timer(0.3, foreign.execute, ("ROLLBACK",))
    release.start()
    with Sesame() as sesame:
        assert sesame.index().added == 1
    release.join()
    foreign.close()

    location.write_bytes(before)
    statements: list[str] = []
    connect = sqlite3.connect

    def traced(*args: Any, **options: Any) -> sqlite3.Connection:
        db = connect(*args, **options)
        db.set_trace_callback(statements.append)
        return db

    with monkeypatch.context() as tracing, Sesame() as sesame:
        tracing.setattr(sqlite3, "connect", traced)
        assert found(sesame.search("shrike")) == ["session0"]
    assert statements
    # A view of the index's words that lives in the connection alone.
    statements = [s for s in statements if not s.startswith("CREATE VIRTUAL TABLE IF NOT EXISTS temp.")]
    kinds = {"PRAGMA", "BEGIN", "SELECT", "WITH", "COMMIT", "ROLLBACK", "--"}
    assert {statement.split()[0] for statement in statements} <= kinds
    assert location.read_bytes() == before

    # Nor does a search upgrade an older index: it says who does.
    with monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, schema.Migration("another", "SELECT 1;")))
        with Sesame() as sesame, pytest.raises(BackendError, match="sesame index"):
            sesame.search("shrike")
    assert location.read_bytes() == before


@pytest.mark.upstream(36)
def test_migrations_are_transactions_and_newer_indexes_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, cli: Callable[..., Any]
) -> None:
    location = index_once("the malleefowl heaps")

    def state() -> tuple[int, list[tuple[str]], int]:
        db = sqlite3.connect(location)
        (version,) = db.execute("PRAGMA user_version").fetchone()
        tables = db.execute("SELECT name FROM sqlite_master WHERE name LIKE 'added%'").fetchall()
        (recorded,) = db.execute("SELECT count(*) FROM schema_migrations").fetchone()
        db.close()
        return version, tables, recorded

    first = len(schema.MIGRATIONS)
    assert state() == (first, [], first)
    failing = schema.Migration("fails midway", "CREATE TABLE added (x); INSERT INTO missing VALUES (1);")
    with monkeypatch.context() as step:
        step.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, failing))
        assert cli("index").code == 1
    assert state() == (first, [], first)
    with monkeypatch.context() as step:
        step.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, schema.Migration("adds", "CREATE TABLE added (x);")))
        assert cli("index").code == 0
        assert cli("search", "malleefowl", "--json").json["resultCount"] == 1
    assert state() == (first + 1, [("added",)], first + 1)
    for arguments in (("index",), ("search", "malleefowl", "--no-refresh"), ("status",)):
        done = cli(*arguments)
        assert done.code == 1
        assert "newer Sesame" in done.err
    assert state() == (first + 1, [("added",)], first + 1)


@pytest.mark.parametrize("when", ["PRAGMA application_id", "PRAGMA user_version", "SELECT count"])
def test_an_index_that_is_made_while_it_is_opened_is_no_other_programs(tmp_path: Path, when: str) -> None:
    path = tmp_path / "index.db"
    writer = sqlite3.connect(path, isolation_level=None, timeout=0)
    writer.execute("PRAGMA journal_mode = WAL")
    reader = sqlite3.connect(path, isolation_level=None)
    made: list[int] = []
    reader.set_trace_callback(lambda asked: made.append(schema.migrate(writer)) if asked.startswith(when) else None)
    assert schema.version(reader) in (0, len(schema.MIGRATIONS))
    assert made == [len(schema.MIGRATIONS)]
    reader.set_trace_callback(None)
    assert schema.version(reader) == len(schema.MIGRATIONS)
    reader.close()
    writer.close()
