"""Addresses of servers: how they are shown, and that no part of a password ever is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sesame_backend_postgres.settings import Settings, place
from sesame_core import ConfigError

Make = Callable[..., Any]

TORN = [
    "postgresql://ann:p@ss@db.example.org/sesame",
    "postgresql://ann:p@ss/word@db.example.org/sesame",
    "postgresql://ann:pa/ss@db.example.org/sesame",
    "postgresql://ann:12/ss@db.example.org/sesame",
    "postgresql://ann:pa%ss@db.example.org/sesame",
    "postgresql://ann@corp:pass@db.example.org/sesame",
    "postgres://ann:@@ss@db.example.org:5432/sesame?sslmode=require",
    "postgresql+psycopg://ann:p@ss@db.example.org/sesame",
    "postgresql://ann:pass@[db.example.org/sesame",
    "host=db.example.org user=ann password=pa ss",
    "host=db.example.org user=ann password=pa ss=word",
    "host=db.example.org user=ann password='pass",
    "postgresql://ann:pass@db.example.org:pass/sesame",
]


@pytest.mark.parametrize("dsn", TORN, ids=str)
def test_a_password_that_tears_an_address_is_not_taken_for_a_host(dsn: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Settings(dsn=dsn).check()
    assert "ss" not in str(caught.value).replace("password", "").replace("~/.pgpass", "").replace("sesame", "")


def test_the_message_says_how_a_password_is_written(workstation: Make) -> None:
    told = workstation("ann", dsn=TORN[0]).fails("search", "fox")
    assert "write %40 for @, %2F for /" in told


@pytest.mark.parametrize(
    "dsn",
    [
        "dbname=postgresql://ann:hush@db/sesame",
        "host=db dbname='host=db password=hush dbname=sesame'",
        "host=postgresql://ann:hush@db/sesame",
        "postgresql:///?host=postgres%3A%2F%2Fann%3Ahush%40db",
        "PGDATABASE",
        "PGHOST",
    ],
)
def test_an_address_in_place_of_a_name_is_not_shown(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "=" not in dsn:
        monkeypatch.setenv(dsn, "postgresql://ann:hush@db/sesame")
        dsn = ""
    with pytest.raises(ConfigError, match="is a whole address: write it as the dsn") as caught:
        Settings(dsn=dsn).check()
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("host", ["./socket", "a" * 64, "a..b", ".", "é" * 300])
def test_a_host_that_nobody_can_look_up_is_one_line(host: str, workstation: Make) -> None:
    ann = workstation("ann", dsn=f"host={host} user=ann dbname=sesame")
    told = ann.fails("search", "fox", "--no-refresh")
    assert "cannot be reached: the host's name is not one that can be looked up" in told


def test_a_line_break_in_a_name_makes_no_second_line() -> None:
    assert place(Settings(dsn="postgresql://db/a%0Ab%0Dc").conninfo()) == "PostgreSQL at db:5432/a?b?c"


@pytest.mark.parametrize("schema", ["select", "order", "user", "table", "pg_mine"])
def test_a_word_of_sql_is_no_schema(schema: str) -> None:
    with pytest.raises(ConfigError, match="'schema' must be a lower-case name"):
        Settings(schema=schema).check()


@pytest.mark.parametrize(
    ("dsn", "shown"),
    [
        ("postgresql://ann:p%40ss%2Fword@db/sesame", "db:5432/sesame"),
        ("postgresql://ann:p:ss@db:5433/sesame", "db:5433/sesame"),
        ("postgresql://ann:p?ss@db/sesame", "db:5432/sesame"),
        ("postgresql://db/a%40b", "db:5432/a@b"),
        ("postgresql://db/sesame?password=p@ss", "db:5432/sesame"),
        ("host=db password=p@ss/word dbname=sesame", "db:5432/sesame"),
        ("host=db password='p ss' dbname=sesame", "db:5432/sesame"),
        ("postgresql://one,two:5433/sesame", "one:5432,two:5433/sesame"),
        ("host=one,two port=5433 dbname=sesame", "one:5433,two:5433/sesame"),
        ("host=one,two,three port=1,2,3 dbname=sesame", "one:1,two:2,three:3/sesame"),
        ("postgresql://one:1,two:2/sesame?target_session_attrs=read-write", "one:1,two:2/sesame"),
        ("postgresql://[::1]:5433/sesame", "[::1]:5433/sesame"),
        ("hostaddr=10.0.0.1 dbname=sesame", "10.0.0.1:5432/sesame"),
        ("host=/run/postgresql dbname=sesame", "/run/postgresql:5432/sesame"),
        ("postgresql://ann@db", "db:5432/ann"),
        ("", "localhost:5432/its default database"),
    ],
    ids=str,
)
def test_an_address_is_shown_with_each_host_and_its_port(dsn: str, shown: str) -> None:
    assert place(Settings(dsn=dsn).conninfo()) == f"PostgreSQL at {shown}"


@pytest.mark.once
def test_a_password_is_in_no_message_of_a_server_that_refuses(workstation: Make, database: str) -> None:
    from psycopg.conninfo import make_conninfo

    for more in (
        {"port": "1"},
        {"host": "db.invalid"},
        {"dbname": "nowhere"},
        {"user": "nobody"},
        {"sslmode": "require"},
        {"options": "-c nonsense=1"},
        {"target_session_attrs": "standby"},
    ):
        ann = workstation("ann", dsn=make_conninfo(database, password="hush-hush", **more), connect_timeout=3)
        for command in (["index"], ["search", "fox", "--no-refresh"]):
            assert "hush" not in ann.fails(*command)
