"""Servers that are unlike the guide's: each command's line and exit code, and that the line's statement helps.

`pytest -s` prints the matrix: kind of server, command, exit code and line.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from ...support.pages import block_with
from ...support.postgres_server import Server, find_binaries
from .conftest import back_to_version_3
from .logins import GUIDE

pytestmark = pytest.mark.once

READING = (
    ("search", "fox", "--no-refresh"),
    ("search", "fox"),
    ("search", "fox", "--json", "--no-refresh"),
    ("sessions",),
    ("show", "s1"),
    ("status",),
    ("workstations",),
)
INDEX, PREPARE = ("index", "--yes"), ("workstations", "--prepare")
NO_SCHEMA = r"PostgreSQL at \S+/{db} has no schema sesame: check the name of the database, or let its owner make"


class Place:
    """A database, its owner `boss_…` without any other right, and a login `ann_…` without grants."""

    def __init__(self, admin: str, cli: Callable[..., Any], home: Path, number: int, **options: str) -> None:
        self.admin, self.cli = admin, cli
        self.db, self.boss, self.ann = (f"{name}_{number}" for name in ("db", "boss", "ann"))
        self.groups = {name: f"{name}_{number}" for name in ("sesame_reader", "sesame_writer")}
        self.sql(f"CREATE ROLE {self.boss} LOGIN", f"CREATE ROLE {self.ann} LOGIN", in_own=False)
        given = " ".join(f"{name} {value}" for name, value in options.items())
        self.sql(f"CREATE DATABASE {self.db} OWNER {self.boss} TEMPLATE template0 {given}", in_own=False)
        # As managed services and careful administrators do.
        self.sql("REVOKE ALL ON SCHEMA public FROM PUBLIC")
        self._config = home / ".config" / "sesame" / "config.jsonc"
        sessions = home / "sessions"
        sessions.mkdir()
        header = {"type": "sesame-session", "version": 1, "id": "s1", "agent": "owl"}
        message = {"type": "message", "id": "m1", "role": "user", "text": "a red fox"}
        (sessions / "s1.jsonl").write_text(f"{json.dumps(header)}\n{json.dumps(message)}\n")
        self._sources = [{"parser": "sesame", "path": str(sessions)}]
        os.environ["SESAME_WORKSTATION_ID"] = "w1"

    def dsn(self, role: str, **more: str) -> str:
        return make_conninfo(self.admin, **{"dbname": self.db, "user": role, **more})

    def sql(self, *statements: str, role: str = "postgres", in_own: bool = True) -> None:
        with psycopg.connect(self.dsn(role) if in_own else self.admin, autocommit=True) as db:
            for statement in statements:
                db.execute(statement)  # type: ignore[call-overload]

    def run(self, role: str, *command: str, **more: str) -> Any:
        """Run a command as a role."""
        backend = {"name": "postgres", "options": {"dsn": self.dsn(role, **more)}}
        self._config.parent.mkdir(parents=True, exist_ok=True)
        self._config.write_text(json.dumps({"backend": backend, "sources": self._sources}))
        return self.cli(*command)

    def ok(self, role: str, *command: str, **more: str) -> str:
        done = self.run(role, *command, **more)
        self.say(role, command, done.code, (done.out or done.err).strip().split("\n")[0])
        assert done.code == 0, done.out + done.err
        return str(done.out)

    def fails(self, role: str, *command: str, told: str = "", **more: str) -> str:
        """Run a command that fails with one line, which names neither its own command nor a wrong database."""
        done = self.run(role, *command, **more)
        self.say(role, command, done.code, done.err.strip())
        assert done.code == 1, done.out + done.err
        assert done.out == ""
        assert done.err.count("\n") == 1, done.err
        assert re.search(told.format(db=self.db, ann=self.ann, boss=self.boss, **self.groups), done.err), done.err
        assert f"with: sesame {' '.join(command)}\n" not in done.err, "the advice is the command that failed"
        return str(done.err)

    def say(self, role: str, command: tuple[str, ...], code: int, line: str) -> None:
        kind = os.environ["PYTEST_CURRENT_TEST"].partition("::")[2].partition(" ")[0].removeprefix("test_")
        # Not printed: that would be what the next command has printed.
        os.write(1, f"{kind} | {role} | sesame {' '.join(command)} | {code} | {line}\n".encode())

    def help(self, line: str, role: str = "postgres") -> None:
        """Run the statements that a line recommends."""
        self.sql(line.split("run: ")[1].split(" (a role")[0].strip())

    def prepared(self, *groups: str) -> None:
        """Make the tables, and the guide's roles."""
        self.ok(self.boss, *PREPARE)
        if not groups:
            return
        statements = block_with(GUIDE, "CREATE ROLE sesame_reader")
        for name, own in self.groups.items():
            statements = re.sub(rf"\b{name}\b", own, statements)
        parts = [part.strip() for part in statements.split(";\n") if part.strip()]
        # One who may create roles makes them and grants their membership; the owner of the tables does the rest.
        first = [part for part in parts if re.match(r"CREATE ROLE|GRANT \w+ TO \w+$", part)]
        self.sql(*first, in_own=False)
        self.sql(*(part for part in parts if part not in first), role=self.boss)
        self.sql(*(f"GRANT {self.groups[group]} TO {self.ann}" for group in groups), in_own=False)


