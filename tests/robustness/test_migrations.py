"""An index of every released schema upgrades in place, wholly or not at all."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sesame_backend_sqlite import schema
from sesame_core import BackendError, Selection, Sesame, Source, text
from sesame_parser_claude_code.parser import ClaudeCodeParser
from sesame_parser_pi.parser import PiParser

SCHEMAS = Path(__file__).resolve().parents[1] / "data" / "schemas"
#: What `make.py` wrote into each of them.
PI = "0199cccc-0000-7000-8000-000000000001"
CLAUDE = "1b1b1b1b-1111-4222-8333-444444444444"
FORGOTTEN = "0199cccc-0000-7000-8000-000000000002"
PLACE = "/sesame-schema-fixture"

#: The present schema version.
LAST = len(schema.MIGRATIONS)
LOADED = pytest.mark.parametrize("version", range(1, len(schema.MIGRATIONS) + 1))


def recorded(path: Path) -> tuple[int, list[tuple[int, str]]]:
    """Return an index's schema version and its list of migrations."""
    with closing(sqlite3.connect(path)) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        rows = db.execute("SELECT id, description, applied_at FROM schema_migrations ORDER BY id").fetchall()
        assert all(len(at) == len("2026-01-01T00:00:00Z") and at.endswith("Z") for _, _, at in rows)
        return version, [(number, description) for number, description, _ in rows]


def layout(path: Path) -> list[str]:
    """Return the tables and indexes of an index, as SQL without comments and spaces."""
    with closing(sqlite3.connect(path)) as db:
        made = db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    lines = ([line.partition("--")[0] for line in sql.splitlines()] for (sql,) in made)
    return sorted("".join("".join(statement).split()) for statement in lines)


