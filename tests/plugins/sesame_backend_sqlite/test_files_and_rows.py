"""What is SQLite's own about the SQLite backend: its files, its rows, its plans."""

from __future__ import annotations

import itertools
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sesame_backend_sqlite import rows, schema
from sesame_backend_sqlite.backend import SqliteBackend
from sesame_backend_sqlite.filters import like
from sesame_backend_sqlite.schema import MAX_CHUNKS, SESSION_SHIFT
from sesame_core.errors import ConfigError
from sesame_core.testing import a_call, a_chunk, a_file, a_query, a_session
from sesame_core.testing.builders import NOON, Content, a_word
from sesame_core.types.index import Chunk, IndexedFile
from sesame_core.types.query import AllOf, AnyOf, Filters, Is, Not
from sesame_core.types.transcript import Session


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def backend(directory: Path) -> Iterator[SqliteBackend]:
    made = SqliteBackend(directory)
    yield made
    made.close()


def put(backend: SqliteBackend, content: Content, path: str = "/s/1", *, rebuild: bool = False, **fields: Any) -> None:
    with backend.rebuild() if rebuild else backend.writer() as writer:
        writer.replace(a_file(path, **fields), content)


@contextmanager
def opened(directory: Path) -> Iterator[sqlite3.Connection]:
    """Open the present generation as any program could."""
    (path,) = directory.glob("index*.sqlite")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        yield db


def files(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir() if path.suffix != ".lock"}


# -- options ---------------------------------------------------------------------------------------------------


def test_the_directory_is_an_option_and_has_a_default(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for options, expected in [
        ({"directory": str(tmp_path / "a")}, tmp_path / "a"),
        ({"directory": tmp_path / "b"}, tmp_path / "b"),
        ({"directory": "~/c"}, home / "c"),
        ({}, home / ".local/share/sesame"),
    ]:
        backend = SqliteBackend.from_options(options)
        with closing(backend):
            put(backend, a_session("fox"))
        assert (expected / "index.sqlite").is_file()
    monkeypatch.setenv("SESAME_DATA_DIR", str(tmp_path / "d"))
    with closing(SqliteBackend.from_options({})) as backend:
        put(backend, a_session("fox"))
    assert (tmp_path / "d" / "index.sqlite").is_file()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"directroy": "/x"}, "no option 'directroy'; did you mean 'directory'"),
        ({"zzz": "/x"}, "it has 'directory'"),
        ({"directory": 7}, "must be a path"),
    ],
)
def test_an_option_that_means_nothing_is_a_config_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        SqliteBackend.from_options(options)


def test_reading_makes_no_file(backend: SqliteBackend, directory: Path) -> None:
    assert backend.reader().statistics().sessions == 0
    assert not directory.exists()


def test_transcripts_are_private(backend: SqliteBackend, directory: Path) -> None:
    put(backend, a_session("fox"))
    assert directory.stat().st_mode & 0o077 == 0


def test_transcripts_are_private_in_a_directory_that_all_may_read(backend: SqliteBackend, directory: Path) -> None:
    directory.mkdir(mode=0o755)
    put(backend, a_session("fox"))
    with backend.rebuild() as writer:
        writer.replace(a_file("/s/1.jsonl"), a_session("fox"))
        assert len(list(directory.glob("index*.sqlite*"))) > 2, "two generations, and the log of one"
        for path in directory.glob("index*.sqlite*"):
            assert path.stat().st_mode & 0o077 == 0, path.name


# -- rows ------------------------------------------------------------------------------------------------------


def test_a_row_id_encodes_session_position_and_weight_class(backend: SqliteBackend, directory: Path) -> None:
    content = a_session(
        "a prompt",
        a_chunk("an answer", role="assistant"),
        a_call("a call"),
        a_chunk("a result", kind="tool_result", role="tool"),
        a_chunk("a title", kind="metadata", role="metadata"),
    )
    put(backend, a_session("first", id="s0"), "/s/0")
    put(backend, content)
    with opened(directory) as db:
        (number,) = db.execute("SELECT id FROM sessions WHERE session_id = 's1'").fetchone()
        ids = [
            row for (row,) in db.execute("SELECT id FROM chunks WHERE id >> ? = ? ORDER BY id", (SESSION_SHIFT, number))
        ]
        full_text = [row for (row,) in db.execute("SELECT rowid FROM chunks_fts ORDER BY rowid")]
    assert [(row >> 2 & (MAX_CHUNKS - 1), row & 3) for row in ids] == [(0, 0), (1, 1), (2, 2), (3, 3), (4, 1)]
    assert full_text[-5:] == ids


