"""From a parser's events to sessions and chunks, over a real SQLite index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sesame_core.config import identity
from sesame_core.indexing.file_reader import HASHED, FileReader
from sesame_core.plugin.manager import PluginManager
from sesame_core.testing.memory import MemoryBackend
from sesame_core.types.index import Chunk, IndexedFile
from sesame_core.types.transcript import (
    PROMPT_CHARS,
    SUMMARY_CHARS,
    Checkpoint,
    Event,
    Message,
    Notes,
    Session,
    Skipped,
    ToolCall,
    ToolResult,
)

NOON = datetime(2026, 5, 8, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Script:
    """A parser that yields what it is told to; a file of n events has n lines of two bytes."""

    version = 1

    def default_roots(self) -> Sequence[Path]:
        return ()

    def __init__(self, *events: Event) -> None:
        self.events = events

    def matches(self, path: Path) -> bool:
        return True

    def parse(self, path: Path) -> Iterator[Event]:
        yield from self.events
        yield Checkpoint(offset=2 * len(self.events), line=len(self.events))

    def parse_tail(self, path: Path, checkpoint: Checkpoint) -> Iterator[Event]:
        yield from self.events[checkpoint.line :]
        yield Checkpoint(offset=2 * len(self.events), line=len(self.events))


class Desk:
    """One file, read as often as a test likes."""

    def __init__(self, place: Path, is_excluded: Callable[[str | None], bool] = lambda cwd: False) -> None:
        self.path = place / "x.jsonl"
        self.backend = MemoryBackend()
        self.formatter = PluginManager().formatter("default")
        self.is_excluded = is_excluded
        #: What was written about sessions, by id.
        self.notes: dict[str, Notes] = {}
        self.reading: FileReader | None = None

    def read(self, *events: Event) -> list[Chunk]:
        """Read the file whole and return the chunks of all its sessions."""
        return self._read(events, grown=False)

    def grow(self, *events: Event) -> list[Chunk]:
        """Read the file from its checkpoint; all events are given again."""
        return self._read(events, grown=True)

    def _read(self, events: Sequence[Event], *, grown: bool) -> list[Chunk]:
        self.path.write_bytes(b"x\n" * len(events))
        size = self.path.stat().st_size
        file = IndexedFile(path=str(self.path), parser="script", parser_version=1, mtime_ns=1, size=size)
        with self.backend.writer() as writer:
            known = writer.files().get(file.path)
            self.reading = FileReader(
                file,
                Script(*events),
                self.formatter,
                writer,
                workstation="ws",
                is_excluded=self.is_excluded,
                notes=self.notes.get,
            )
            if grown:
                tail = self.reading.tail(known)
                assert tail is not None
                writer.append(file, tail)
            else:
                writer.replace(file, self.reading.whole())
        return [chunk for session in self.sessions() for chunk in self.chunks(session.id)]

    def sessions(self) -> list[Session]:
        with self.backend.writer() as writer:
            return writer.file_sessions(str(self.path))

    def session(self, id: str = "s") -> Session:
        return next(session for session in self.sessions() if session.id == id)

    def chunks(self, id: str = "s") -> list[Chunk]:
        reader = self.backend.reader()
        return [
            c
            for stored in reader.find_sessions(id)
            if stored.session.id == id
            for c in reader.chunks([(stored.number, 0, None)])[0]
        ]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.backend.close()


def session(**facts: Any) -> Session:
    return Session(**{"id": "s", "agent": "script", **facts})


def said(text: str, *, role: Any = "user", at: datetime | None = None, **fields: Any) -> Message:
    return Message(**{"session_id": "s", "role": role, "text": text, "timestamp": at, **fields})


def texts(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


# -- replayed messages -----------------------------------------------------------------------------------------


def test_a_replayed_message_is_indexed_and_counted_once(desk: Desk) -> None:
    chunks = desk.read(
        session(),
        said("fox", origin_id="m1"),
        said("elk", origin_id="m2"),
        said("fox", origin_id="m1"),
        said("fox", origin_id="m3"),
        said("no origin"),
        said("no origin"),
    )
    assert texts(chunks) == ["fox", "elk", "fox", "no origin", "no origin"]
    assert desk.session().message_count == 5
    assert desk.reading is not None
    assert desk.reading.skipped == {"repeated": 1}
    assert desk.reading.losses == []


def test_a_message_replayed_after_the_file_grew_is_dropped(desk: Desk) -> None:
    first = [session(), said("start", origin_id="m0"), said("fox", origin_id="m1")]
    desk.read(*first)
    chunks = desk.grow(*first, said("fox", origin_id="m1"), said("elk", origin_id="m2"))
    assert texts(chunks) == ["start", "fox", "elk"]
    assert desk.session().message_count == 3
    assert desk.reading is not None
    assert desk.reading.file.skipped == {"repeated": 1}


def test_a_grown_file_counts_on(desk: Desk) -> None:
    first = [
        session(),
        said("fox", at=NOON),
        said("yes", role="assistant", at=NOON + HOUR),
        Skipped(reason="odd", line=3),
    ]
    desk.read(*first)
    desk.grow(*first, said("elk", at=NOON + 2 * HOUR), Skipped(reason="odd", line=5))
    stored = desk.session()
    assert (stored.message_count, stored.exchange_count) == (3, 2)
    assert (stored.created, stored.modified) == (NOON, NOON + 2 * HOUR)
    assert stored.prompts == ("fox", "elk")
    assert desk.reading is not None
    assert (desk.reading.skipped, desk.reading.file.skipped) == ({"odd": 1}, {"odd": 2})
    assert desk.reading.losses == [(5, "odd")]


# -- counts ----------------------------------------------------------------------------------------------------


def test_what_people_and_agents_say_is_counted_and_nothing_else(desk: Desk) -> None:
    desk.read(
        session(),
        said("a question"),
        said("an answer", role="assistant"),
        said("going on", role="assistant", is_new=False),
        said("instructions", role="system"),
        said("summary", role="summary"),
        said("title", role="metadata"),
        said("", role="tool", tool_results=(ToolResult(call_id="c", text="done"),)),
    )
    stored = desk.session()
    assert (stored.message_count, stored.exchange_count) == (2, 1)


@pytest.mark.seed("004", "INV-007")
def test_tool_calls_are_counted_by_name(desk: Desk) -> None:
    calls = tuple(ToolCall(id=str(n), name=name) for n, name in enumerate(["bash", "edit", "bash"]))
    desk.read(session(), said("", role="assistant", tool_calls=calls), said("", role="user", tool_calls=calls[:1]))
    assert desk.session().tool_counts == {"bash": 3, "edit": 1}


def test_the_first_telling_prompt_and_the_next_are_kept_as_they_begin(desk: Desk) -> None:
    desk.read(
        session(),
        said("hi"),
        said(" \n "),
        said("the first fox " * 1000),
        said("an answer", role="assistant"),
        said("second\0"),
        said("third"),
    )
    first, second = desk.session().prompts
    assert first == ("the first fox " * 1000)[:PROMPT_CHARS].strip()
    assert second == "second"


def test_times_come_from_the_messages_in_any_order_not_from_the_file(desk: Desk) -> None:
    desk.read(
        session(),
        said("second", at=NOON + HOUR),
        said("undated"),
        said("last", role="assistant", at=NOON + 3 * HOUR),
        said("late tool", role="tool", at=NOON + 9 * HOUR),
        said("out of order", at=NOON + 2 * HOUR),
    )
    stored = desk.session()
    assert (stored.created, stored.modified) == (NOON + HOUR, NOON + 3 * HOUR)


def test_a_header_has_the_start_time_of_a_session(desk: Desk) -> None:
    desk.read(session(created=NOON - HOUR), said("fox", at=NOON))
    assert (desk.session().created, desk.session().modified) == (NOON - HOUR, NOON)


def test_a_session_without_dated_messages_was_modified_when_it_was_created_or_its_file_written(desk: Desk) -> None:
    desk.read(session(created=NOON), said("fox"))
    assert desk.session().modified == NOON
    desk.read(session(), said("fox"))
    assert desk.session().modified == datetime(1970, 1, 1, tzinfo=UTC)


# -- facts -----------------------------------------------------------------------------------------------------


def test_the_last_fact_wins_and_an_unknown_one_changes_nothing(desk: Desk) -> None:
    desk.read(
        session(title="kettle", cwd="/w", git_branch="main"),
        said("fox"),
        session(title="teapot", model="m"),
        session(title=None, cwd=None),
    )
    stored = desk.session()
    assert (stored.title, stored.cwd, stored.git_branch, stored.model) == ("teapot", "/w", "main", "m")


def test_a_title_can_be_removed(desk: Desk) -> None:
    desk.read(session(title="kettle"), said("fox"), session(title=""))
    assert not desk.session().title


def test_abandoned_segments_can_become_active_again(desk: Desk) -> None:
    desk.read(session(abandoned=(1, 2)), said("fox"), session(abandoned=()))
    assert desk.session().abandoned == ()


def test_a_long_summary_is_cut(desk: Desk) -> None:
    desk.read(session(summary="s" * 10_000), said("fox"))
    assert len(desk.session().summary or "") == SUMMARY_CHARS


@pytest.mark.seed("004", "INV-001", "INV-002", "INV-003")
def test_the_key_names_workstation_project_and_session(desk: Desk) -> None:
    desk.read(session(cwd="/home/ann/w"), session(id="t"), said("fox"), said("fox", session_id="t"))
    assert desk.session().key == f"ws:{identity.project_id('/home/ann/w')}:s"
    assert desk.session("t").key == f"ws:{identity.project_id('')}:t"


def test_the_key_follows_a_directory_that_comes_late(desk: Desk) -> None:
    desk.read(session(), said("fox"), session(cwd="/w"))
    assert desk.session().key == f"ws:{identity.project_id('/w')}:s"


def test_characters_that_no_database_takes_are_removed_from_texts(desk: Desk) -> None:
    call = ToolCall(id="c", name="ba\0sh")
    (chunk, *_) = desk.read(session(title="ket\0tle", cwd="/w\ud800"), said("f\0ox \ud83e", tool_calls=(call,)))
    assert chunk.text == "fox \ufffd"
    stored = desk.session()
    assert (stored.title, stored.cwd, stored.tool_counts) == ("kettle", "/w\ufffd", {"bash": 1})


# -- chunks ----------------------------------------------------------------------------------------------------


def test_a_chunk_knows_the_message_it_was_cut_from(desk: Desk) -> None:
    message = said("fox", at=NOON, entry_id="e1", source_type="queued_command", segment=3)
    (chunk,) = desk.read(session(), message)
    assert (chunk.session_id, chunk.seq, chunk.timestamp) == ("s", 0, NOON)
    assert (chunk.entry_id, chunk.source_type, chunk.segment) == ("e1", "queued_command", 3)


def test_origins_are_stable_and_equal_across_forks(desk: Desk, tmp_path: Path) -> None:
    message = said("fox", role="assistant", origin_id="m1", tool_calls=(ToolCall(id="c", name="bash"),))
    first = [chunk.origin for chunk in desk.read(session(), message)]
    assert len(first) == len(set(first)) == 2
    (tmp_path / "fork").mkdir()
    fork = Desk(tmp_path / "fork")
    copied = said("fox", role="assistant", session_id="f", origin_id="m1", tool_calls=message.tool_calls)
    chunks = fork.read(session(id="f", parent_id="s"), said("new", session_id="f"), copied)
    assert [chunk.origin for chunk in chunks[1:]] == first
    assert fork.session("f").first_origin == desk.session().first_origin == first[0]
    fork.backend.close()


def test_an_origin_takes_63_bits_whatever_the_id(desk: Desk) -> None:
    ids = ["", "x" * 10_000, "\ud800", "é", *map(str, range(50))]
    chunks = desk.read(session(), *[said(f"fox {n}", origin_id=i) for n, i in enumerate(ids)])
    origins = [chunk.origin for chunk in chunks]
    assert origins[0] is None
    numbers = [origin for origin in origins if origin is not None]
    assert len(set(numbers)) == len(ids) - 1
    assert all(0 <= number < 1 << 63 for number in numbers)


# -- what is left out ------------------------------------------------------------------------------------------


def test_records_are_counted_and_only_losses_are_listed(desk: Desk) -> None:
    odd = Skipped(reason="not for people", line=3, is_loss=False)
    desk.read(Skipped(reason="damaged", line=1), session(), said("fox"), odd)
    assert desk.reading is not None
    assert desk.reading.skipped == desk.reading.file.skipped == {"damaged": 1, "not for people": 1}
    assert desk.reading.losses == [(1, "damaged")]


def test_an_excluded_session_leaves_no_trace_and_no_checkpoint(tmp_path: Path) -> None:
    desk = Desk(tmp_path, is_excluded=lambda cwd: cwd == "/private")
    chunks = desk.read(session(cwd="/private", title="kettle"), said("fox"), session(title="teapot"))
    assert chunks == []
    assert desk.sessions() == []
    assert desk.reading is not None
    assert desk.reading.file.checkpoint is None
    desk.backend.close()


def test_growth_is_distinguished_from_a_rewrite_by_hashes_of_head_and_tail(desk: Desk) -> None:
    events = [session(), *[said(f"fox {n}") for n in range(3 * HASHED)]]
    desk.read(*events)
    size = desk.path.stat().st_size
    assert size > 2 * HASHED
    for changed in (0, HASHED - 1, size - HASHED, size - 1):
        data = bytearray(b"x\n" * (len(events) + 1))
        data[changed] = ord("y")
        desk.path.write_bytes(data)
        with desk.backend.writer() as writer:
            file = IndexedFile(path=str(desk.path), parser="script", parser_version=1, mtime_ns=2, size=len(data))
            known = writer.files()[file.path]
            reading = FileReader(
                file,
                Script(*events),
                desk.formatter,
                writer,
                workstation="ws",
                is_excluded=desk.is_excluded,
                notes=desk.notes.get,
            )
            assert reading.tail(known) is None, f"byte {changed} was changed"


def test_a_session_is_stored_with_what_was_written_about_it(desk: Desk) -> None:
    desk.notes["s"] = notes = Notes(name="a name", description="what it is about", summary="all of it", tags=("x",))
    desk.read(session(), said("fox"))
    assert desk.session().notes == notes
    desk.notes.clear()
    desk.grow(session(), said("fox"), said("dog"))
    assert desk.session().notes == notes, "a file that has only grown leaves them to whoever looks for changes"
    desk.read(session(), said("cow"))
    assert desk.session().notes is None
