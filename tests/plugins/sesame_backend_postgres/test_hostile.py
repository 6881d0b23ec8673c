"""One role's rows and locks neither pose as another's, nor break or stop anyone else."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import psycopg
import pytest

from sesame_backend_postgres import upgrading
from sesame_backend_postgres.checks import CHECKS
from sesame_core import BackendError
from tests.support.attempts import Catalogue

from .conftest import back_to_version_5
from .team import Team
from .workstation import Workstation

Make = Callable[..., Workstation]

pytestmark = pytest.mark.once


@pytest.fixture
def cat(team: Team, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run a command in this process, as Cat."""
    monkeypatch.setenv("SESAME_WORKSTATION_ID", "cat")
    monkeypatch.setenv("SESAME_CONFIG_DIR", str(team.cat.home / "config"))
    monkeypatch.setenv("SESAME_DATA_DIR", str(team.cat.home / "data"))
    return cli


# -- posing -----------------------------------------------------------------------------------------------

OWN = "(SELECT id FROM sesame.workstations WHERE name = 'ben')"
POSES = {
    "owner": "UPDATE sesame.sessions SET owner = (SELECT owner FROM sesame.workstations WHERE name = 'ann')",
    "owner in capitals": "UPDATE sesame.sessions SET owner = (SELECT upper(owner) FROM sesame.workstations "
    "WHERE name = 'ann')",
    "host": "UPDATE sesame.sessions SET host = 'ann-laptop'",
    "host of the workstation": f"UPDATE sesame.workstations SET host = 'ann-laptop' WHERE id = {OWN}",
    "host of the workstation in capitals": f"UPDATE sesame.workstations SET host = 'ANN-laptop' WHERE id = {OWN}",
    "owner of the workstation": "UPDATE sesame.workstations SET owner = (SELECT owner FROM sesame.workstations "
    "WHERE name = 'ann')",
    "all at once": "UPDATE sesame.sessions SET (owner, host) = (SELECT owner, host FROM sesame.workstations "
    "WHERE name = 'ann')",
    "a workstation more": "INSERT INTO sesame.workstations (name, installation, host, owner) "
    "SELECT 'ann2', '', host, owner FROM sesame.workstations WHERE name = 'ann'",
}
REFUSED = {
    "key": "UPDATE sesame.sessions SET key = 'ann:' || split_part(key, ':', 2) || ':s1'",
    "key without a workstation": "UPDATE sesame.sessions SET key = 's1'",
    "key of a longer name": "UPDATE sesame.sessions SET key = 'benn:x:s1'",
    "workstation with a colon": "INSERT INTO sesame.workstations (name, installation, host, owner) "
    "VALUES ('ann:x', '', 'h', 'o')",
    "workstation without a name": "INSERT INTO sesame.workstations (name, installation, host, owner) "
    "VALUES ('', '', 'h', 'o')",
    "workstation of another role": "INSERT INTO sesame.workstations (name, installation, host, owner, role) "
    "SELECT 'new', '', 'h', 'o', role FROM sesame.workstations WHERE name = 'ann'",
    "workstation that is renamed": f"UPDATE sesame.workstations SET name = 'newcomer' WHERE id = {OWN}",
}


def test_a_session_has_the_name_of_its_login_whatever_it_says(team: Team, cat: Callable[..., Any]) -> None:
    team.owner.execute("UPDATE sesame.workstations SET host = 'ann-laptop' WHERE name = 'ann'")
    team.owner.execute("UPDATE sesame.sessions SET host = 'ann-laptop' WHERE starts_with(key, 'ann:')")
    (role,) = team.owner.execute("SELECT role FROM sesame.workstations WHERE name = 'ann'").fetchone() or ("",)
    for what, sql in POSES.items():
        team.his.execute(sql)  # type: ignore[call-overload]
        # His sessions take what his workstation is called when they are written again.
        team.his.execute("UPDATE sesame.sessions SET host = host")
        for field in (f"owner:{role}", "host:ann-laptop", "workstation:ann"):
            results = cat("search", "keeper", field, "--no-refresh", "--json").json["results"]
            assert {result["workstation"] for result in results} == {"ann"}, (what, field)
        owners = {w["workstation"]: w["owner"] for w in cat("workstations", "--json").json["workstations"]}
        assert [name for name, owner in owners.items() if owner == role] == ["ann"], what


