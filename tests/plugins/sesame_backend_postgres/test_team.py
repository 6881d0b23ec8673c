"""Several workstations and several people on one database."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sesame_backend_postgres.schema import MIGRATIONS
from sesame_core import BackendError, LockedError, Selection, Sesame
from sesame_core.config.model import Config
from sesame_core.installation import adding
from sesame_core.plugin.manager import PluginManager

pytestmark = pytest.mark.once

Make = Callable[..., Any]


def count(dsn: str, sql: str) -> int:
    with psycopg.connect(dsn) as db:
        row = db.execute(sql).fetchone()  # type: ignore[call-overload]
        return int(row[0]) if row else 0


def test_the_same_session_on_two_workstations_is_two(workstation: Make) -> None:
    ann, ben = workstation("ann"), workstation("ben")
    for one in (ann, ben):
        one.write("s1", "the lighthouse keeper", f"said {one.name}")
        one.ok("index")
    assert {key.split(":")[0] for key in ann.found("lighthouse")} == {"ann", "ben"}
    assert ann.found("lighthouse", "workstation:ben") == {key for key in ann.found("lighthouse") if "ben" in key}
    listed = ben.json("workstations")["workstations"]
    assert {(w["workstation"], w["sessions"]) for w in listed} == {("ann", 1), ("ben", 1)}
    status = ben.json("status")
    assert (status["sessions"], len(status["workstations"])) == (2, 2)
    assert all(w["lastSync"] and w["newestMessage"] for w in status["workstations"])


def test_a_result_has_its_owner_and_is_found_by_it(workstation: Make) -> None:
    ann = workstation("ann")
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    (result,) = ann.json("search", "lighthouse")["results"]
    assert result["workstation"] == "ann"
    assert result["host"]
    assert ann.found("lighthouse", f"host:{result['host'].upper()}")
    assert not ann.found("lighthouse", "host:elsewhere")
    if result["owner"]:
        assert ann.found("lighthouse", f"owner:{result['owner']}")
    assert not ann.found("lighthouse", "owner:nobody-of-this-name")


def test_only_the_workstation_itself_forgets_its_sessions(workstation: Make) -> None:
    ann, ben = workstation("ann"), workstation("ben")
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    assert "forget it there" in ben.fails("forget", "--yes", "s1")
    ben.write("s1", "another lighthouse")
    ben.ok("index")
    ben.ok("forget", "--yes", "s1")
    assert {key.split(":")[0] for key in ann.found("lighthouse")} == {"ann"}
    ben.ok("index", "--full")
    assert {key.split(":")[0] for key in ann.found("lighthouse")} == {"ann"}


def test_a_rebuild_of_one_workstation_leaves_the_others_alone(workstation: Make, database: str) -> None:
    ann, ben = workstation("ann"), workstation("ben")
    for one in (ann, ben):
        one.write("s1", "the lighthouse keeper")
        one.ok("index")
    (ann.home / "sessions" / "s1.jsonl").unlink()
    ann.write("s2", "a new lighthouse")
    ann.ok("index", "--full")
    assert {key.rpartition(":")[2] for key in ben.found("lighthouse", "workstation:ann")} == {"s1", "s2"}
    assert len(ben.found("lighthouse", "workstation:ben")) == 1
    assert count(database, "SELECT count(*) FROM sesame.files WHERE superseded") == 0
    assert count(database, "SELECT sum(chunks) FROM sesame.workstations") == count(
        database, "SELECT count(*) FROM sesame.chunks"
    )


def test_unchanged_files_are_not_sent(workstation: Make, database: str) -> None:
    ann = workstation("ann")
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    before = count(database, "SELECT max(xmin::text::bigint) FROM sesame.chunks")
    assert "1 unchanged" in ann.ok("index")
    assert count(database, "SELECT max(xmin::text::bigint) FROM sesame.chunks") == before


def test_eight_workstations_start_at_once_on_an_empty_database(workstation: Make, database: str) -> None:
    stations = [workstation(f"w{number}") for number in range(8)]
    for station in stations:
        station.write("s1", "the lighthouse keeper", station.name)
    started = []
    for station in stations:
        command, environment = station.command("index")
        started.append(
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        )
    for process in started:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0, out
    assert count(database, "SELECT count(DISTINCT workstation) FROM sesame.sessions") == 8
    assert count(database, "SELECT count(*) FROM sesame.schema_migrations") == len(MIGRATIONS)


# -- identity ---------------------------------------------------------------------------------------------


def test_a_copied_machine_is_reported_and_not_merged(workstation: Make) -> None:
    ann, copy = workstation("ann"), workstation("copy", id="ann")
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    copy.write("s2", "a copied lighthouse")
    told = copy.fails("index")
    assert "another installation" in told
    assert "SESAME_WORKSTATION_ID" in told
    assert "--claim" in told
    assert len(ann.found("lighthouse")) == 1
    copy.ok("workstations", "--claim")
    copy.ok("index")
    assert len(ann.found("lighthouse")) == 2
    assert "another installation" in ann.fails("index")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be two machines at once")
def test_two_machines_with_ids_of_their_own_have_keys_of_their_own(workstation: Make, tmp_path: Path) -> None:
    stations = []
    for name in ("ann", "ben"):
        station = workstation(name)
        station.environment.clear()
        machine = tmp_path / f"machine-{name}"
        machine.write_text(f"{name.encode().hex():0<32}\n")
        script = f'mount --bind {machine} /etc/machine-id && hostname {name}-laptop && exec "$@"'
        station.before = ("unshare", "--uts", "--mount", "sh", "-c", script, "sh")
        stations.append(station)
    if stations[0].run("--version").returncode:
        pytest.skip("this container may not make namespaces")
    for station in stations:
        station.write("s1", "the lighthouse keeper")
        station.ok("index")
        station.ok("index")
    listed = stations[0].json("workstations")["workstations"]
    assert {w["host"] for w in listed} == {"ann-laptop", "ben-laptop"}
    assert len({w["workstation"] for w in listed}) == 2
    assert {len(w["workstation"]) for w in listed} == {8}
    assert [w["sessions"] for w in listed] == [1, 1]


def test_the_error_of_a_second_writer_names_the_process_that_writes(
    workstation: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = workstation("ann")
    monkeypatch.setenv("SESAME_WORKSTATION_ID", "ann")
    monkeypatch.setenv("SESAME_DATA_DIR", str(ann.home / "data"))
    backends = [PluginManager().backend("postgres", {"dsn": ann.dsn}) for _ in range(2)]
    told = rf"ann is being written by sesame: .*{os.getpid()}"
    with backends[0].writer(), pytest.raises(LockedError, match=told), backends[1].writer():
        pass
    for backend in backends:
        backend.close()


# -- roles ------------------------------------------------------------------------------------------------


def test_a_writer_changes_her_own_rows_only(workstation: Make, roles: Callable[[str], str]) -> None:
    workstation("owner").ok("workstations", "--prepare")
    ann, ben = workstation("ann", dsn=roles("writer")), workstation("ben", dsn=roles("writer"))
    ann.write("s1", "the lighthouse keeper", "found it")
    ben.write("s2", "another lighthouse")
    for one in (ann, ben):
        one.ok("index")
        one.ok("index", "--full")
    assert len(ann.found("lighthouse")) == 2
    posing = workstation("ben", id="ann", dsn=ben.dsn)
    assert "belongs to role" in posing.fails("index")
    tables = ("files", "sessions", "chunks", "texts", "heads", "conversations")
    with psycopg.connect(ben.dsn, autocommit=True) as db:
        (own,) = db.execute("SELECT id FROM sesame.workstations WHERE name = 'ben'").fetchone() or (0,)
        (hers,) = db.execute("SELECT id FROM sesame.workstations WHERE name = 'ann'").fetchone() or (0,)
        statements = [f"UPDATE sesame.workstations SET name = 'x' WHERE id = {hers}"]
        for table in ("workstations", *tables):
            place = "id" if table == "workstations" else "workstation"
            statements.append(f"DELETE FROM sesame.{table} WHERE {place} = {hers}")
            if table != "workstations":
                statements.append(f"UPDATE sesame.{table} SET workstation = {own} WHERE workstation = {hers}")
        for sql in statements:
            with suppress(psycopg.errors.InsufficientPrivilege):
                assert db.execute(sql).rowcount == 0, sql  # type: ignore[call-overload]
        for table in tables:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                db.execute(f"UPDATE sesame.{table} SET workstation = {hers}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute(f"INSERT INTO sesame.paths VALUES (1, 'x', {hers})")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute("UPDATE sesame.meta SET value = '0'")
    assert len(ann.found("lighthouse")) == 2


def test_a_reader_searches_and_writes_nothing(workstation: Make, roles: Callable[[str], str]) -> None:
    ann = workstation("ann")
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    reader = workstation("reader", dsn=roles("reader"))
    assert len(reader.found("lighthouse")) == 1
    assert reader.json("status")["sessions"] == 1
    assert "may not write to the schema sesame" in reader.fails("index")


def test_a_reader_without_sources_searches_without_being_told_what_she_may_not(
    workstation: Make, roles: Callable[[str], str]
) -> None:
    ann = workstation("ann")
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    reader = workstation("reader", dsn=roles("reader"))
    reader.write("s2", "a lighthouse of her own")
    assert "have been sent" in reader.ok("search", "lighthouse")
    config = reader.home / "config" / "config.jsonc"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"sources": []}))
    done = reader.run("search", "lighthouse")
    assert (done.returncode, done.stderr) == (0, "")
    assert "have been sent" not in done.stdout
    assert reader.json("search", "lighthouse")["resultCount"] == 1


def test_row_level_security_leaves_the_word_index_in_use(workstation: Make, roles: Callable[[str], str]) -> None:
    ann = workstation("ann")
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    with psycopg.connect(roles("reader")) as db:
        db.execute("SET enable_seqscan = off")
        plan = db.execute("EXPLAIN SELECT 1 FROM sesame.texts WHERE words @@ 'lighthous'::tsquery").fetchall()
    assert "texts_words" in str(plan)


# -- passwords --------------------------------------------------------------------------------------------


def test_a_password_is_never_shown(workstation: Make, postgres: str) -> None:
    ann = workstation("ann", dsn="postgresql://ann:hush-hush@127.0.0.1:1/none")
    outputs = [ann.fails("index"), ann.fails("search", "fox", "--no-refresh"), ann.ok("config")]
    backend = PluginManager().backend("postgres", {"dsn": "host=127.0.0.1 port=1 password=hush-hush"})
    outputs += [repr(backend), str(backend), repr(backend.reader())]
    with pytest.raises(BackendError) as caught:
        backend.reader().find_sessions("x")
    outputs += [str(caught.value), repr(caught.value)]
    broken = workstation("broken", dsn="postgresql://ann:hush-hush@[half/none")
    outputs.append(broken.fails("index"))
    assert not [output for output in outputs if "hush" in output]


def test_the_environment_names_the_database(workstation: Make, database: str) -> None:
    ann = workstation("ann", dsn="")
    ann.environment["SESAME_POSTGRES_DSN"] = database
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    assert len(ann.found("lighthouse")) == 1


def test_a_service_file_names_the_database(workstation: Make, database: str, tmp_path: Path) -> None:
    from psycopg.conninfo import conninfo_to_dict

    ann = workstation("ann", dsn="", service="team")
    lines = [f"{name}={value}" for name, value in conninfo_to_dict(database).items()]
    (tmp_path / "services").write_text("[team]\n" + "\n".join(lines) + "\n")
    ann.environment["PGSERVICEFILE"] = str(tmp_path / "services")
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    assert "service team" in ann.json("status")["location"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"dns": "x"}, "did you mean 'dsn'"),
        ({"pool": 0}, "'pool' must be a positive"),
        ({"dsn": 5}, "'dsn' must be a string"),
        ({"schema": "a b"}, "'schema' must be"),
        ({"dsn": "postgresql://a:hush@[b"}, "dsn cannot be read"),
    ],
    ids=str,
)
def test_an_option_that_means_nothing_is_named(options: dict[str, Any], told: str) -> None:
    from sesame_core import ConfigError

    with pytest.raises(ConfigError, match=told) as caught:
        PluginManager().backend("postgres", options)
    assert "hush" not in str(caught.value)


def test_without_the_extra_one_line_says_what_to_install(workstation: Make, tmp_path: Path) -> None:
    ann = workstation("ann", dsn="postgresql://127.0.0.1:1/none")
    # As if it were not installed; Python runs this file when it starts.
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['sqlalchemy'] = None")
    ann.environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    told = f"the postgres backend needs sqlalchemy, which is not installed: {adding('postgres')}"
    assert told in ann.fails("index")
    assert told in ann.fails("search", "fox")


# -- at the same time -------------------------------------------------------------------------------------


def test_readers_see_a_whole_index_while_it_is_rebuilt(workstation: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    ann = workstation("ann")
    monkeypatch.setenv("SESAME_WORKSTATION_ID", "ann")
    monkeypatch.setenv("SESAME_DATA_DIR", str(ann.home / "data"))
    for number in range(40):
        ann.write(f"s{number}", "the lighthouse keeper", "and the sea")
    ann.ok("index")
    seen: set[int] = set()
    config = Config(backend=Selection(name="postgres", options={"dsn": ann.dsn}))

    def look(until: float) -> None:
        with Sesame(config) as sesame:
            while time.monotonic() < until:
                seen.add(sesame.search("lighthouse", limit=100).total)

    with ThreadPoolExecutor(2) as pool:
        looking = [pool.submit(look, time.monotonic() + 4) for _ in range(2)]
        for _ in range(3):
            ann.ok("index", "--full")
        for done in looking:
            done.result()
    assert seen == {40}


def test_a_rare_word_that_the_sample_of_words_lacks_is_corrected_all_the_same(workstation: Make, database: str) -> None:
    """Of more than 100,000 chunks, the list of words is made from some."""
    ann = workstation("ann")
    ann.write("s1", "the barnacle of the harbour")
    ann.write("s2", "a lighthouse")
    ann.ok("index")
    for typed in ("barnicle", "barnacel", "barnacl*"):
        before = ann.json("search", typed, "--no-refresh")
        assert before["resultCount"] == 1, typed
        with psycopg.connect(database, autocommit=True) as owner:
            owner.execute("DELETE FROM sesame.lexemes WHERE lexeme LIKE 'barn%'")
        after = ann.json("search", typed, "--no-refresh")
        assert (after["resultCount"], after["corrections"]) == (1, before["corrections"]), typed
        with psycopg.connect(database, autocommit=True) as owner:
            owner.execute("SELECT sesame.tidy(true)")


@pytest.mark.parametrize("others", [1, 30])
def test_the_words_of_who_leaves_go_with_the_statements_of_the_guide(
    others: int, workstation: Make, database: str
) -> None:
    ann, ben = workstation("ann"), workstation("ben")
    for number in range(others):
        ann.write(f"s{number}", "the lighthouse keeper", *["and the sea"] * 20)
    ben.write("s1", "a quincunx of his")
    for one in (ann, ben):
        one.ok("index")
    words = "SELECT count(*) FROM sesame.lexemes WHERE lexeme = 'quincunx'"
    with psycopg.connect(database, autocommit=True) as owner:
        owner.execute("SELECT sesame.tidy(true)")
        assert owner.execute(words).fetchone() == (1,)
        owner.execute("DELETE FROM sesame.workstations WHERE name = 'ben'")
        owner.execute("SELECT sesame.tidy(true)")
        assert owner.execute(words).fetchone() == (0,)
    told = ann.ok("search", "quincunks", "--no-refresh")
    assert "quincunx" not in told
