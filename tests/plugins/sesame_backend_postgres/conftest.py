"""Workstations that share one database: each a home, an identity and a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sesame_core.plugin.backend import StorageBackend
from sesame_core.plugin.manager import PluginManager

from ...support.postgres_server import a_database, agree
from .first_team import FirstTeam, a_first_team
from .logins import logins
from .schemas import a_schema
from .team import Team
from .workstation import Workstation


@pytest.fixture
def workstation(tmp_path: Path, database: str) -> Callable[..., Workstation]:
    """Make a workstation by its name, which is its id too: `workstation("ann", dsn=…)`."""

    def make(name: str, *, dsn: str = database, id: str | None = None, **options: object) -> Workstation:
        home = tmp_path / name
        home.mkdir(exist_ok=True)
        made = Workstation(name, home, dsn, {"SESAME_WORKSTATION_ID": id or name})
        made.configure(**options)
        return made

    return make


@pytest.fixture
def options(postgres: str) -> Iterator[dict[str, Any]]:
    """The options of a backend whose index is in a schema of the test's own."""
    with a_schema(postgres) as options:
        yield options


@pytest.fixture
def backend(options: dict[str, Any]) -> Iterator[StorageBackend]:
    """A backend whose index is in that schema."""
    with closing(PluginManager().backend("postgres", options)) as backend:
        yield backend


@pytest.fixture
def db(options: dict[str, Any], backend: StorageBackend) -> Iterator[psycopg.Connection]:
    """A connection that sees what the backend has stored."""
    with psycopg.connect(options["dsn"], autocommit=True) as db:
        db.execute(f"SET search_path = {options['schema']}")  # type: ignore[arg-type]
        yield db


@pytest.fixture
def roles(database: str) -> Iterator[Callable[[str], str]]:
    """Make the roles of the guide, and logins by name of one of them: `roles("writer")` returns a dsn."""
    with logins(database) as login:
        yield login


@pytest.fixture(scope="module")
def first_team(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FirstTeam]:
    """A team after its first runs, to be copied for each test."""
    with a_first_team(postgres, tmp_path_factory.mktemp("team") / "homes") as made:
        yield made


@pytest.fixture
def database(request: pytest.FixtureRequest, postgres: str, home: Path) -> Iterator[str]:
    """The address of a new database, as its owner: empty, or the one of the team."""
    is_copy = "team" in request.fixturenames
    with request.getfixturevalue("first_team").copied() if is_copy else a_database(postgres) as dsn:
        agree(dsn)
        yield dsn


@pytest.fixture
def team(first_team: FirstTeam, database: str) -> Iterator[Team]:
    with (
        psycopg.connect(database, autocommit=True) as owner,
        psycopg.connect(first_team.ben.dsn, autocommit=True) as his,
        psycopg.connect(first_team.reader, autocommit=True) as reader,
    ):
        yield Team(first_team.ann, first_team.ben, first_team.cat, owner, his, reader)


def back_to_version_5(db: psycopg.Connection) -> None:
    """Bring the schema that a connection has chosen back to version 5."""
    for function in ("guard_workstation", "guard_session", "guard_file"):
        db.execute(f"DROP FUNCTION {function} CASCADE")
    for function in ("reserve", "recount", "drop_sessions", "drop_files", "drop_conversations", "drop_vocabularies"):
        db.execute(f"DROP FUNCTION {function}")
    db.execute("DROP FUNCTION is_mine, admit, hand_over")
    keys = "SELECT conrelid::regclass, conname FROM pg_constraint WHERE connamespace = current_schema()::regnamespace "
    added = keys + "AND (contype = 'c' OR conname LIKE '%\\_workstation\\_fkey' AND cardinality(conkey) = 2)"
    for table, name in db.execute(added).fetchall():
        db.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    db.execute("ALTER TABLE sessions DROP CONSTRAINT sessions_id_workstation_key")
    db.execute("ALTER TABLE files DROP CONSTRAINT files_id_workstation_key")
    db.execute("ALTER TABLE sessions ADD FOREIGN KEY (file) REFERENCES files (id) ON DELETE CASCADE")
    for table in ("chunks", "texts", "heads", "conversations", "vocabularies", "commands", "paths"):
        db.execute(f"ALTER TABLE {table} ADD FOREIGN KEY (session) REFERENCES sessions (id) ON DELETE CASCADE")
        db.execute(f"ALTER TABLE {table} ADD FOREIGN KEY (workstation) REFERENCES workstations (id) ON DELETE CASCADE")
    db.execute("ALTER TABLE workstations DROP COLUMN reserved")
    db.execute("DELETE FROM schema_migrations WHERE id > 5")


def back_to_version_3(db: psycopg.Connection) -> None:
    """Bring the schema that a connection has chosen back to version 3."""
    back_to_version_5(db)
    db.execute("DROP TABLE vocabularies, commands")
    db.execute("DROP FUNCTION vocabulary")
    db.execute(
        "DO $$ BEGIN EXECUTE replace(pg_get_functiondef('tidy(boolean)'::regprocedure), "
        "',vocabularies_words,commands_words', ''); END $$"
    )
    db.execute("DROP INDEX chunks_failed, sessions_sizes")
    db.execute("CREATE INDEX chunks_error ON chunks (session, lower(tool_name)) WHERE is_error")
    db.execute("ALTER TABLE sessions DROP COLUMN directories")
    db.execute("DELETE FROM schema_migrations WHERE id > 3")
