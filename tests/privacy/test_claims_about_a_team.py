"""What docs/privacy.md says about a team's database and no test of a package shows.

The others, by what the page says: first send and consent in `tests/sharing/test_before_the_first_send.py` and
`test_consent.py`; levels, rules, subagents and forks in `test_team_database.py` and `test_relatives.py`; redaction in
`tests/privacy`; restored backups in `tests/plugins/sesame_backend_postgres/test_operating.py`.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sesame_core import Sesame
from sesame_core.config import paths
from sesame_core.runtime.watcher import watch

from ..plugins.sesame_backend_postgres.workstation import Workstation
from ..support.postgres_server import Server, find_binaries
from ..support.transcripts import Pi, write

pytestmark = pytest.mark.once

PAGE = Path(__file__).resolve().parents[2] / "docs" / "privacy.md"
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def team(home: Path, database: str) -> Callable[..., None]:
    """Write the configuration of a machine that has agreed to send its sessions to a team's database."""

    def configure(**settings: Any) -> None:
        file = paths.config_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        backend = {"name": "postgres", "options": {"dsn": database}}
        file.write_text(json.dumps({"backend": backend, **settings}))

    configure()
    return configure


def say(name: str, text: str, cwd: str = "/home/ann/work") -> Path:
    pi = Pi(name, cwd=cwd)
    return write(pi.path, pi.header(), pi.user(text))


def stored(dsn: str) -> str:
    """Return the texts, titles and paths in the database."""
    with psycopg.connect(dsn) as db:
        rows = db.execute(
            "SELECT content FROM sesame.chunks UNION ALL SELECT title FROM sesame.sessions UNION ALL "
            "SELECT path FROM sesame.files UNION ALL SELECT lexeme FROM sesame.lexemes"
        ).fetchall()
    return "\n".join(str(value) for (value,) in rows)


# -- what leaves the machine --------------------------------------------------------------------------------


def test_after_the_first_run_a_search_and_a_watch_send_what_is_new(cli: Any, team: Any, database: str) -> None:
    pytest.importorskip("watchfiles", reason="the extra watch is not installed")
    say("fox", "the first pelican")
    cli("index", "--yes")
    say("hare", "the second walrus")
    assert "walrus" not in stored(database)
    cli("search", "anything")
    assert "walrus" in stored(database)
    with Sesame() as sesame:
        runs = watch(sesame)
        say("owl", "the third heron")
        next(runs)
        runs.close()
    assert "heron" in stored(database)


def test_a_search_that_is_told_not_to_look_for_changes_sends_nothing(cli: Any, team: Any, database: str) -> None:
    say("fox", "the first pelican")
    cli("index", "--yes")
    say("hare", "the second walrus")
    cli("search", "walrus", "--no-refresh")
    team(refreshSeconds=0)
    cli("search", "walrus")
    assert "walrus" not in stored(database)


def test_no_session_file_is_written(cli: Any, team: Any) -> None:
    path = say("fox", "the first pelican")
    before = path.read_bytes(), path.stat().st_mtime_ns
    cli("index", "--yes")
    cli("share", "/home/ann/work", "private")
    cli("forget", "--yes", "fox")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


# -- what is removed ----------------------------------------------------------------------------------------


@pytest.fixture
def server(postgres: str) -> Iterator[Server]:
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("the files of a server can be read where the test has started it")
    with Server(binaries) as server:
        yield server


def test_what_is_removed_stays_in_the_files_of_the_tables_until_vacuum_full(server: Server, tmp_path: Path) -> None:
    assert "in the server's files until the owner of the tables runs `VACUUM FULL`" in PAGE.read_text()
    ann = Workstation("ann", tmp_path / "ann", server.dsn, {"SESAME_WORKSTATION_ID": "ann"})
    ann.home.mkdir()
    ann.configure()
    ann.write("s1", *(f"zebramarker {number}" for number in range(40)))
    ann.write("s2", "what stays")
    ann.ok("index")

    def is_there() -> bool:
        with psycopg.connect(server.dsn, autocommit=True) as db:
            db.execute("CHECKPOINT")
        files = [path for path in (server.directory / "data" / "base").rglob("*") if path.is_file()]
        return any(b"zebramark" in path.read_bytes() for path in files)

    path = ann.home / "sessions" / "s1.jsonl"
    path.write_text(path.read_text().replace("/home/ann/work", "/home/ann/diary"))
    ann.ok("share", "/home/ann/diary", "private")
    ann.ok("index")
    assert not ann.found("zebramarker")
    assert is_there()
    with psycopg.connect(server.dsn, autocommit=True) as db:
        db.execute("VACUUM FULL")
    assert not is_there()
    assert ann.found("stays")


def test_forget_removes_a_session_whose_file_is_deleted(cli: Any, team: Any, database: str) -> None:
    path = say("fox", "the first pelican")
    cli("index", "--yes")
    path.unlink()
    cli("index")
    assert "pelican" in stored(database)
    assert cli("forget", "--yes", "fox").code == 0
    assert "pelican" not in stored(database)


# -- secrets ------------------------------------------------------------------------------------------------


def test_redaction_is_on_for_a_team_without_being_asked_for(cli: Any, team: Any, database: str) -> None:
    say("fox", f"the token is {SECRET}")
    cli("index", "--yes")
    assert SECRET not in stored(database)
    assert "[redacted:" in stored(database)
    assert cli("config", "--json").json["redact"]["value"] is True
    assert cli("audit").code == 0


def test_two_machines_with_a_copied_key_make_one_placeholder_and_without_it_two(database: str, tmp_path: Path) -> None:
    machines = []
    for name in ("ann", "copy", "other"):
        one = Workstation(name, tmp_path / name, database, {"SESAME_WORKSTATION_ID": name})
        one.home.mkdir()
        one.configure()
        machines.append(one)
    ann, copy, other = machines
    for one in machines:
        one.write("s1", f"the token of a build is {SECRET}")
    ann.ok("index")
    (copy.home / "data").mkdir()
    shutil.copy(ann.home / "data" / "redaction.key", copy.home / "data" / "redaction.key")
    copy.ok("index")
    other.ok("index")
    with psycopg.connect(database) as db:
        rows = db.execute(
            "SELECT w.name, substring(content FROM '\\[redacted:[^]]+\\]') FROM sesame.chunks AS c "
            "JOIN sesame.workstations AS w ON w.id = c.workstation WHERE content LIKE '%redacted%'"
        ).fetchall()
    marks = dict(rows)
    assert marks["ann"] == marks["copy"] != marks["other"]
    fingerprint = marks["ann"].rstrip("]").rpartition(":")[2]
    assert {key.split(":")[0] for key in other.found(fingerprint)} == {"ann", "copy"}


def test_a_secret_that_is_known_later_is_redacted_but_for_deleted_files_where_the_audit_finds_it(
    cli: Any, team: Any, database: str
) -> None:
    kept, deleted = say("fox", "the badge is zz-1234-kept"), say("hare", "the badge is zz-1234-gone")
    cli("index", "--yes")
    deleted.unlink()
    team(redact={"enabled": True, "patterns": {"badge": r"zz-\d{4}-\w+"}})
    time.sleep(0.01)
    cli("index")
    text = stored(database)
    assert kept.exists()
    assert "zz-1234-kept" not in text
    assert "zz-1234-gone" in text
    found = cli("audit", "--json")
    assert found.code == 1
    assert {secret["sessionId"] for secret in found.json["secrets"]} == {"hare"}
    assert "zz-1234" not in found.out
    cli("forget", "--yes", "hare")
    assert cli("audit").code == 0