def test_a_name_that_is_another_s_is_refused(team: Team) -> None:
    assert [what for what, sql in REFUSED.items() if not team.refused(sql)] == []


def test_two_logins_whose_machines_have_one_name_are_told_apart(team: Team) -> None:
    hosts = {w["workstation"]: w["host"] for w in team.cat.json("workstations")["workstations"]}
    assert hosts["ben"] == f"{hosts['ann']} ({team.his.info.user})"
    before = team.owner.execute("SELECT xmin::text FROM sesame.workstations WHERE name = 'ben'").fetchone()
    team.ben.ok("index")
    after = team.owner.execute("SELECT host FROM sesame.workstations WHERE name = 'ben'").fetchone()
    assert after == (hosts["ben"],)
    assert before


# -- numbers ----------------------------------------------------------------------------------------------


def test_numbers_that_are_taken_ahead_stop_no_newcomer(team: Team) -> None:
    for ahead in range(1, 4):
        team.his.execute(
            "INSERT INTO sesame.workstations (id, name, installation, host, owner) OVERRIDING SYSTEM VALUE "
            f"SELECT max(id) + {ahead}, 'squat{ahead}', '', 'h', 'o' FROM sesame.workstations"
        )
        team.his.execute(
            "INSERT INTO sesame.files (id, workstation, path, parser, parser_version, mtime_ns, size, skipped, "
            "head_hash, tail_hash, recent_origins) OVERRIDING SYSTEM VALUE SELECT f.id + n, workstation, f.path || n, "
            "parser, 1, 1, 1, '{}', '', '', '{}' FROM generate_series(1, 50) AS n, "
            f"(SELECT * FROM sesame.files WHERE workstation = {OWN} AND superseded = false LIMIT 1) AS f "
            "ON CONFLICT DO NOTHING"
        )
    team.cat.write("s1", "a newcomer's lighthouse")
    assert "1 added" in team.cat.ok("index")


def test_a_session_takes_no_number_that_was_not_reserved_for_it(team: Team) -> None:
    columns = [c for c in Catalogue.of(team.owner).tables["sessions"] if c not in ("id", "session_id")]
    for number in ("max(id) + 1", "max(id) + 70", "9223372036854775807", "-5", "0"):
        sql = (
            f"INSERT INTO sesame.sessions (id, session_id, {', '.join(columns)}) SELECT (SELECT {number} FROM "
            f"sesame.sessions), 'new', {', '.join(columns)} FROM sesame.sessions WHERE workstation = {OWN} LIMIT 1"
        )
        assert team.refused(sql), number


def test_a_number_that_ann_has_reserved_and_not_used_is_not_ben_s(team: Team) -> None:
    with psycopg.connect(team.ann.dsn, autocommit=True) as hers:
        sql = "SELECT max(r) FROM sesame.reserve((SELECT id FROM sesame.workstations WHERE name = 'ann'), false) AS r"
        (number,) = hers.execute(sql).fetchone() or (0,)
    team.his.execute(f"SELECT sesame.reserve({OWN}, true)")
    assert "is not reserved" in team.refused(f"UPDATE sesame.sessions SET id = {number} WHERE key LIKE 'ben:%:s1'")
    assert "belongs to another role" in team.refused(f"SELECT sesame.reserve({team.station('ann')}, true)")


COUNTS = ("chunks", "chunk_tokens", "sessions", "head_tokens", "conversation_tokens")


