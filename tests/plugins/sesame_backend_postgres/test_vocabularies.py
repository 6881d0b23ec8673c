"""The words that are kept for conditions are those of the chunks, in whatever steps these were written."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from sesame_backend_postgres import schema as migrations
from sesame_backend_postgres import vocabularies
from sesame_backend_postgres.filters import meeting
from sesame_backend_postgres.opening import migrate
from sesame_core.plugin.backend import StorageBackend
from sesame_core.testing import a_call, a_chunk, a_file, a_query, a_session
from sesame_core.types.index import Chunk
from sesame_core.types.query import SHELLS, Filters

from .conftest import Workstation, back_to_version_3

pytestmark = pytest.mark.once

#: What a session's words are, told by its chunks.
IN_CHUNKS = "SELECT DISTINCT session, unnest(tsvector_to_array(words)) FROM texts"
KEPT = "SELECT DISTINCT session, unnest(tsvector_to_array(words)) FROM vocabularies"


def check(db: psycopg.Connection) -> int:
    """Tell that the words kept are those of the chunks; return how many there are."""
    kept = set(db.execute(KEPT))
    assert kept == set(db.execute(IN_CHUNKS))
    commands = set(db.execute("SELECT session, seq, words FROM commands"))
    assert commands == set(db.execute("SELECT session, seq, words FROM texts WHERE tool IN ('bash', 'run_command')"))
    return len(kept)


def texts(first: int, count: int) -> list[str | Chunk]:
    """Return chunks of which some are calls of shells."""
    tools = {1: "Bash", 3: "run_command", 4: "Read"}
    made: list[str | Chunk] = []
    for number in range(first, first + count):
        text = f"the word{number} and the secondWord{number % 7}"
        tool = tools.get(number % 5)
        made.append(a_call(text, tool=tool) if tool else text)
    return made


def test_a_session_that_grows_has_few_rows_with_all_its_words(backend: StorageBackend, db: psycopg.Connection) -> None:
    dice = random.Random(4)
    with backend.writer() as writer:
        writer.replace(a_file(), a_session(*texts(0, 3)))
    written = 3
    for step in range(60):
        count = dice.choice([1, 1, 1, 2, 5])
        session, *chunks = a_session(*texts(written, count))
        with backend.writer() as writer:
            writer.append(a_file(version=step + 2), [session, *chunks])
        written += count
    assert check(db) > written
    ((rows,),) = db.execute("SELECT count(*) FROM vocabularies").fetchall()
    assert rows <= written.bit_length()


@pytest.mark.parametrize("steps", [[1] * 3000, [40] * 100, [5000, 1, 1, 30]])
def test_a_chunk_is_read_as_often_as_a_counter_carries(steps: list[int]) -> None:
    rows: dict[int, int] = {}
    end = read = most = 0
    for step in steps:
        first = vocabularies.start(end, end + step)
        rows = {start: until for start, until in rows.items() if start < first}
        end += step
        rows[first] = end
        read += end - first
        most = max(most, end - first - step)
        assert set().union(*(range(start, until) for start, until in rows.items())) == set(range(end))
    assert read <= end * (vocabularies.LARGEST + 1)
    assert most <= 1 << vocabularies.LARGEST
    assert len(rows) <= vocabularies.LARGEST + end / (1 << vocabularies.LARGEST) + 1


def test_words_go_with_their_session(backend: StorageBackend, db: psycopg.Connection) -> None:
    with backend.writer() as writer:
        writer.replace(a_file("/1.jsonl"), a_session(*texts(0, 9), id="one"))
        writer.replace(a_file("/2.jsonl"), a_session(*texts(9, 9), id="two"))
        writer.replace(a_file("/1.jsonl", version=2), a_session(*texts(50, 2), id="one"))
    assert check(db)
    with backend.rebuild() as writer:
        writer.replace(a_file("/1.jsonl"), a_session(*texts(70, 4), id="one"))
    assert check(db)
    ((number,),) = db.execute("SELECT id FROM sessions WHERE session_id = 'one'").fetchall()
    with backend.writer() as writer:
        writer.forget(number)
        writer.delete_file("/2.jsonl")
    assert check(db) == 0


def test_more_words_than_fit_into_a_list_are_in_several(backend: StorageBackend, db: psycopg.Connection) -> None:
    dice = random.Random(5)

    def long(number: int) -> str:
        return " ".join([f"chunk{number}", *(f"{dice.getrandbits(48):012x}" for _ in range(30_000))])

    with backend.writer() as writer:
        writer.replace(a_file(), a_session(*map(long, range(4))))
    assert check(db) > 100_000
    ((rows,),) = db.execute("SELECT count(*) FROM vocabularies").fetchall()
    assert rows > 1


@pytest.mark.parametrize(
    ("excluded", "found"),
    [("fox", []), ("quick fox", []), ("fox quick", ["s"]), ("fox dog", ["s"]), ("qui*", []), ("cat", ["s"])],
)
def test_words_in_order_must_be_in_one_chunk(
    backend: StorageBackend, db: psycopg.Connection, excluded: str, found: list[str]
) -> None:
    with backend.writer() as writer:
        writer.replace(a_file(), a_session("the quick fox", a_chunk("a dog", role="assistant"), id="s"))
    condition = meeting(a_query("the", excluded=[excluded]).condition)
    rows = db.execute(f"SELECT session_id FROM sessions AS s{condition.where()}", condition.values)  # type: ignore[arg-type]
    assert [name for (name,) in rows] == found


def test_an_older_schema_gains_the_words_of_its_sessions(
    backend: StorageBackend, db: psycopg.Connection, options: dict[str, Any], postgres: str
) -> None:
    schema = options["schema"]
    with backend.writer() as writer:
        writer.replace(a_file(), a_session(*texts(0, 9)))
        writer.finish(synced_at=None)
    functions, made = layout(db, schema)
    before = check(db)
    back_to_version_3(db)
    with psycopg.connect(postgres, autocommit=True, options=f"-c search_path={schema}") as owner:
        migrate(owner, "here", schema)
    assert layout(db, schema) == (functions, made)
    assert check(db) == before
    with backend.writer() as writer:
        session, *chunks = a_session(*texts(9, 2))
        writer.append(a_file(version=2), [session, *chunks])
        writer.finish(synced_at=None)
    assert check(db) > before
    assert backend.reader().candidates(a_query("word10", required=["word0"]), Filters()).chunks


def test_who_may_write_before_an_upgrade_may_write_after_it(
    roles: Callable[[str], str], workstation: Callable[..., Workstation], database: str
) -> None:
    owner = workstation("owner")
    owner.ok("workstations", "--prepare")
    ann = workstation("ann", dsn=roles("writer"))
    ann.write("s1", "the lighthouse keeper")
    ann.ok("index")
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("SET search_path = sesame")
        back_to_version_3(db)
    owner.ok("workstations", "--prepare")
    ann.write("s2", "another lighthouse")
    assert "1 added" in ann.ok("index")
    assert len(workstation("bob", dsn=roles("reader")).found("lighthouse", "AND", "another")) == 1


def layout(db: psycopg.Connection, schema: str) -> tuple[list[tuple[str, ...]], list[tuple[object, ...]]]:
    """Return the functions of a schema, and the columns, indexes, options, policies and constraints of its tables."""
    functions = db.execute(
        "SELECT proname, regexp_replace(pg_get_functiondef(oid), '\\s+', ' ', 'g') FROM pg_proc "
        "WHERE pronamespace = %s::regnamespace AND prokind = 'f' ORDER BY 1",
        (schema,),
    ).fetchall()
    made = db.execute(
        "SELECT c.relname, c.reloptions, c.relrowsecurity, "
        "(SELECT array_agg(format('%%s %%s %%s %%s %%s', attname, format_type(atttypid, atttypmod), attnotnull, "
        "attstorage, attstattarget) ORDER BY attnum) FROM pg_attribute "
        "WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped), "
        "(SELECT array_agg(pg_get_indexdef(indexrelid) ORDER BY pg_get_indexdef(indexrelid)) "
        "FROM pg_index WHERE indrelid = c.oid), "
        "(SELECT array_agg(pg_get_constraintdef(oid) ORDER BY pg_get_constraintdef(oid)) "
        "FROM pg_constraint WHERE conrelid = c.oid), "
        "(SELECT array_agg(format('%%s %%s %%s %%s', polname, polcmd, pg_get_expr(polqual, polrelid), "
        "pg_get_expr(polwithcheck, polrelid)) ORDER BY polname) FROM pg_policy WHERE polrelid = c.oid) "
        "FROM pg_class AS c WHERE relnamespace = %s::regnamespace AND relkind = 'r' ORDER BY 1",
        (schema,),
    ).fetchall()
    return functions, made


def test_a_shell_that_cmd_learns_of_needs_a_migration_for_the_calls_that_are_stored() -> None:
    upgrades = "".join(migration.sql for migration in migrations.MIGRATIONS)
    assert all(f"'{shell}'" in upgrades for shell in SHELLS)
