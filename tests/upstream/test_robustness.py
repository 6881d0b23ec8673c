"""§4.4 of the list of upstream's weaknesses: locks, rebuilds, migrations, configuration, watching, terminals."""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_backend_sqlite import schema
from sesame_core import BackendError, Selection, Sesame, Source
from sesame_core.errors import LockedError
from sesame_core.runtime.watcher import watch
from sesame_core.types.report import Progress

from ..support.transcripts import Pi, append, found, pi_session, write

#: Seconds that anything here may take on a busy machine.
PATIENCE = 30.0

needs_watchfiles = pytest.mark.skipif(
    importlib.util.find_spec("watchfiles") is None, reason="watchfiles, of the extra 'watch', is not installed"
)


def index_once(*texts: str) -> Path:
    """Index a session per text; return the index file."""
    for number, text in enumerate(texts):
        pi_session(f"session{number}", text)
    with Sesame() as sesame:
        sesame.index()
        return Path(sesame.status().location)


def test_weakness_31_a_full_rebuild_is_never_seen_half_done() -> None:
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


def test_weakness_32_only_a_living_holder_locks_and_leftovers_do_not(home: Path, cli: Callable[..., Any]) -> None:
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


@needs_watchfiles
def test_weakness_33_watching_does_not_hold_the_lock(cli: Callable[..., Any]) -> None:
    index_once("the first coucal")
    pi = Pi("second")
    write(pi.path, pi.header(), pi.user("the second coucal"))
    with Sesame() as watching:
        events = watch(watching)
        assert next(events)["added"] == 1
        append(pi.path, pi.user("the third coucal"))
        done = cli("index", "--json")
        assert (done.code, done.json["appended"]) == (0, 1)
        events.close()


def test_weakness_34_searching_only_reads_and_writers_wait_for_each_other(
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
    assert {statement.split()[0] for statement in statements} <= {"PRAGMA", "BEGIN", "SELECT", "WITH", "ROLLBACK", "--"}
    assert location.read_bytes() == before

    # Nor does a search upgrade an older index: it says who does.
    with monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, schema.Migration("another", "SELECT 1;")))
        with Sesame() as sesame, pytest.raises(BackendError, match="sesame index"):
            sesame.search("shrike")
    assert location.read_bytes() == before


def test_weakness_35_searching_before_the_first_index_finds_nothing_and_makes_nothing(
    home: Path, cli: Callable[..., Any]
) -> None:
    pi_session("unindexed", "the bowerbird builds")
    done = cli("search", "bowerbird", "--no-refresh")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith('No sessions found matching "bowerbird"\n')
    assert not list((home / ".local").rglob("*.sqlite*"))
    # Without the flag, a search indexes what it can in its short time.
    assert "Found 1 session" in cli("search", "bowerbird").out


def test_weakness_36_migrations_are_transactions_and_newer_indexes_are_left_alone(
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


def test_weakness_37_the_configuration_is_read_as_written_or_refused(home: Path, cli: Callable[..., Any]) -> None:
    config = home / ".config" / "sesame" / "config.jsonc"
    config.parent.mkdir(parents=True)
    odd = Pi("odd")
    write(home / "odd//dir" / "a.jsonl", odd.header(), odd.user("the pardalote nests"))
    pi_session("default", "the default pardalote")
    config.write_text('{\n  // a comment\n  "sources": [{"parser": "pi", "path": "~//odd//dir"},],\n}\n')
    assert cli("index", "--json").json["added"] == 1
    config.write_text('{"sources": [{"parser": "pi", "path": "~"},]}')
    assert cli("index", "--json").json["added"] == 1, "a bare ~ is the home directory"

    for text, complaint in (
        ('{"source": []}', "did you mean 'sources'?"),
        ('{"sources": "~/odd"}', "sources: must be a list of sources"),
        ('{"sources": [{"parser": "pie"}]}', "did you mean 'pi'?"),
        ('{"sources": [', "config.jsonc:1:"),
    ):
        config.write_text(text)
        done = cli("index")
        assert done.code == 1
        assert complaint in done.err
        assert "Traceback" not in done.err
    config.write_text('{"sources": [{"parser": "pi", "path": "/nowhere/at/all"}]}')
    done = cli("index")
    assert (done.code, done.err) == (0, "")
    assert "no such directory: /nowhere/at/all" in done.out


@needs_watchfiles
def test_weakness_38_watching_finds_roots_that_appear_and_files_that_changed_meanwhile() -> None:
    pi = Pi("late", cwd="/home/bo/late")
    events: queue.Queue[Any] = queue.Queue()
    waiting = threading.Event()

    def run() -> None:
        with Sesame(sources=[Source(parser=Selection(name="pi"), path=pi.root)]) as sesame:
            found = watch(sesame, log=lambda text: waiting.set() if "waiting for" in text else None)
            for _ in range(2):
                events.put(next(found))
            found.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert waiting.wait(PATIENCE)
    # The root comes into being, with a file in it, while nobody can be told of it.
    write(pi.path, pi.header(), pi.user("the late honeyeater"))
    assert events.get(timeout=PATIENCE)["added"] == 1
    append(pi.path, pi.user("the later honeyeater"))
    assert events.get(timeout=PATIENCE)["updated"] == 1
    thread.join(PATIENCE)
    assert not thread.is_alive()


ESCAPES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("colour", lambda word: f"\x1b[31m{word}\x1b[0m"),
    ("title", lambda word: f"\x1b]0;owned\x07{word}"),
    ("clear", lambda word: f"\x1b[2J{word}\x1bc"),
    ("C1", lambda word: f"\x9b31m{word}"),
    ("bidi", lambda word: f"\u202e{word}\u202c"),
    ("bell", lambda word: f"\x07{word}\x08\x08"),
)


@pytest.mark.parametrize("dress", [dress for _, dress in ESCAPES], ids=[name for name, _ in ESCAPES])
def test_weakness_39_what_a_transcript_holds_cannot_steer_the_terminal(
    dress: Callable[[str], str], cli: Callable[..., Any]
) -> None:
    pi = Pi("escapes", cwd=f"/w/{dress('dir')}")
    write(
        pi.root / "a.jsonl",
        pi.header(),
        pi.user(f"{dress('treecreeper')} climbs"),
        pi.entry("session_info", name=dress("title")),
        pi.call(dress("bash"), command=dress("treecreeper")),
        pi.result(f"{dress('treecreeper')} output"),
    )
    assert cli("index").code == 0
    for arguments in (("search", "treecreeper"), ("search",), ("show", "escapes"), ("search", dress("treecreeper"))):
        done = cli(*arguments)
        assert done.code == 0
        assert "treecreeper" in done.out or "title" in done.out
        assert not [c for c in done.out + done.err if (c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f"]
        assert not set(done.out) & set("\u202a\u202b\u202c\u202d\u202e")
