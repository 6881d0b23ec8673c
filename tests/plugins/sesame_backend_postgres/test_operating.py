"""Each block of docs/operating.md, and those of docs/team.md that set a team up, run as they stand on a real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sesame_backend_postgres import monitoring
from sesame_core import BackendError, Sesame, StoppedError
from sesame_core.plugin.manager import PluginManager
from tests.support.attempts import audit

from ...support.pages import blocks
from ...support.postgres_server import Server, find_binaries
from .conftest import back_to_version_5
from .guide import HBA, HERS, OPERATING, TEAM, Guide, sections
from .workstation import Workstation

pytestmark = pytest.mark.once

#: Another person than the guide's.
BEN = "CREATE ROLE ben LOGIN PASSWORD 'his own' IN ROLE sesame_writer;"
#: The sections of docs/operating.md with blocks, each with the test that runs them.
RUN_BY = {
    "Operating a team's database": "guide",
    "Backup": "saved",
    "Restore": "test_a_backup_is_restored_with_its_rights_and_under_another_owner",
    "After a backup that is older than the workstations": "test_a_workstation_need_not_be_waited_for_after_a_backup",
    "Upgrade": "test_an_upgrade_in_the_order_of_the_guide_with_old_and_new_versions",
    "When someone leaves": "test_a_leaver_s_sessions_are_kept_given_away_or_deleted",
    "When someone gets another name": "test_a_renamed_login_keeps_its_workstations",
    "When a machine is replaced": "test_a_replaced_machine_takes_the_place_of_the_old_one",
    "How much each one has": "test_the_size_by_person_and_a_limit",
    "Retention": "test_old_sessions_are_deleted_and_not_indexed_again",
    "Monitoring": "test_a_check_of_the_server_fails_with_what_to_do",
}


@pytest.fixture(scope="module")
def server(postgres: str) -> Iterator[tuple[Server, Path]]:
    binaries = find_binaries()
    if binaries is None or os.name == "nt":
        pytest.skip("the guide needs a server of the test's own")
    if missing := [name for name in ("psql", "pg_dump", "pg_restore") if not (binaries / name).exists()]:
        pytest.skip(f"{binaries} has no {', '.join(missing)}")
    with Server(binaries) as server:
        (server.directory / "data" / "pg_hba.conf").write_text(HBA)
        server.stop()
        server.start()
        yield server, binaries


@pytest.fixture(scope="module")
def first(server: tuple[Server, Path], tmp_path_factory: pytest.TempPathFactory) -> Guide:
    """A team as docs/team.md sets it up: the tables, the roles, and the machines of ann and ben with a session each."""
    made = Guide(*server, tmp_path_factory.mktemp("guide") / "team")
    made.place.mkdir()
    made.sql("CREATE ROLE sesame_owner LOGIN", database="postgres")
    made.sql("CREATE DATABASE sesame OWNER sesame_owner ENCODING 'UTF8' TEMPLATE template0", database="postgres")
    (prepare,) = sections(TEAM, "console", "2. Tables")
    made.shell(prepare)
    groups, people = sections(TEAM, "sql", "3. Roles")
    roles, admitted = groups.text.split("SELECT", 1)
    made.sql(roles)
    made.sql(f"SELECT{admitted}", "sesame_owner")
    made.sql(people.text + BEN)
    for login, password in (("ann", HERS), ("ben", "his own")):
        one = made.machine(login, f"{login}-laptop", password)
        one.write("s1", f"the lighthouse keeper of {login}", f"{login}answer")
        one.ok("index")
    made.sql("ALTER DATABASE sesame RENAME TO sesame_first", database="postgres")
    shutil.copytree(made.place, made.place.with_name("first"))
    return made


@pytest.fixture
def guide(first: Guide) -> Guide:
    """A copy of that team, in its place."""
    (_, people) = sections(TEAM, "sql", "3. Roles")
    for name in ("sesame", "sesame_broken", "sesame_restored", "sesame_other"):
        first.sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", database="postgres")
    named = "SELECT quote_ident(rolname) FROM pg_roles WHERE oid >= 16384 AND rolname !~ '^sesame_'"
    for (role,) in first.sql(named, database="postgres"):
        first.sql(f"DROP ROLE {role}", database="postgres")
    first.sql(people.text + BEN, database="postgres")
    first.sql("CREATE DATABASE sesame TEMPLATE sesame_first OWNER sesame_owner", database="postgres")
    shutil.rmtree(first.place)
    shutil.copytree(first.place.with_name("first"), first.place)  # with the times of the files
    stations = {name: replace(one, environment={**one.environment}) for name, one in first.stations.items()}
    return replace(first, stations=stations)


@pytest.fixture
def saved(guide: Guide) -> Guide:
    """The same after a backup."""
    (backup,) = sections(OPERATING, "console", "Backup")
    guide.shell(backup)
    return guide


def is_removed_again(guide: Guide, ann: Workstation) -> None:
    """Put the backup, which has ann's answer, in the place of the database, and let a run remove it."""
    restore(guide)
    assert ann.found("annanswer")
    ann.ok("index")
    assert not ann.found("annanswer")