def test_a_total_that_a_role_makes_up_counts_nowhere(team: Team, cat: Callable[..., Any]) -> None:
    before = cat("search", "lighthouse", "--json", "--no-refresh").json["results"]
    for column in COUNTS:
        for value in (9223372036854775807, -1_000_000, 10**12, 1, 0):
            team.his.execute(f"UPDATE sesame.workstations SET {column} = {value} WHERE id = {OWN}")  # type: ignore[call-overload]
            assert cat("search", "lighthouse", "--json", "--no-refresh").json["results"] == before, column
    rows = ("SELECT count(*) FROM sesame.chunks", "SELECT sum(chunks) FROM sesame.workstations")
    assert len({team.owner.execute(sql).fetchone() for sql in rows}) == 1  # type: ignore[call-overload]


# -- values that no reader can use ------------------------------------------------------------------------

REJECTED = [
    ("sessions", "modified", "'infinity'"),
    ("sessions", "modified", "'-infinity'"),
    ("sessions", "created", "'0044-03-15 00:00:00+00 BC'"),
    ("sessions", "created", "'20000-01-01 00:00:00+00'"),
    ("sessions", "notes", "'garbage'"),
    ("sessions", "notes", "'[1]'"),
    ("sessions", "notes", "'{}'"),
    ("sessions", "notes", '\'["a", "b", "c", "d"]\''),
    ("sessions", "notes", '\'["a", 1, "c", []]\''),
    ("sessions", "notes", '\'["a", "b", "c", [1]]\''),
    ("sessions", "tool_counts", "'[]'"),
    ("sessions", "tool_counts", '\'{"a": "b"}\''),
    ("sessions", "tool_counts", "'{\"a\": -1}'"),
    ("sessions", "tool_counts", "'{\"a\": 1e300}'"),
    ("sessions", "directories", "'\"/w\"'"),
    ("sessions", "prompts", "'{NULL}'"),
    ("sessions", "prompts", "'{{a},{b}}'"),
    ("sessions", "abandoned", "'{NULL}'"),
    ("sessions", "message_count", "-1"),
    ("sessions", "chunk_count", "-1"),
    ("sessions", "chunk_count", "2147483647"),
    ("sessions", "chunk_tokens", "9223372036854775807"),
    ("sessions", "head_tokens", "-5"),
    ("sessions", "conversation_tokens", "-5"),
    ("sessions", "visibility", "'nobody'"),
    ("sessions", "title", "repeat('x', 4000001)"),
    ("sessions", "agent", "repeat('x', 10001)"),
    ("sessions", "tool_counts", "(SELECT jsonb_object_agg(n, 1) FROM generate_series(1, 400000) AS n)"),
    ("sessions", "directories", "(SELECT jsonb_object_agg(n, 1) FROM generate_series(1, 400000) AS n)"),
    ("sessions", "abandoned", "array_fill(1, ARRAY[100001])"),
    ("workstations", "installation", "repeat('x', 10001)"),
    ("files", "missing_since", "'infinity'"),
    ("files", "skipped", "'[1]'"),
    ("files", "size", "-1"),
    ("heads", "tokens", "-1"),
]


def test_a_value_that_breaks_a_reader_is_refused(team: Team) -> None:
    tried = {
        (table, column, value): f"UPDATE sesame.{table} SET {column} = {value}" for table, column, value in REJECTED
    }
    assert [what for what, sql in tried.items() if not team.refused(sql)] == []


#: Values of a row that is inserted: these tables let no role update them.
ODD_ROWS = [
    ("texts", "class", "99"),
    ("texts", "tokens", "-1"),
    ("texts", "spoken", "2147483647"),
    ("texts", "seq", "-1"),
    ("chunks", "seq", "2147483647"),
    ("chunks", "segment", "-1"),
    ("chunks", "timestamp", "'infinity'"),
    ("conversations", "part", "-1"),
    ("vocabularies", "first", "-1"),
    ("vocabularies", "piece", "-1"),
    ("commands", "seq", "-1"),
    ("tombstones", "forgotten_at", "'infinity'"),
]


def test_a_row_that_breaks_a_reader_is_refused(team: Team) -> None:
    tables = Catalogue.of(team.owner).tables
    for table, column, value in ODD_ROWS:
        free = {"seq": "seq + 100", "part": "part + 100", "first": "first + 100", "agent": "'other'", column: value}
        given = ", ".join(free.get(name, name) for name in tables[table])
        sql = f"INSERT INTO sesame.{table} ({', '.join(tables[table])}) SELECT {given} FROM sesame.{table} "
        assert f'check constraint "{table}_' in team.refused(sql + f"WHERE workstation = {OWN}"), (table, column)


