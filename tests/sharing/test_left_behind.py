"""What was sent before a rule, an id, a place or a backup changed does not stay behind on the server."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sesame_backend_postgres import locking
from sesame_core import BackendError, Sesame
from sesame_core.config import paths

from ..support.transcripts import Claude, Pi, append, write
from .test_team_database import ONE, THREE, TWO, WORDS, levels, notes, seen, session, subagent, text_of

pytestmark = pytest.mark.once

DIARY = "/home/bo/diary"


@pytest.fixture
def server(cli: Callable[..., Any], team: str) -> str:
    """A server that has all sessions of this machine."""
    assert cli("index", "--yes").code == 0
    return team


def rows(dsn: str, sql: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn) as db:
        return db.execute(sql).fetchall()  # type: ignore[call-overload, no-any-return]


# -- a backup -----------------------------------------------------------------------------------------------


@pytest.fixture
def backup(server: str) -> Iterator[Callable[[], None]]:
    """A backup of the server: it is restored when it is called."""
    name = conninfo_to_dict(server)["dbname"]
    with psycopg.connect(make_conninfo(server, dbname="postgres"), autocommit=True) as db:

        def copied(old: str, new: str) -> None:
            db.execute(f"DROP DATABASE IF EXISTS {new} WITH (FORCE)")  # type: ignore[arg-type]
            end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            db.execute(end, (old,))
            db.execute(f"CREATE DATABASE {new} TEMPLATE {old}")  # type: ignore[arg-type]

        copied(str(name), f"{name}_backup")
        yield lambda: copied(f"{name}_backup", str(name))
        db.execute(f"DROP DATABASE {name}_backup")  # type: ignore[arg-type]


@pytest.mark.parametrize("level", ["private", "metadata"])
@pytest.mark.parametrize("command", [["index"], ["index", "--full"], ["share", "*/other", "private"]])
def test_a_restored_backup_shows_no_more_than_the_rules_allow_after_the_next_run(
    command: list[str], level: str, backup: Callable[[], None], server: str, cli: Any
) -> None:
    cli("share", DIARY, level)
    left = {TWO: "shared", THREE: "shared"} | ({ONE: "metadata"} if level == "metadata" else {})
    assert levels(server) == left
    backup()
    assert levels(server)[ONE] == "shared"
    assert "1 session would change" in cli("share", "--dry-run").out
    assert cli(*command).code == 0
    assert levels(server) == left
    content = text_of(server)
    assert [table for table, text in content.items() if "lighthouse prompt" in text] == []
    assert cli("share", "--dry-run").out == "no sessions would change\n"


def test_a_search_that_finds_something_new_applies_the_rules_to_a_restored_backup(
    backup: Callable[[], None], server: str, cli: Any
) -> None:
    cli("share", DIARY, "private")
    backup()
    session("44444444-1111-4111-8111-111111111111", "/home/bo/new", suffix="z")
    cli("search", "anything")
    assert seen(text_of(server), ONE, DIARY) == set()


@pytest.mark.parametrize("is_in_it", [True, False])
def test_a_session_that_was_forgotten_after_a_backup_stays_forgotten_when_it_is_restored(
    is_in_it: bool, backup: Callable[[], None], server: str, cli: Any
) -> None:
    name = ONE
    if not is_in_it:
        name = "44444444-1111-4111-8111-111111111111"
        session(name, "/home/bo/new", suffix="z")
        cli("index")
    assert cli("forget", "--yes", name).code == 0
    backup()
    assert (name in levels(server)) == is_in_it
    cli("index")
    assert name not in levels(server)
    append(next(Path.home().rglob(f"{name}.jsonl")), Claude(name, "/home/bo/new").user("a pelican", uuid="fox"))
    cli("index")
    assert name not in levels(server)
    assert seen(text_of(server), "pelican") == set()
    assert cli("share", "--dry-run").out == "no sessions would change\n"


def test_a_restored_backup_of_before_anything_was_sent_is_filled_again(
    backup: Callable[[], None], server: str, cli: Any
) -> None:
    with psycopg.connect(make_conninfo(server), autocommit=True) as db:
        db.execute("DELETE FROM sesame.workstations")
    cli("share", DIARY, "private")
    assert cli("index", "--json").json["errors"] == []
    assert levels(server) == {TWO: "shared", THREE: "shared"}


# -- an id --------------------------------------------------------------------------------------------------


@pytest.fixture
def renamed(server: str, cli: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """A server with all sessions twice: the machine was given an id."""
    monkeypatch.setenv("SESAME_WORKSTATION_ID", "laptop")
    assert cli("index").code == 0
    assert rows(server, "SELECT count(*) FROM sesame.sessions") == [(6,)]
    return server


@pytest.mark.parametrize("level", ["private", "metadata"])
def test_a_rule_reaches_what_was_sent_under_another_id(level: str, renamed: str, cli: Any) -> None:
    assert cli("share", DIARY, level).out.splitlines()[-1] == "1 session changes"
    diary = f"SELECT visibility FROM sesame.sessions WHERE session_id = '{ONE}'"
    assert rows(renamed, diary) == ([("metadata",)] if level == "metadata" else [])
    assert "lighthouse prompt" not in str(text_of(renamed))
    totals = "SELECT sum(sessions), sum(chunks) FROM sesame.workstations"
    assert rows(renamed, totals) == rows(
        renamed, "SELECT (SELECT count(*) FROM sesame.sessions), (SELECT count(*) FROM sesame.chunks)"
    )
    assert f"1 {level}" in cli("share").out


def test_a_session_that_becomes_private_by_itself_does_so_under_each_id(renamed: str, cli: Any) -> None:
    cli("share", DIARY, "private")
    (path,) = Path.home().rglob(f"{THREE}.jsonl")
    append(path, Claude(THREE, f"{DIARY}/2026").user("a pelican", uuid="fox"))
    cli("search", "anything")
    assert THREE not in levels(renamed)
    assert seen(text_of(renamed), THREE, "pelican") == set()


def test_a_session_whose_file_is_deleted_is_removed_under_a_former_id(renamed: str, cli: Any) -> None:
    (path,) = Path.home().rglob(f"{ONE}.jsonl")
    path.unlink()
    cli("index")
    cli("share", DIARY, "private")
    assert ONE not in levels(renamed)


def test_a_session_is_forgotten_under_each_id(renamed: str, cli: Any) -> None:
    (key,) = (
        key for (key,) in rows(renamed, "SELECT key FROM sesame.sessions") if key.startswith("laptop:") and ONE in key
    )
    assert cli("forget", "--yes", key).code == 0
    assert levels(renamed) == {TWO: "shared", THREE: "shared"}
    (path,) = Path.home().rglob(f"{ONE}.jsonl")
    append(path, Claude(ONE, DIARY).user("a pelican", uuid="fox"))
    cli("index")
    assert ONE not in levels(renamed)


def test_what_another_person_of_the_server_has_sent_is_not_reached(renamed: str, cli: Any) -> None:
    """Whoever writes another's installation number into a row, or has the same id, is not taken for this machine."""
    with psycopg.connect(renamed, autocommit=True) as db:
        db.execute("CREATE ROLE somebody_else")
        db.execute("UPDATE sesame.workstations SET role = 'somebody_else' WHERE name <> 'laptop'")
        db.execute("DROP ROLE somebody_else")
    cli("share", DIARY, "private")
    assert rows(renamed, f"SELECT count(*) FROM sesame.sessions WHERE session_id = '{ONE}'") == [(1,)]