def test_sessions_written_in_one_transaction_leave_one_segment_in_each_full_text_table(
    backend: SqliteBackend, directory: Path
) -> None:
    with backend.writer() as writer:
        for number in range(20):
            writer.replace(a_file(f"/s/{number}"), a_session("fox", id=f"s{number}", title="den"))
    with opened(directory) as db:
        for table in ("chunks_fts", "heads_fts", "conversations_fts"):
            assert db.execute(f"SELECT count(DISTINCT segid) FROM {table}_idx").fetchone() == (1,)


def test_positions_and_sessions_never_overlap() -> None:
    def row_id(session: int, seq: int, chunk: Chunk) -> int:
        return int(rows.chunk_row(session, seq, chunk)[0])

    prompt = Chunk(kind="message", text="", role="user")
    result = Chunk(kind="tool_result", text="")
    assert row_id(1, MAX_CHUNKS - 1, result) < row_id(2, 0, prompt)
    assert row_id(1 << 38, MAX_CHUNKS - 1, result) < 1 << 63


def test_a_session_longer_than_any_is_cut_not_spilled_into_the_next(
    backend: SqliteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sesame_backend_sqlite.writer.MAX_CHUNKS", 3)
    put(backend, a_session(*["fox"] * 5))
    (stored,) = backend.reader().find_sessions("s1")
    assert stored.chunk_count == 3
    assert len(backend.reader().chunks([(stored.number, 0, None)])[0]) == 3


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\x1e"), max_size=20)
TIMES = st.none() | st.datetimes(datetime(1980, 1, 1), datetime(2100, 1, 1)).map(
    lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000, tzinfo=UTC)
)


@given(
    st.builds(
        Session,
        id=TEXT,
        agent=TEXT,
        kind=st.sampled_from(["interactive", "subagent", "headless"]),
        parent_id=st.none() | TEXT,
        cwd=st.none() | TEXT,
        title=st.none() | TEXT,
        summary=st.none() | TEXT,
        created=TIMES,
        modified=TIMES.filter(bool),
        abandoned=st.lists(st.integers(0, 10**6), max_size=5).map(tuple),
        message_count=st.integers(0, 10**9),
        tool_counts=st.dictionaries(TEXT, st.integers(0, 10**6), max_size=3),
        prompts=st.lists(TEXT.filter(bool), max_size=2).map(tuple),
        first_origin=st.none() | st.integers(0, 2**63 - 1),
        key=TEXT,
    )
)
def test_a_session_comes_back_from_its_row(session: Session) -> None:
    assert rows.to_session(rows.session_row(session, 0)) == session


def test_a_prompt_that_contains_the_separator_of_prompts_stays_one() -> None:
    session = Session(id="s", agent="a", prompts=("one\x1ehalf", "two"))
    assert rows.to_session(rows.session_row(session, 0)).prompts == ("one half", "two")


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.builds(
        IndexedFile,
        path=TEXT,
        parser=TEXT,
        parser_version=st.integers(0, 99),
        mtime_ns=st.integers(-1, 2**62),
        size=st.integers(0, 2**50),
        skipped=st.dictionaries(TEXT, st.integers(0, 99), max_size=3),
        error=st.none() | TEXT,
        missing_since=TIMES,
        head_hash=st.binary(max_size=16),
        tail_hash=st.binary(max_size=16),
    )
)
def test_a_file_comes_back_from_its_row(file: IndexedFile) -> None:
    assert rows.to_file(rows.file_row(file)) == file


@given(st.text(alphabet="ab%_\\/'"))
def test_like_takes_any_text_literally(text: str) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        assert db.execute("SELECT ? LIKE ? ESCAPE '\\'", (text, like(text))).fetchone() == (1,)
        other = text.replace("%", "x").replace("_", "y")
        if other != text:
            assert db.execute("SELECT ? LIKE ? ESCAPE '\\'", (other, like(text))).fetchone() == (0,)


# -- the schema ------------------------------------------------------------------------------------------------


def test_no_trigger_keeps_the_full_text_in_step(backend: SqliteBackend, directory: Path) -> None:
    """Inside a trigger every row becomes a segment of its own; the writer does it."""
    put(backend, a_session("fox"))
    with opened(directory) as db:
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'").fetchone() == (0,)