def test_keys_and_checks_bind_the_owner_of_the_tables_too(team: Team) -> None:
    accepted = []
    catalogue = Catalogue.of(team.owner)
    tries = [f"UPDATE sesame.{table} SET {column} = {value}" for table, column, value in REJECTED]
    for table, keys in catalogue.keys.items():
        for columns, parent, _ in keys:
            if parent != "workstations":
                (column,) = [name for name in columns if name != "workstation"]
                hers = f"(SELECT max(id) FROM sesame.{parent} WHERE workstation = {team.station('ann')})"
                where = (
                    f"workstation = {OWN} AND ctid = (SELECT max(ctid) FROM sesame.{table} WHERE workstation = {OWN})"
                )
                tries.append(f"UPDATE sesame.{table} SET {column} = {hers} WHERE {where}")
                tries.append(f"UPDATE sesame.{table} SET workstation = {team.station('ann')} WHERE {where}")
    for sql in tries:
        team.owner.execute("BEGIN")
        try:
            team.owner.execute(sql)  # type: ignore[call-overload]
            accepted.append(sql)
        except (psycopg.IntegrityError, psycopg.DataError):
            pass  # refused, as it must be
        finally:
            team.owner.execute("ROLLBACK")
    assert accepted == []
    assert len(tries) > 40


#: Values of each type that PostgreSQL accepts without the checks.
ODD = {
    "bigint": ("9223372036854775807", "-9223372036854775808"),
    "integer": ("2147483647", "-2147483648"),
    "smallint": ("99", "-1"),
    "text": ("''", "E'\\x1b[31m\\n\\r\\t'", "'\U0010ffff'"),
    "timestamp with time zone": (
        "'infinity'",
        "'-infinity'",
        "'20000-01-01 00:00:00+00'",
        "'0044-03-15 00:00:00+00 BC'",
    ),
    "jsonb": ("'[]'", "'1'", "'null'", '\'{"a": "b", "c": [1], "d": 1e300}\''),
    "integer[]": ("'{NULL}'", "'{{1,2},{3,4}}'"),
    "bigint[]": ("'{NULL}'",),
    "text[]": ("'{NULL}'", "'{{a,b},{c,d}}'"),
    "tsvector": (
        "''",
        "strip('lighthous'::tsvector)",
        "$$'a''b & | ! ( <-> :*':1 'lighthous''x':1A 'back\\\\slash':2$$::tsvector",
    ),
    "boolean": ("true", "false"),
}
#: What the owner of the tables alone can write, and what does not concern readers.
KEYS = {"id", "workstation", "session", "file", "seq", "part", "first", "piece", "reversed", "session_id"}


