"""What happens when the server does not do what it should."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from ...support.postgres_server import Server, find_binaries
from .conftest import back_to_version_3

pytestmark = pytest.mark.once

Make = Callable[..., Any]


@pytest.fixture(scope="module")
def server(postgres: str) -> Iterator[Server]:
    """A server of the test's own, which may be stopped."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("stopping a server needs its programs on this machine")
    with Server(binaries, max_connections="12") as server:
        yield server


def test_an_unreachable_server_is_reported_at_once(workstation: Make) -> None:
    ann = workstation("ann", dsn="postgresql://ann@127.0.0.1:1/sesame")
    for command in (["search", "fox"], ["search", "fox", "--no-refresh"], ["index"], ["status"]):
        assert "127.0.0.1:1/sesame cannot be reached" in ann.run(*command).stderr


def test_a_wrong_database_is_named(workstation: Make, database: str) -> None:
    ann = workstation("ann", dsn=make_conninfo(database, dbname="no_such_database"))
    assert "no_such_database" in ann.fails("index")


def test_a_wrong_password_is_reported_as_one(server: Server, workstation: Make) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as db:
        db.execute("CREATE ROLE ann LOGIN PASSWORD 'right'")
    hba = server.directory / "data" / "pg_hba.conf"
    before = hba.read_text()
    hba.write_text("host all ann 127.0.0.1/32 scram-sha-256\n" + before)
    with psycopg.connect(server.dsn, autocommit=True) as db:
        db.execute("SELECT pg_reload_conf()")
    time.sleep(0.5)
    ann = workstation("ann", dsn=server.dsn.replace("postgres@", "ann:hush-hush@"))
    told = ann.fails("search", "fox", "--no-refresh")
    hba.write_text(before)
    assert "refuses the password of role 'ann'" in told
    assert "hush" not in told


def test_a_server_that_stops_midway_leaves_nothing_half_and_the_next_run_catches_up(
    server: Server, workstation: Make
) -> None:
    ann = workstation("ann", dsn=server.dsn, schema="midway")
    for number in range(300):
        ann.write(f"s{number:03}", f"the lighthouse number {number}", *["padding " * 200] * 30)
    command, environment = ann.command("index")
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        with psycopg.connect(server.dsn) as db:
            busy = db.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO texts%' AND state = 'active'"
            ).fetchone()
        if busy and busy[0]:
            break
    server.stop(at_once=True)
    _, err = process.communicate(timeout=60)
    server.start()
    assert process.returncode == 1
    assert err.count("\n") == 1
    with psycopg.connect(server.dsn) as db:
        whole = db.execute(
            "SELECT count(*) FROM midway.sessions AS s "
            "WHERE s.chunk_count <> (SELECT count(*) FROM midway.chunks AS c WHERE c.session = s.id)"
        ).fetchone()
    assert whole == (0,)
    ann.ok("index")
    assert ann.json("status")["sessions"] == 300
    assert ann.json("status")["chunks"] == 300 * 31


def test_a_reader_continues_after_the_server_was_restarted(
    server: Server, workstation: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sesame_core import Selection, Sesame
    from sesame_core.config.model import Config

    ann = workstation("ann", dsn=server.dsn, schema="restarted")
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    with Sesame(
        Config(backend=Selection(name="postgres", options={"dsn": server.dsn, "schema": "restarted"}))
    ) as sesame:
        assert sesame.search("lighthouse").total == 1
        server.stop()
        server.start()
        assert sesame.search("lighthouse").total == 1


def test_a_replica_can_be_searched_and_says_that_it_cannot_be_written(workstation: Make, database: str) -> None:
    ann = workstation("ann")
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    replica = workstation("ann", dsn=make_conninfo(database, options="-c default_transaction_read_only=on"))
    assert len(replica.found("lighthouse")) == 1
    assert replica.json("search", "lighthouse")["results"]
    ann.write("s2", "another lighthouse")
    assert "is read-only" in replica.fails("index")


def test_a_newer_schema_is_left_alone(workstation: Make, database: str) -> None:
    ann = workstation("ann")
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("INSERT INTO sesame.schema_migrations VALUES (99, 'of tomorrow')")
    for command in (["index"], ["search", "lighthouse", "--no-refresh"], ["index", "--full"]):
        assert "newer Sesame (schema 99" in ann.fails(*command)


def test_an_older_schema_is_upgraded_and_what_was_written_about_a_session_found(
    workstation: Make, database: str
) -> None:
    ann, bob = workstation("ann"), workstation("bob")
    for station in (ann, bob):
        station.write("s1", "the lighthouse keeper")
        station.ok("index")
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("SET search_path = sesame")
        back_to_version_3(db)
        db.execute("ALTER TABLE sessions DROP COLUMN notes")
        added = ("sessions_cwd", "sessions_agent", "sessions_owner", "sessions_host", "texts_tool", "texts_prompts")
        for index in added:
            db.execute(f"DROP INDEX {index}")  # type: ignore[arg-type]
        db.execute("DELETE FROM schema_migrations WHERE id > 1")
    assert "has an older schema (1): its owner upgrades it with: sesame workstations --prepare" in ann.fails(
        "search", "otter", "--no-refresh"
    )
    value = dict.fromkeys(
        ("sessionFile", "summary", "cwd", "createdAt", "updatedAt", "model", "lastIndexedLeafId"), "x"
    )
    value |= {"sessionId": "s1", "name": "Of an otter", "description": "It was about the beaver."}
    place = ann.home / "data" / "sessions-meta"
    place.mkdir(parents=True, exist_ok=True)
    (place / "s1.meta.json").write_text(json.dumps({**value, "tags": ["ticket:77"]}))
    assert "1 unchanged, 1 described" in ann.ok("index")
    with psycopg.connect(database) as db:
        there = {name for (name,) in db.execute("SELECT indexname FROM pg_indexes WHERE schemaname = 'sesame'")}
    assert there >= set(added)
    found = bob.json("search", "beaver")["results"]
    assert [(hit["workstation"], hit["name"], hit["tags"]) for hit in found] == [("ann", "Of an otter", ["ticket:77"])]
    assert "described" not in bob.ok("index")