# -- a place ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["private", "metadata"])
@pytest.mark.parametrize("agent", [Claude, Pi])
def test_of_a_session_that_moved_into_a_private_directory_the_old_file_leaves_nothing(
    agent: Any, level: str, server: str, cli: Any
) -> None:
    cli("share", DIARY, level)
    name = "44444444-1111-4111-8111-111111111111"
    made = agent(name, "/home/bo/open")
    first = write(made.path, *([made.header()] if agent is Pi else []), made.user("a pelican"))
    cli("index")
    for cwd in (f"{DIARY}/one", "/home/bo/open", f"{DIARY}/one"):
        first.unlink()
        made = agent(name, cwd)
        first = write(made.path, *([made.header()] if agent is Pi else []), made.user("a pelican"))
        cli("index")
        is_open = cwd == "/home/bo/open"
        assert bool(seen(text_of(server), "pelican")) == is_open
        assert levels(server).get(name) == ("shared" if is_open else None if level == "private" else "metadata")


def test_a_copy_in_an_open_directory_that_is_still_there_stays(server: str, cli: Any) -> None:
    cli("share", DIARY, "private")
    name = "44444444-1111-4111-8111-111111111111"
    for cwd in ("/home/bo/open", DIARY):
        made = Claude(name, cwd)
        write(made.path, made.user("a pelican" if cwd == DIARY else "a heron"))
    cli("index")
    assert levels(server)[name] == "shared"
    assert {word for _, word in seen(text_of(server), "pelican", "heron")} == {"heron"}