@pytest.fixture(scope="module")
def server(postgres: str) -> Iterator[Server]:
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("limits of connections need a server of the test's own")
    with Server(binaries, max_connections="12") as server:
        yield server


@pytest.fixture
def make(server: Server, cli: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Place]:
    monkeypatch.setenv("SESAME_WORKSTATION_ID", "w1")
    return lambda **options: Place(server.dsn, cli, home, abs(hash(home)) % 10**8, **options)


def test_an_empty_database_is_no_empty_index(make: Callable[..., Place]) -> None:
    place = make()
    for command in READING:
        if command != ("search", "fox"):
            place.fails(place.ann, *command, told=NO_SCHEMA)
    place.fails(place.ann, "search", "fox", told=NO_SCHEMA)
    place.fails(place.ann, *INDEX, told=NO_SCHEMA)
    line = place.fails(place.ann, *PREPARE, told="role {ann} may not make the schema sesame .* as an administrator run")
    place.help(line)
    place.ok(place.ann, *PREPARE)
    assert "1 added" in place.ok(place.ann, *INDEX)


def test_the_owner_of_an_empty_database_makes_the_tables_by_what_he_sends(make: Callable[..., Place]) -> None:
    place = make()
    for command in ("status", "search"):
        place.fails(place.boss, command, told=NO_SCHEMA)
    assert "1 added" in place.ok(place.boss, *INDEX)
    assert "red fox" in place.ok(place.boss, "search", "fox")


def test_a_schema_that_an_administrator_made_for_a_role_without_create(make: Callable[..., Place]) -> None:
    place = make()
    place.sql(f"CREATE SCHEMA sesame AUTHORIZATION {place.ann}")
    place.fails(place.ann, "status", told=r"has none of Sesame's tables in the schema sesame.*owner \({ann}\)")
    place.ok(place.ann, *PREPARE)
    assert "1 added" in place.ok(place.ann, *INDEX)


def test_a_schema_that_an_administrator_made_for_nobody(make: Callable[..., Place]) -> None:
    place = make()
    place.sql("CREATE SCHEMA sesame")
    for command in READING:
        place.fails(place.ann, *command, told=r"has none of Sesame's tables in the schema sesame.*owner \(postgres\)")
    place.help(place.fails(place.ann, *PREPARE, told="as postgres run: GRANT USAGE, CREATE ON SCHEMA sesame TO {ann}"))
    place.ok(place.ann, *PREPARE)


def test_a_role_without_grants(make: Callable[..., Place]) -> None:
    place = make()
    place.prepared("sesame_reader")
    place.sql(f"REVOKE {place.groups['sesame_reader']} FROM {place.ann}")
    told = "role {ann} may not use the schema sesame at .*: as {boss} run: GRANT {sesame_reader} TO {ann}$"
    for command in READING:
        line = place.fails(place.ann, *command, told=told)
    place.help(line)
    place.ok(place.ann, "search", "fox", "--no-refresh")
    told = 'may not write .*: as {boss} run: GRANT {sesame_writer} TO {ann} \\(a role that only searches sets "refreshS'
    line = place.fails(place.ann, *INDEX, told=told)
    done = place.run(place.ann, "search", "fox")
    assert (done.code, "was not refreshed: role" in done.out + done.err) == (0, True)
    place.help(line)
    assert "1 added" in place.ok(place.ann, *INDEX)
    assert "red fox" in place.ok(place.ann, "search", "fox")


def test_a_member_that_does_not_inherit_is_told_how_it_would(make: Callable[..., Place]) -> None:
    place = make()
    place.prepared()
    place.sql(f"ALTER ROLE {place.ann} NOINHERIT")
    place.prepared("sesame_writer")
    told = "run: (GRANT {sesame_reader} TO {ann} WITH INHERIT TRUE|ALTER ROLE {ann} INHERIT)$"
    place.help(place.fails(place.ann, "status", told=told))
    place.ok(place.ann, "status")
    done = place.run(place.ann, *INDEX)
    if done.code:
        assert f"GRANT {place.groups['sesame_writer']} TO {place.ann} WITH INHERIT TRUE" in done.err
        place.help(done.err)
        place.ok(place.ann, *INDEX)


