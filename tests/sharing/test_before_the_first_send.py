"""Nothing leaves this machine before its owner has seen what would, and what the rules hide stays here."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from sesame_core import Sesame
from sesame_core.api.index import Index
from sesame_core.config import identity, paths
from sesame_core.sharing import consent
from sesame_core.sharing.rules import Rule, Sharing
from sesame_core.types.transcript import Session

from ..cli.terminal import on_a_terminal
from ..support.transcripts import Claude, Pi, append, write
from .test_team_database import ONE, THREE, TWO, levels, seen, session, text_of

pytestmark = pytest.mark.once

AWAY = "postgresql://nobody@127.0.0.1:1/none"


def configure(dsn: str) -> None:
    file = paths.config_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"backend": {"name": "postgres", "options": {"dsn": dsn}}}))


def rows(dsn: str) -> set[str]:
    """Return the tables of the server with rows that are about sessions."""
    content = text_of(dsn)
    return {name for name in ("workstations", "files", "sessions", "chunks", "texts") if content.get(name)}


def test_share_as_the_first_command_sends_nothing(cli: Any, team: str) -> None:
    done = cli("share", "/home/bo/diary", "private")
    assert done.code == 0
    assert "send" in done.out
    assert "nothing is sent before you run: sesame index" in done.out.splitlines()[-1]
    assert rows(team) == set()
    cli("share", "/home/bo/client", "metadata")
    assert rows(team) == set()
    assert cli("index", "--yes").code == 0
    assert levels(team) == {TWO: "metadata", THREE: "shared"}
    assert seen(text_of(team), "diary", ONE) == set()
    assert cli("share", "/home/bo/client", "private").out.splitlines()[-1] == "1 session changes"


@pytest.mark.parametrize(
    "command", [["search", "lighthouse"], ["sessions"], ["status"], ["show", ONE], ["search"], ["resolve", ONE]]
)
def test_a_first_command_that_only_reads_sends_nothing(command: list[str], cli: Any, team: str) -> None:
    cli(*command)
    assert rows(team) == set()


def test_a_first_search_says_that_nothing_was_sent_and_what_to_do(cli: Any, team: str) -> None:
    with Sesame() as sesame:
        sesame.team.prepare()
    done = cli("search", "lighthouse")
    assert "none of this machine's sessions have been sent to the shared index yet" in done.out
    assert "sesame index" in done.out
    assert rows(team) == set()


@pytest.mark.parametrize("command", [["index"], ["watch"], ["demo"], ["index", "--full"], ["index", "--json"]])
def test_without_a_terminal_and_without_yes_the_first_run_sends_nothing(
    command: list[str], cli: Any, team: str
) -> None:
    done = cli(*command)
    assert done.code == 1
    assert "/home/bo/diary" in done.err
    assert "sesame index --yes" in done.err
    assert rows(team) == set()


@pytest.mark.parametrize(("answer", "code", "sent"), [(b"n\n", 1, 0), (b"\n", 1, 0), (b"\x04", 1, 0), (b"y\n", 0, 3)])
def test_on_a_terminal_the_first_run_shows_what_it_sends_and_asks(
    answer: bytes, code: int, sent: int, team: str
) -> None:
    done, shown = on_a_terminal(["index"], answer)
    assert (done, len(levels(team)) if rows(team) else 0) == (code, sent)
    assert "/home/bo/client" in shown


def test_who_has_sessions_there_already_is_not_asked_again(cli: Any, team: str) -> None:
    cli("index", "--yes")
    (paths.data_dir() / "audiences.json").unlink()
    assert cli("index").code == 0
    assert consent.is_given(json.loads((paths.data_dir() / "audiences.json").read_text())[0])


def test_another_server_is_asked_for_again(cli: Any, team: str) -> None:
    cli("index", "--yes")
    configure(AWAY)
    with Sesame() as sesame:
        assert not consent.is_given(sesame.team.audience() or "")


@pytest.mark.parametrize("named", ["by a service", "by PGSERVICE", "by variables", "by another schema"])
def test_another_server_that_has_the_same_name_here_is_asked_for_again(
    named: str, cli: Any, team: str, database: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = home / "services"
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    options: dict[str, str] = {"dsn": database}
    parameters = conninfo_to_dict(database)
    if named == "by a service":
        options = {"service": "team"}
    elif named == "by PGSERVICE":
        options = {}
        monkeypatch.setenv("PGSERVICE", "team")
    elif named == "by variables":
        options = {}
        for name in ("host", "port", "user", "dbname"):
            monkeypatch.setenv({"dbname": "PGDATABASE"}.get(name, f"PG{name.upper()}"), str(parameters[name]))
    section = "".join(f"{name}={value}\n" for name, value in parameters.items())
    services.write_text(f"[other]\nhost=db.invalid\n[team]\n{section}")
    paths.config_file().write_text(json.dumps({"backend": {"name": "postgres", "options": options}}))
    assert cli("index", "--yes").code == 0
    with Sesame() as sesame:
        assert consent.is_given(sesame.team.audience() or "")
    # Now it leads elsewhere.
    services.write_text(services.read_text() + "dbname=elsewhere\n")
    if named == "by variables":
        monkeypatch.setenv("PGDATABASE", "elsewhere")
    if named == "by another schema":
        paths.config_file().write_text(
            json.dumps({"backend": {"name": "postgres", "options": {**options, "schema": "elsewhere"}}})
        )
    with Sesame() as sesame:
        assert not consent.is_given(sesame.team.audience() or "")


def test_a_damaged_record_of_consent_sends_nothing(cli: Any, team: str) -> None:
    cli("index", "--yes")
    write(Path.home() / ".claude" / "projects" / "-new" / "n.jsonl", Claude("n", "/home/bo/new").user("a new pelican"))
    (paths.data_dir() / "audiences.json").write_text("{")
    done = cli("index")
    assert done.code == 1
    assert "audiences.json: cannot be read" in done.err
    assert seen(text_of(team), "pelican") == set()


@pytest.mark.parametrize("pattern", ["/home/bo/diary", "*/client", "github.com/acme"])
def test_a_rule_is_kept_when_the_server_is_away(pattern: str, cli: Any, home: Path) -> None:
    configure(AWAY)
    done = cli("share", pattern, "private")
    assert done.code == 1
    assert "The rule is kept" in done.err
    assert [rule["pattern"] for rule in json.loads((paths.config_dir() / "sharing.json").read_text())["rules"]] == [
        pattern
    ]


@pytest.mark.parametrize("command", [["search", "lighthouse"], ["index"]])
def test_a_rule_that_could_not_be_applied_is_applied_by_whatever_runs_next(
    command: list[str], cli: Any, team: str
) -> None:
    cli("index", "--yes")
    configure(AWAY)
    assert cli("share", "/home/bo/diary", "private").code == 1
    configure(team)
    assert seen(text_of(team), ONE) != set()
    cli(*command)
    assert levels(team) == {TWO: "shared", THREE: "shared"}
    assert seen(text_of(team), "/home/bo/diary", ONE) == set()


def test_a_rule_made_while_another_run_writes_is_applied_by_the_next_search(cli: Any, team: str) -> None:
    cli("index", "--yes")
    with Sesame() as sesame, sesame.writer():
        done = cli("share", "/home/bo/diary", "private")
        assert done.code == 1
        assert "the next search or run applies it" in done.err
    cli("search", "anything")
    assert levels(team) == {TWO: "shared", THREE: "shared"}


@pytest.mark.parametrize("order", ["fork first", "parent first", "in an earlier run"])
def test_a_fork_of_a_private_session_is_private(order: str, cli: Any, team: str) -> None:
    cli("share", "/home/bo/diary", "private")
    forked = Claude("44444444-1111-4111-8111-111111111111", "/home/bo/open")
    path = write(
        forked.path,
        forked.user("the lighthouse prompt", forkedFrom={"sessionId": ONE, "messageUuid": "1"}),
        forked.user("a pelican of its own"),
    )
    os.utime(path, (1, 1) if order == "fork first" else None)
    if order == "in an earlier run":
        cli("share", "/home/bo/diary", "default")
        cli("index", "--yes")
        assert seen(text_of(team), "pelican") != set()
        cli("share", "/home/bo/diary", "private")
    cli("index", "--yes")
    assert levels(team) == {TWO: "shared", THREE: "shared"}
    assert seen(text_of(team), "pelican", ONE, "/home/bo/open") == set()


def test_a_fork_by_pi_of_a_private_session_is_private(cli: Any, team: str) -> None:
    parent, fork = (
        Pi("0199aaaa-0000-7000-8000-000000000001", "/home/bo/diary"),
        Pi("0199aaaa-0000-7000-8000-000000000002", "/home/bo/open"),
    )
    write(parent.path, parent.header(), parent.user("the lighthouse prompt"))
    write(fork.path, fork.header(parentSession=str(parent.path)), fork.user("a pelican of its own"))
    cli("share", "/home/bo/diary", "private")
    cli("index", "--yes")
    assert seen(text_of(team), "pelican", "/home/bo/open") == set()


@pytest.mark.parametrize("level", ["private", "metadata"])
def test_a_session_that_moves_to_a_private_directory_is_as_private(level: str, cli: Any, team: str) -> None:
    cli("share", "/home/bo/diary", level)
    made = Claude("44444444-1111-4111-8111-111111111111", "/home/bo/open")
    path = write(made.path, made.user("a pelican in the open"))
    cli("index", "--yes")
    assert seen(text_of(team), "pelican") != set()
    made.cwd = "/home/bo/diary/2026"
    append(path, made.user("a cormorant in the diary"))
    cli("index")
    assert seen(text_of(team), "pelican", "cormorant") == set()
    assert levels(team).get(made.session) == (None if level == "private" else "metadata")
    # Also when it moves on to an open one, and when the list of private files is lost.
    made.cwd = "/home/bo/open"
    append(path, made.user("a heron in the open"))
    (paths.data_dir() / "withheld.json").unlink()
    cli("index")
    assert seen(text_of(team), "pelican", "cormorant", "heron") == set()


def test_a_session_that_was_in_more_directories_than_are_known_is_as_private_as_the_strictest_rule() -> None:
    sharing = Sharing((Rule("/home/bo/diary", "private"), Rule("/home/bo/open", "shared")), "shared")
    many = tuple(f"/w/{number}" for number in range(100))
    assert sharing.level(Session(id="a", agent="pi", cwd="/w", directories=many[:99])) == "shared"
    assert sharing.level(Session(id="a", agent="pi", cwd="/w", directories=many)) == "private"


def test_a_dry_run_groups_the_sessions_of_a_project(cli: Any, team: str) -> None:
    for number in range(3):
        session(f"5555555{number}-1111-4111-8111-111111111111", "/home/bo/many", suffix=str(number))
    lines = cli("share", "--dry-run").out.splitlines()
    assert [line.split() for line in lines if "/home/bo/many" in line] == [
        ["send", "3", "sessions", lines[0].split()[-2], "/home/bo/many"]
    ]
    assert lines[-1] == "6 sessions would change"


def test_a_masked_secret_cannot_be_tried_out_by_the_hashes_of_its_file(cli: Any, team: str) -> None:
    """Every field of a record but the secret is on the server, or known: a hash without a key would confirm a guess."""
    made = Claude("44444444-1111-4111-8111-111111111111", "/home/bo/open")
    path = write(made.path, made.user("login with DB_PASSWORD=Winter2026ab please"))
    cli("index", "--yes")
    raw = path.read_bytes()
    guessed = {hashlib.blake2b(part, digest_size=16).digest() for part in (raw[:4096], raw[-4096:])}
    with psycopg.connect(team) as db:
        stored = db.execute("SELECT head_hash, tail_hash FROM sesame.files").fetchall()
    assert stored
    assert not guessed & {bytes(part) for row in stored for part in row}
    # The key is this machine's, so the file is still known as one that has grown.
    append(path, made.user("a cormorant"))
    assert cli("index", "--json").json["appended"] == 1


def test_a_renamed_machine_takes_its_shared_sessions_along(
    cli: Any, team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "machine_id", lambda: "0123")
    monkeypatch.setattr(socket, "gethostname", lambda: "host-a")
    cli("index", "--yes")
    monkeypatch.setattr(socket, "gethostname", lambda: "host-b")
    assert cli("index", "--json").json["unchanged"] == 3
    assert cli("share", "/home/bo/diary", "private").code == 0
    assert levels(team) == {TWO: "shared", THREE: "shared"}
    with psycopg.connect(team) as db:
        assert db.execute("SELECT host FROM sesame.workstations").fetchall() == [("host-b",)]


def test_a_machine_with_the_home_of_another_one_asks_whether_it_replaces_it(
    cli: Any, team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "machine_id", lambda: "0123")
    cli("index", "--yes")
    monkeypatch.setattr(identity, "machine_id", lambda: "4567")
    done = cli("index")
    assert done.code == 1
    assert "sesame workstations --claim" in done.err
    assert cli("workstations", "--claim").code == 0
    assert cli("index", "--json").json["unchanged"] == 3
    with psycopg.connect(team) as db:
        assert db.execute("SELECT count(*) FROM sesame.workstations").fetchone() == (1,)


def test_an_id_given_later_applies_the_rules_to_its_own_sessions(
    cli: Any, team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("index", "--yes")
    monkeypatch.setenv("SESAME_WORKSTATION_ID", "laptop")
    cli("index")
    assert cli("share", "/home/bo/diary", "private").out.splitlines()[-1] == "1 session changes"
    assert seen(text_of(team), ONE, "/home/bo/diary") == set()
    assert "1 private" in cli("share").out
    monkeypatch.delenv("SESAME_WORKSTATION_ID")
    cli("search", "anything")
    assert seen(text_of(team), ONE, "/home/bo/diary") == set()


def test_a_search_reads_and_writes_nothing_because_of_a_private_file(
    cli: Any, team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("share", "/home/bo/diary", "private")
    cli("index", "--yes")
    opened: list[Index] = []
    writer = Index.writer
    monkeypatch.setattr(Index, "writer", lambda self: (opened.append(self), writer(self))[1])
    refreshed = cli("search", "anything", "--json").json["index"]
    assert opened == []
    assert [source["changed"] for source in refreshed["sources"]] == [0]
    # What is said in it later stays here, and what becomes shared is sent, by a search alone.
    append(Claude(ONE, "/home/bo/diary").path, Claude(ONE, "/home/bo/diary").user("a pelican", uuid="p"))
    cli("search", "anything")
    assert len(opened) == 1
    assert seen(text_of(team), ONE, "pelican") == set()
    cli("search", "anything")
    assert len(opened) == 1


def test_a_private_file_that_may_be_shared_is_sent_by_a_search_also_when_nothing_else_was(cli: Any, team: str) -> None:
    for name in ("diary", "client", "work"):
        cli("share", f"/home/bo/{name}", "private")
    cli("index", "--yes")
    assert levels(team) == {}
    configure(AWAY)
    assert cli("share", "/home/bo/work", "shared").code == 1
    configure(team)
    cli("search", "anything")
    assert levels(team) == {THREE: "shared"}


def test_a_private_file_that_is_deleted_is_no_longer_counted_after_a_search(cli: Any, team: str) -> None:
    cli("share", "/home/bo/diary", "private")
    cli("index", "--yes")
    (Claude(ONE, "/home/bo/diary")).path.unlink()
    for _ in range(2):
        cli("search", "anything")
    assert cli("index", "--json").json["withheld"] == 0
