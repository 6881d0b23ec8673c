"""A team's database behind PgBouncer, in each of its modes: the real program."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sesame_core import BackendError, LockedError, Selection, Sesame
from sesame_core.config.model import Config
from sesame_core.plugin.manager import PluginManager

from ...support.pgbouncer import MISSING, PgBouncer, find_programs

pytestmark = pytest.mark.once

Make = Callable[..., Any]
#: Small pools, so that connections of several clients share those of the server.
MODES = {
    "session": {"pool_mode": "session", "default_pool_size": 20},
    "transaction": {"pool_mode": "transaction", "default_pool_size": 3},
    "transaction without options": {
        "pool_mode": "transaction",
        "default_pool_size": 3,
        "ignore_startup_parameters": "options",
    },
}


@pytest.fixture(
    params=find_programs() or [pytest.param("", marks=pytest.mark.skip(reason=MISSING))], ids=os.path.basename
)
def program(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@contextmanager
def pooled(program: str, dsn: str, **settings: object) -> Iterator[PgBouncer]:
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="pgbouncer-") as place:
        Path(place).chmod(0o755)  # it does not run as root
        with PgBouncer(program, dsn, Path(place) / "run", ["postgres"], **settings) as pooler:
            yield pooler


@pytest.fixture(params=MODES)
def pooler(request: pytest.FixtureRequest, program: str, database: str) -> Iterator[PgBouncer]:
    with pooled(program, database, **MODES[request.param]) as pooler:
        yield pooler


def test_two_workstations_index_and_search_behind_a_pooler(workstation: Make, pooler: PgBouncer, database: str) -> None:
    ann, ben = (workstation(name, dsn=pooler.dsn("postgres")) for name in ("ann", "ben"))
    ann.ok("workstations", "--prepare")
    for one in (ann, ben):
        for number in range(3):
            one.write(f"s{number}", "the lighthouse keeper", f"said {one.name}", "a red fox")
        one.ok("index")
    assert len(ann.found("lighthouse")) == 6
    assert len(ben.found("lighthouse", "workstation:ann")) == 3
    assert ann.found('"lighthouse keeper"') == ben.found("lighthouse")
    ann.write("s1", "the lighthouse keeper", "and more of it")
    assert len(ann.json("search", "more", "lighthouse")["results"]) == 6
    ben.ok("index", "--full")
    status = ann.json("status")
    assert (status["sessions"], len(status["workstations"])) == (6, 2)
    assert "the lighthouse keeper" in ann.ok("show", f"{next(iter(ann.found('lighthouse', 'workstation:ann')))}")
    with psycopg.connect(database) as db:
        held = db.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").fetchone()
        counts = db.execute(
            "SELECT (SELECT sum(chunks) FROM sesame.workstations), (SELECT count(*) FROM sesame.chunks), "
            "(SELECT count(*) FROM sesame.texts)"
        ).fetchone()
    assert held == (0,)
    assert counts is not None
    assert counts[0] == counts[1] == counts[2]


def test_many_clients_at_once_share_a_pooler_of_few_connections(
    workstation: Make, pooler: PgBouncer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two index while others search: each finds the same, whichever connection of the server its statements get."""
    stations = [workstation(f"w{number}", dsn=pooler.dsn("postgres")) for number in range(2)]
    for station in stations:
        for number in range(40):
            station.write(f"s{number}", "the lighthouse keeper", "and the sea", f"number {number}")
        station.ok("index")
    monkeypatch.setenv("SESAME_DATA_DIR", str(stations[0].home / "data"))
    config = Config(backend=Selection(name="postgres", options={"dsn": pooler.dsn("postgres")}))

    def look(_: int) -> set[int]:
        with Sesame(config) as sesame:
            return {sesame.search("lighthouse keeper", limit=100).total for _ in range(15)}

    running = []
    for station in stations:
        command, environment = station.command("index", "--full")
        running.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    with ThreadPoolExecutor(4) as pool:
        assert set().union(*pool.map(look, range(4))) == {80}
    for process in running:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0, out