def test_a_row_of_before_the_checks_breaks_no_command_of_anyone_else(
    team: Team,
    cat: Callable[..., Any],
) -> None:
    tables = Catalogue.of(team.owner).tables
    for table, conditions in CHECKS.items():
        for name in conditions:
            team.owner.execute(f"ALTER TABLE sesame.{table} DROP CONSTRAINT {table}_{name}")  # type: ignore[call-overload]
    broken, tried = [], 0
    for table, columns in tables.items():
        place = "id" if table == "workstations" else "workstation"
        if place not in columns or table == "tombstones":
            continue
        for column, kind in columns.items():
            odd = ODD.get(kind, ()) + (("'garbage'", "'[1]'", "'[[],{},1,\"x\"]'") if column == "notes" else ())
            if column in KEYS | {"name", "role", "key"}:
                continue
            for number, value in enumerate(odd):
                kept = f"CREATE TEMP TABLE kept AS SELECT * FROM sesame.{table} WHERE {place} = {OWN}"
                team.owner.execute(f"DROP TABLE IF EXISTS kept; {kept}")  # type: ignore[call-overload]
                sql = f"UPDATE sesame.{table} SET {column} = {value} WHERE {place} = {OWN}"
                try:
                    team.owner.execute(sql)  # type: ignore[call-overload]
                except (psycopg.DataError, psycopg.IntegrityError):
                    continue
                tried += 1
                # What a person sees is made of the same value.
                as_text = (("search", "lamp", "--no-refresh"), ("sessions",), ("show", team.key("ben")))
                for command in (
                    ("search", "lighthouse", "keeper", "--no-refresh", "--json"),
                    ("sessions", "--json"),
                    ("status", "--json"),
                    ("show", team.key("ben"), "--json"),
                    *(as_text if number == 0 else ()),
                ):
                    try:
                        done = cat(*command)
                    except Exception as error:  # noqa: BLE001 - a traceback of any kind is what must not be
                        broken.append(f"{table}.{column} = {value}: {command}: {error!r}"[:200])
                        continue
                    if done.code or (command[0] in ("search", "sessions") and "ann" not in done.out):
                        broken.append(f"{table}.{column} = {value}: {command}: {done.code} {done.err}"[:200])
                same = " AND ".join(f"t.{k} = kept.{k}" for k in columns if k in KEYS)
                back = f"UPDATE sesame.{table} AS t SET {column} = kept.{column} FROM kept WHERE {same}"
                team.owner.execute(back)  # type: ignore[call-overload]
    assert broken == []
    assert tried > 100


def test_notes_that_are_nested_too_deeply_to_be_read_break_no_list(team: Team, cat: Callable[..., Any]) -> None:
    for depth in (900, 3000):
        notes = f'["name", "", "", [], {"[" * depth}{"]" * depth}]'
        team.his.execute("UPDATE sesame.sessions SET notes = %s WHERE session_id = 's1'", (notes,))
        for command in (("search", "lighthouse", "--no-refresh"), ("sessions",), ("show", team.key("ben"))):
            done = cat(*command)
            assert done.code == 0, (depth, command, done.err)


# -- locks ------------------------------------------------------------------------------------------------


def old_lock(name: str) -> str:
    return f"pg_advisory_lock(hashtextextended('sesame sesame {name}', 0))"


def test_advisory_locks_of_a_reader_stop_no_writer(team: Team) -> None:
    team.reader.execute(f"SELECT {old_lock('ann')}")  # type: ignore[call-overload]
    for step in (1, 2):
        place = f"hashtext(format('sesame %s %s %s', {step}, 'sesame', 'ann'))"
        team.reader.execute(f"SELECT pg_advisory_lock({place}, n) FROM generate_series(1, 200) AS n")  # type: ignore[call-overload]
    team.reader.execute("SELECT pg_advisory_lock(hashtextextended('sesame migrations sesame', 0))")
    team.reader.execute("SELECT pg_advisory_lock(hashtext('sesame words sesame'))")
    team.ann.write("s5", "the lighthouse under siege")
    assert "1 added" in team.ann.ok("index")
    team.ann.ok("forget", "--yes", "s5")
    words = "SELECT count(*) FROM sesame.lexemes WHERE lexeme = 'sieg'"
    assert team.owner.execute(words).fetchone() == (0,)


def test_advisory_locks_of_a_reader_stop_no_upgrade(team: Team, workstation: Make) -> None:
    team.owner.execute("SET search_path = sesame")
    back_to_version_5(team.owner)
    team.reader.execute("SELECT pg_advisory_lock(hashtextextended('sesame migrations sesame', 0))")
    told = team.ann.fails("index")
    assert "has an older schema (5): its owner upgrades it with: sesame workstations --prepare" in told
    workstation("owner").ok("workstations", "--prepare")
    assert "unchanged" in team.ann.ok("index")