# -- files without sessions ---------------------------------------------------------------------------------


def test_the_path_of_a_forgotten_session_goes_when_a_rule_hides_where_it_was(server: str, cli: Any) -> None:
    cli("forget", "--yes", ONE)
    assert seen(text_of(server), "diary") != set()
    cli("share", DIARY, "private")
    assert seen(text_of(server), "diary") == set()
    assert cli("index", "--json").json["unchanged"] == 3
    assert levels(server) == {TWO: "shared", THREE: "shared"}


def test_the_path_of_a_file_that_nothing_is_said_in_goes_with_the_first_rule(server: str, cli: Any) -> None:
    write(Claude("e", f"{DIARY}/empty").path, b'{"type":"file-history-snapshot","messageId":"x","snapshot":{}}\n')
    cli("index")
    cli("share", DIARY, "private")
    assert seen(text_of(server), "empty") == set()


def test_the_error_of_a_file_goes_with_the_first_rule(server: str, cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pi = Pi("fox", DIARY)
    write(pi.path, pi.header(), pi.user("hello"))

    def fail(*_: object) -> None:
        raise OSError(5, "broken lighthouses")

    monkeypatch.setattr("sesame_parser_pi.parser.PiParser.parse", fail)
    cli("index")
    assert seen(text_of(server), "broken") == {("files", "broken")}
    cli("share", DIARY, "private")
    assert seen(text_of(server), "broken", "diary") == set()
    monkeypatch.undo()


def test_sessions_that_the_owner_of_the_tables_has_deleted_do_not_come_back_with_a_rule(server: str, cli: Any) -> None:
    with psycopg.connect(server, autocommit=True) as db:
        db.execute("DELETE FROM sesame.sessions WHERE session_id = %s", (THREE,))
    cli("share", DIARY, "private")
    cli("index")
    assert levels(server) == {TWO: "shared"}


# -- sessions without files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["private", "metadata"])
@pytest.mark.parametrize("gone", ["parent", "child", "both"])
def test_a_session_and_its_subagent_whose_files_are_deleted_follow_a_rule(
    gone: str, level: str, server: str, cli: Any
) -> None:
    (parent,) = Path.home().rglob(f"{ONE}.jsonl")
    child = subagent(parent, "/home/bo/work", seconds=9)
    cli("index")
    if gone in ("parent", "both"):
        parent.unlink()
    if gone in ("child", "both"):
        shutil.rmtree(child.parent)
    cli("index")
    done = cli("share", DIARY, level)
    assert (done.code, done.err) == (0, "")
    left = {name: shown for name, shown in levels(server).items() if name.startswith(ONE)}
    assert set(left.values()) <= {level}
    assert len(left) == (0 if level == "private" else 2)
    assert {word for _, word in seen(text_of(server), "lighthouse prompt", "keeper answer")} == set()


# -- what says something of a text --------------------------------------------------------------------------


def test_of_a_forgotten_session_no_text_of_its_parser_s_state_stays(server: str, cli: Any) -> None:
    assert seen(text_of(server), "driftwood") != set()
    for name in (ONE, TWO, THREE):
        cli("forget", "--yes", name)
    assert seen(text_of(server), *WORDS) == set()
    for path in Path.home().rglob("*.jsonl"):
        append(path, Claude(path.stem, "/w").user("a pelican", uuid="fox", gitBranch="driftwood"))
    cli("index")
    assert seen(text_of(server), *WORDS, "pelican") == set()


def test_of_a_file_of_which_metadata_is_shown_no_hash_is_stored(server: str, cli: Any) -> None:
    stored = f"SELECT head_hash, tail_hash, recent_origins, checkpoint FROM sesame.files WHERE path LIKE '%{ONE}%'"
    assert rows(server, stored)[0][0] != b""
    cli("share", DIARY, "metadata")
    assert rows(server, stored) == [(b"", b"", [], None)]


# -- a dry run ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_grown", [False, True])
def test_a_dry_run_does_not_list_a_session_that_was_forgotten(is_grown: bool, server: str, cli: Any) -> None:
    cli("forget", "--yes", ONE)
    if is_grown:
        (path,) = Path.home().rglob(f"{ONE}.jsonl")
        append(path, Claude(ONE, DIARY).user("a pelican", uuid="fox"))
    assert cli("share", "--dry-run").out == "no sessions would change\n"
    assert cli("share", "--dry-run", "--json").json["changes"] == []
    (paths.data_dir() / "withheld.json").unlink()
    assert cli("share", "--dry-run").out == "no sessions would change\n"
    assert cli("share", DIARY, "private").out == "no sessions change\n"


def test_a_dry_run_lists_no_subagent_of_a_forgotten_session(server: str, cli: Any) -> None:
    (parent,) = Path.home().rglob(f"{ONE}.jsonl")
    subagent(parent, "/home/bo/work", seconds=9)
    cli("index")
    cli("forget", "--yes", ONE)
    assert cli("share", "--dry-run").out == "no sessions would change\n"


# -- at the same time ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_full", [False, True])
def test_a_rule_that_is_made_while_a_run_waits_for_the_lock_applies_to_it(
    is_full: bool, team: str, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, made = locking.lock, []

    def locked(*arguments: Any) -> None:
        if not made:
            made.append(True)
            with Sesame() as other:
                other.team.share(DIARY, "private")
        lock(*arguments)

    monkeypatch.setattr(locking, "lock", locked)
    committed: list[set[tuple[str, str]]] = []
    with Sesame() as sesame:
        sesame.index(full=is_full, on_progress=lambda _: committed.append(seen(text_of(team), ONE)))
    assert made
    assert seen(text_of(team), ONE, DIARY) == set()
    assert committed == [set()] * len(committed)


@pytest.mark.parametrize("is_full", [False, True])
@pytest.mark.parametrize("level", ["private", "metadata"])
def test_a_rule_that_is_made_while_a_run_reads_stops_it_before_the_next_file(
    level: str, is_full: bool, team: str, cli: Any
) -> None:
    """The run has begun with the rules of before, and `share` cannot write while it does."""

    def made(progress: Any) -> None:
        if progress.files_done == 1:
            with Sesame() as other:
                other.team.share(DIARY, level)

    for number, path in enumerate(sorted(Path.home().rglob("*.jsonl"), key=lambda path: path.stem, reverse=True)):
        os.utime(path, (number + 1, number + 1))  # the diary comes last
    with Sesame() as sesame, pytest.raises(BackendError, match="have changed during this run; go on with"):
        sesame.index(full=is_full, on_progress=made)
    assert seen(text_of(team), ONE, DIARY) == set()
    assert cli("index").code == 0
    assert levels(team) == {TWO: "shared", THREE: "shared"} | ({ONE: "metadata"} if level == "metadata" else {})


def test_notes_of_a_restored_backup_go_with_their_session(backup: Callable[[], None], server: str, cli: Any) -> None:
    cli("share", DIARY, "private")
    backup()
    os.utime(next(notes(DIARY, "pelican", "heron", "cormorant", "gannet").iterdir()))
    cli("index")
    assert seen(text_of(server), ONE, "pelican", "heron", "cormorant", "gannet") == set()