def test_a_login_that_acts_as_another_role_is_not_told_to_grant_that_one_more(make: Callable[..., Place]) -> None:
    place = make()
    place.prepared("sesame_writer")
    place.sql(f"ALTER ROLE {place.ann} SET role = {place.groups['sesame_reader']}")
    told = "role {ann} acts as {sesame_reader}, which may not write .* run: ALTER ROLE {ann} RESET role"
    place.help(place.fails(place.ann, *INDEX, told=told))
    place.ok(place.ann, *INDEX)


def test_a_role_without_grants_where_no_group_has_them(make: Callable[..., Place]) -> None:
    place = make()
    place.prepared()
    line = place.fails(place.ann, "status", told="run: GRANT USAGE ON SCHEMA sesame TO {ann}; GRANT SELECT ON ALL")
    place.help(line)
    place.ok(place.ann, "status")
    place.fails(place.ann, *INDEX, told="may not write to the schema sesame at .* run: the statements of docs/team.md")


@pytest.mark.parametrize(
    ("lacking", "told"),
    [
        ("SELECT ON ALL TABLES IN SCHEMA sesame", "may not read the schema sesame .* GRANT SELECT ON ALL TABLES"),
        ("SELECT ON sesame.schema_migrations", "may not read the schema sesame .* GRANT SELECT ON ALL TABLES"),
        ("SELECT ON sesame.sessions", "may not read the schema sesame .* GRANT SELECT ON ALL TABLES"),
        ("SELECT ON sesame.texts", "may not do that at .*: permission denied for table texts; see the roles"),
    ],
    ids=str,
)
def test_a_group_that_lacks_a_right(make: Callable[..., Place], lacking: str, told: str) -> None:
    place = make()
    place.prepared("sesame_reader")
    place.sql(f"REVOKE {lacking} FROM {place.groups['sesame_reader']}")
    place.fails(place.ann, "search", "fox", "--no-refresh", told=told)


def test_a_writer_without_temporary_tables(make: Callable[..., Place]) -> None:
    place = make()
    place.prepared("sesame_writer")
    place.sql(f"REVOKE TEMPORARY ON DATABASE {place.db} FROM PUBLIC")
    line = place.fails(place.ann, *INDEX, told="run: GRANT TEMPORARY ON DATABASE {db} TO {ann}$")
    place.help(line)
    place.ok(place.ann, *INDEX)


def test_logins_that_the_server_refuses(make: Callable[..., Place]) -> None:
    place = make()
    place.prepared("sesame_reader")
    place.sql(f"REVOKE CONNECT ON DATABASE {place.db} FROM PUBLIC")
    for command in (*READING, INDEX, PREPARE):
        line = place.fails(place.ann, *command, told="database's owner run: GRANT CONNECT ON DATABASE {db} TO {ann}$")
    place.help(line)
    place.ok(place.ann, "search", "fox", "--no-refresh")
    place.sql(f"ALTER ROLE {place.ann} NOLOGIN")
    place.help(place.fails(place.ann, "status", told="administrator run: ALTER ROLE {ann} LOGIN$"))
    place.fails(place.ann, "status", told='role "nobody" does not exist', user="nobody")
    place.fails(place.ann, "status", told='database "nowhere" does not exist; create it first', dbname="nowhere")


