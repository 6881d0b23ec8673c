"""Sessions that a program writes itself: durable, searchable at once, whatever else is going on."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sesame_backend_sqlite.writer import SqliteWriter
from sesame_core import (
    BackendError,
    Filters,
    Runtime,
    Selection,
    Sesame,
    SesameError,
    SessionMeta,
    Source,
    ToolCall,
    ToolResult,
    UnknownSessionError,
)
from sesame_core.plugin.backend import Positions
from sesame_core.types.index import Chunk, IndexedFile
from sesame_core.types.transcript import Session

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "native-format.md").read_text(encoding="utf-8")


@pytest.fixture
def library() -> Iterator[Sesame]:
    with Sesame() as sesame:
        yield sesame


@pytest.fixture
def runtime(library: Sesame) -> Runtime:
    return Runtime(library)


@pytest.fixture
def directory(home: Path) -> Path:
    """Where the sessions are."""
    return home / ".local/share/sesame/sessions"


def found(sesame: Sesame, text: str) -> list[str]:
    return [hit.session.id for hit in sesame.search(text).hits]


def records(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# -- writing and finding ----------------------------------------------------------------------------------


def test_the_example_on_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    exec(compile(block, "docs/native-format.md", "exec"), {})


def test_a_session_persists_and_is_listed_from_its_first_message(
    runtime: Runtime, library: Sesame, directory: Path
) -> None:
    session = runtime.new_session("owl", "ann", cwd="/home/ann/fox", title="Count the foxes")
    assert [record["createdBy"] for record in records(directory / f"{session}.jsonl")] == ["ann"]
    assert library.list_sessions() == ([], 0)
    described = runtime.session(session)
    assert (described.title, described.created_at) == ("Count the foxes", described.updated_at)
    assert "once something is said" in (runtime.set_title(session, "Count all foxes").reason or "")
    runtime.append_message(session, "user", "how many are there?")
    (stored,), total = library.list_sessions(Filters(agents=("owl",)))
    assert (stored.session.id, stored.session.cwd, total) == (session, "/home/ann/fox", 1)
    assert found(library, "foxes") == [session]


def test_every_kind_of_record_is_found_as_soon_as_it_is_written(runtime: Runtime, library: Sesame) -> None:
    session = runtime.new_session("owl", "ann")
    call = ToolCall(id="c1", name="bash", arguments={"command": "grep otter"})
    result = ToolResult(call_id="c1", name="bash", text="heron.py: matched", is_error=True)
    for appended, word in (
        (runtime.append_message(session, "user", "where is the badger?"), "badger"),
        (runtime.append_message(session, "assistant", "I look", [call]), "otter"),
        (runtime.append_message(session, "tool", "", (), [result]), "heron"),
        (runtime.append_message(session, "system", "beaver mode"), "beaver"),
        (runtime.set_title(session, "All about weasels"), "weasels"),
        (runtime.compact(session, "There were ferrets"), "ferrets"),
    ):
        assert appended.is_indexed
        assert found(library, word) == [session], word
    chunks = library.list_messages(session)
    assert [c.kind for c in chunks].count("tool_result") == 1
    (failed,) = [c for c in chunks if c.kind == "tool_result"]
    assert (failed.is_error, failed.tool_name, failed.call_id) == (True, "bash", "c1")


def test_the_position_is_that_of_the_records_first_chunk(runtime: Runtime, library: Sesame) -> None:
    session = runtime.new_session("owl", "ann", title="A title is a chunk")
    calls = [ToolCall(id=str(n), name="bash", arguments={"command": "ls"}) for n in range(3)]
    appended = [
        runtime.append_message(session, "user", "one"),
        runtime.append_message(session, "assistant", "two", calls),
        runtime.append_message(session, "user", "three"),
    ]
    assert [a.position for a in appended] == [1, 2, 6]
    chunks = library.list_messages(session)
    for a in appended:
        assert a.position is not None
        assert chunks[a.position].entry_id == a.id


def test_positions_are_those_that_a_backend_returns_which_copies_its_chunks(
    runtime: Runtime, library: Sesame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copying(self: SqliteWriter, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        return append(self, file, [replace(item) for item in content])

    append = SqliteWriter.append
    monkeypatch.setattr(SqliteWriter, "append", copying)
    session = runtime.new_session("researcher", "ann")
    assert [runtime.append_message(session, "user", text).position for text in ("fox", "elk", "cow")] == [0, 1, 2]


def test_what_is_known_about_a_session_comes_from_its_header_and_the_index(runtime: Runtime) -> None:
    session = runtime.new_session("owl", "ann")
    born = runtime.session(session)
    assert born == SessionMeta(
        id=session, agent="owl", created_by="ann", created_at=born.created_at, updated_at=born.updated_at
    )
    runtime.append_message(session, "user", "one")
    runtime.append_message(session, "assistant", "two")
    runtime.append_message(session, "tool", "", (), [ToolResult(call_id="x", text="three")])
    runtime.set_title(session, "First")
    runtime.set_title(session, "Second")
    runtime.compact(session, "Early")
    runtime.compact(session, "Late")
    known = runtime.session(session)
    assert (known.agent, known.created_by, known.created_at) == ("owl", "ann", born.created_at)
    assert (known.title, known.summary, known.message_count) == ("Second", "Late", 2)
    assert known.updated_at is not None
    assert born.created_at is not None
    assert known.updated_at >= born.created_at


def test_a_session_with_a_summary_ranks_above_an_equal_one_without(runtime: Runtime, library: Sesame) -> None:
    plain, summarised = (runtime.new_session("owl", "ann") for _ in range(2))
    for session in (summarised, plain):
        runtime.append_message(session, "user", "reconnect the websocket")
    runtime.compact(summarised, "the websocket reconnect was fixed")
    assert found(library, "websocket reconnect") == [summarised, plain]


def test_the_one_written_last_is_listed_first_page_by_page(runtime: Runtime) -> None:
    ids = [runtime.new_session("owl", str(n)) for n in range(4)]
    runtime.append_message(ids[1], "user", "again")
    order = [ids[1], ids[3], ids[2], ids[0]]
    assert [known.id for known in runtime.sessions()] == order
    assert [known.id for known in runtime.sessions(limit=2, offset=1)] == order[1:3]


def test_there_are_no_sessions_and_no_directory_before_the_first(runtime: Runtime, directory: Path) -> None:
    assert runtime.sessions() == []
    assert not directory.parent.exists()


def test_files_of_others_in_the_directory_are_not_sessions(runtime: Runtime, directory: Path) -> None:
    session = runtime.new_session("owl", "ann")
    for name in ("notes.txt", "has space.jsonl", ".hidden.jsonl"):
        (directory / name).write_text("{}\n")
    assert [known.id for known in runtime.sessions()] == [session]


def test_an_index_run_finds_nothing_left_to_do(runtime: Runtime, library: Sesame) -> None:
    session = runtime.new_session("owl", "ann")
    runtime.append_message(session, "user", "fox")
    report = library.index()
    assert (report.unchanged, report.changed, report.errors) == (1, 0, [])


def test_appending_says_the_same_as_indexing_the_whole_file(runtime: Runtime, library: Sesame) -> None:
    session = runtime.new_session("owl", "ann", cwd="/w", title="Foxes")
    for n in range(20):
        runtime.append_message(session, "user", f"fox {n}")
        runtime.append_message(
            session, "assistant", "", [ToolCall(id=str(n), name="bash", arguments={"command": "ls"})]
        )
        runtime.append_message(session, "tool", "", (), [ToolResult(call_id=str(n), text="a.py")])
    runtime.compact(session, "done")
    appended, chunks = library.get_session(session).session, library.list_messages(session)
    library.index(full=True)
    assert library.get_session(session).session == appended
    assert library.list_messages(session) == chunks


# -- what is written --------------------------------------------------------------------------------------


def test_files_are_their_owners_alone(runtime: Runtime, directory: Path) -> None:
    old = os.umask(0)
    try:
        path = directory / f"{runtime.new_session('owl', 'ann')}.jsonl"
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_a_record_is_synced_before_it_is_indexed(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    session = runtime.new_session("owl", "ann")
    steps: list[str] = []
    sync = os.fsync
    monkeypatch.setattr("os.fsync", lambda fd: (steps.append("synced"), sync(fd)))
    follow = runtime._follower.follow
    monkeypatch.setattr(runtime._follower, "follow", lambda *a: (steps.append("indexed"), follow(*a))[1])
    runtime.append_message(session, "user", "fox")
    assert steps[:2] == ["synced", "indexed"]


@pytest.mark.parametrize("text", ["line\nbreak\r\n\u2028", "nul \0 fox", "lone \ud800 fox", "狐 🦊 fox", '"\\'])
def test_any_text_is_one_line_and_comes_back(text: str, runtime: Runtime, library: Sesame, directory: Path) -> None:
    session = runtime.new_session("owl", "ann")
    runtime.append_message(session, "user", text)
    raw = (directory / f"{session}.jsonl").read_bytes()
    assert raw.count(b"\n") == 2
    assert json.loads(raw.splitlines()[1])["text"] == text
    (chunk,) = library.list_messages(session)
    assert chunk.text == text.replace("\0", "").replace("\ud800", "\ufffd")


@pytest.mark.parametrize("value", [object(), {1, 2}, float("nan"), Path("/")])
def test_a_value_that_is_not_json_is_rejected_and_nothing_is_written(
    value: object, runtime: Runtime, directory: Path
) -> None:
    session = runtime.new_session("owl", "ann")
    with pytest.raises(SesameError, match="cannot be written as JSON"):
        runtime.append_message(session, "assistant", "", [ToolCall(id="1", name="t", arguments={"x": value})])
    assert len(records(directory / f"{session}.jsonl")) == 1


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (lambda r, s: r.append_message(s, "robot", "x"), "'robot' is not a role of a message: use user, assistant,"),
        (lambda r, s: r.append_message(s, "User", "x"), "'User' is not a role of a message"),
        (lambda r, s: r.append_message(s, "", "x"), "'' is not a role of a message"),
        (lambda r, s: r.append_message(s, None, "x"), "None is not a role of a message"),
        (lambda r, s: r.append_message(s, ["user"], "x"), r"\['user'\] is not a role of a message"),
        (lambda r, s: r.append_message(s, "metadata", "x"), "'metadata' is not a role of a message"),
        (lambda r, s: r.append_message(s, "r" * 9_999, "x"), "…? is not a role of a message"),
        (lambda r, s: r.append_message(s, "user", None), "the text of a message must be a string, not None"),
        (lambda r, s: r.append_message(s, "user", b"x"), "the text of a message must be a string, not b'x'"),
        (
            lambda r, s: r.append_message(s, "assistant", "", [ToolCall(id="1", name="")]),
            "name of a tool call cannot be",
        ),
        (lambda r, s: r.append_message(s, "assistant", "", [ToolCall(id=1, name="t")]), "id of a tool call must be"),
        (
            lambda r, s: r.append_message(s, "tool", "", (), [ToolResult(call_id="1", text=3)]),
            "text of a tool result must",
        ),
        (lambda r, s: r.compact(s, ""), "a summary cannot be empty"),
        (lambda r, s: r.compact(s, 5), "a summary must be a string, not 5"),
        (lambda r, s: r.set_title(s, " \n"), "a title cannot be empty"),
        (lambda r, s: r.set_title(s, "\0"), "a title cannot be empty"),
        (lambda r, s: r.set_title(s, None), "a title must be a string, not None"),
    ],
)
def test_a_record_that_no_index_takes_is_refused_before_it_is_written(
    write: Callable[[Runtime, str], object], told: str, runtime: Runtime, directory: Path
) -> None:
    session = runtime.new_session("owl", "ann")
    with pytest.raises(SesameError, match=told):
        write(runtime, session)
    assert len(records(directory / f"{session}.jsonl")) == 1


@pytest.mark.parametrize("agent", ["", "  ", "\0", None, 5])
def test_a_session_of_an_agent_without_a_name_is_not_begun(agent: Any, runtime: Runtime, directory: Path) -> None:
    with pytest.raises(SesameError, match="the name of an agent"):
        runtime.new_session(agent, "ann")
    assert not directory.exists() or not list(directory.iterdir())


@pytest.mark.parametrize("session", ["", "nobody", "../secrets", "a/b", ".", "x" * 300, "nul\0"])
def test_an_id_without_a_session_is_an_error(session: str, runtime: Runtime, directory: Path) -> None:
    runtime.new_session("owl", "ann")
    (directory.parent / "secrets.jsonl").write_text("{}\n")
    for call in (runtime.session, lambda s: runtime.append_message(s, "user", "x"), lambda s: runtime.compact(s, "x")):
        with pytest.raises(UnknownSessionError):
            call(session)
    assert (directory.parent / "secrets.jsonl").read_text() == "{}\n"


def test_a_record_that_a_dying_writer_left_half_loses_no_neighbour(
    runtime: Runtime, library: Sesame, directory: Path
) -> None:
    session = runtime.new_session("owl", "ann")
    runtime.append_message(session, "user", "badger")
    with (directory / f"{session}.jsonl").open("ab") as file:
        file.write(b'{"type": "message", "role": "user", "te')
    assert runtime.append_message(session, "user", "otter").position == 1
    assert found(library, "badger") == found(library, "otter") == [session]


def test_a_last_line_without_its_newline_is_kept(runtime: Runtime, library: Sesame, directory: Path) -> None:
    session = runtime.new_session("owl", "ann")
    with (directory / f"{session}.jsonl").open("ab") as file:
        file.write(b'{"type": "message", "role": "user", "text": "heron"}')
    library.index()
    assert found(library, "heron") == [session]
    assert runtime.append_message(session, "user", "otter").position == 1
    assert [c.text for c in library.list_messages(session)] == ["heron", "otter"]


def test_a_message_over_the_limit_is_on_the_disk_and_found_by_its_beginning_and_end(
    runtime: Runtime, library: Sesame, directory: Path
) -> None:
    session = runtime.new_session("owl", "ann")
    appended = runtime.append_message(session, "user", "badger " + "long words " * 110_000 + "narwhal")
    assert (appended.is_indexed, appended.position, appended.reason) == (True, 0, None)
    assert found(library, "badger") == found(library, "narwhal") == [session]
    assert len(records(directory / f"{session}.jsonl")) == 2
    assert runtime.append_message(session, "user", "short").is_indexed


def test_a_directory_that_cannot_be_written_is_an_error_for_people(library: Sesame, home: Path) -> None:
    (home / "file").write_text("")
    with pytest.raises(SesameError, match="file"):
        Runtime(library, home / "file" / "sessions").new_session("owl", "ann")


# -- while others write -----------------------------------------------------------------------------------


def test_while_the_index_is_held_the_message_is_on_the_disk_and_the_next_run_finds_it(
    library: Sesame, directory: Path
) -> None:
    runtime = Runtime(library, patience=0.02)
    session = runtime.new_session("owl", "ann")
    runtime.append_message(session, "user", "badger")
    with Sesame() as other, other.writer():
        appended = runtime.append_message(session, "user", "otter")
    assert not appended.is_indexed
    assert appended.position is None
    assert "being written by" in (appended.reason or "")
    assert records(directory / f"{session}.jsonl")[-1]["text"] == "otter"
    assert found(library, "otter") == []
    assert library.index().appended == 1
    assert found(library, "otter") == [session]


def test_the_next_append_indexes_what_a_failed_one_left(library: Sesame) -> None:
    runtime = Runtime(library, patience=0)
    session = runtime.new_session("owl", "ann")
    with Sesame() as other, other.writer():
        runtime.append_message(session, "user", "otter")
    assert runtime.append_message(session, "user", "heron").position == 1
    assert [c.text for c in library.list_messages(session)] == ["otter", "heron"]


def test_a_session_begun_while_the_index_is_held_is_known_and_found_later(library: Sesame) -> None:
    runtime = Runtime(library, patience=0)
    with Sesame() as other, other.writer():
        session = runtime.new_session("owl", "ann")
        assert [(k.id, k.agent, k.created_by) for k in runtime.sessions()] == [(session, "owl", "ann")]
    runtime.append_message(session, "user", "heron")
    assert found(library, "heron") == [session]


def test_an_append_waits_for_whoever_is_about_to_be_done(library: Sesame) -> None:
    runtime = Runtime(library, patience=30)
    session = runtime.new_session("owl", "ann")
    with Sesame() as other:
        held, done = threading.Event(), threading.Event()

        def hold() -> None:
            with other.writer():
                held.set()
                done.wait(10)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(10)
        threading.Timer(0.1, done.set).start()
        assert runtime.append_message(session, "user", "fox").is_indexed
        thread.join()


def test_another_failure_to_index_is_reported_and_not_raised(
    runtime: Runtime, library: Sesame, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = runtime.new_session("owl", "ann")

    def fail() -> None:
        raise BackendError("the disk is full")

    monkeypatch.setattr(library, "writer", fail)
    assert runtime.append_message(session, "user", "fox").reason == "the disk is full"


WRITER = """
import sys
from sesame_core import Runtime, Sesame
with Sesame() as sesame:
    runtime = Runtime(sesame, patience=30)
    session = sys.argv[1] or runtime.new_session("owl", "ann")
    assert all(runtime.append_message(session, "user", f"{sys.argv[2]}{n}").is_indexed for n in range(40))
