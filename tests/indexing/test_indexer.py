"""What a run reads, keeps, reports and leaves alone, over a real SQLite index."""

from __future__ import annotations

import dataclasses
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sesame_core.api.sesame import Sesame
from sesame_core.config.model import Selection, Source
from sesame_core.errors import BackendError, ConfigError, ParseError, SesameError
from sesame_core.plugin.hookspecs import hookimpl
from sesame_core.plugin.manager import PluginManager
from sesame_core.plugin.provider import Options, Provider
from sesame_core.sdk.jsonl import JsonLines
from sesame_core.types.index import StoredSession
from sesame_core.types.query import Filters
from sesame_core.types.report import IndexReport, Progress
from sesame_core.types.transcript import Checkpoint, Event, Message, Session, Skipped

SECOND = 10**9


class Notes:
    """Parser of `*.note`: lines `{"session": id, …}` and `{"say": text, "in": id}`; grown files are continued."""

    def __init__(self, suffix: str = ".note") -> None:
        self.version = 1
        self.suffix = suffix
        #: Names of the files that were read, whole or ("+") from their checkpoint.
        self.read: list[str] = []
        #: What to raise when a file of this name is read, and when it is looked at.
        self.failures: dict[str, Exception] = {}
        self.riddles: dict[str, Exception] = {}

    def default_roots(self) -> Sequence[Path]:
        return ()

    def matches(self, path: Path) -> bool:
        if path.name in self.riddles:
            raise self.riddles[path.name]
        return path.suffix == self.suffix

    def parse(self, path: Path) -> Iterator[Event]:
        self.read.append(path.name)
        return self._events(path, JsonLines(path), None)

    def parse_tail(self, path: Path, checkpoint: Checkpoint) -> Iterator[Event]:
        self.read.append(path.name + "+")
        lines = JsonLines(path, offset=checkpoint.offset, line=checkpoint.line)
        return self._events(path, lines, checkpoint.state["in"])

    def _events(self, path: Path, lines: JsonLines, current: str | None) -> Iterator[Event]:
        for record in lines:
            if isinstance(record, Skipped):
                yield record
            elif "session" in record:
                current = record["session"]
                facts = {name: value for name, value in record.items() if name != "session"}
                yield Session(id=current, agent="notes", **facts)
            else:
                current = record.get("in", current)
                assert current is not None
                at = record.get("at")
                yield Message(
                    session_id=current,
                    role=record.get("role", "user"),
                    text=record["say"],
                    origin_id=record.get("origin"),
                    timestamp=datetime.fromisoformat(at) if at else None,
                )
        if path.name in self.failures:
            raise self.failures[path.name]
        yield Checkpoint(offset=lines.offset, line=lines.line, state={"in": current})


def plugin(**parsers: Notes) -> object:
    def provide() -> list[Provider[Any]]:
        return [
            Provider(name=name, summary="test", create=lambda _, made=made: made)  # type: ignore[misc]
            for name, made in parsers.items()
        ]

    return SimpleNamespace(sesame_register_parsers=hookimpl(provide))


class Bench:
    """Some roots, some parsers, one index."""

    def __init__(self, place: Path) -> None:
        self.root = place / "root"
        self.root.mkdir()
        self.data = place / "data"
        self.notes = Notes()
        self.others = Notes(".other")
        self.plugins = PluginManager()
        self.plugins.register(plugin(notes=self.notes), "notes")
        self.plugins.register(plugin(others=self.others), "others")
        self.sources = [self.source()]
        self.clock = 1_700_000_000
        self.sesame = Sesame(sources=self.sources, data_dir=self.data, plugins=self.plugins)

    def source(self, parser: str = "notes", path: Path | None = None, exclude: Sequence[str] = ()) -> Source:
        return Source(parser=Selection(name=parser), path=path or self.root, exclude=tuple(exclude))

    def use(self, *sources: Source) -> None:
        self.sesame.close()
        self.sesame = Sesame(sources=sources, data_dir=self.data, plugins=self.plugins)

    def path(self, name: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name: str, *records: dict[str, Any] | str, session: str | None = None, **facts: Any) -> Path:
        """Write a file that introduces a session (named like the file) and says each text; time goes on."""
        path = self.path(name)
        path.write_bytes(self.lines({"session": session or path.stem, **facts}, *records))
        return self.touch(path)

    def grow(self, name: str, *records: dict[str, Any] | str) -> Path:
        path = self.path(name)
        with path.open("ab") as file:
            file.write(self.lines(*records))
        return self.touch(path)

    def lines(self, *records: dict[str, Any] | str) -> bytes:
        said = [{"say": r} if isinstance(r, str) else r for r in records]
        return b"".join(json.dumps(record).encode() + b"\n" for record in said)

    def touch(self, path: Path) -> Path:
        self.clock += 10
        os.utime(path, ns=(self.clock * SECOND, self.clock * SECOND))
        return path

    def index(self, *paths: Path, **options: Any) -> IndexReport:
        self.notes.read.clear()
        self.others.read.clear()
        return self.sesame.index(paths, **options)

    def found(self, word: str) -> set[str]:
        answer = self.sesame.search(word, Filters(all_kinds=True), limit=50)
        return {i for hit in answer.hits for i in (hit.session.id, *(copy for copy, _ in hit.copies))}

    def stored(self, session: str) -> StoredSession:
        return self.sesame.get_session(session)

    def texts(self, session: str) -> list[str]:
        return [chunk.text for chunk in self.sesame.list_messages(session)]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.sesame.close()