def test_the_file_says_whose_it_is_and_of_which_version(backend: SqliteBackend, directory: Path) -> None:
    put(backend, a_session("fox"))
    with opened(directory) as db:
        assert db.execute("PRAGMA application_id").fetchone() == (schema.APPLICATION_ID,)
        assert db.execute("PRAGMA user_version").fetchone() == (len(schema.MIGRATIONS),)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        steps = db.execute("SELECT id, description FROM schema_migrations").fetchall()
    assert steps == [(n, m.description) for n, m in enumerate(schema.MIGRATIONS, 1)]


def test_text_is_stored_once(backend: SqliteBackend, directory: Path) -> None:
    """The full-text tables hold the index only; their text is that of `chunks` and `sessions`."""
    put(backend, a_session("fox"))
    with opened(directory) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert "chunks_fts_data" in tables
    assert "chunks_fts_content" not in tables
    assert "heads_fts_content" not in tables


LOOKUPS: dict[str, Callable[[SqliteBackend], object]] = {
    "a whole id": lambda backend: backend.reader().find_sessions("s1"),
    "the beginning of an id": lambda backend: backend.reader().find_sessions("s"),
    "numbers": lambda backend: backend.reader().sessions([1, 2]),
    "chunks by position": lambda backend: backend.reader().chunks([(1, 0, 1)]),
}


@pytest.mark.parametrize("ask", LOOKUPS.values(), ids=LOOKUPS.keys())
def test_looking_something_up_reads_no_whole_table(
    backend: SqliteBackend, directory: Path, ask: Callable[[SqliteBackend], object]
) -> None:
    put(backend, a_session("fox"))
    asked: list[str] = []
    reader = backend.reader()
    reader.statistics()
    for db in backend._connections:
        db.set_trace_callback(asked.append)
    backend.reader = lambda: reader  # type: ignore[method-assign]
    ask(backend)
    selects = [sql for sql in asked if sql.startswith("SELECT") and ("sessions" in sql or "chunks" in sql)]
    assert selects
    with opened(directory) as db:
        plans = [row[3] for sql in selects for row in db.execute(f"EXPLAIN QUERY PLAN {sql}")]
    assert plans
    # What is looked up is no table.
    assert not [plan for plan in plans if plan.startswith("SCAN") and not plan.startswith("SCAN ranges ")], plans


NARROWED: dict[str, Callable[[SqliteBackend], object]] = {
    "errors": lambda backend: backend.reader().list_sessions(Filters(is_error=True, tool="bash"), limit=1),
    "a command": lambda backend: backend.reader().list_sessions(Filters(cmd="git push"), limit=1),
    "a role": lambda backend: backend.reader().list_sessions(Filters(role="system"), limit=1),
    "words": lambda backend: backend.reader().list_sessions(
        Filters(), limit=1, condition=AnyOf((a_word("fox"), Not(AllOf((a_word("dog"), Is(Filters(tool="bash"))))))),
    ),
    "a search": lambda backend: backend.reader().candidates(
        a_query("fox", condition=Not(Is(Filters(cmd="git push", is_error=True)))), Filters(role="system", tool="bash")
    ),
}  # fmt: skip


@pytest.mark.parametrize("ask", NARROWED.values(), ids=NARROWED.keys())
def test_narrowing_reads_no_text_of_chunks_that_do_not_match(
    backend: SqliteBackend, directory: Path, ask: Callable[[SqliteBackend], object]
) -> None:
    """Chunks are looked up one by one, through the full text or through the index of errors."""
    put(backend, a_session("fox"))
    asked: list[str] = []
    reader = backend.reader()
    reader.statistics()
    for db in backend._connections:
        db.set_trace_callback(asked.append)
    backend.reader = lambda: reader  # type: ignore[method-assign]
    ask(backend)
    with opened(directory) as db:
        plans = [row[3] for sql in asked if "s.id" in sql for row in db.execute(f"EXPLAIN QUERY PLAN {sql}")]
    assert plans
    scans = [plan for plan in plans if re.match(r"SCAN (chunks|c|f)\b", plan)]
    assert not [scan for scan in scans if "chunks_error" not in scan and "VIRTUAL TABLE" not in scan], plans
    # A full-text table is asked once, not once per session.
    for before, plan in itertools.pairwise(plans):
        assert "SCAN f VIRTUAL TABLE" not in plan or not before.startswith("CORRELATED"), plans


# -- the full text stays in step -------------------------------------------------------------------------------


