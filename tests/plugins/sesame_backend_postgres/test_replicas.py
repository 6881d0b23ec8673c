"""A replica that follows its primary: it is searched, and says that it cannot be written."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from ...support.postgres_server import Server, find_binaries

pytestmark = pytest.mark.once

Make = Callable[..., Any]


@pytest.fixture(scope="module")
def pair(postgres: str) -> Iterator[tuple[Server, Server]]:
    """A primary server, and a streaming standby of it."""
    binaries = find_binaries()
    if binaries is None or os.name == "nt":
        pytest.skip("a standby needs the server's programs on this machine")
    with Server(binaries) as primary:
        hba = primary.directory / "data" / "pg_hba.conf"
        hba.write_text(hba.read_text() + "host replication all 127.0.0.1/32 trust\n")
        primary.stop()
        copy = Path(f"{primary.directory}-standby")
        shutil.copytree(primary.directory / "data", copy / "data", ignore=shutil.ignore_patterns("postmaster.*"))
        (copy / "data" / "standby.signal").touch()
        owner = (primary.directory / "data").stat()
        for path in (copy, *copy.rglob("*")):
            os.chown(path, owner.st_uid, owner.st_gid)
        (copy / "data").chmod(0o700)
        primary.start()
        try:
            follow = f"host=127.0.0.1 port={primary.port} user=postgres"
            with Server(binaries, directory=copy, primary_conninfo=follow, hot_standby="on") as standby:
                yield primary, standby
        finally:
            shutil.rmtree(copy, ignore_errors=True)


def caught_up(pair: tuple[Server, Server]) -> None:
    with psycopg.connect(pair[0].dsn) as one, psycopg.connect(pair[1].dsn, autocommit=True) as other:
        (end,) = one.execute("SELECT pg_current_wal_lsn()").fetchone() or ("",)
        until = time.monotonic() + 30
        while other.execute("SELECT pg_last_wal_replay_lsn() >= %s", (end,)).fetchone() != (True,):
            assert time.monotonic() < until
            time.sleep(0.05)


def test_a_replica_is_searched_and_cannot_be_written(workstation: Make, pair: tuple[Server, Server]) -> None:
    primary, standby = pair
    ann = workstation("ann", dsn=primary.dsn)
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    caught_up(pair)
    reader = workstation("ann", dsn=standby.dsn)
    assert len(reader.found("lighthouse")) == 1
    status = reader.json("status", "--check")
    assert status["sessions"] == 1
    assert status["server"]["replica"]
    assert status["server"]["replayedAt"]
    assert "lighthouse" in reader.ok("show", "s1")
    reader.ok("sessions")
    reader.ok("workstations")
    told = "is read-only (a replica?): index into the primary server"
    assert told in reader.fails("index"), "nothing has changed"
    assert told in reader.fails("index", "--full")
    assert "make the tables on the primary server" not in reader.ok("workstations")
    ann.write("s2", "another lighthouse")
    assert told in reader.fails("index")
    assert told in reader.json("search", "lighthouse")["index"]["reason"]


def test_an_empty_replica_says_that_the_primary_makes_the_tables(
    workstation: Make, pair: tuple[Server, Server]
) -> None:
    caught_up(pair)
    reader = workstation("ann", dsn=pair[1].dsn, schema="elsewhere")
    assert "make the tables on the primary server" in reader.fails("workstations", "--prepare")
    assert "make the tables on the primary server" in reader.fails("index")
    assert "has no schema elsewhere" in reader.fails("status")


def test_the_primary_of_several_hosts_is_found(workstation: Make, pair: tuple[Server, Server]) -> None:
    primary, standby = pair
    hosts = {"host": "127.0.0.1,127.0.0.1", "port": f"{standby.port},{primary.port}"}
    dsn = make_conninfo(primary.dsn, **hosts, target_session_attrs="read-write")
    ann = workstation("ann", dsn=dsn, schema="several")
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    assert f"127.0.0.1:{standby.port},127.0.0.1:{primary.port}/postgres" in ann.json("status")["location"]
    both = make_conninfo(primary.dsn, host="127.0.0.1", port=standby.port, target_session_attrs="read-write")
    assert "no host is as target_session_attrs demands" in workstation("ann", dsn=both).fails("status")
