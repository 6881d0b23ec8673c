"""Servers that say nothing: when a command gives up, and that it does not give up a server that is at work."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from sesame_backend_postgres import connecting, connection
from sesame_backend_postgres.connecting import Server as Connections
from sesame_backend_postgres.settings import Settings
from sesame_core import BackendError, Selection, Sesame
from sesame_core.config.model import Config

from ...support.postgres_server import Server, find_binaries

pytestmark = pytest.mark.once

Make = Callable[..., Any]
#: What a process takes to start, on a busy machine.
STARTED = 4


@pytest.fixture(scope="module")
def server(postgres: str) -> Iterator[Server]:
    binaries = find_binaries()
    if binaries is None or os.name == "nt":
        pytest.skip("freezing a server needs its programs on this machine, and signals")
    with Server(binaries) as server:
        yield server


@contextmanager
def silent_ports(number: int) -> Iterator[list[int]]:
    """Take connections, and say nothing."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    yield [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()


@contextmanager
def frozen(server: Server) -> Iterator[None]:
    """Stop every process of a server; the system still acknowledges what it is sent."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True, check=True).stdout
    children = [int(pid) for pid, parent in map(str.split, listed.splitlines()[1:]) if parent == str(server.process_id)]
    processes = [server.process_id, *children]
    try:
        for process in processes:
            send(process, signal.SIGSTOP)
        yield
    finally:
        for process in processes:
            send(process, signal.SIGCONT)


def send(process: int, number: signal.Signals) -> None:
    """Send a signal to a process that may have ended."""
    with suppress(ProcessLookupError):
        os.kill(process, number)


@pytest.mark.parametrize("hosts", [1, 2, 3])
@pytest.mark.parametrize("command", [("search", "fox"), ("search", "fox", "--no-refresh"), ("index",), ("status",)])
def test_a_silent_server_is_given_up_after_the_timeout(workstation: Make, hosts: int, command: tuple[str, ...]) -> None:
    with silent_ports(hosts) as ports:
        names = ",".join(["127.0.0.1"] * hosts)
        dsn = f"host={names} port={','.join(map(str, ports))} user=ann dbname=sesame"
        ann = workstation("ann", dsn=dsn, connect_timeout=3)
        ann.write("s1", "the lighthouse keeper")
        started = time.monotonic()
        told = ann.fails(*command)
        assert time.monotonic() - started < 3 + STARTED
    assert "cannot be reached: no answer" in told
    assert "no copy of it on this machine" in told


def test_the_second_host_is_reached_when_the_first_is_silent(workstation: Make, database: str) -> None:
    known = psycopg.conninfo.conninfo_to_dict(database)
    with silent_ports(1) as ports:
        hosts, numbers = f"127.0.0.1,{known['host']}", f"{ports[0]},{known['port']}"
        dsn = make_conninfo(database, host=hosts, port=numbers)
        ann = workstation("ann", dsn=dsn)
        ann.write("s1", "the lighthouse keeper")
        started = time.monotonic()
        ann.ok("index")
        assert time.monotonic() - started < 5 + STARTED
        assert f"127.0.0.1:{ports[0]},{known['host']}:{known['port']}/" in ann.json("status")["location"]


def test_the_timeout_of_the_dsn_counts(workstation: Make) -> None:
    with silent_ports(1) as ports:
        ann = workstation("ann", dsn=f"postgresql://ann@127.0.0.1:{ports[0]}/sesame?connect_timeout=1")
        started = time.monotonic()
        ann.fails("search", "fox")
        assert time.monotonic() - started < 1 + STARTED


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can have another resolver")
def test_names_that_nobody_resolves_take_no_longer(workstation: Make, tmp_path: Path) -> None:
    ann = workstation("ann", dsn="postgresql://ann@db.example.org/sesame", connect_timeout=2)
    (tmp_path / "resolv.conf").write_text("nameserver 127.0.0.99\noptions timeout:9 attempts:2\n")
    script = f'mount --bind {tmp_path / "resolv.conf"} /etc/resolv.conf && exec "$@"'
    ann.before = ("unshare", "--mount", "sh", "-c", script, "sh")
    with socket.socket(type=socket.SOCK_DGRAM) as resolver:
        try:
            resolver.bind(("127.0.0.99", 53))
        except OSError:
            pytest.skip("the port of the resolver is taken")
        if ann.run("--version").returncode:
            pytest.skip("this container may not make namespaces")
        started = time.monotonic()
        assert "cannot be reached: no answer within 2 s" in ann.fails("search", "fox")
        assert time.monotonic() - started < 2 + STARTED


def test_a_server_that_answers_again_is_asked_again(server: Server) -> None:
    connections = Connections(Settings(dsn=server.dsn, connect_timeout=1, schema="again"))
    with frozen(server):
        for _ in range(3):
            started = time.monotonic()
            with pytest.raises(BackendError, match="no answer within 1 s"):
                connections.connect()
        assert time.monotonic() - started < 0.5, "what was silent a moment ago is not waited for again"
    time.sleep(connecting.SILENT_SECONDS)
    connections.connect().close()


@pytest.mark.parametrize("command", ["search", "writer"])
def test_a_server_that_freezes_under_an_open_connection_is_given_up(
    server: Server, workstation: Make, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = workstation("ann", dsn=server.dsn, schema=f"frozen_{command}")
    monkeypatch.setenv("SESAME_WORKSTATION_ID", "ann")
    monkeypatch.setenv("SESAME_DATA_DIR", str(ann.home / "data"))
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    options = {"dsn": server.dsn, "schema": f"frozen_{command}", "connect_timeout": 2}
    with Sesame(Config(sources=(), backend=Selection(name="postgres", options=options))) as sesame:
        act = (lambda: sesame.search("lighthouse")) if command == "search" else sesame.index
        act()
        with frozen(server):
            started = time.monotonic()
            with pytest.raises(BackendError, match="no answer"):
                act()
            assert time.monotonic() - started < connection.PATIENCE + 2 + STARTED
        time.sleep(connecting.SILENT_SECONDS)
        assert sesame.search("lighthouse").total == 1
        sesame.index()


def test_a_statement_that_takes_long_on_a_server_at_work_is_waited_for(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PATIENCE", 0.3)
    db = Connections(Settings(dsn=server.dsn)).connect()
    with db:
        assert db.execute("SELECT 1 FROM pg_sleep(2)").fetchone() == (1,)
        with psycopg.connect(server.dsn, autocommit=True) as other:
            other.execute("CREATE ROLE few LOGIN CONNECTION LIMIT 1")
    with Connections(Settings(dsn=server.dsn.replace("postgres@", "few@"))).connect() as db:
        # A refusal is an answer, too.
        assert db.execute("SELECT 1 FROM pg_sleep(1)").fetchone() == (1,)


def test_a_read_that_the_server_does_not_cancel_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PATIENCE", 0.3)
    monkeypatch.setattr(connection, "GRACE", 0.3)
    db = Connections(Settings(dsn=server.dsn)).connect()
    db.read_seconds = 1  # of the client alone
    with pytest.raises(connection.SilentError):
        db.execute("SELECT pg_sleep(20)")
    assert db.closed


@pytest.mark.parametrize("later", [0, 2], ids=["made after it was given up", "never made"])
def test_a_connection_that_comes_too_late_is_closed(server: Server, later: int) -> None:
    given = Settings(dsn=f"{server.dsn}?application_name=late&sslmode=disable&gssencmode=disable", connect_timeout=1)
    gc.disable()  # it may be long until the next collection
    try:
        with frozen(server):
            with pytest.raises(BackendError, match="no answer within 1 s"):
                Connections(given).connect()
            time.sleep(later)
        wait_until_closed(server)
    finally:
        gc.enable()


def test_a_connection_to_a_silent_host_is_closed_after_another_one_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(STARTED)
        given = Settings(dsn=f"host=127.0.0.1,127.0.0.1 port=1,{silent.getsockname()[1]} user=ann", connect_timeout=1)
        gc.disable()  # it may be long until the next collection
        try:
            with pytest.raises(BackendError, match="no answer"):
                Connections(given).connect()
            taken, _ = silent.accept()
            with taken:
                taken.settimeout(2 + STARTED)
                while taken.recv(1024):
                    pass
        finally:
            gc.enable()


def wait_until_closed(server: Server) -> None:
    """Wait for the end of the attempts, and then for the server, which notices it a little later."""
    for attempt in [one for one in threading.enumerate() if one.name == "sesame-connect"]:
        attempt.join(10)
        assert not attempt.is_alive()
    with psycopg.connect(server.dsn, autocommit=True) as db:
        end = time.monotonic() + 10
        sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'late'"
        while db.execute(sql).fetchone() != (0,) and time.monotonic() < end:
            time.sleep(0.05)
        assert db.execute(sql).fetchone() == (0,)