def check(directory: Path) -> None:
    """Compare both full-text tables with the rows they index, and the counts with what they count."""
    with opened(directory) as db:
        for table in ("chunks_fts", "heads_fts"):
            db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        (counted,) = db.execute("SELECT value FROM meta WHERE key = 'chunks'").fetchone()
        assert db.execute("SELECT count(*) FROM chunks").fetchone() == (counted,)
        assert db.execute("SELECT coalesce(sum(chunk_count), 0) FROM sessions").fetchone() == (counted,)
        sql = "SELECT count(*) FROM chunks WHERE id >> ? NOT IN (SELECT id FROM sessions)"
        assert db.execute(sql, (SESSION_SHIFT,)).fetchone() == (0,)
        sql = "SELECT count(*) FROM paths WHERE session NOT IN (SELECT id FROM sessions)"
        assert db.execute(sql).fetchone() == (0,)


def test_the_full_text_agrees_with_the_rows_after_every_kind_of_change(backend: SqliteBackend, directory: Path) -> None:
    def append(*chunks: str, **facts: Any) -> None:
        with backend.writer() as writer:
            writer.append(a_file(version=9), a_session(*chunks, **facts))

    def fail() -> None:
        def broken() -> Iterator[Session | Chunk]:
            yield from a_session(*["half"] * 600, title="half")
            raise KeyError

        with backend.writer() as writer, pytest.raises(KeyError):
            writer.replace(a_file(version=10), broken())

    def forget() -> None:
        with backend.writer() as writer:
            writer.forget(backend.reader().find_sessions("s1")[0].number)

    steps: list[Callable[[], None]] = [
        lambda: put(backend, a_session("fox", a_call("x", paths=("/w/a.py",)), title="kettle", prompts=("fox",))),
        lambda: append("elk"),
        lambda: append("dog", title="teapot", summary="all of it"),
        lambda: append(title=None),
        lambda: put(backend, a_session("reconnectBackoff 日本語", "é"), version=3),
        lambda: put(backend, a_session("fox", id="s2") + a_session("fox", id="s3"), "/s/2"),
        fail,
        lambda: put(backend, a_session(*[f"fox {n}" for n in range(700)], id="s4"), "/s/3"),
        lambda: put(backend, a_session(id="s4"), "/s/3", version=2),
        lambda: put(backend, [], "/s/2", version=2),
        lambda: put(backend, a_session("fox", title="kettle"), version=4),
        forget,
        lambda: put(backend, a_session("fox"), version=5),
        lambda: put(backend, a_session("fox", id="s9"), "/s/9", rebuild=True),
        lambda: append("fox", id="s9"),
    ]
    for number, step in enumerate(steps):
        step()
        try:
            check(directory)
        except (AssertionError, sqlite3.DatabaseError) as error:
            raise AssertionError(f"after step {number}") from error


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["replace", "append", "forget", "rebuild"]),
        st.sampled_from(["/s/1", "/s/2"]),
        st.lists(st.sampled_from(["fox", "fooBar", "日本", "", "é è"]), max_size=3),
        st.sampled_from([None, "", "kettle", "teapot"]),
    ),
    max_size=8,
)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(CHANGES)
def test_no_series_of_changes_brings_them_out_of_step(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, str, list[str], str | None]]
) -> None:
    directory = tmp_path_factory.mktemp("changes")
    backend = SqliteBackend(directory)
    put(backend, [])
    for what, path, texts, title in changes:
        content = a_session(*texts, id=path[-1], title=title)
        if what == "forget":
            for stored in backend.reader().find_sessions(path[-1]):
                with backend.writer() as writer:
                    writer.forget(stored.number)
        elif what == "append":
            with backend.writer() as writer:
                writer.append(a_file(path), content)
        else:
            put(backend, content, path, rebuild=what == "rebuild")
    check(directory)
    backend.close()


# -- generations -----------------------------------------------------------------------------------------------


def test_a_rebuild_becomes_the_next_generation_and_the_old_one_goes(backend: SqliteBackend, directory: Path) -> None:
    put(backend, a_session("fox"))
    assert "index.sqlite" in files(directory)
    for number in (1, 2, 3):
        put(backend, a_session("fox"), rebuild=True)
        assert {name for name in files(directory) if name.endswith(".sqlite")} == {f"index.{number}.sqlite"}
        assert not {name for name in files(directory) if name.startswith("index.sqlite")}
    assert backend.reader().statistics().location.endswith("index.3.sqlite")