def test_a_transaction_that_counts_words_and_stays_open_delays_others_by_seconds(team: Team) -> None:
    team.ann.write("s5", "the quincunx of a lighthouse")
    team.ann.ok("index")
    team.owner.execute("SELECT sesame.tidy(true)")
    team.his.execute("BEGIN")
    team.his.execute("SELECT sesame.tidy(true)")
    began = time.monotonic()
    team.ann.ok("forget", "--yes", "s5")
    assert time.monotonic() - began < 12
    team.his.execute("ROLLBACK")
    words = "SELECT count(*) FROM sesame.lexemes WHERE lexeme = 'quincunx'"
    assert team.owner.execute(words).fetchone() == (1,)
    # Whoever runs next removes the words that must go.
    team.ben.write("s6", "another")
    team.ben.ok("index")
    assert team.owner.execute(words).fetchone() == (0,)


def test_the_name_of_a_machine_that_another_one_is_about_to_take_is_waited_for_by_seconds(team: Team) -> None:
    team.his.execute("BEGIN")
    team.his.execute("INSERT INTO sesame.workstations (name, installation, host, owner) VALUES ('cat', '', 'h', 'o')")
    team.cat.write("s1", "a newcomer's lighthouse")
    began = time.monotonic()
    assert "holds a lock" in team.cat.fails("index")
    assert time.monotonic() - began < 10
    team.his.execute("COMMIT")
    assert "belongs to role" in team.cat.fails("index")
    team.owner.execute("DELETE FROM sesame.workstations WHERE name = 'cat'")
    assert "1 added" in team.cat.ok("index")


def test_a_table_that_a_role_of_before_has_locked_is_waited_for_by_seconds(team: Team) -> None:
    team.owner.execute(f"GRANT UPDATE ON sesame.chunks TO {team.his.info.user}")  # type: ignore[call-overload]
    team.his.execute("BEGIN")
    team.his.execute("LOCK TABLE sesame.chunks IN ACCESS EXCLUSIVE MODE")
    began = time.monotonic()
    assert "holds a lock" in team.cat.fails("search", "lighthouse", "--no-refresh")
    assert time.monotonic() - began < 10
    team.his.execute("ROLLBACK")
    team.owner.execute("SELECT sesame.admit(NULL, %s)", (team.his.info.user,))
    assert "permission denied" in team.refused("LOCK TABLE sesame.chunks IN ACCESS EXCLUSIVE MODE")


def test_a_statement_that_does_not_end_keeps_no_one_from_a_row_of_a_session(team: Team) -> None:
    path = team.ann.home / "sessions" / "s1.jsonl"
    count = "SELECT chunk_count FROM sesame.sessions WHERE id = %s"
    session = team.owner.execute("SELECT id FROM sesame.sessions WHERE key LIKE 'ann:%:s1'").fetchone() or (0,)
    (seq,) = team.owner.execute(count, session).fetchone() or (0,)
    names = ", ".join(Catalogue.of(team.owner).tables["chunks"])
    given = names.replace("session", str(session[0]), 1).replace("seq", f"{seq} + n", 1)
    sql = (
        f"INSERT INTO sesame.chunks ({names}) SELECT {given} FROM "
        f"(SELECT * FROM sesame.chunks WHERE workstation = {OWN} LIMIT 1) AS his, generate_series(0, 1) AS n, "
        "LATERAL (SELECT pg_sleep(n * 60)) AS held WHERE held IS NOT NULL"
    )
    with ThreadPoolExecutor() as pool, closing(psycopg.connect(team.ben.dsn, autocommit=True)) as his:
        attempt = pool.submit(his.execute, sql)  # type: ignore[arg-type]
        try:
            time.sleep(0.5)
            message = '{"type":"message","id":"more","parentId":null,"message":{"role":"user","content":"a lens"}}\n'
            path.write_text(path.read_text() + message)
            assert "1 appended" in team.ann.ok("index")
        finally:
            his.cancel()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            attempt.result()


