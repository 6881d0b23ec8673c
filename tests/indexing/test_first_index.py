"""A history that was never indexed is indexed by searches alone, however many and slow its files are."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sesame_core import Config, Provider, Selection, Sesame, Source, hookimpl
from sesame_core.config.model import Describing
from sesame_core.errors import UnknownSessionError
from sesame_core.indexing import discovery
from sesame_parser_pi.parser import PiParser

from ..support.every_backend import BACKENDS
from ..support.in_memory import plugins_with_memory

FILES = 40
#: The modification time of the first file; each next one is an hour younger.
START = time.time() - 10 * 86_400


class SlowPi(PiParser):
    """pi's sessions on a disk where opening a file takes a while."""

    opened = 0
    delay = 0.02

    def matches(self, path: Path) -> bool:
        type(self).opened += 1
        time.sleep(self.delay)
        return super().matches(path)

    def parse(self, path: Path) -> Iterator[Any]:
        type(self).opened += 1
        time.sleep(self.delay)
        if b"unparsable" in path.read_bytes():
            raise ZeroDivisionError
        return super().parse(path)


class SlowAnyName(SlowPi):
    """The same with a parser that tells nothing by a file's name."""

    may_match = None  # type: ignore[assignment]


class Home:
    """Sessions of pi, numbered from the oldest, and their index."""

    def __init__(self, request: pytest.FixtureRequest, place: Path) -> None:
        self.root, self.place = place / "sessions", place
        self.root.mkdir()
        options: dict[str, Any] = {}
        if request.param == "sqlite":
            options = {"directory": str(place / "data")}
        elif request.param == "postgres":
            options = {"dsn": request.getfixturevalue("database")}
        self.backend = Selection(name=request.param, options=options)
        self.plugins = plugins_with_memory()
        for name, parser in (("slow", SlowPi()), ("any-name", SlowAnyName())):
            provider = Provider(name=name, summary="test", create=lambda _, parser=parser: parser)
            plugin = SimpleNamespace(sesame_register_parsers=hookimpl(lambda provider=provider: [provider]))
            self.plugins.register(plugin, name)
        for number in range(FILES):
            self.write(number)

    def write(self, number: int, *more: str) -> Path:
        path = self.root / f"project{number % 4}" / f"2026_s{number:03d}.jsonl"
        path.parent.mkdir(exist_ok=True)
        stamp = "2026-03-04T05:06:00.000Z"
        records: list[dict[str, Any]] = [
            {"type": "session", "version": 3, "id": f"s{number:03d}", "timestamp": stamp, "cwd": "/w"}
        ]
        for n, text in enumerate((f"animal{number} met a fox", *more)):
            message = {"role": "user", "content": text}
            records.append({"type": "message", "id": f"m{n}", "parentId": None, "timestamp": stamp, "message": message})
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        self.age(path, number)
        return path

    def age(self, path: Path, number: int) -> None:
        at = START + number * 3600
        os.utime(path, (at, at))

    def open(self, parser: str = "slow", **settings: Any) -> Sesame:
        for directory, _, _ in os.walk(self.root):
            os.utime(directory, (START, START))
        source = Source(parser=Selection(name=parser), path=self.root)
        describe = Describing(directory=self.place / "metadata")
        config = Config(sources=(source,), backend=self.backend, describe=describe, **settings)
        return Sesame(config, plugins=self.plugins)

    def found(self, sesame: Sesame) -> list[str]:
        return sorted(stored.session.id for stored in sesame.list_sessions(limit=1000)[0])