def counts(report: IndexReport) -> dict[str, int]:
    names = ("added", "updated", "appended", "unchanged", "missing", "pending")
    return {name: value for name in names if (value := getattr(report, name))}


# -- which files are read, and how much of them ----------------------------------------------------------------


def test_a_new_file_is_added(bench: Bench) -> None:
    path = bench.write("a.note", "quick fox", "lazy dog")
    report = bench.index()
    assert counts(report) == {"added": 1}
    assert (report.chunks, report.bytes) == (2, path.stat().st_size)
    assert bench.found("fox") == {"a"}
    assert bench.texts("a") == ["quick fox", "lazy dog"]


def test_inv_004_a_file_with_the_same_modification_time_is_not_read(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    bench.index()
    time_before = path.stat().st_mtime_ns
    path.write_bytes(path.read_bytes().replace(b"fox", b"elk and more"))
    os.utime(path, ns=(time_before, time_before))
    report = bench.index()
    assert counts(report) == {"unchanged": 1}
    assert bench.notes.read == []
    assert bench.found("elk") == set()


def test_a_grown_file_is_read_from_where_it_grew(bench: Bench) -> None:
    before = bench.write("a.note", "fox").stat().st_size
    bench.index()
    after = bench.grow("a.note", "elk").stat().st_size
    report = bench.index()
    assert counts(report) == {"appended": 1}
    assert (report.chunks, report.bytes) == (1, after - before)
    assert bench.notes.read == ["a.note+"]
    assert bench.texts("a") == ["fox", "elk"]
    assert bench.stored("a").session.message_count == 2


def test_a_touched_file_is_looked_at_and_stays_as_it_was(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    bench.index()
    bench.touch(path)
    report = bench.index()
    assert report.chunks == report.bytes == 0
    assert bench.texts("a") == ["fox"]
    assert counts(bench.index()) == {"unchanged": 1}


@pytest.mark.parametrize("text", ["elk", "elk " * 2000], ids=["shorter", "longer"])
def test_a_file_rewritten_in_place_is_replaced(bench: Bench, text: str) -> None:
    bench.write("a.note", "fox " * 10, "dog")
    bench.index()
    bench.write("a.note", text)
    report = bench.index()
    assert counts(report) == {"updated": 1}
    assert bench.notes.read == ["a.note"]
    assert bench.found("fox") == bench.found("dog") == set()
    assert bench.found("elk") == {"a"}


def test_a_file_rewritten_before_the_checkpoint_and_grown_is_replaced(bench: Bench) -> None:
    """Same beginning, another middle: the bytes before the checkpoint tell."""
    bench.write("a.note", "x" * 10_000, "fox")
    bench.index()
    bench.write("a.note", "x" * 10_000, "elk", "dog")
    assert counts(bench.index()) == {"updated": 1}
    assert bench.texts("a")[1:] == ["elk", "dog"]


def test_an_unfinished_last_line_is_read_when_it_is_finished(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    whole = bench.lines("elk")
    path.write_bytes(path.read_bytes() + whole[:8])
    bench.index()
    path.write_bytes(path.read_bytes() + whole[8:])
    bench.touch(path)
    report = bench.index()
    assert counts(report) == {"appended": 1}
    assert report.skipped == {}
    assert bench.texts("a") == ["fox", "elk"]


def test_a_grown_file_that_tells_its_excluded_directory_adds_nothing_more(bench: Bench) -> None:
    bench.use(bench.source(exclude=["/w/private"]))
    bench.write("a.note", "fox")
    bench.index()
    bench.grow("a.note", {"session": "a", "cwd": "/w/private"}, "elk")
    assert bench.index().errors == []
    assert bench.found("fox") == bench.found("elk") == set()
    assert bench.sesame.status().sessions == 0


def test_a_session_that_tells_its_directory_late_is_excluded_all_the_same(bench: Bench) -> None:
    bench.use(bench.source(exclude=["/w/private"]))
    late = [{"session": name, "cwd": "/w/private"} for name in ("a", "b")]
    bench.write("a.note", "fox", {"session": "b"}, "fox", {"session": "c"}, "fox", *late, session="a")
    report = bench.index()
    assert (report.errors, report.chunks) == ([], 1)
    assert bench.found("fox") == {"c"}


def test_what_was_excluded_by_its_directory_is_read_whole_when_its_file_grows(bench: Bench) -> None:
    bench.use(bench.source(exclude=["/w/private"]))
    bench.write("a.note", "fox", {"session": "c", "cwd": "/w/public"}, "elk", cwd="/w/private/app")
    bench.index()
    bench.grow("a.note", {"session": "a"}, "fox")
    bench.index()
    assert bench.found("fox") == set()
    assert bench.found("elk") == {"c"}


def test_a_newer_parser_reads_everything_again(bench: Bench) -> None:
    bench.write("a.note", "fox")
    bench.write("b.note", "elk")
    bench.index()
    bench.notes.version = 2
    assert counts(bench.index()) == {"updated": 2}
    assert sorted(bench.notes.read) == ["a.note", "b.note"]
    assert counts(bench.index()) == {"unchanged": 2}


def test_a_parser_that_cannot_go_on_reads_the_whole_file(bench: Bench) -> None:
    bench.notes.parse_tail = lambda path, checkpoint: None  # type: ignore[assignment, method-assign]
    bench.write("a.note", "fox")
    bench.index()
    bench.grow("a.note", "elk")
    assert counts(bench.index()) == {"updated": 1}
    assert bench.texts("a") == ["fox", "elk"]


def test_an_empty_file_and_one_without_sessions_are_known_and_not_read_again(bench: Bench) -> None:
    bench.path("empty.note").write_bytes(b"")
    bench.path("blank.note").write_bytes(b"\n\n")
    report = bench.index()
    assert counts(report) == {"added": 2}
    assert counts(bench.index()) == {"unchanged": 2}
    assert bench.notes.read == []


def test_a_file_no_parser_knows_is_left_alone(bench: Bench) -> None:
    bench.path("readme.txt").write_text("fox")
    report = bench.index()
    assert counts(report) == {}
    assert report.errors == []


def test_an_empty_root_is_no_error(bench: Bench) -> None:
    report = bench.index()
    assert counts(report) == {}
    assert (report.errors, report.absent_roots) == ([], [])


# -- files that vanish -----------------------------------------------------------------------------------------


def test_the_sessions_of_a_vanished_file_are_kept_and_marked_until_it_is_back(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    bench.index()
    aside = path.rename(path.with_suffix(".aside"))
    report = bench.index()
    assert counts(report) == {"missing": 1}
    assert bench.found("fox") == {"a"}
    gone_since = bench.stored("a").missing_since
    assert gone_since is not None
    assert bench.sesame.status().missing == 1

    assert counts(bench.index()) == {"missing": 1}
    assert bench.stored("a").missing_since == gone_since

    aside.rename(path)
    assert counts(bench.index()) == {"unchanged": 1}
    assert bench.notes.read == []
    assert bench.stored("a").missing_since is None


def test_a_vanished_file_that_comes_back_changed_is_read(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    bench.index()
    path.unlink()
    bench.index()
    bench.write("a.note", "elk")
    assert counts(bench.index()) == {"updated": 1}
    assert bench.stored("a").missing_since is None
    assert bench.found("fox") == set()


def test_a_missing_root_is_no_mass_deletion(bench: Bench) -> None:
    for name in "abc":
        bench.write(f"{name}.note", "fox")
    bench.index()
    bench.root.rename(bench.root.with_name("unmounted"))
    report = bench.index()
    assert counts(report) == {}
    assert report.absent_roots == [str(bench.root)]
    assert report.errors == []
    assert bench.found("fox") == {"a", "b", "c"}
    assert bench.sesame.status().missing == 0


def test_what_was_vanished_with_an_error_is_only_missing(bench: Bench) -> None:
    bench.write("never.note", "fox")
    bench.notes.failures["never.note"] = ParseError("never.note", "it is odd")
    bench.index()
    assert len(bench.sesame.status().failed) == 1
    bench.path("never.note").unlink()
    assert counts(bench.index()) == {"missing": 1}
    assert bench.sesame.status().failed == ()


# -- what is left out ------------------------------------------------------------------------------------------


def test_a_file_is_excluded_by_a_part_of_its_path(bench: Bench) -> None:
    bench.write("private/a.note", "fox")
    bench.write("public/b.note", "fox")
    bench.use(bench.source(exclude=["private"]))
    assert counts(bench.index()) == {"added": 1}
    assert bench.notes.read == ["b.note"]
    assert bench.found("fox") == {"b"}


def test_a_session_is_excluded_by_its_directory(bench: Bench) -> None:
    bench.write("a.note", "fox", {"session": "c", "cwd": "/w/public"}, "fox", cwd="/w/private/app")
    bench.use(bench.source(exclude=["/w/private"]))
    bench.index()
    assert bench.found("fox") == {"c"}


def test_the_excluded_session_stays_out_when_its_file_grows(bench: Bench) -> None:
    bench.use(bench.source(exclude=["/w/private"]))
    bench.write("a.note", "fox", cwd="/w/private/app")
    bench.index()
    bench.grow("a.note", "elk")
    report = bench.index()
    assert report.errors == []
    assert bench.found("fox") == bench.found("elk") == set()


def test_what_a_newly_excluded_file_said_leaves_the_index(bench: Bench) -> None:
    bench.write("private/a.note", "fox")
    bench.write("public/b.note", "fox")
    bench.index()
    bench.use(bench.source(exclude=["private"]))
    bench.index()
    assert bench.found("fox") == {"b"}
    assert bench.sesame.status().chunks == 1

    bench.use(bench.source())
    bench.index()
    assert bench.found("fox") == {"a", "b"}


def test_what_a_newly_excluded_directory_said_leaves_the_index(bench: Bench) -> None:
    bench.write("a.note", "fox", cwd="/w/private/app")
    bench.write("b.note", "fox", cwd="/w/public")
    bench.index()
    bench.use(bench.source(exclude=["/w/private"]))
    bench.index()
    assert bench.found("fox") == {"b"}
    assert bench.sesame.status().chunks == 1
    assert counts(bench.index()) == {"unchanged": 2}

    bench.use(bench.source())
    assert counts(bench.index()) == {"updated": 2}
    assert bench.found("fox") == {"a", "b"}


@pytest.mark.parametrize("where", ["parser", "formatter"])
def test_changed_options_read_a_sources_files_again_and_no_others(where: str, bench: Bench) -> None:
    bench.write("one/a.note", "fox " * 50)
    bench.write("two/b.note", "fox " * 50)
    one, two = bench.source(path=bench.root / "one"), bench.source(path=bench.root / "two")
    bench.use(one, two)
    bench.index()
    options = {"parser": {"shout": True}, "formatter": {"call_limit": 100}}[where]
    changed = dataclasses.replace(two, **{where: dataclasses.replace(getattr(two, where), options=options)})
    bench.use(one, changed)
    assert counts(bench.index()) == {"unchanged": 1, "updated": 1}
    assert counts(bench.index()) == {"unchanged": 2}


# -- what goes wrong -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ParseError("x", "no header", line=3), "no header"),
        (PermissionError(13, "Permission denied"), "Permission denied"),
        (ZeroDivisionError("by zero"), "the parser 'notes' failed: ZeroDivisionError('by zero')"),
        (sqlite3.DatabaseError("odd"), "the parser 'notes' failed: DatabaseError('odd')"),
        (RecursionError("too deep"), "the parser 'notes' failed: RecursionError('too deep')"),
        (SesameError("no such thing"), "no such thing"),
    ],
)
def test_one_file_that_fails_is_named_and_the_run_goes_on(bench: Bench, error: Exception, message: str) -> None:
    """Whatever a third-party parser raises, in the middle of a file."""
    bench.write("a.note", "fox")
    path = bench.write("b.note", "elk")
    bench.write("c.note", "dog")
    bench.notes.failures["b.note"] = error
    report = bench.index()
    assert counts(report) == {"added": 2}
    (problem,) = report.errors
    assert (problem.path, problem.message) == (str(path), message)
    assert problem.line == getattr(error, "line", None)
    assert bench.found("fox dog") == {"a", "c"}
    assert bench.found("elk") == set()
    assert bench.sesame.status().failed == ((str(path), message),)


def test_a_file_that_fails_keeps_its_earlier_content_and_is_tried_again(bench: Bench) -> None:
    bench.write("a.note", "fox")
    bench.index()
    bench.grow("a.note", "elk")
    bench.notes.failures["a.note"] = ValueError("not today")
    for _ in range(2):
        report = bench.index()
        assert len(report.errors) == 1
        assert counts(report) == {}
        assert bench.texts("a") == ["fox"]
    bench.notes.failures.clear()
    assert counts(bench.index()) == {"updated": 1}
    assert bench.texts("a") == ["fox", "elk"]
    assert bench.sesame.status().failed == ()


def test_a_file_that_failed_at_first_is_added_when_it_can_be_read(bench: Bench) -> None:
    bench.write("a.note", "fox")
    bench.notes.failures["a.note"] = OSError(5, "Input/output error")
    assert counts(bench.index()) == {}
    bench.notes.failures.clear()
    assert counts(bench.index()) == {"added": 1}
    assert bench.found("fox") == {"a"}


def test_a_file_that_failed_vanished_and_came_back_is_read(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    bench.notes.failures["a.note"] = OSError(5, "Input/output error")
    bench.index()
    aside = path.rename(path.with_suffix(".aside"))
    bench.index()
    aside.rename(path)
    bench.notes.failures.clear()
    bench.index()
    assert bench.found("fox") == {"a"}


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), KeyError("type")])
def test_a_file_that_cannot_be_looked_at_is_an_error_not_silence(bench: Bench, error: Exception) -> None:
    path = bench.write("a.note", "fox")
    bench.write("b.note", "fox")
    bench.notes.riddles["a.note"] = error
    report = bench.index()
    assert counts(report) == {"added": 1}
    (problem,) = report.errors
    assert problem.path == str(path)
    assert problem.message in ("Permission denied", "the parser 'notes' failed: KeyError('type')")
    bench.notes.riddles.clear()
    assert counts(bench.index()) == {"added": 1, "unchanged": 1}


def test_a_file_that_no_source_can_look_at_is_told_once(bench: Bench) -> None:
    bench.use(bench.source("notes"), bench.source("others"))
    bench.write("a.note", "fox")
    for parser in (bench.notes, bench.others):
        parser.riddles["a.note"] = PermissionError(13, "Permission denied")
    assert len(bench.index().errors) == 1


def test_a_name_that_is_no_unicode_is_an_error_of_that_file(bench: Bench) -> None:
    bench.write("good.note", "fox")
    odd = os.fsencode(bench.root) + b"/caf\xe9.note"
    try:
        with open(odd, "wb") as file:
            file.write(bench.lines({"session": "odd"}, "fox"))
    except OSError:
        pytest.skip("this file system takes only Unicode names")
    report = bench.index()
    assert counts(report) == {"added": 1}
    (problem,) = report.errors
    assert problem.path.endswith("caf\\xe9.note")
    assert "UTF-8" in problem.message
    problem.path.encode()
    assert bench.found("fox") == {"good"}


def test_a_formatter_that_fails_is_not_taken_for_the_parser(bench: Bench) -> None:
    class Clumsy:
        def format(self, message: Message) -> list[Any]:
            raise KeyError("text")

    clumsy = Provider(name="clumsy", summary="test", create=lambda _: Clumsy())
    bench.plugins.register(SimpleNamespace(sesame_register_formatters=hookimpl(lambda: [clumsy])), "clumsy")
    source = dataclasses.replace(bench.source(), formatter=Selection(name="clumsy"))
    bench.use(source)
    bench.write("a.note", "fox")
    (problem,) = bench.index().errors
    assert problem.message == "the chunk formatter failed: KeyError('text')"


def test_a_message_of_a_session_nobody_introduced_is_the_parsers_fault(bench: Bench) -> None:
    bench.write("a.note", {"say": "fox", "in": "stranger"})
    (problem,) = bench.index().errors
    assert problem.message == "the parser 'notes' did not introduce session 'stranger'"


def test_something_that_is_no_regular_file_is_not_opened(bench: Bench) -> None:
    """Opening a named pipe would wait for a writer for ever."""
    os.mkfifo(bench.path("pipe.note"))
    bench.path("directory.note").mkdir()
    (bench.root / "link.note").symlink_to(bench.root / "pipe.note")
    report = bench.index()
    assert counts(report) == {}
    assert report.errors == []


def test_a_failing_index_ends_the_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is no fault of the file that was being read."""
    bench.write("a.note", "fox")
    bench.notes.failures["a.note"] = BackendError("the disk is full")
    with pytest.raises(BackendError, match="the disk is full"):
        bench.index()


# -- where files are found -------------------------------------------------------------------------------------


def test_a_file_in_two_sources_belongs_to_the_first_that_knows_it(bench: Bench) -> None:
    bench.others.suffix = ".note"
    bench.use(bench.source("notes"), bench.source("others"))
    bench.write("a.note", "fox")
    assert counts(bench.index()) == {"added": 1}
    assert (bench.notes.read, bench.others.read) == (["a.note"], [])
    bench.use(bench.source("others"), bench.source("notes"))
    assert counts(bench.index()) == {"unchanged": 1}


def test_two_sources_share_a_root(bench: Bench) -> None:
    bench.use(bench.source("notes"), bench.source("others"))
    bench.write("a.note", "fox")
    bench.write("b.other", "fox")
    assert counts(bench.index()) == {"added": 2}
    assert (bench.notes.read, bench.others.read) == (["a.note"], ["b.other"])
    bench.path("a.note").unlink()
    assert counts(bench.index()) == {"unchanged": 1, "missing": 1}


def test_a_root_inside_another_is_read_once(bench: Bench) -> None:
    bench.write("deep/a.note", "fox")
    bench.use(bench.source(), bench.source(path=bench.root / "deep"))
    assert counts(bench.index()) == {"added": 1}
    assert counts(bench.index()) == {"unchanged": 1}


def test_links_are_followed_once_and_loops_end(bench: Bench) -> None:
    bench.write("real/a.note", "fox")
    (bench.root / "again").symlink_to(bench.root / "real", target_is_directory=True)
    (bench.root / "real" / "loop").symlink_to(bench.root, target_is_directory=True)
    (bench.root / "link.note").symlink_to(bench.root / "real" / "a.note")
    (bench.root / "broken.note").symlink_to(bench.root / "nowhere.note")
    assert counts(bench.index()) == {"added": 1}
    assert bench.stored("a").path == str(bench.root / "real" / "a.note")
    assert counts(bench.index()) == {"unchanged": 1}


def test_a_link_to_a_file_elsewhere_is_read_under_its_real_name(bench: Bench, tmp_path: Path) -> None:
    elsewhere = bench.write("a.note", "fox").rename(tmp_path / "a.note")
    (bench.root / "link.note").symlink_to(elsewhere)
    assert counts(bench.index()) == {"added": 1}
    assert bench.stored("a").path == str(elsewhere)
    assert counts(bench.index()) == {"unchanged": 1}


def test_a_root_that_is_a_file_or_a_link_is_read(bench: Bench, tmp_path: Path) -> None:
    path = bench.write("a.note", "fox")
    (tmp_path / "link").symlink_to(bench.root, target_is_directory=True)
    bench.use(bench.source(path=path), bench.source(path=tmp_path / "link"))
    assert counts(bench.index()) == {"added": 1}


# -- only some paths -------------------------------------------------------------------------------------------


def test_only_the_named_paths_are_looked_at(bench: Bench) -> None:
    bench.write("one/a.note", "fox")
    second = bench.write("two/b.note", "fox")
    bench.write("two/c.note", "fox")
    assert counts(bench.index(second)) == {"added": 1}
    assert counts(bench.index(bench.root / "two")) == {"added": 1, "unchanged": 1}
    assert bench.found("fox") == {"b", "c"}
    second.unlink()
    assert counts(bench.index(bench.root / "one")) == {"added": 1}
    assert counts(bench.index(bench.root / "two")) == {"unchanged": 1, "missing": 1}


def test_a_path_above_a_root_reaches_into_it(bench: Bench) -> None:
    bench.write("deep/a.note", "fox")
    bench.write("deep/secret/b.note", "fox")
    bench.use(bench.source(path=bench.root / "deep", exclude=["secret"]))
    assert counts(bench.index(bench.root)) == {"added": 1}
    assert bench.found("fox") == {"a"}


def test_a_path_outside_all_sources_finds_its_parser(bench: Bench, tmp_path: Path) -> None:
    copied = tmp_path / "copied"
    copied.mkdir()
    header = {"type": "session", "version": 3, "id": "0f3c", "timestamp": "2026-05-08T12:00:00.000Z", "cwd": "/w"}
    message = {"type": "message", "id": "m1", "parentId": None, "message": {"role": "user", "content": "pi fox"}}
    (copied / "p.jsonl").write_text(json.dumps(header) + "\n" + json.dumps(message) + "\n")
    note = copied / "n.note"
    note.write_bytes(bench.lines({"session": "n"}, "note fox"))
    assert counts(bench.index(copied)) == {"added": 2}
    assert bench.found("fox") == {"0f3c", "n"}
    assert counts(bench.index(note)) == {"unchanged": 1}


def test_a_path_outside_all_sources_is_shown_to_a_third_partys_parser(
    bench: Bench, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def create(options: Options) -> Notes:
        raise ConfigError("it needs an option")

    def broken() -> list[Provider[Any]]:
        return [Provider(name="broken", summary="test", create=create)]

    bench.plugins.register(SimpleNamespace(sesame_register_parsers=hookimpl(broken)), "broken")
    copied = tmp_path / "copied" / "c.other"
    copied.parent.mkdir()
    copied.write_bytes(bench.lines({"session": "c"}, "chat fox"))
    assert counts(bench.index(copied)) == {"added": 1}
    assert bench.others.read == ["c.other"]
    assert bench.found("fox") == {"c"}
    warned = f"{copied} is not shown to the parser 'broken': it needs an option"
    assert [record.message for record in caplog.records] == [warned]


def test_a_path_that_does_not_exist_is_told(bench: Bench) -> None:
    with pytest.raises(SesameError, match="no such file"):
        bench.index(bench.root / "nowhere")


# -- order and time --------------------------------------------------------------------------------------------


def test_older_files_are_read_first(bench: Bench) -> None:
    for name in ("b", "a", "c"):
        bench.write(f"{name}.note", "fox")
    bench.index()
    assert bench.notes.read == ["b.note", "a.note", "c.note"]


def test_newer_files_are_read_first_when_the_time_is_short(bench: Bench) -> None:
    for name in ("b", "a", "c"):
        bench.write(f"{name}.note", "fox")
    bench.index(seconds=60)
    assert bench.notes.read == ["c.note", "a.note", "b.note"]


def test_no_file_is_begun_after_the_deadline_and_the_rest_is_pending(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        bench.write(f"{name}.note", "fox")
    parse, now = bench.notes.parse, time.monotonic()
    clock = [now]

    def slow(path: Path) -> Iterator[Event]:
        clock[0] += 6
        return parse(path)

    monkeypatch.setattr(bench.notes, "parse", slow)
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    report = bench.index(seconds=10)
    assert counts(report) == {"added": 2, "pending": 1}
    assert bench.found("fox") == {"b", "c"}
    assert counts(bench.index(seconds=10)) == {"added": 1, "unchanged": 2}


def test_progress_is_told_after_each_file(bench: Bench) -> None:
    sizes = [bench.write(f"{name}.note", "fox").stat().st_size for name in "ab"]
    told: list[Progress] = []
    bench.index(on_progress=told.append)
    assert [(p.files_done, p.files_total, p.chunks) for p in told] == [(1, 2, 1), (2, 2, 2)]
    assert [(p.bytes_done, p.bytes_total) for p in told] == [(sizes[0], sum(sizes)), (sum(sizes), sum(sizes))]
    assert told[0].path == str(bench.path("a.note"))


# -- the report ------------------------------------------------------------------------------------------------


def test_a_record_that_was_lost_is_told_with_its_line(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    path.write_bytes(path.read_bytes() + b'{"say": broken\n[1]\n' + bench.lines("elk"))
    report = bench.index()
    assert report.skipped == {"damaged": 1, "not an object": 1}
    assert [(p.path, p.line, p.message) for p in report.losses] == [
        (str(path), 3, "damaged"),
        (str(path), 4, "not an object"),
    ]
    assert report.errors == []
    assert bench.texts("a") == ["fox", "elk"]
    assert bench.sesame.status().skipped == {"damaged": 1, "not an object": 1}

    with path.open("ab") as file:
        file.write(b"{]\n")
    bench.touch(path)
    report = bench.index()
    assert report.skipped == {"damaged": 1}
    assert [p.line for p in report.losses] == [6]
    assert bench.sesame.status().skipped == {"damaged": 2, "not an object": 1}


def test_many_losses_are_counted_and_some_are_listed(bench: Bench) -> None:
    for name in "ab":
        path = bench.write(f"{name}.note", "fox")
        path.write_bytes(path.read_bytes() + b"1\n" * 80)
    report = bench.index()
    assert report.skipped == {"not an object": 160}
    assert len(report.losses) == 100


def test_seed_001_the_time_of_the_sync_is_kept_only_for_runs_that_changed_something_without_errors(
    bench: Bench,
) -> None:
    bench.index()
    assert bench.sesame.status().last_sync is None

    bench.write("a.note", "fox")
    bench.write("bad.note", "elk")
    bench.notes.failures["bad.note"] = ValueError("odd")
    bench.index()
    assert bench.sesame.status().last_sync is None

    bench.notes.failures.clear()
    bench.index()
    first = bench.sesame.status().last_sync
    assert first is not None

    bench.index()
    assert bench.sesame.status().last_sync == first


# -- rebuilding and forgetting ---------------------------------------------------------------------------------


def test_a_rebuild_reads_everything_and_keeps_what_cannot_be_read_any_more(bench: Bench) -> None:
    bench.write("a.note", "fox")
    gone = bench.write("gone.note", "fox", title="kettle")
    bad = bench.write("bad.note", "fox")
    bench.index()
    gone.unlink()
    bench.touch(bad)
    bench.notes.failures["bad.note"] = ValueError("odd")
    report = bench.index(full=True)
    assert counts(report) == {"added": 1}
    assert len(report.errors) == 1
    assert bench.found("fox") == {"a", "gone", "bad"}
    assert bench.found("kettle") == {"gone"}
    assert bench.stored("gone").missing_since is not None
    assert bench.sesame.status().chunks == 3
    bench.notes.failures.clear()
    assert counts(bench.index()) == {"updated": 1, "unchanged": 1, "missing": 1}


def test_a_forgotten_session_stays_forgotten(bench: Bench) -> None:
    path = bench.write("a.note", "fox")
    bench.write("b.note", "fox")
    bench.index()
    assert [stored.session.id for stored in bench.sesame.forget("a")] == ["a"]
    assert bench.found("fox") == {"b"}
    bench.touch(path)
    assert bench.index().errors == []
    bench.grow("a.note", "fox again")
    assert bench.index().errors == []
    bench.index(full=True)
    assert bench.found("fox") == {"b"}
    assert path.exists()


def test_copies_and_subagents_of_a_forgotten_session_stay_forgotten(bench: Bench) -> None:
    bench.write("a.note", "fox")
    bench.write("copy.note", "fox", session="a")
    bench.write("helper.note", "fox", session="a/helper", kind="subagent", parent_id="a")
    bench.write("other.note", "fox", session="ab")
    bench.index()
    assert len(bench.sesame.forget("a")) >= 2
    assert bench.found("fox") == {"ab"}
    bench.write("late-copy.note", "fox", session="a")
    bench.write("late-helper.note", "fox", session="a/late", kind="subagent", parent_id="a")
    bench.index()
    assert bench.found("fox") == {"ab"}
    bench.index(full=True)
    assert bench.found("fox") == {"ab"}


def test_after_every_kind_of_run_the_full_text_agrees_with_the_rows(bench: Bench) -> None:
    steps: list[Callable[[], object]] = [
        lambda: bench.write("a.note", "fox", "elk"),
        lambda: bench.grow("a.note", "dog"),
        lambda: bench.write("a.note", "cat"),
        lambda: bench.write("b.note", "fox", title="kettle"),
        lambda: bench.path("a.note").unlink(),
        lambda: bench.sesame.forget("b"),
    ]
    for step in steps:
        step()
        bench.index()
        (name,) = [p for p in bench.data.iterdir() if p.suffix == ".sqlite"]
        db = sqlite3.connect(name, isolation_level=None)
        try:
            for table in ("chunks_fts", "heads_fts"):
                db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")
        finally:
            db.close()
