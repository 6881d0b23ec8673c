"""Sesame as a Python library."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sesame_core.api.one_session import ID_LENGTHS
from sesame_core.api.sesame import Sesame
from sesame_core.config.model import Config, Selection, Source
from sesame_core.errors import QueryError, SesameError, UnknownSessionError
from sesame_core.plugin.hookspecs import hookimpl
from sesame_core.plugin.provider import Provider
from sesame_core.sdk.jsonl import JsonLines
from sesame_core.types.index import StoredSession
from sesame_core.types.query import Filters
from sesame_core.types.transcript import Checkpoint, Event, Message, Session

from ..support.in_memory import in_memory, plugins_with_memory

DAY = 86_400


class Diary:
    """Parser of `*.diary`: a line `{"id": …}` and lines `{"say": …}`."""

    version = 1

    def default_roots(self) -> Sequence[Path]:
        return ()

    def matches(self, path: Path) -> bool:
        return path.suffix == ".diary"

    def parse(self, path: Path) -> Iterator[Event]:
        lines = JsonLines(path)
        session = ""
        for record in lines:
            assert isinstance(record, dict)
            if "id" in record:
                session = record.pop("id")
                yield Session(id=session, agent="diary", **record)
            else:
                yield Message(session_id=session, role="user", text=record["say"])
        yield Checkpoint(offset=lines.offset, line=lines.line)


class Ephemeral(Diary):
    """A diary whose agent deletes old files and can resume what is left."""

    def expires_after_days(self) -> int | None:
        return 30

    def resume_command(self, session: Session, path: Path) -> Sequence[str]:
        return ("diary", "--resume", session.id, str(path))


class Suspicious(Ephemeral):
    """One that cannot look at a file."""

    def matches(self, path: Path) -> bool:
        if path.stem == "locked":
            raise PermissionError(13, "Permission denied")
        return super().matches(path)


def provide(name: str, parser: Any) -> object:
    provider = Provider(name=name, summary="test", create=lambda _: parser)
    return SimpleNamespace(sesame_register_parsers=hookimpl(lambda: [provider]))


class Home:
    """A root of diaries and Sesame over it."""

    def __init__(self, place: Path, parser: Any) -> None:
        self.root = place / "root"
        self.root.mkdir()
        self.data = place / "data"
        self.plugins = plugins_with_memory()
        self.plugins.register(provide("diary", parser), "diary")
        self.source = Source(parser=Selection(name="diary"), path=self.root)
        self.sesame = self.open()

    def open(self) -> Sesame:
        return in_memory([self.source], self.data, self.plugins)

    def on_sqlite(self) -> Sesame:
        return Sesame(sources=[self.source], data_dir=self.data, plugins=self.plugins)

    def write(self, name: str, *texts: str, id: str | None = None, **facts: Any) -> Path:
        path = self.root / f"{name}.diary"
        records = [{"id": id or name, **facts}, *({"say": text} for text in texts)]
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path, Diary())
    yield made
    made.sesame.close()


@pytest.fixture
def ephemeral(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path, Suspicious())
    yield made
    made.sesame.close()


# -- sessions by their ids -------------------------------------------------------------------------------------


def test_a_session_is_found_by_its_id_or_its_beginning(at: Home) -> None:
    at.write("0f3c-one", "fox")
    at.sesame.index()
    assert at.sesame.get_session("0f3c-one").session.id == "0f3c-one"
    assert at.sesame.get_session("0f").session.id == "0f3c-one"
    assert [chunk.text for chunk in at.sesame.list_messages("0f")] == ["fox"]


def test_an_unknown_id_is_an_error_that_names_it(at: Home) -> None:
    at.sesame.index()
    for unknown in ("nobody", "", "\ud800", "%"):
        with pytest.raises(UnknownSessionError):
            at.sesame.get_session(unknown)
    with pytest.raises(UnknownSessionError, match="'nobody'"):
        at.sesame.list_messages("nobody")


def test_an_ambiguous_id_is_an_error_that_lists_the_sessions(at: Home) -> None:
    for number in range(12):
        at.write(f"same-{number:02}", "fox")
    at.sesame.index()
    with pytest.raises(UnknownSessionError, match="several sessions") as caught:
        at.sesame.get_session("same")
    assert "same-00" in str(caught.value)
    assert "same-09" in str(caught.value)
    assert "same-11" not in str(caught.value)


def test_a_whole_id_is_not_ambiguous_with_a_longer_one(at: Home) -> None:
    at.write("same", "fox")
    at.write("same-too", "elk")
    at.sesame.index()
    assert at.sesame.get_session("same").session.id == "same"


def test_an_abbreviated_id_means_the_session_not_its_subagents(at: Home) -> None:
    at.write("parent", "fox")
    at.write("child", "fox", id="parent/child", kind="subagent", parent_id="parent")
    at.sesame.index()
    assert at.sesame.get_session("par").session.id == "parent"
    assert at.sesame.get_session("parent/c").session.id == "parent/child"


def test_of_copies_the_one_that_is_there_and_longest_is_shown(at: Home) -> None:
    at.write("short", "fox", id="s")
    long = at.write("long", "fox", "elk", id="s")
    at.sesame.index()
    assert at.sesame.get_session("s").path == str(long)
    long.unlink()
    at.sesame.index()
    assert at.sesame.get_session("s").path == str(at.root / "short.diary")


def test_ids_are_abbreviated_as_far_as_they_stay_unique(at: Home) -> None:
    base = "01a0b03d-4300-7855-b6bd-70d8987fc9"
    at.write("a", "fox", id=base + "1e")
    at.sesame.index()
    assert at.sesame.abbreviate(base + "1e") == base[:8]
    at.write("b", "fox", id=base[:14] + "8" + base[15:] + "1e")
    at.write("c", "fox", id=base + "1e/sub", kind="subagent", parent_id=base + "1e")
    at.sesame.index()
    assert at.sesame.abbreviate(base + "1e") == base[: ID_LENGTHS[2]]
    at.write("d", "fox", id=base + "1f")
    at.sesame.index()
    assert at.sesame.abbreviate(base + "1e") == base + "1e"
    for id in (base + "1e", base + "1f"):
        assert at.sesame.get_session(at.sesame.abbreviate(id)).session.id == id


def test_sessions_are_left_out_by_abbreviated_ids(at: Home) -> None:
    at.write("alpha", "fox")
    at.write("beta", "fox")
    at.sesame.index()
    filters = at.sesame.excluding(Filters(), ["alp", "unknown", "\ud800"])
    assert filters.exclude == ("alpha",)
    assert [hit.session.id for hit in at.sesame.search("fox", filters).hits] == ["beta"]
    assert at.sesame.excluding(filters, ["unknown"]) is filters


# -- reading ---------------------------------------------------------------------------------------------------


def test_a_transcript_can_be_read_in_pieces_without_its_file(at: Home) -> None:
    path = at.write("a", *[f"text {n}" for n in range(10)])
    at.sesame.index()
    path.unlink()
    assert [c.text for c in at.sesame.list_messages("a", offset=3, limit=2)] == ["text 3", "text 4"]
    assert [c.seq for c in at.sesame.list_messages("a", offset=8)] == [8, 9]
    assert at.sesame.list_messages("a", offset=99) == []
    assert at.sesame.list_messages("a", limit=0) == []


def test_sessions_are_listed_and_counted(at: Home) -> None:
    for number in range(5):
        os.utime(at.write(f"s{number}", "fox"), (number * DAY + DAY, number * DAY + DAY))
    at.sesame.index()
    found, total = at.sesame.list_sessions(limit=2, offset=1)
    assert ([stored.session.id for stored in found], total) == (["s3", "s2"], 5)


def test_text_that_is_not_unicode_finds_nothing(at: Home) -> None:
    at.write("a", "fox")
    at.sesame.index()
    odd = "/caf\udce9"
    for filters in (Filters(cwd=odd), Filters(path=odd), Filters(tool=odd), Filters(branch=odd)):
        assert at.sesame.search("fox", filters).hits == []
        assert at.sesame.list_sessions(filters) == ([], 0)
    assert at.sesame.search(odd).hits == []
    with pytest.raises(QueryError, match="no agent"):
        at.sesame.search("fox", Filters(agents=(odd,)))


def test_no_index_reads_as_an_empty_one_and_nothing_is_written(at: Home) -> None:
    with at.on_sqlite() as sesame:
        assert sesame.search("fox").hits == []
        assert sesame.status().sessions == 0
    assert not at.data.exists()


def test_a_command_that_resumes_a_session_is_the_parsers(tmp_path: Path) -> None:
    home = Home(tmp_path, Ephemeral())
    path = home.write("a", "fox", cwd="/w")
    home.sesame.index()
    assert home.sesame.resume_command("a") == (["diary", "--resume", "a", str(path)], "/w")
    home.sesame.close()


def test_a_session_that_cannot_be_resumed_is_reported(at: Home) -> None:
    at.write("a", "fox")
    at.sesame.index()
    with pytest.raises(SesameError, match="cannot be resumed"):
        at.sesame.resume_command("a")
    with pytest.raises(UnknownSessionError):
        at.sesame.resume_command("nobody")


# -- refreshing ------------------------------------------------------------------------------------------------


def test_a_refresh_indexes_what_changed(at: Home) -> None:
    at.write("a", "fox")
    assert at.sesame.refresh(60).added == 1
    assert at.sesame.refresh(60).unchanged == 1


def test_a_refresh_of_no_time_does_nothing(at: Home) -> None:
    at.write("a", "fox")
    with at.on_sqlite() as sesame:
        assert sesame.refresh(0).changed == 0
    with Sesame(Config(sources=(at.source,), refresh_seconds=0), data_dir=at.data, plugins=at.plugins) as sesame:
        assert sesame.refresh().changed == 0
    assert not at.data.exists()


def test_an_error_of_a_refresh_is_reported_not_raised(at: Home) -> None:
    at.write("a", "fox")
    at.sesame.index()
    at.write("b", "fox")
    other = at.open()
    with other._index.backend().writer():
        report = at.sesame.refresh(60)
        assert report.reason is not None
        assert "being written" in report.reason
        assert report.changed == 0
        assert len(at.sesame.search("fox").hits) == 1
    other.close()
    assert at.sesame.refresh(60).reason is None


def test_a_source_that_cannot_be_opened_stops_a_refresh_and_fails_an_index(at: Home) -> None:
    broken = Source(parser=Selection(name="no-such-parser"), path=at.root)
    with Sesame(sources=[broken], data_dir=at.data, plugins=at.plugins) as sesame:
        assert "no-such-parser" in (sesame.refresh(60).reason or "")
        with pytest.raises(SesameError, match="no-such-parser"):
            sesame.index()


# -- opening and closing ---------------------------------------------------------------------------------------


def test_a_closed_sesame_opens_again(at: Home) -> None:
    at.write("a", "fox")
    with at.sesame as sesame:
        sesame.index()
    assert len(at.sesame.search("fox").hits) == 1
    at.sesame.close()
    at.sesame.close()
    at.write("b", "fox")
    at.sesame.index()
    assert len(at.sesame.search("fox").hits) == 2


def test_what_another_object_indexed_is_seen(at: Home) -> None:
    at.write("a", "fox")
    assert at.sesame.search("fox").hits == []
    with at.open() as other:
        other.index()
        assert len(at.sesame.search("fox").hits) == 1
        at.write("b", "fox")
        other.index(full=True)
        assert len(at.sesame.search("fox").hits) == 2


def test_a_sesame_of_no_sources_has_nothing_to_do(tmp_path: Path) -> None:
    with Sesame(sources=[], data_dir=tmp_path / "data") as sesame:
        assert sesame.index().changed == 0
        assert sesame.roots() == []


def test_eight_threads_search_one_sesame_while_it_indexes(at: Home) -> None:
    for number in range(40):
        at.write(f"s{number}", *["fox and elk"] * 3)
    at.sesame.index()
    failures: list[Exception] = []
    seen: list[int] = []
    stop = threading.Event()

    def read(number: int) -> None:
        try:
            while not stop.is_set():
                answer = at.sesame.search("fox", limit=100)
                seen.append(len(answer.hits))
                at.sesame.get_session(f"s{number}")
                at.sesame.list_messages(f"s{number}", limit=1)
                at.sesame.status()
                at.sesame.abbreviate(f"s{number}")
        except Exception as error:  # noqa: BLE001 - whatever it is, the test must tell
            failures.append(error)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 0.7
    rounds = 0
    while time.monotonic() < deadline or rounds < 2:
        at.write(f"new{rounds}", "fox")
        at.sesame.index(full=rounds % 2 == 1)
        rounds += 1
    stop.set()
    for thread in threads:
        thread.join(30)
    assert failures == []
    assert min(seen) >= 40
    assert len(at.sesame.search("fox", limit=500).hits) == 40 + rounds


# -- files that will be deleted --------------------------------------------------------------------------------


def aged(path: Path, days: float) -> Path:
    moment = time.time() - days * DAY
    os.utime(path, (moment, moment))
    return path


def test_files_their_agent_will_delete_soon_are_counted(ephemeral: Home) -> None:
    for name, days in [("new", 1), ("middle", 22.5), ("old", 23.5), ("older", 29), ("overdue", 90)]:
        aged(ephemeral.write(name, "fox"), days)
    other = ephemeral.root / "notes.txt"
    other.write_text("x")
    aged(other, 29)
    assert ephemeral.sesame.expiring() == {}
    ephemeral.sesame.index()
    assert ephemeral.sesame.expiring() == {"diary": 3}
    (ephemeral.root / "older.diary").unlink()
    aged(ephemeral.root / "old.diary", 1)
    assert ephemeral.sesame.expiring() == {"diary": 1}


def test_a_file_that_cannot_be_checked_does_not_hide_the_others(ephemeral: Home) -> None:
    aged(ephemeral.write("locked", "fox"), 29)
    aged(ephemeral.write("old", "fox"), 29)
    ephemeral.sesame.index()
    assert ephemeral.sesame.expiring() == {"diary": 1}


def test_agents_that_keep_their_files_are_not_mentioned(at: Home) -> None:
    aged(at.write("old", "fox"), 500)
    assert at.sesame.expiring() == {}


def test_nothing_expires_when_nothing_is_old(ephemeral: Home) -> None:
    ephemeral.write("new", "fox")
    assert ephemeral.sesame.expiring() == {}


def test_a_stored_session_can_be_handed_back(at: Home) -> None:
    at.write("a", "fox")
    at.sesame.index()
    stored = at.sesame.get_session("a")
    assert isinstance(stored, StoredSession)
    assert [chunk.text for chunk in at.sesame.list_messages(stored)] == ["fox"]