def test_one_workstation_has_one_writer_behind_a_pooler(
    workstation: Make, pooler: PgBouncer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = workstation("ann", dsn=pooler.dsn("postgres"))
    monkeypatch.setenv("SESAME_WORKSTATION_ID", "ann")
    monkeypatch.setenv("SESAME_DATA_DIR", str(ann.home / "data"))
    backends = [PluginManager().backend("postgres", {"dsn": ann.dsn}) for _ in range(2)]
    for _ in range(2):
        with backends[0].writer() as writer:
            writer.finish(synced_at=None)  # a commit, after which a pooler may give the connection away
            with pytest.raises(LockedError, match="ann is being written by sesame"), backends[1].writer():
                pass
        with backends[1].writer():
            pass
    for backend in backends:
        backend.close()


def test_a_search_leaves_nothing_on_a_connection_that_others_use(workstation: Make, pooler: PgBouncer) -> None:
    """Other programs of the same role share a transaction pooler: they keep their own settings."""
    ann = workstation("ann", dsn=pooler.dsn("postgres"))
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    assert len(ann.found("lighthouse")) == 1
    with psycopg.connect(pooler.dsn("postgres"), autocommit=True) as db:
        settings = [db.execute(f"SHOW {name}").fetchone() for name in ("search_path", "enable_seqscan", "work_mem")]
        left = db.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()
        tables = db.execute("SELECT to_regclass('pg_temp.staging')").fetchone()
    assert settings == [('"$user", public',), ("on",), ("4MB",)]
    assert left == (0,)
    assert tables == (None,)


def test_what_a_pooler_refuses_is_named(workstation: Make, program: str, database: str) -> None:
    with pooled(program, database, max_client_conn=1) as pooler, psycopg.connect(pooler.dsn("postgres")):
        ann = workstation("ann", dsn=pooler.dsn("postgres"))
        assert "has no connection left" in ann.fails("status")
    with pooled(program, database, pool_mode="session", default_pool_size=1, query_wait_timeout=1) as pooler:
        ann = workstation("ann", dsn=pooler.dsn("postgres"))
        with psycopg.connect(pooler.dsn("postgres")) as other:
            other.execute("SELECT 1")
            for command in (["search", "fox"], ["index"]):
                told = ann.fails(*command)
                assert "the pooler PostgreSQL at 127.0.0.1" in told
                assert "query_wait_timeout" in told
        ann = workstation("ann", dsn=pooler.dsn("postgres", options="-c jit=off"))
        assert re.search(r"unsupported startup parameter.*options.*: remove it from the dsn", ann.fails("status"))
        ann = workstation("ann", dsn=pooler.dsn("nobody"))
        assert "nobody" in ann.fails("status")
        ann = workstation("ann", dsn=pooler.dsn("postgres", dbname="nowhere"))
        assert 'database "nowhere" does not exist' in ann.fails("status")


def test_a_pooler_whose_server_is_away_is_named(workstation: Make, program: str, database: str) -> None:
    away = psycopg.conninfo.make_conninfo(database, port="1")
    with pooled(program, away, server_login_retry=1) as pooler:
        ann = workstation("ann", dsn=pooler.dsn("postgres"), connect_timeout=3)
        started = time.monotonic()
        for command in (["search", "fox", "--no-refresh"], ["index"]):
            told = ann.fails(*command)
            assert "127.0.0.1" in told
        assert time.monotonic() - started < 2 * (3 + 4), told


def test_a_pooler_of_too_small_a_pool_for_a_writer_says_so(workstation: Make, program: str, database: str) -> None:
    """A writer needs two connections of the server: one that writes, and one with the lock."""
    settings = {"pool_mode": "session", "default_pool_size": 1, "query_wait_timeout": 2}
    with pooled(program, database, **settings) as pooler:
        ann = workstation("ann", dsn=pooler.dsn("postgres"), connect_timeout=4)
        ann.write("s1", "the lighthouse keeper")
        told = ann.fails("index")
        assert "has no connection left" in told or "no answer" in told


def test_a_pooler_that_ends_idle_transactions_cannot_let_two_write(
    workstation: Make, program: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pooled(program, database, pool_mode="transaction", idle_transaction_timeout=4) as pooler:
        ann = workstation("ann", dsn=pooler.dsn("postgres"))
        ann.write("s1", "the lighthouse keeper")
        ann.ok("index")
        monkeypatch.setenv("SESAME_WORKSTATION_ID", "ann")
        monkeypatch.setenv("SESAME_DATA_DIR", str(ann.home / "data"))
        backend = PluginManager().backend("postgres", {"dsn": ann.dsn})

        def write() -> None:
            with backend.writer() as writer:
                time.sleep(6)
                writer.finish(synced_at=None)

        with pytest.raises(BackendError, match="held the lock of this workstation"):
            write()
        backend.close()
        ann.ok("index")
