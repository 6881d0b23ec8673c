"""Workstations that share one database: each a home, an identity and a process of its own."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from sesame_core.plugin.backend import StorageBackend
from sesame_core.plugin.manager import PluginManager

from ...support.pages import block_with
from .schemas import a_schema
from .team import Team, a_call
from .workstation import Workstation

REPOSITORY = Path(__file__).resolve().parents[3]
#: Lines of the guide that make the roles.
GUIDE = REPOSITORY / "docs" / "team.md"


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
    made: list[str] = []
    statements = block_with(GUIDE, "CREATE ROLE sesame_reader")
    suffix = uuid.uuid4().hex[:8]
    # Roles belong to the server, which other tests use at the same time.
    names = {name: f"{name}_{suffix}" for name in ("sesame_reader", "sesame_writer")}
    for name, own in names.items():
        statements = re.sub(rf"\b{name}\b", own, statements)

    def login(group: str) -> str:
        with psycopg.connect(database, autocommit=True) as db:
            if not made:
                made.extend(names.values())
                db.execute(statements)
            name = f"login_{uuid.uuid4().hex[:8]}"
            made.insert(0, name)
            db.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'hush-hush' IN ROLE {names['sesame_' + group]}")
        return make_conninfo(database, user=name, password="hush-hush")

    yield login
    with psycopg.connect(database, autocommit=True) as db:
        for name in made:
            db.execute(f"DROP OWNED BY {name}")
        for name in made:
            db.execute(f"DROP ROLE {name}")


@pytest.fixture
def team(workstation: Callable[..., Workstation], roles: Callable[[str], str], database: str) -> Iterator[Team]:
    workstation("owner").ok("workstations", "--prepare")
    ann, ben = workstation("ann", dsn=roles("writer")), workstation("ben", dsn=roles("writer"))
    cat = workstation("cat", dsn=roles("writer"))
    for one in (ann, ben):
        one.write("s1", f"the lighthouse keeper of {one.name}", "found it")
        a_call(one, "s1")
        one.write("s2", f"a lamp of {one.name}", "lit")
        one.write("s3", "forget me")
        one.ok("index")
        one.ok("forget", "--yes", "s3")
    with (
        psycopg.connect(database, autocommit=True) as owner,
        psycopg.connect(ben.dsn, autocommit=True) as his,
        psycopg.connect(roles("reader"), autocommit=True) as reader,
    ):
        yield Team(ann, ben, cat, owner, his, reader)


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