@pytest.fixture(params=BACKENDS)
def history(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    SlowPi.opened = SlowAnyName.opened = 0
    return Home(request, tmp_path)


@pytest.fixture(params=["sqlite"])
def on_sqlite(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    SlowPi.opened = SlowAnyName.opened = 0
    return Home(request, tmp_path)


@pytest.mark.parametrize("parser", ["slow", "any-name"])
def test_each_refresh_indexes_the_newest_files_until_all_are_indexed(history: Home, parser: str) -> None:
    left = FILES
    with history.open(parser) as sesame:
        for _ in range(FILES):
            report = sesame.refresh(0.1)
            assert report.reason is None
            assert report.added > 0
            assert report.pending == left - report.added
            left = report.pending
            assert history.found(sesame) == [f"s{number:03d}" for number in range(left, FILES)]
            if not left:
                break
        assert (left, sesame.refresh(0.1).unchanged) == (0, FILES)


@pytest.mark.parametrize("seconds", [1e-9, 0.01])
def test_a_time_that_suffices_for_nothing_is_enough_for_one_file(history: Home, seconds: float) -> None:
    with history.open() as sesame:
        for count in (1, 2, 3):
            report = sesame.refresh(seconds)
            assert (report.added, report.pending) == (1, FILES - count)
        assert history.found(sesame) == ["s037", "s038", "s039"]


def test_a_process_per_refresh_gets_on_without_listing_everything_again(
    on_sqlite: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans: list[str] = []
    scan = discovery.scan
    monkeypatch.setattr(discovery, "scan", lambda root, *rest: scans.append(root) or scan(root, *rest))
    for count in (1, 2, 3, 4):
        with on_sqlite.open() as sesame:
            assert sesame.refresh(1e-9).pending == FILES - count
    assert len(scans) == 1
    # A file is opened to check it and to read it, and the first one once more before the index is written.
    assert SlowPi.opened <= 2 * 4 + 1


def test_a_session_that_is_written_meanwhile_comes_first(history: Home) -> None:
    with history.open() as sesame:
        assert sesame.refresh(1e-9).added == 1
        path = history.write(FILES, "quokka")
        os.utime(path.parent)
        assert sesame.refresh(1e-9).added == 1
        assert [hit.session.id for hit in sesame.search("quokka").hits] == [f"s{FILES:03d}"]


def test_a_session_that_has_grown_meanwhile_comes_first(history: Home) -> None:
    with history.open() as sesame:
        sesame.refresh(1e-9)
        path = history.write(FILES - 1, "quokka")
        os.utime(path)
        report = sesame.refresh(1e-9)
        assert report.updated + report.appended == 1
        assert sesame.search("quokka").hits


ODD: dict[str, Callable[[Path], Any]] = {
    "no session": lambda path: path.write_text('{"kind": "log"}\n'),
    "empty": lambda path: path.write_text(""),
    "binary": lambda path: path.write_bytes(bytes(range(256))),
    "deleted": lambda path: path.unlink(),
    "a directory now": lambda path: (path.unlink(), path.mkdir()),
    "a dangling link now": lambda path: (path.unlink(), path.symlink_to("nowhere")),
}


@pytest.mark.parametrize("spoil", ODD.values(), ids=ODD)
def test_newest_files_that_are_no_sessions_do_not_hold_up_the_others(
    history: Home, spoil: Callable[[Path], Any]
) -> None:
    with history.open() as sesame:
        sesame.refresh(1e-9)
        for number in range(FILES - 11, FILES - 1):
            path = history.root / f"project{number % 4}" / f"2026_s{number:03d}.jsonl"
            spoil(path)
            if path.is_file():
                history.age(path, number)
        for _ in range(3 * FILES):
            report = sesame.refresh(1e-9)
            if not report.pending:
                break
        assert report.pending == 0
        assert len(history.found(sesame)) == FILES - 10


def test_files_that_cannot_be_parsed_are_tried_after_all_others_and_stay_errors(history: Home) -> None:
    with history.open() as sesame:
        for number in range(FILES - 5, FILES):
            history.write(number, "unparsable")
        for _ in range(3 * FILES):
            report = sesame.refresh(0.05)
            if not report.pending:
                break
        assert report.pending == 0
        assert history.found(sesame) == [f"s{number:03d}" for number in range(FILES - 5)]
        for _ in range(3):
            assert len(sesame.refresh(30).errors) == 5
        history.write(FILES - 1, "parsable")
        report = sesame.refresh(30)
        assert len(report.errors) == 4
        assert sesame.search("parsable").hits


def test_while_another_process_writes_the_files_that_are_left_are_counted(history: Home) -> None:
    with history.open(lock_seconds=0) as sesame, history.open() as other:
        sesame.refresh(1e-9)
        with other.writer():
            report = sesame.refresh(0.1)
        assert report.reason
        assert report.pending == FILES - 1
        assert sum(source.pending for source in report.sources) == FILES - 1


def test_what_another_process_has_indexed_meanwhile_is_not_read_again(on_sqlite: Home) -> None:
    with on_sqlite.open() as sesame, on_sqlite.open() as other:
        sesame.refresh(1e-9)
        other.index()
        SlowPi.opened = 0
        report = sesame.refresh(30)
        assert (report.added, report.updated, report.pending, report.unchanged) == (0, 0, 0, FILES)
        assert SlowPi.opened == 0


def test_every_answer_without_a_refresh_says_how_many_files_are_missing(on_sqlite: Home) -> None:
    from sesame_core.rendering.answers import answer_json, answer_text
    from sesame_core.rendering.sessions import sessions_json, sessions_text
    from sesame_core.rendering.transcripts import transcript_json

    with on_sqlite.open() as sesame:
        sesame.refresh(1e-9)
    with on_sqlite.open() as sesame:
        report = sesame.as_it_is()
        assert report is not None
        assert report.pending == FILES - 1
        answer = sesame.search("quokka")
        note = f"{FILES - 1} files are not indexed yet"
        hint = f"{FILES - 1} of {FILES} files are not indexed yet: this answer lacks the sessions in them"
        text = answer_text(answer, abbreviate=str, refreshed=report)
        assert text.startswith('No sessions found so far matching "quokka"')
        assert note in text
        assert f"Not found in what is indexed so far (1 of {FILES} files): quokka" in text
        value = answer_json(answer, report)
        assert value["hints"][0] == hint
        assert (value["index"]["refreshed"], value["index"]["pending"]) == (False, FILES - 1)
        found, total = sesame.list_sessions()
        assert note in sessions_text(found, total, abbreviate=str, refreshed=report)
        assert sessions_json(found, total, 0, None, report)["hints"] == [hint]
        assert transcript_json(found[0], [], report)["index"]["pending"] == FILES - 1
        with pytest.raises(
            UnknownSessionError, match=f"; {FILES - 1} files are not indexed yet; catch up with: sesame index"
        ):
            sesame.get_session("s000")
        while sesame.refresh(0.2).pending:
            pass
        assert sesame.as_it_is() is None
        with pytest.raises(UnknownSessionError) as error:
            sesame.get_session("nowhere")
        assert "not indexed" not in str(error.value)


def test_a_run_that_was_stopped_leaves_the_number_of_files_that_are_missing(on_sqlite: Home) -> None:
    done = 0

    def after_five(_: Any) -> None:
        nonlocal done
        done += 1

    with on_sqlite.open() as sesame:
        report = sesame.index(on_progress=after_five, is_stopped=lambda: done >= 5)
        assert (report.added, report.pending) == (5, FILES - 5)
    with on_sqlite.open() as sesame:
        report = sesame.as_it_is()
        assert report is not None
        assert report.pending == FILES - 5
        sesame.index()
        assert sesame.as_it_is() is None
        assert len(on_sqlite.found(sesame)) == FILES


def test_an_empty_index_counts_slow_files_by_their_names(on_sqlite: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SlowPi, "delay", 0.2)
    with on_sqlite.open() as sesame:
        started = time.monotonic()
        (hint,) = sesame.search("fox").hints
        assert time.monotonic() - started < FILES * 0.2 / 2
    assert hint.startswith(f"the index is empty: {FILES} session files in ")