def load(world: Any, version: int) -> Path:
    """Make the index of a released schema anew; return where its sessions seem to lie."""
    world.data.mkdir()
    root: Path = world.home / "fixture"
    sql = (SCHEMAS / f"v{version}.sql").read_text().replace(PLACE, str(root))
    with closing(sqlite3.connect(world.data / "index.sqlite", isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(sql)
    world.sources = [
        Source(parser=Selection(name="pi"), path=root / "pi"),
        Source(parser=Selection(name="claude-code"), path=root / "claude"),
    ]
    return root


def test_every_released_schema_is_kept() -> None:
    """Run tests/data/schemas/make.py when a schema is released."""
    kept = {int(path.stem.removeprefix("v")) for path in SCHEMAS.glob("v*.sql")}
    assert kept == set(range(1, len(schema.MIGRATIONS) + 1))


@LOADED
def test_an_index_of_a_released_schema_is_upgraded_and_goes_on(world: Any, version: int) -> None:
    root = load(world, version)
    (root / "pi").mkdir(parents=True)
    (root / "claude" / "-home-bo-kelp").mkdir(parents=True)  # an empty root would not be mounted
    path = root / "pi" / "new.jsonl"
    header = {"type": "session", "version": 3, "id": "new", "timestamp": "2026-03-04T05:06:00.000Z", "cwd": "/"}
    said = {"type": "message", "id": "1", "parentId": None, "message": {"role": "user", "content": "a new otter"}}
    path.write_text(json.dumps(header) + "\n" + json.dumps(said) + "\n")
    report = world.index()
    assert (report.errors, report.added, report.missing) == ([], 1, 3)
    world.check()
    assert recorded(world.database())[0] == len(schema.MIGRATIONS)
    assert [number for number, _ in recorded(world.database())[1]] == list(range(1, len(schema.MIGRATIONS) + 1))
    assert world.found("lighthouse oil") == {PI}
    assert world.found("\u00fcbung") == world.found("\u65e5\u672c") == world.found("barnacle") == {CLAUDE}
    assert world.found("otter") == {"new"}
    assert world.found("smuggler") == set()
    with world.sesame() as sesame:
        assert sesame.status().forgotten == 1
        assert sesame.get_session(CLAUDE).session.git_branch == "main"
        assert sesame.list_messages(PI)[0].text == "where did the lighthouse keep its oil?"
    world.index(full=True)
    world.check()
    assert set(world.content()) == {PI, CLAUDE, "new"}


@LOADED
def test_files_of_a_released_schema_go_on_where_they_were_left(
    world: Any, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checkpoints too are an interface: a grown file is not read again, and no message is doubled."""
    import importlib.util

    # What counts as a word, and what parsers yield, was another thing then, which makes all files be read again.
    monkeypatch.setattr(text, "VERSION", 0 if version < 5 else 3)
    if version < 5:
        for parser in (ClaudeCodeParser, PiParser):
            monkeypatch.setattr(parser, "version", 1)
    root = load(world, version)
    spec = importlib.util.spec_from_file_location("make_schema", SCHEMAS / "make.py")
    assert spec is not None
    assert spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    make.write_sessions(root)
    report = world.index()
    assert (report.errors, report.unchanged, report.changed) == ([], 3, 0)
    path = root / "pi" / f"{PI}.jsonl"
    said = {"type": "message", "id": "z", "parentId": "a0000001", "message": {"role": "user", "content": "the otter"}}
    with path.open("a") as file:
        file.write(json.dumps(said) + "\n")
    os.utime(path)
    assert world.index().errors == []
    assert world.content()[PI][-1] == "the otter"
    assert len(world.content()[PI]) == 3
    assert FORGOTTEN not in world.content()
    world.check()


def test_the_newest_fixture_has_the_schema_of_today(world: Any) -> None:
    load(world, len(schema.MIGRATIONS))
    fixture = world.data / "index.sqlite"
    with Sesame(sources=[], data_dir=world.home / "new") as sesame:
        sesame.index()
    assert layout(fixture) == layout(world.home / "new" / "index.sqlite")


def steps() -> list[tuple[int, str]]:
    """Return what is recorded of all migrations, those to come included."""
    return [(number, migration.description) for number, migration in enumerate(schema.MIGRATIONS, 1)]


# -- a migration to come ----------------------------------------------------------------------------------


@pytest.fixture
def old(world: Any) -> Any:
    """A world with an index of the present schema, which is about to become an old one."""
    world.populate()
    world.index()
    return world


def test_an_old_index_is_upgraded_in_place_and_the_step_recorded(old: Any, second_migration: None) -> None:
    path, content = old.database(), None
    with pytest.raises(BackendError, match=rf"older schema \({LAST}\).*sesame index"):
        old.found("fox1")
    report = old.index()
    assert (report.unchanged, report.changed) == (6, 0)
    assert old.database() == path
    assert recorded(path) == (LAST + 1, steps())
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM owls").fetchone() == (6,)
    content = old.content()
    assert content == old.fresh()
    old.check()
    assert old.index().unchanged == 6
    assert len(recorded(path)[1]) == LAST + 1


def test_a_new_index_records_every_step(world: Any, second_migration: None) -> None:
    world.populate(2)
    world.index()
    assert recorded(world.database()) == (LAST + 1, steps())


def test_a_rebuild_upgrades_what_it_takes_over(old: Any, second_migration: None) -> None:
    content = old.content
    old.path(3).unlink()
    old.index(full=True)
    assert set(content()) == {old.session_id(number) for number in range(6)}
    assert recorded(old.database())[0] == LAST + 1
    old.check()


def test_a_search_upgrades_an_old_index_when_it_may_refresh(
    old: Any, second_migration: None, cli: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    old.configure(monkeypatch)
    code, out, err = cli("search", "fox1", "--no-refresh")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "older schema" in err
    code, out, _ = cli("search", "fox1")
    assert code == 0
    assert "fox1 met" in out


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE owls (id INTEGER); INSERT INTO nowhere VALUES (1);",
        "ALTER TABLE sessions ADD COLUMN mood TEXT; CREATE TABLE sessions (id);",
        "DELETE FROM chunks; DROP TABLE paths; CREATE nonsense;",
    ],
)
def test_a_migration_that_fails_half_way_leaves_the_old_index_as_it_was(
    old: Any, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    before, content = layout(old.database()), old.content()
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, schema.Migration("fails", sql)))
        for _ in range(2):
            with pytest.raises(BackendError, match=str(old.database())):
                old.index()
        assert recorded(old.database())[0] == LAST
    assert layout(old.database()) == before
    assert old.content() == content
    old.check()
    assert old.index().unchanged == 6


def test_a_statement_may_hold_semicolons(world: Any) -> None:
    script = "CREATE TABLE a (b DEFAULT ';');\nINSERT INTO a VALUES ('x;y'); -- c; d\nDELETE FROM a;\n"
    assert len(schema.statements(script)) == 3
    with closing(sqlite3.connect(":memory:")) as db:
        for statement in schema.statements(script):
            db.execute(statement)