def test_a_reader_follows_to_the_next_generation(backend: SqliteBackend) -> None:
    put(backend, a_session("fox"))
    reader = backend.reader()
    with reader.snapshot():
        put(backend, a_session("elk"), rebuild=True)
        assert reader.candidates(a_query("fox"), Filters()).chunks
    assert not reader.candidates(a_query("fox"), Filters()).chunks
    assert reader.candidates(a_query("elk"), Filters()).chunks


def test_the_highest_number_counts_not_the_last_in_the_alphabet(backend: SqliteBackend, directory: Path) -> None:
    put(backend, a_session("fox"))
    backend.close()
    os.replace(directory / "index.sqlite", directory / "index.10.sqlite")
    with closing(SqliteBackend(directory)) as other:
        put(other, a_session("elk"), "/s/2")
    for name in ("index.9.sqlite", "index.x.sqlite", "my-index.11.sqlite", "index.12.sqlite.bak"):
        (directory / name).write_bytes(b"")
    assert backend.reader().statistics().files == 2


def test_leftovers_are_removed_by_the_next_writer(backend: SqliteBackend, directory: Path) -> None:
    put(backend, a_session("fox"), rebuild=True)
    backend.close()
    leftovers = ["index.sqlite", "index.sqlite-wal", "index.0.sqlite-shm", "rebuild.sqlite", "rebuild.sqlite-wal"]
    kept = ["notes.txt", "damaged-20260101T000000Z.sqlite", "index.sqlite.bak"]
    for name in leftovers + kept:
        (directory / name).write_bytes(b"x")
    put(backend, a_session("elk"), "/s/2")
    backend.close()
    assert not set(leftovers) & files(directory)
    assert set(kept) <= files(directory)
    assert backend.reader().statistics().files == 2


def test_a_rebuild_keeps_the_paths_of_a_session_whose_file_is_deleted(backend: SqliteBackend) -> None:
    put(backend, a_session("fox", a_call("edit", paths=("/w/a.py", "/w/b.py"))), "/s/gone")
    with backend.rebuild():
        pass
    for path in ("a.py", "w/b.py"):
        assert backend.reader().list_sessions(Filters(path=path), limit=9)[1] == 1


def test_a_rebuild_keeps_the_time_of_the_last_sync_unless_it_has_its_own(backend: SqliteBackend) -> None:
    with backend.writer() as writer:
        writer.finish(synced_at=NOON)
    with backend.rebuild():
        pass
    assert backend.reader().statistics().last_sync == NOON
    with backend.rebuild() as writer:
        writer.finish(synced_at=NOON.replace(hour=13))
    assert backend.reader().statistics().last_sync == NOON.replace(hour=13)


def test_the_writer_is_noted_next_to_the_lock_and_the_note_removed(backend: SqliteBackend, directory: Path) -> None:
    for _ in range(2):
        with backend.writer():
            assert str(os.getpid()) in (directory / "index.holder").read_text()
    backend.close()
    assert not (directory / "index.holder").exists()


def test_a_note_that_another_process_left_is_replaced(backend: SqliteBackend, directory: Path) -> None:
    with backend.writer():
        pass
    (directory / "index.holder").write_text("someone else")
    os.utime(directory / "index.holder", ns=(1, 1))
    with backend.writer():
        assert str(os.getpid()) in (directory / "index.holder").read_text()


# -- conversation rows -----------------------------------------------------------------------------------------


def behind(directory: Path) -> list[tuple[int, int]]:
    with opened(directory) as db:
        return db.execute("SELECT chunk_count, conversation_count FROM sessions").fetchall()


def test_a_conversation_row_is_renewed_when_its_session_is_quiet_and_not_on_every_append(
    backend: SqliteBackend, directory: Path
) -> None:
    put(backend, a_session("fox"))
    with backend.writer() as writer:
        writer.append(a_file("/s/1"), a_session("dog"))
        writer.finish(synced_at=None)
    assert behind(directory) == [(2, 1)]
    with backend.writer() as writer:
        writer.finish(synced_at=None)
    assert behind(directory) == [(2, 2)]
    with opened(directory) as db:
        found = db.execute("SELECT count(*) FROM conversations_fts WHERE conversations_fts MATCH 'dog'").fetchone()
    assert found == (1,)


def test_a_session_that_has_outgrown_its_row_gets_a_new_one_at_once(backend: SqliteBackend, directory: Path) -> None:
    put(backend, a_session("fox"))
    with backend.writer() as writer:
        writer.append(a_file("/s/1"), a_session(*(f"dog {n}" for n in range(80))))
    assert behind(directory) == [(81, 81)]