def test_an_upgrade_names_who_holds_the_locks_that_it_needs(
    team: Team,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    team.owner.execute("SET search_path = sesame")
    back_to_version_5(team.owner)
    monkeypatch.setattr(upgrading, "TRIES", 1)
    monkeypatch.setattr(upgrading, "PATIENCE", 1)
    team.his.execute("BEGIN")
    team.his.execute("SELECT count(*) FROM sesame.sessions")
    with pytest.raises(BackendError, match=f"{team.his.info.user} .process [0-9]+. holds locks"):
        upgrading.upgrade(team.owner, "here", "sesame")
    team.his.execute("ROLLBACK")
    assert upgrading.upgrade(team.owner, "here", "sesame") == []


# -- an index with such rows in it ------------------------------------------------------------------------


@pytest.fixture
def poisoned(team: Team) -> Team:
    """An index of schema 5 in which Ben has written what he could."""
    owner, ann, ben = team.owner, team.session("ann"), team.session("ben")
    owner.execute("SET search_path = sesame")
    back_to_version_5(owner)
    hers, his = (f"(SELECT id FROM workstations WHERE name = '{name}')" for name in ("ann", "ben"))
    for table, columns in Catalogue.of(owner).tables.items():
        if "session" not in columns or table == "heads":
            continue
        taken = {"session": str(ann), "seq": "seq + 50", "part": "part + 50", "first": "first + 50",
                 "reversed": "reversed || 'x'"}  # fmt: skip
        given = ", ".join(taken.get(name, name) for name in columns)
        owner.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {given} FROM {table} WHERE session = {ben}"  # type: ignore[call-overload]
        )
    owner.execute(f"UPDATE texts SET words = words || 'zebrapoison:1'::tsvector WHERE session = {ann} AND seq >= 50")  # type: ignore[call-overload]
    owner.execute(
        f"UPDATE sessions SET (key, owner, host) = (SELECT key || 'x', owner, host FROM sessions WHERE id = {ann}), "  # type: ignore[call-overload]
        f"modified = 'infinity', created = '-infinity', notes = 'garbage', chunk_count = -5 WHERE id = {ben}"
    )
    owner.execute(f"UPDATE workstations SET chunks = 9223372036854775807, last_sync = 'infinity' WHERE id = {his}")  # type: ignore[call-overload]
    owner.execute(f"UPDATE workstations SET owner = 'ann' WHERE id IN ({hers}, {his})")  # type: ignore[call-overload]
    return team


def test_an_upgrade_removes_what_was_put_into_another_s_sessions(poisoned: Team, workstation: Make) -> None:
    workstation("owner").ok("workstations", "--prepare")
    assert poisoned.cat.found("zebrapoison") == set()
    for table, columns in Catalogue.of(poisoned.owner).tables.items():
        if "session" in columns:
            sql = (
                f"SELECT count(*) FROM {table} AS t JOIN sessions AS s ON s.id = t.session "
                "WHERE s.workstation <> t.workstation"
            )
            assert poisoned.owner.execute(sql).fetchone() == (0,)  # type: ignore[call-overload]
    unchecked = "SELECT count(*) FROM pg_constraint WHERE NOT convalidated"
    assert poisoned.owner.execute(unchecked).fetchone() == (0,)
    for key in poisoned.cat.found("lamp"):
        assert key.split(":")[0] in ("ann", "ben")
    assert {key.rpartition(":")[2] for key in poisoned.cat.found("lamp", "workstation:ann")} == {"s1", "s2"}
    owners = {w["workstation"]: w["owner"] for w in poisoned.cat.json("workstations")["workstations"]}
    assert len(set(owners.values())) == len(owners)
    assert poisoned.cat.json("status")["chunks"] > 0
    for one in (poisoned.ann, poisoned.ben):
        one.write("s7", "the lighthouse goes on")
        assert "1 added" in one.ok("index")


def test_an_upgrade_keeps_rows_that_break_a_rule_and_names_them(poisoned: Team, workstation: Make) -> None:
    poisoned.owner.execute("UPDATE sessions SET prompts = '{{a},{b}}' WHERE starts_with(key, 'ben:')")
    told = workstation("owner").fails("workstations", "--prepare")
    assert "sessions has rows that do not meet sessions_lists" in told
    assert poisoned.cat.found("lamp", "workstation:ben")
    assert "sessions_lists" in workstation("owner").fails("workstations", "--prepare")
    poisoned.owner.execute("UPDATE sessions SET prompts = '{}' WHERE starts_with(key, 'ben:')")
    workstation("owner").ok("workstations", "--prepare")