def restore(guide: Guide) -> None:
    """Put the backup in the place of the database, as in the guide."""
    first, swap, _ = sections(OPERATING, "console", "Restore")
    guide.shell(first)
    guide.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IN ('sesame', 'sesame_restored')",
        database="postgres",
    )
    guide.shell(swap)


def layout(guide: Guide, database: str) -> list[tuple[Any, ...]]:
    """Everything of a schema that decides who may do what."""
    return guide.sql(
        """
        SELECT 'table', relname,
          coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's'::"char" ELSE 'r' END, relowner))::text,
          relrowsecurity::text, relowner::regrole::text FROM pg_class
          WHERE relnamespace = 'sesame'::regnamespace
        UNION ALL SELECT 'column', attrelid::regclass::text, attname, attacl::text, '' FROM pg_attribute
          JOIN pg_class AS c ON c.oid = attrelid WHERE relnamespace = 'sesame'::regnamespace AND attnum > 0
        UNION ALL SELECT 'policy', polrelid::regclass::text, polname, pg_get_expr(polqual, polrelid),
          pg_get_expr(polwithcheck, polrelid) FROM pg_policy
        UNION ALL SELECT 'trigger', tgrelid::regclass::text, tgname, tgenabled::text, pg_get_triggerdef(oid)
          FROM pg_trigger WHERE NOT tgisinternal
        UNION ALL SELECT 'rule', conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated::text
          FROM pg_constraint WHERE connamespace = 'sesame'::regnamespace
        UNION ALL SELECT 'function', proname, coalesce(proacl, acldefault('f', proowner))::text,
          proowner::regrole::text, prosecdef::text || proconfig::text
          FROM pg_proc WHERE pronamespace = 'sesame'::regnamespace
        UNION ALL SELECT 'default', defaclobjtype::text, defaclacl::text, '', '' FROM pg_default_acl
        UNION ALL SELECT 'schema', nspname, nspacl::text, nspowner::regrole::text, '' FROM pg_namespace
          WHERE nspname = 'sesame'
        ORDER BY 1, 2, 3, 4, 5
        """,
        database=database,
    )


def test_every_block_of_the_page_is_run() -> None:
    assert {block.heading for block in blocks(OPERATING)} == set(RUN_BY)
    assert all(name in globals() for name in RUN_BY.values())


def test_every_block_that_sets_a_team_up_is_run_here_or_with_the_compose_file() -> None:
    run = {block.heading for block in blocks(TEAM) if block.language in ("console", "sql", "jsonc")}
    assert run == {"1. A server", "2. Tables", "3. Roles", "4. Workstations"}


def test_the_commands_of_the_guide_find_the_server_by_the_variables_that_it_sets(guide: Guide) -> None:
    (first,) = sections(OPERATING, "console", "Operating a team's database")
    (setting,) = first.commands
    assert dict(part.split("=") for part in setting.split()[1:]) == {
        **{name: value for name, value in guide._libpq().items() if name != "PGPORT"},
        "PGHOST": "db.example.org",
    }


def test_a_workstation_of_the_guide_shares_what_it_does_not_keep(guide: Guide) -> None:
    """The blocks of section 4: rules first, what would be sent, the first run."""
    (commands,) = sections(TEAM, "console", "4. Workstations")
    dan = guide.machine("dan", "dan-laptop", HERS)
    guide.sql(f"CREATE ROLE dan LOGIN PASSWORD '{HERS}' IN ROLE sesame_writer")
    (dan.home / ".pgpass").unlink()
    diary, work = dan.write("s1", "dear diary"), dan.write("s2", "the lighthouse work")
    for path, directory in ((diary, dan.home / "diary"), (work, dan.home / "work")):
        path.write_text(path.read_text().replace("/home/dan-laptop/work", str(directory)))
    block = type(commands)(commands.heading, "console", commands.text.replace(":ann:", ":dan:"))
    out = guide.shell(block, dan)
    assert "private" in out
    assert "dan-laptop" in out
    assert dan.found("lighthouse", "owner:dan")
    assert guide.sql("SELECT count(*) FROM sesame.texts WHERE words @@ 'diari'::tsquery") == [(0,)]