"""


@pytest.mark.once
@pytest.mark.parametrize("is_shared", [False, True])
def test_two_processes_append_at_once_and_every_message_is_indexed(
    is_shared: bool, runtime: Runtime, library: Sesame
) -> None:
    session = runtime.new_session("owl", "ann") if is_shared else ""
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, session, word]) for word in ("fox", "otter")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    texts = {c.text for known in runtime.sessions() for c in library.list_messages(known.id)}
    assert texts == {f"{word}{n}" for word in ("fox", "otter") for n in range(40)}
    assert library.index().changed == 0


# -- what the configuration and the user say --------------------------------------------------------------


def test_a_forgotten_session_does_not_come_back(runtime: Runtime, library: Sesame, directory: Path) -> None:
    session = runtime.new_session("owl", "ann")
    runtime.append_message(session, "user", "badger")
    library.forget(session)
    appended = runtime.append_message(session, "user", "otter")
    assert (appended.position, appended.reason) == (None, None)
    assert found(library, "badger") == found(library, "otter") == []
    assert len(records(directory / f"{session}.jsonl")) == 3
    assert runtime.session(session).message_count == 0


def test_a_source_for_the_directory_decides_how_it_is_indexed(tmp_path: Path) -> None:
    place = tmp_path / "sessions"
    source = Source(
        parser=Selection(name="sesame"),
        formatter=Selection(name="default", options={"result_limit": 10}),
        exclude=("/private",),
        path=tmp_path,
    )
    with Sesame(sources=[source], data_dir=tmp_path / "data") as sesame:
        runtime = Runtime(sesame, place)
        private = runtime.new_session("owl", "ann", cwd="/private")
        assert runtime.append_message(private, "user", "badger").position is None
        assert found(sesame, "badger") == []
        session = runtime.new_session("owl", "ann", cwd="/public")
        runtime.append_message(session, "tool", "", (), [ToolResult(call_id="1", text="heron " * 100)])
        (chunk,) = sesame.list_messages(session)
        assert chunk.cut > 500
        assert sesame.index().changed == 0


def test_a_native_session_is_not_resumed_and_the_error_says_so(runtime: Runtime, library: Sesame) -> None:
    session = runtime.new_session("owl", "ann")
    runtime.append_message(session, "user", "where is the badger?")
    with pytest.raises(SesameError, match="sessions of 'owl' cannot be resumed"):
        library.resume_command(session)