def test_a_role_that_could_delete_before_an_upgrade_writes_and_cannot_lock_after_it(
    team: Team,
    workstation: Make,
) -> None:
    team.owner.execute("SET search_path = sesame")
    for table in ("workstations", "files", "sessions", "chunks", "texts", "heads", "conversations", "vocabularies"):
        team.owner.execute(f"GRANT INSERT, UPDATE, DELETE ON {table} TO {team.his.info.user}")  # type: ignore[call-overload]
    back_to_version_5(team.owner)
    workstation("owner").ok("workstations", "--prepare")
    team.ben.write("s7", "the lighthouse goes on")
    assert "1 added" in team.ben.ok("index")
    for table in ("sessions", "chunks", "workstations"):
        assert "permission denied" in team.refused(f"LOCK TABLE sesame.{table} IN SHARE MODE")


# -- sessions that claim to belong to another's -----------------------------------------------------------


def test_a_session_with_another_s_id_and_more_text_is_not_taken_for_it(team: Team, cat: Callable[..., Any]) -> None:
    ids = {"ann": "0c0ffee0-1111-4222-8333-444444444444"}
    team.ann.write(ids["ann"], "the barnacle of ann", "scraped")
    team.ben.write(ids["ann"], "the barnacle of ben", *["it says: run evil.example"] * 6)
    for one in (team.ann, team.ben):
        one.ok("index")
    (key,) = [key for key in team.cat.found("barnacle") if key.startswith("ann:")]
    assert "of ann" in cat("show", key).out
    assert "evil" not in cat("show", key).out
    told = cat("show", ids["ann"])
    assert told.code == 1
    assert "may mean several sessions" in told.err
    assert key in told.err
    assert "of ann" in team.ann.ok("show", ids["ann"])
    results = cat("search", "barnacle", "--no-refresh", "--json").json["results"]
    assert {result["workstation"] for result in results} == {"ann", "ben"}


def test_a_session_that_says_it_is_a_subagent_of_another_s_stays_its_own_result(
    team: Team, cat: Callable[..., Any]
) -> None:
    # Below a session that only Ann has, and above one of hers.
    team.ann.write("hers", "the barnacle of ann")
    team.ben.write("his", "the limpet of ben")
    team.ann.write("below", "the whelk of ann")
    team.ben.write("above", "the conch of ben", *["it says: run evil.example"] * 6)
    for one in (team.ann, team.ben):
        one.ok("index")
    set_parent = "UPDATE sesame.sessions SET kind = 'subagent', parent_id = %s WHERE session_id = %s"
    team.his.execute(set_parent, ("hers", "his"))
    team.owner.execute(set_parent, ("above", "below"))
    for word, name in (("limpet", "ben"), ("whelk", "ann")):
        (result,) = cat("search", word, "--no-refresh", "--json").json["results"]
        assert result["workstation"] == name


def test_a_message_with_another_s_origin_hides_no_session(team: Team, cat: Callable[..., Any]) -> None:
    sql = (
        "INSERT INTO sesame.chunks (session, seq, workstation, kind, role, origin, segment, is_error, source_type, "
        f"cut, content) SELECT %s, 90 + c.seq, {OWN}, c.kind, c.role, c.origin, 0, false, c.source_type, 0, c.content "
        "FROM sesame.chunks AS c WHERE c.session = %s"
    )
    mine, hers = team.session("ben"), team.session("ann")
    team.his.execute(sql, (mine, hers))  # type: ignore[call-overload]
    sql = (
        "INSERT INTO sesame.texts (session, seq, workstation, class, role, tokens, spoken, words) "
        f"SELECT %s, 90 + t.seq, {OWN}, t.class, t.role, t.tokens, t.spoken, t.words FROM sesame.texts AS t "
        "WHERE t.session = %s"
    )
    team.his.execute(sql, (mine, hers))  # type: ignore[call-overload]
    for words in (("lamp", "ann"), ("lamp",), ("lit",)):
        results = cat("search", *words, "--no-refresh", "--json").json["results"]
        assert "ann" in {result["workstation"] for result in results}, words
