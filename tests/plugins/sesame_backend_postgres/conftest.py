"""Workstations that share one database: each a home, an identity and a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from sesame_core.plugin.backend import StorageBackend
from sesame_core.plugin.manager import PluginManager

REPOSITORY = Path(__file__).resolve().parents[3]
#: Lines of the guide that make the roles.
GUIDE = REPOSITORY / "docs" / "team.md"


@dataclass
class Workstation:
    """A machine, as far as Sesame can tell: a home directory, and what the environment says."""

    name: str
    home: Path
    dsn: str
    environment: dict[str, str] = field(default_factory=dict)
    #: What stands before the command, to run it on another machine.
    before: tuple[str, ...] = ()

    def configure(self, **options: object) -> None:
        """Write config.jsonc with the database, and more options of the backend."""
        backend = {"name": "postgres", "options": {"dsn": self.dsn, **options}}
        sources = [{"parser": "pi", "path": str(self.home / "sessions")}]
        (self.home / "sessions").mkdir(parents=True, exist_ok=True)
        config = self.home / "config" / "config.jsonc"
        config.parent.mkdir(exist_ok=True)
        config.write_text(json.dumps({"backend": backend, "sources": sources}))

    def write(self, session: str, *texts: str) -> Path:
        """Write a session of pi: its texts are said by user and agent in turn."""
        time = "2026-03-04T05:06:00.000Z"
        records: list[dict[str, Any]] = [
            {"type": "session", "version": 3, "id": session, "timestamp": time, "cwd": f"/home/{self.name}/work"}
        ]
        for number, text in enumerate(texts):
            role = "assistant" if number % 2 else "user"
            message = {"role": role, "content": [{"type": "text", "text": text}]}
            # Equal ids would make messages of two workstations copies of one.
            ids = [f"{self.home.name}-{session}-{n}" for n in (number, number - 1)]
            parent = ids[1] if number else None
            records.append({"type": "message", "id": ids[0], "parentId": parent, "timestamp": time, "message": message})
        path = self.home / "sessions" / f"{session}.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    def command(self, *arguments: object) -> tuple[list[str], dict[str, str]]:
        """Return a command line and its environment."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("SESAME_", "PG"))}
        environment |= {
            "HOME": str(self.home),
            "SESAME_CONFIG_DIR": str(self.home / "config"),
            "SESAME_DATA_DIR": str(self.home / "data"),
            **self.environment,
        }
        return [*self.before, sys.executable, "-m", "sesame_core", *map(str, arguments)], environment

    def run(self, *arguments: object, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Run a command of Sesame on this workstation."""
        command, environment = self.command(*arguments)
        return subprocess.run(
            command, env=environment, cwd=self.home, capture_output=True, text=True, timeout=timeout, check=False
        )

    def ok(self, *arguments: object) -> str:
        """Run a command that must succeed; return what it printed."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def fails(self, *arguments: object) -> str:
        """Run a command that must fail with one line; return the line."""
        done = self.run(*arguments)
        assert done.returncode == 1, done.stdout + done.stderr
        assert done.stdout == "", done.stdout
        assert done.stderr.count("\n") == 1, done.stderr
        return done.stderr

    def json(self, *arguments: object) -> Any:
        """Run a command; return the value it printed."""
        return json.loads(self.ok(*arguments, "--json"))

    def found(self, *words: str) -> set[str]:
        """Search without indexing; return the keys that were found."""
        return {result["key"] for result in self.json("search", *words, "--no-refresh")["results"]}


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
def schema() -> str:
    """The name of a schema of the test's own, in a database that other tests use too."""
    return f"kit_{uuid.uuid4().hex[:16]}"


@pytest.fixture
def backend(postgres: str, schema: str) -> Iterator[StorageBackend]:
    """A backend whose index is in that schema."""
    backend = PluginManager().backend("postgres", {"dsn": postgres, "schema": schema})
    yield backend
    backend.close()


@pytest.fixture
def db(postgres: str, schema: str, backend: StorageBackend) -> Iterator[psycopg.Connection]:
    """A connection that sees what the backend has stored."""
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute(f"SET search_path = {schema}")  # type: ignore[arg-type]
        yield db
        backend.close()
        db.execute(f"DROP SCHEMA {schema} CASCADE")  # type: ignore[arg-type]


@pytest.fixture
def roles(database: str) -> Iterator[Callable[[str], str]]:
    """Make the roles of the guide, and logins by name of one of them: `roles("writer")` returns a dsn."""
    made: list[str] = []
    text = GUIDE.read_text(encoding="utf-8")
    (statements,) = [
        block for block in re.findall(r"```sql\n(.*?)```", text, re.DOTALL) if "CREATE ROLE sesame_reader" in block
    ]
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


def back_to_version_5(db: psycopg.Connection) -> None:
    """Bring the schema that a connection has chosen back to version 5."""
    for function in ("guard_workstation", "guard_session", "guard_file"):
        db.execute(f"DROP FUNCTION {function} CASCADE")
    for function in ("reserve", "recount", "drop_sessions", "drop_files", "drop_conversations", "drop_vocabularies"):
        db.execute(f"DROP FUNCTION {function}")
    db.execute("DROP FUNCTION is_mine, admit")
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