# -- backup -----------------------------------------------------------------------------------------------


def test_a_backup_is_restored_with_its_rights_and_under_another_owner(saved: Guide) -> None:
    ann, ben = saved.stations["ann-laptop"], saved.stations["ben-laptop"]
    roles = (saved.place / "roles.sql").read_text()
    assert "CREATE ROLE ann;" in roles
    assert "GRANT sesame_writer TO ann" in roles
    assert "PASSWORD" not in roles
    before = rights(layout(saved, "sesame"))
    restore(saved)
    assert rights(layout(saved, "sesame")) == before
    with psycopg.connect(saved.dsn(), autocommit=True) as db:
        assert audit(db) == []
    for one in (ann, ben):
        one.write("s2", "another lighthouse")
        assert "1 added" in one.ok("index")
    assert len(ann.found("lighthouse")) == 4
    with psycopg.connect(ben.dsn, autocommit=True) as his:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            his.execute("SELECT sesame.hand_over('ann', 'ben')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            his.execute("DO $$ BEGIN LOCK TABLE sesame.sessions; END $$")
        assert his.execute("UPDATE sesame.workstations SET host = 'x' WHERE role = 'ann'").rowcount == 0
    _, _, other = sections(OPERATING, "console", "Restore")
    saved.shell(other)
    with psycopg.connect(saved.dsn(database="sesame_other"), autocommit=True) as db:
        assert audit(db) == []
        assert db.execute("SELECT DISTINCT relowner::regrole::text FROM pg_class WHERE relnamespace = "
                          "'sesame'::regnamespace").fetchall() == [("other_owner",)]  # fmt: skip
    assert rights(layout(saved, "sesame_other"), other_owner="sesame_owner") == before
    config = ann.home / "config" / "config.jsonc"
    config.write_text(config.read_text().replace("/sesame?", "/sesame_other?"))
    assert len(ann.found("lighthouse")) == 2
    assert "1 added" in ann.ok("index")


def rights(rows: list[tuple[Any, ...]], **renamed: str) -> set[tuple[str, ...]]:
    """The rows of `layout` in one form: no parentheses around conditions, and lists of rights in one order."""

    def plain(value: object) -> str:
        text = str(value)
        for name, other in renamed.items():
            text = text.replace(name, other)
        return ",".join(sorted(text.strip("{}").split(","))) if text.startswith("{") else re.sub("[()]", "", text)

    return {tuple(map(plain, row)) for row in rows}


@pytest.mark.parametrize("command", ["index", "index --full", "search"])
def test_after_an_older_backup_nothing_is_lost_or_doubled_and_what_is_private_by_now_is_removed(
    guide: Guide, command: str
) -> None:
    ann = guide.stations["ann-laptop"]
    paths = {}
    for name, word in (("d", "diaryword"), ("m", "metaword"), ("p", "openword"), ("g", "goneword")):
        paths[name] = ann.write(name, word, "answer")
        paths[name].write_text(paths[name].read_text().replace("/home/ann-laptop/work", f"/home/ann/{name}"))
    ann.ok("share", "/home/ann/p", "private")
    ann.ok("index")
    (backup,) = sections(OPERATING, "console", "Backup")
    guide.shell(backup)
    # Thursday.
    ann.ok("share", "/home/ann/d", "private")
    ann.ok("share", "/home/ann/m", "metadata")
    ann.ok("share", "/home/ann/p", "shared")
    ann.write("n", "newword")
    paths["g"].unlink()
    ann.ok("index")
    assert not ann.found("diaryword")
    restore(guide)
    assert ann.found("diaryword"), "the backup has it"
    if command == "search":
        ann.ok("search", "anything")
        assert not ann.found("diaryword"), "a search finds that a private file is visible, and removes it"
        return
    ann.ok(*command.split())
    for word, number in (("diaryword", 0), ("metaword", 0), ("openword", 1), ("newword", 1), ("goneword", 1)):
        assert len(ann.found(word)) == number, word
    assert guide.sql("SELECT session_id FROM sesame.sessions AS s JOIN sesame.workstations AS w ON w.id = workstation "
                     "WHERE w.name = 'ann-laptop' ORDER BY 1") == [("g",), ("m",), ("n",), ("p",), ("s1",)]  # fmt: skip
    assert guide.sql("SELECT count(*) FROM sesame.lexemes WHERE lexeme LIKE 'diary%'") == [(0,)]
    shown = ann.json("share", "--dry-run")["changes"]
    assert shown == []
    assert ann.json("status")["sessions"] == 6


@pytest.mark.parametrize("rule", ["private", "metadata"])
def test_a_rule_that_alone_has_changed_since_a_backup_is_applied_again(guide: Guide, rule: str) -> None:
    """No file has changed, and the run that applied it wrote nothing else."""
    ann = guide.stations["ann-laptop"]
    guide.shell(sections(OPERATING, "console", "Backup")[0])
    ann.ok("share", "/home/ann-laptop/work", rule)
    assert not ann.found("annanswer")
    is_removed_again(guide, ann)


def test_a_backup_that_is_restored_under_another_name_of_the_database_shows_nothing_private_after_a_run(
    saved: Guide,
) -> None:
    """For its workstations it is another server: the rules are applied to it as to a new one."""
    ann = saved.stations["ann-laptop"]
    ann.ok("share", "/home/ann-laptop/work", "private")
    first, _, _ = sections(OPERATING, "console", "Restore")
    saved.shell(first)
    config = ann.home / "config" / "config.jsonc"
    config.write_text(config.read_text().replace("/sesame?", "/sesame_restored?"))
    assert ann.found("annanswer")
    ann.ok("index")
    assert not ann.found("annanswer")
    assert ann.found("benanswer")


def test_a_workstation_that_joined_after_a_backup_joins_again(saved: Guide) -> None:
    saved.sql(f"CREATE ROLE dan LOGIN PASSWORD '{HERS}' IN ROLE sesame_writer")
    dan = saved.machine("dan", "dan-laptop")
    dan.write("s1", "the lighthouse of dan")
    dan.ok("share", "/home/dan-laptop/secret", "private")
    diary = dan.write("s2", "dear diary")
    diary.write_text(diary.read_text().replace("/home/dan-laptop/work", "/home/dan-laptop/secret"))
    dan.ok("index")
    restore(saved)
    assert not dan.found("lighthouse", "owner:dan")
    dan.ok("index")
    assert len(dan.found("lighthouse", "owner:dan")) == 1
    assert not dan.found("diary")


def test_a_backup_of_a_workstation_whose_runs_all_had_an_error_is_noticed(guide: Guide) -> None:
    """It has no time of a sync without an error."""
    ann = guide.stations["ann-laptop"]
    guide.sql("UPDATE sesame.workstations SET last_sync = NULL WHERE name = 'ann-laptop'", "sesame_owner")
    (ann.home / "data" / "withheld.json").unlink()
    (ann.home / "sessions" / "broken.jsonl").symlink_to(ann.home / "sessions")
    ann.run("index")
    guide.shell(sections(OPERATING, "console", "Backup")[0])
    ann.run("share", "/home/ann-laptop/work", "metadata")
    assert not ann.found("annanswer")
    restore(guide)
    assert ann.found("annanswer")
    ann.run("index")
    assert not ann.found("annanswer")


def test_a_session_that_moved_to_a_private_directory_since_a_backup_is_removed_again(guide: Guide) -> None:
    ann = guide.stations["ann-laptop"]
    ann.ok("share", "/home/ann/diary", "private")
    guide.shell(sections(OPERATING, "console", "Backup")[0])
    path = ann.write("s1", "the lighthouse keeper of ann", "annanswer", "more")
    path.write_text(path.read_text().replace("/home/ann-laptop/work", "/home/ann/diary"))
    ann.ok("index")
    assert not ann.found("annanswer")
    is_removed_again(guide, ann)


def test_a_full_run_that_was_stopped_leaves_the_list_of_private_files_as_it_was(
    guide: Guide, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = guide.stations["ann-laptop"]
    ann.ok("share", "/home/ann/diary", "private")
    diary = ann.write("s2", "dear diary")
    diary.write_text(diary.read_text().replace("/home/ann-laptop/work", "/home/ann/diary"))
    os.utime(diary, (1, 1))
    ann.write("s3", "another lighthouse")
    for name, value in ann.command()[1].items():
        if name.startswith(("SESAME_", "HOME")):
            monkeypatch.setenv(name, value)
    kept = (ann.home / "data" / "withheld.json").read_text()
    done: list[str] = []
    with Sesame() as sesame, pytest.raises(StoppedError):
        sesame.index(
            full=True, on_progress=lambda progress: done.append(progress.path), is_stopped=lambda: len(done) > 1
        )
    assert str(diary) in done
    assert (ann.home / "data" / "withheld.json").read_text() == kept
    assert not ann.found("diary")
    ann.ok("index", "--full")
    assert not ann.found("diary")


def test_a_session_that_was_forgotten_after_a_backup_is_forgotten_again(guide: Guide) -> None:
    ann = guide.stations["ann-laptop"]
    guide.shell(sections(OPERATING, "console", "Backup")[0])
    ann.ok("forget", "--yes", "s1")
    ann.write("s2", "another lighthouse")
    ann.ok("index")
    is_removed_again(guide, ann)
    ann.ok("index", "--full")
    assert not ann.found("annanswer")


def test_a_workstation_need_not_be_waited_for_after_a_backup(saved: Guide) -> None:
    ann = saved.stations["ann-laptop"]
    ann.ok("share", "/home/ann-laptop/work", "private")
    ann.write("s2", "another lighthouse")
    restore(saved)
    (deleted,) = sections(OPERATING, "sql", "After a backup that is older than the workstations")
    saved.run(deleted, "sesame_owner")
    assert not ann.found("annanswer")
    assert saved.sql("SELECT count(*) FROM sesame.lexemes WHERE lexeme = 'annansw'") == [(0,)]
    ann.ok("index")
    assert not ann.found("lighthouse", "owner:ann")
    ann.ok("share", "/home/ann-laptop/work", "shared")
    assert len(ann.found("lighthouse", "owner:ann")) == 2


# -- upgrade ----------------------------------------------------------------------------------------------


def test_an_upgrade_in_the_order_of_the_guide_with_old_and_new_versions(guide: Guide) -> None:
    ann = guide.stations["ann-laptop"]
    with psycopg.connect(guide.dsn("sesame_owner"), autocommit=True) as db:
        db.execute("SET search_path = sesame")
        back_to_version_5(db)
    (block,) = sections(OPERATING, "console", "Upgrade")
    for command in (("search", "fox"), ("index",), ("status", "--check")):
        told = ann.fails(*command)
        assert "older schema (5)" in told
        assert "sesame workstations --prepare (as sesame_owner)" in told
    guide.shell(block)
    assert (guide.place / "before.dump").stat().st_size
    assert ann.found("lighthouse")
    ann.write("s2", "another lighthouse")
    assert "1 added" in ann.ok("index")
    # The way back.
    guide.sql("DROP SCHEMA sesame CASCADE", "sesame_owner")
    back = type(block)("", "console", "$ pg_restore --exit-on-error --dbname=sesame before.dump\n")
    guide.shell(back)
    assert "older schema (5)" in ann.fails("index")


def test_a_server_of_an_older_version_goes_on_answering_and_writes_nothing(
    guide: Guide, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = guide.stations["ann-laptop"]
    for name, value in ann.command()[1].items():
        if name.startswith(("SESAME_", "HOME")):
            monkeypatch.setenv(name, value)
    with Sesame() as running:
        assert running.search("lighthouse").total == 2
        guide.sql("INSERT INTO sesame.schema_migrations VALUES (99, 'of tomorrow')", "sesame_owner")
        assert running.search("lighthouse").total == 2
        ann.write("s2", "another lighthouse")
        with pytest.raises(BackendError, match=r"newer Sesame \(schema 99"):
            running.index()
        assert "newer Sesame" in (running.refresh(5).reason or "")
        guide.sql("DELETE FROM sesame.schema_migrations WHERE id = 99", "sesame_owner")
        assert running.index().added == 1, "nothing is lost"
    assert len(ann.found("lighthouse")) == 3


# -- people -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choice", ["a colleague", "the owner", "deleted"])
def test_a_leaver_s_sessions_are_kept_given_away_or_deleted(guide: Guide, choice: str) -> None:
    ann, ben = guide.stations["ann-laptop"], guide.stations["ben-laptop"]
    end, colleague, owner, deleted, drop = sections(OPERATING, "sql", "When someone leaves")
    guide.run(end, "postgres")
    assert "is not permitted to log in" in ann.fails("search", "lighthouse")
    assert ben.found("annanswer", "owner:ann"), "kept, and nothing else is needed"
    chosen = {"a colleague": colleague, "the owner": owner, "deleted": deleted}[choice]
    moved = guide.run(chosen, "sesame_owner")
    guide.run(drop, "postgres")
    assert ben.json("status", "--check")["server"]["orphans"] == {}
    if choice == "deleted":
        assert not ben.found("annanswer")
        assert guide.sql("SELECT count(*) FROM sesame.lexemes WHERE lexeme = 'annansw'") == [(0,)]
        return
    assert moved == [(1,)]
    shown = "ben" if choice == "a colleague" else "ann"
    assert ben.found("annanswer", f"owner:{shown}")
    # A newcomer of the same name owns nothing.
    guide.sql(f"CREATE ROLE ann LOGIN PASSWORD '{HERS}' IN ROLE sesame_writer")
    ann.write("s2", "another lighthouse")
    heir = "ben" if choice == "a colleague" else "sesame_owner"
    assert f"belongs to role '{heir}'" in ann.fails("index")
    assert not ann.found("another")


def test_a_login_that_is_dropped_at_once_is_named_with_the_statement_to_run(guide: Guide) -> None:
    ben = guide.stations["ben-laptop"]
    guide.sql("DROP ROLE ann")
    status = ben.run("status", "--check", "--json")
    assert status.returncode == 1
    server = json.loads(status.stdout)["server"]
    assert server["orphans"] == {"ann-laptop": "ann"}
    (problem,) = server["problems"]
    statement = re.search(r"run: (SELECT .*?\)),", problem)
    assert statement
    assert guide.sql(statement[1], "sesame_owner") == [(1,)]
    assert ben.run("status", "--check").returncode == 0


def test_a_direct_grant_keeps_a_login_from_being_dropped_until_it_is_withdrawn(guide: Guide) -> None:
    guide.sql("GRANT SELECT ON sesame.sessions TO ann", "sesame_owner")
    guide.sql("SELECT sesame.hand_over('ann', 'ben')", "sesame_owner")
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        guide.sql("DROP ROLE ann")
    guide.sql("DROP OWNED BY ann; DROP ROLE ann")
    assert guide.stations["ben-laptop"].found("annanswer", "owner:ben")


def test_a_hand_over_to_a_role_that_does_not_exist_is_refused_and_one_of_nobody_moves_nothing(guide: Guide) -> None:
    with pytest.raises(psycopg.errors.UndefinedObject, match="role nobody does not exist"):
        guide.sql("SELECT sesame.hand_over('ann', 'nobody')", "sesame_owner")
    assert guide.sql("SELECT sesame.hand_over('nobody', 'ben')", "sesame_owner") == [(0,)]


@pytest.mark.parametrize("encryption", ["scram-sha-256", "md5"])
def test_a_renamed_login_keeps_its_workstations(guide: Guide, encryption: str) -> None:
    ann, ben = guide.stations["ann-laptop"], guide.stations["ben-laptop"]
    hba = guide.server.directory / "data" / "pg_hba.conf"
    rename, hand_over = sections(OPERATING, "sql", "When someone gets another name")[0].text.strip().split("\n")
    try:
        hba.write_text(HBA.replace("scram-sha-256", "md5"))  # takes both kinds of passwords
        guide.sql(
            f"SELECT pg_reload_conf(); SET password_encryption = '{encryption}'; ALTER ROLE ann PASSWORD '{HERS}'"
        )
        assert ann.found("annanswer")
        guide.sql(rename)
        if encryption == "md5":
            assert guide.sql("SELECT rolpassword FROM pg_authid WHERE rolname = 'ann_smith'") == [(None,)]
            guide.sql(f"ALTER ROLE ann_smith PASSWORD '{HERS}'")
        for name in ("config/config.jsonc", ".pgpass"):
            file = ann.home / name
            file.write_text(file.read_text().replace("//ann@", "//ann_smith@").replace(":ann:", ":ann_smith:"))
        ann.write("s2", "another lighthouse")
        assert ann.found("annanswer", "owner:ann")
        told = ann.fails("index")
        assert "which is no longer a role" in told
        assert f"let sesame_owner run: {hand_over.rstrip(';')}" in told
        guide.sql(hand_over, "sesame_owner")
        assert "1 added" in ann.ok("index")
        assert len(ben.found("lighthouse", "owner:ann_smith")) == 2
        assert not ben.found("lighthouse", "owner:ann")
        ann.ok("share", "/home/ann-laptop/work", "private")
        assert not ben.found("lighthouse", "owner:ann_smith")
    finally:
        hba.write_text(HBA)
        guide.sql("SELECT pg_reload_conf()", database="postgres")


def test_a_host_that_has_its_login_in_its_name_gets_the_new_one(guide: Guide) -> None:
    guide.sql("UPDATE sesame.workstations SET host = 'desk (ann)' WHERE role = 'ann'", "sesame_owner")
    guide.sql('ALTER ROLE ann RENAME TO "ann\'smith"')
    assert guide.sql("SELECT sesame.hand_over('ann', 'ann''smith')", "sesame_owner") == [(1,)]
    found = guide.stations["ben-laptop"].json("workstations")["workstations"]
    assert ("desk (ann'smith)", "ann'smith") in {(one["host"], one["owner"]) for one in found}


# -- machines ---------------------------------------------------------------------------------------------


def test_a_replaced_machine_takes_the_place_of_the_old_one(guide: Guide) -> None:
    ann, ben = guide.stations["ann-laptop"], guide.stations["ben-laptop"]
    ann.ok("share", "/home/ann/diary", "private")
    with_home, without_home = sections(OPERATING, "console", "When a machine is replaced")
    new = guide.machine("ann", "ann-desk")
    new.environment.clear()
    (new.home / "config" / "sharing.json").write_text((ann.home / "config" / "sharing.json").read_text())
    diary = new.write("s2", "dear diary lighthouse")
    diary.write_text(diary.read_text().replace("/home/ann-desk/work", "/home/ann/diary"))
    new.write("s3", "another lighthouse")
    # The home directory is not there: the guide's block names the old id.
    guide.shell(without_home, new)
    new.environment["SESAME_WORKSTATION_ID"] = "ann-laptop"
    assert {key.split(":")[0] for key in ben.found("lighthouse", "owner:ann")} == {"ann-laptop"}
    assert len(ben.found("lighthouse", "owner:ann")) == 2
    assert not ben.found("diary")
    assert "another installation" in ann.fails("index")
    new.ok("share", "/home/ann-laptop/work", "private")
    assert len(ben.found("lighthouse", "owner:ann")) == 1, "a rule reaches the old machine's sessions, too"
    # Back again, with its home directory.
    guide.shell(with_home, ann)
    assert guide.sql("SELECT name FROM sesame.workstations WHERE role = 'ann'") == [("ann-laptop",)]


# -- sizes and limits -------------------------------------------------------------------------------------


def test_the_size_by_person_and_a_limit(guide: Guide) -> None:
    ann, ben = guide.stations["ann-laptop"], guide.stations["ben-laptop"]
    ann.write("long", *("a lighthouse in a storm " * 50 for _ in range(60)))
    ann.ok("index")
    size, limit, connections = sections(OPERATING, "sql", "How much each one has")
    with psycopg.connect(guide.dsn("auditor", password="another one")) as auditor:
        for rows in (guide.run(size, "sesame_owner"), auditor.execute(size.text).fetchall()):  # type: ignore[call-overload]
            assert [row[0] for row in rows] == ["ann", "ben"]
            assert rows[0][1:3] == (1, 2)
            assert all(re.fullmatch(r"\d+ (bytes|kB|MB)", row[-1]) for row in rows)
    guide.sql(limit.text.replace("1000000", "10"), "sesame_owner")
    ann.write("s9", "one more lighthouse")
    told = ann.fails("index")
    assert "ann has more than 10 chunks" in told
    assert len(ben.found("storm")) == 1, "what is stored stays"
    ben.write("s9", "one more lighthouse")
    assert "1 added" in ben.ok("index")
    guide.run(connections, "postgres")
    ann.ok("search", "lighthouse")


def test_old_sessions_are_deleted_and_not_indexed_again(guide: Guide) -> None:
    ann = guide.stations["ann-laptop"]
    guide.sql("UPDATE sesame.sessions SET modified = now() - interval '3 years' WHERE owner = 'ann'", "sesame_owner")
    (retention,) = sections(OPERATING, "sql", "Retention")
    guide.run(retention, "sesame_owner")
    assert not ann.found("annanswer")
    assert guide.sql("SELECT sum(sessions) FROM sesame.workstations") == [(1,)]
    ann.ok("index")
    assert not ann.found("annanswer")


# -- monitoring -------------------------------------------------------------------------------------------


def test_a_check_of_the_server_fails_with_what_to_do(guide: Guide) -> None:
    (made,) = sections(OPERATING, "sql", "Monitoring")
    (check,) = sections(OPERATING, "console", "Monitoring")
    guide.run(made, "postgres")
    monitor = guide.machine("monitor", "monitor", "a password of its own")
    text = (monitor.home / "config" / "config.jsonc").read_text().rstrip().rstrip("}")
    (monitor.home / "config" / "config.jsonc").write_text(text + ', "refreshSeconds": 0}')
    value = json.loads(guide.shell(check, monitor, SESAME_WORKSTATION_ID="monitor"))
    server = value["server"]
    assert server["version"].startswith(
        str(guide.sql("SELECT current_setting('server_version_num')::int / 10000")[0][0])
    )
    assert (server["role"], server["schema"], server["replica"], server["allVisible"]) == (
        "monitor", "sesame", False, True,
    )  # fmt: skip
    assert server["bytes"] > value["bytes"] > 0
    assert server["problems"] == server["transactions"] == []
    assert {one["workstation"]: bool(one["lastSync"]) for one in value["workstations"]} == {
        "ann-laptop": True, "ben-laptop": True,
    }  # fmt: skip
    # An interrupted upgrade.
    rule = "sessions ADD CONSTRAINT sessions_titled CHECK (title <> 'x') NOT VALID"
    guide.sql(f"ALTER TABLE sesame.{rule}", "sesame_owner")
    with psycopg.connect(guide.dsn("sesame_owner")) as open_:
        open_.execute("LOCK TABLE sesame.sessions IN SHARE MODE")
        failed = guide.try_shell(check, monitor)
        assert failed.returncode == 1
        server = json.loads(failed.stdout)["server"]
        assert server["unvalidated"] == ["sessions.sessions_titled"]
        assert [(one["role"], one["tables"]) for one in server["transactions"]] == [("sesame_owner", ["sessions"])]
        assert "as sesame_owner run: sesame workstations --prepare" in server["problems"][0]
        plain = monitor.run("status", "--check")
        assert plain.returncode == 1
        assert "  Problem: stored rows are not checked against 1 rules" in plain.stdout
        # Who is no monitor sees the lock, and not since when.
        seen = guide.stations["ben-laptop"].json("status")["server"]
        assert not seen["allVisible"]
        assert [(one["role"], one["since"]) for one in seen["transactions"]] == [("sesame_owner", None)]
    guide.owner().ok("workstations", "--prepare")
    guide.shell(check, monitor)
    guide.sql("DROP SCHEMA sesame CASCADE", "sesame_owner")
    failed = guide.try_shell(check, monitor)
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (1, "", 1)


def test_a_transaction_that_stays_open_for_half_an_hour_is_a_problem(
    guide: Guide, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitoring, "LISTED", timedelta(0))
    monkeypatch.setattr(monitoring, "LONG", timedelta(0))
    backend = PluginManager().backend("postgres", {"dsn": guide.dsn()})
    with psycopg.connect(guide.dsn("sesame_owner")) as open_:
        open_.execute("SELECT 1")
        (process,) = open_.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        state = backend.reader().server_state()  # type: ignore[attr-defined]
        assert [problem for problem in state.problems if f"SELECT pg_terminate_backend({process})" in problem]
    backend.close()


def test_an_index_without_a_server_has_no_problem(cli: Callable[..., Any], demo_sessions: Path) -> None:
    cli("index")
    done = cli("status", "--check", "--json")
    assert (done.code, done.json["server"]) == (0, None)


def test_the_guide_s_programs_are_those_of_the_server(server: tuple[Server, Path]) -> None:
    done = subprocess.run([server[1] / "pg_dump", "--version"], capture_output=True, text=True, check=True)
    assert "pg_dump (PostgreSQL)" in done.stdout