def test_no_connection_left(make: Callable[..., Place], server: Server) -> None:
    place = make()
    place.prepared("sesame_reader")
    place.sql(f"ALTER ROLE {place.ann} CONNECTION LIMIT 0")
    told = "allows role '{ann}' no further connection: try again later, or ALTER ROLE {ann} CONNECTION LIMIT -1"
    place.fails(place.ann, "search", "fox", "--no-refresh", told=told)
    place.sql(f"ALTER ROLE {place.ann} CONNECTION LIMIT -1", f"ALTER DATABASE {place.db} CONNECTION LIMIT 0")
    place.fails(place.ann, "status", told="has no connection left: try again later, or raise the database's CONNECTION")
    place.sql(f"ALTER DATABASE {place.db} CONNECTION LIMIT -1", in_own=False)
    held = []
    try:
        with suppress(psycopg.OperationalError):
            for _ in range(20):
                held.append(psycopg.connect(place.dsn(place.boss)))
        told = "has no connection left: try again later, or raise its max_connections"
        for command in (*READING, INDEX):
            place.fails(place.ann, *command, told=told)
    finally:
        for one in held:
            one.close()


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII", "WIN1252", "EUC_JP"])
def test_a_database_that_is_not_utf8(make: Callable[..., Place], encoding: str) -> None:
    place = make(ENCODING=f"'{encoding}'", LC_COLLATE="'C'", LC_CTYPE="'C'")
    told = rf"has the encoding {encoding}, Sesame needs UTF8: .*: CREATE DATABASE \w+ ENCODING 'UTF8' LOCALE 'C' TEMPL"
    for command in (PREPARE, INDEX, *READING):
        line = place.fails(place.boss, *command, told=told)
    statement = line.split("made by: ")[1]
    place.sql(statement)
    place.sql(f"ALTER DATABASE {place.db}_utf8 OWNER TO {place.boss}")
    place.ok(place.boss, *PREPARE, dbname=f"{place.db}_utf8")
    # One that an earlier version has filled.
    place.sql("CREATE SCHEMA sesame", "CREATE TABLE sesame.schema_migrations (id int)", role=place.boss)
    place.fails(place.boss, "status", told=told)


def test_an_older_and_a_newer_schema(make: Callable[..., Place]) -> None:
    place = make()
    place.prepared("sesame_writer")
    with psycopg.connect(place.dsn(place.boss), autocommit=True) as db:
        db.execute("SET search_path = sesame")
        back_to_version_3(db)
    told = r"has an older schema \(3\): its owner upgrades it with: sesame workstations --prepare \(as {boss}\)$"
    for command in (*READING, INDEX, PREPARE):
        if command != PREPARE:
            place.fails(place.ann, *command, told=told)
    place.fails(place.boss, "status", told=told)
    place.ok(place.boss, *PREPARE)
    place.ok(place.ann, *INDEX)
    place.sql("INSERT INTO sesame.schema_migrations VALUES (99, 'of tomorrow')")
    for command in (*READING, INDEX):
        place.fails(place.ann, *command, told=r"newer Sesame \(schema 99")


def test_settings_of_a_role_that_would_change_what_is_found(make: Callable[..., Place]) -> None:
    place = make()
    place.prepared("sesame_writer")
    settings = {
        "search_path": "nowhere",
        "client_encoding": "LATIN1",
        "DateStyle": "'SQL, DMY'",
        "IntervalStyle": "sql_standard",
        "TimeZone": "'Asia/Kathmandu'",
        "bytea_output": "escape",
        "array_nulls": "off",
        "extra_float_digits": "-15",
        "standard_conforming_strings": "off",
        "row_security": "off",
        "default_transaction_isolation": "serializable",
        "gin_fuzzy_search_limit": "1",
        "enable_indexscan": "off",
        "enable_bitmapscan": "off",
        "statement_timeout": "'200ms'",
        "idle_in_transaction_session_timeout": "'50ms'",
        "idle_session_timeout": "'500ms'",
        "quote_all_identifiers": "on",
        "default_text_search_config": "'pg_catalog.german'",
    }
    with psycopg.connect(place.admin) as db:
        if db.info.server_version >= 170_000:
            settings["transaction_timeout"] = "'300ms'"
    place.sql(*(f"ALTER ROLE {place.ann} SET {name} = {value}" for name, value in settings.items()))
    assert "1 added" in place.ok(place.ann, *INDEX)
    assert "red fox" in place.ok(place.ann, "search", "fox")
    assert "red fox" in place.ok(place.ann, "show", "s1")
    assert json.loads(place.ok(place.ann, "status", "--json"))["sessions"] == 1
    place.ok(place.ann, *INDEX, "--full")


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII", "nonsense"])
def test_an_encoding_in_the_dsn_does_not_matter(make: Callable[..., Place], encoding: str) -> None:
    place = make()
    place.prepared("sesame_writer")
    place.ok(place.ann, *INDEX, client_encoding=encoding)
    assert "red fox" in place.ok(place.ann, "search", "fox", client_encoding=encoding)
    place.ok(place.ann, "search", "日本", client_encoding=encoding)


def test_a_replica_in_settings_alone(make: Callable[..., Place]) -> None:
    place = make()
    place.prepared("sesame_writer")
    place.ok(place.ann, *INDEX)
    place.sql(f"ALTER ROLE {place.ann} SET default_transaction_read_only = on")
    place.ok(place.ann, "search", "fox")
    told = r"PostgreSQL at \S+ is read-only \(a replica\?\): index into the primary server$"
    place.fails(place.ann, *INDEX, told=told)
    place.fails(place.ann, *INDEX, "--full", told=told)
