"""A search that finds no file changed does not write; whatever may have changed goes to the indexer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sesame_core import IndexWriter, Sesame, Source
from sesame_core.config.model import Selection
from sesame_core.demo import sessions_dir
from sesame_core.indexing.changes import Changes, detect, detect_notes
from sesame_core.indexing.discovery import FoundFile, is_below
from sesame_core.indexing.scan_root import ScanRoot
from sesame_core.metadata.directory import VERSION
from sesame_core.types.index import NOTES, UNREAD, KnownFile

PARSERS = ("claude-code", "pi")


class Home:
    """The demo's sessions in a directory, and their index."""

    def __init__(self, tmp_path: Path) -> None:
        import shutil

        self.root = tmp_path / "sessions"
        shutil.copytree(sessions_dir(), self.root)
        self.data = tmp_path / "data"
        self.exclude: tuple[str, ...] = ()
        self.written = 0

    def open(self) -> Sesame:
        sources = [
            Source(parser=Selection(name=name), path=self.root / name, exclude=self.exclude)
            for name in PARSERS
            if (self.root / name).exists()
        ]
        return Sesame(sources=sources, data_dir=self.data)

    def files(self, name: str = "pi") -> list[Path]:
        return sorted((self.root / name).rglob("*.jsonl"))

    def refresh(self) -> Any:
        """Refresh, and count how often the index was opened for writing."""
        with self.open() as sesame:
            backend = sesame._index.backend()
            writer = backend.writer

            def counting() -> AbstractContextManager[IndexWriter]:
                self.written += 1
                return writer()

            backend.writer = counting  # type: ignore[method-assign]
            return sesame.refresh(60)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    with home.open() as sesame:
        sesame.index()
    return home


def as_told(report: Any) -> dict[str, Any]:
    """Return what a refresh reports as a run does, which also says where it looked."""
    others = ("seconds", "looked_in", "unread_roots")
    return {name: getattr(report, name) for name in report.__slots__ if name not in others}


def test_an_unchanged_index_gets_the_report_of_the_indexer_and_nothing_is_written(home: Home) -> None:
    report = home.refresh()
    assert home.written == 0
    assert report.unchanged == sum(len(home.files(name)) for name in PARSERS)
    with home.open() as sesame:
        assert as_told(sesame.index()) == as_told(report)


def test_a_file_that_no_parser_takes_changes_nothing(home: Home) -> None:
    (home.root / "pi" / "notes.txt").write_text("no session")
    (home.root / "claude-code" / "other.jsonl").write_text('{"kind": "log"}\n')
    home.refresh()
    assert home.written == 0


def touched(home: Home) -> None:
    os.utime(home.files()[0], ns=(1, 1))


def grown(home: Home) -> None:
    with home.files()[0].open("a") as file:
        file.write("\n")
    os.utime(home.files()[0], ns=(7, 7))


def new(home: Home) -> None:
    first = home.files()[0]
    first.with_name("new.jsonl").write_bytes(first.read_bytes())


def deleted(home: Home) -> None:
    home.files()[0].unlink()


def moved(home: Home) -> None:
    home.files()[0].rename(home.files()[0].with_name("moved.jsonl"))


def excluded(home: Home) -> None:
    home.exclude = (str(home.files()[0]),)


def excluded_by_its_directory(home: Home) -> None:
    home.exclude = ("/somewhere/else",)


def linked(home: Home) -> None:
    target = home.root / "elsewhere.jsonl"
    target.write_bytes(home.files()[0].read_bytes())
    (home.root / "pi" / "link.jsonl").symlink_to(target)


@pytest.mark.parametrize("change", [touched, grown, new, deleted, moved, excluded, excluded_by_its_directory, linked])
def test_a_change_goes_to_the_indexer_once(home: Home, change: Callable[[Home], None]) -> None:
    change(home)
    home.refresh()
    assert home.written == 1
    home.refresh()
    assert home.written == 1


def test_a_file_that_comes_back_goes_to_the_indexer(home: Home) -> None:
    file, aside = home.files()[0], home.root / "aside"
    file.rename(aside)
    assert home.refresh().missing == 1
    assert (home.refresh().missing, home.written) == (1, 1)
    aside.rename(file)
    assert home.refresh().missing == 0
    assert home.written == 2


def test_a_missing_root_is_not_a_change(home: Home) -> None:
    (home.root / "pi").rename(home.root / "unmounted")
    with Sesame(sources=[Source(parser=Selection(name="pi"), path=home.root / "pi")], data_dir=home.data) as sesame:
        report = sesame.refresh(60)
        assert report.absent_roots == [os.path.realpath(home.root / "pi")]
        assert as_told(sesame.index()) == as_told(report)


def test_a_newer_parser_reads_everything_again(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    from sesame_parser_pi.parser import PiParser

    monkeypatch.setattr(PiParser, "version", PiParser.version + 1)
    assert home.refresh().updated == len(home.files())
    assert (home.refresh().updated, home.written) == (0, 1)


def test_files_are_read_again_for_other_words_until_then_the_index_answers(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sesame_core.text.VERSION", 1)
    count = home.refresh().updated
    assert count >= len(home.files())
    monkeypatch.undo()
    with Sesame(sources=[Source(parser=Selection(name="pi"), path=home.root / "pi")], data_dir=home.data) as sesame:
        assert sesame.search("nix").hits
    assert home.refresh().updated == count
    assert home.refresh().updated == 0


def test_a_file_that_could_not_be_read_is_tried_again(home: Home) -> None:
    home.files()[0].write_text("no session\n")
    for count in (1, 2):
        assert len(home.refresh().errors) == 1
        assert home.written == count


def test_overlapping_sources_count_a_file_once(home: Home) -> None:
    sources = [Source(parser=Selection(name="pi"), path=path) for path in (home.files()[0].parent, home.root / "pi")]
    with Sesame(sources=sources, data_dir=home.data) as sesame:
        report = sesame.refresh(60)
        assert report.unchanged == len(home.files())
        assert as_told(sesame.index()) == as_told(report)


def test_a_parser_that_fails_when_asked_goes_to_the_indexer_that_reports_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sesame_parser_pi.parser import PiParser

    def fail(self: PiParser, path: Path) -> bool:
        raise ZeroDivisionError

    (home.root / "pi" / "unknown.jsonl").touch()
    monkeypatch.setattr(PiParser, "matches", fail)
    (problem,) = home.refresh().errors
    assert "ZeroDivisionError" in problem.message
    assert home.written == 1


def test_another_process_that_writes_does_not_delay_a_search_when_nothing_changed(home: Home) -> None:
    code = (
        "import sys\nfrom sesame_core import Sesame\n"
        f"with Sesame(sources=[], data_dir={str(home.data)!r}).writer():\n print(flush=True)\n sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        assert home.refresh().reason is None
        touched(home)
        assert "is being written" in home.refresh().reason
        other.communicate(b"")


def test_a_backend_without_the_ability_is_opened_for_writing(home: Home) -> None:
    with home.open() as sesame:
        sesame._index._reader = object()  # type: ignore[assignment]
        assert sesame.refresh(60).unchanged == sum(len(home.files(name)) for name in PARSERS)


def test_sessions_with_outdated_conversations_need_a_run(home: Home) -> None:
    import sqlite3

    with sqlite3.connect(home.data / "index.sqlite") as db:
        db.execute("UPDATE sessions SET conversation_count = conversation_count - 1 WHERE id = 1")
    db.close()
    home.refresh()
    assert home.written == 1
    home.refresh()
    assert home.written == 1


# -- the rule itself, as a table -------------------------------------------------------------------------------

ROOT = "/s"
#: What the index knows of "/s/a" unless a case says otherwise: as it is on the disk.
SAME = (10, "pi", 3, False)


def place(parser: str = "pi", root: str = ROOT, **options: Any) -> ScanRoot:
    options.setdefault("matches", lambda path: True)
    return ScanRoot(root=root, parts=options.pop("parts", (root,)), parser=parser, version=3, **options)


def detected(known: dict[str, KnownFile], disk: dict[str, int], *places: ScanRoot, **options: Any) -> Changes:
    """Return what has changed on a disk of these files and times."""

    def scan(_: ScanRoot, root: str, is_wanted: Callable[[str], bool], __: dict[str, Exception]) -> Iterator[FoundFile]:
        for path, mtime_ns in disk.items():
            if is_below(path, root) and is_wanted(path):
                yield FoundFile(path, mtime_ns, 1)

    def exists(_: ScanRoot, path: str) -> bool:
        return any(is_below(file, path) for file in disk)

    return detect(places or [place()], known, scan=scan, exists=exists, **options)


def refuse(error: Exception) -> Callable[[str], bool]:
    def matches(path: str) -> bool:
        raise error

    return matches


def told(changes: Changes) -> dict[str, Any]:
    """Return what is not empty."""
    found = {name: getattr(changes, name) for name in Changes.__slots__}
    found["read"] = [(number, file.path) for number, file in changes.read]
    found["problems"] = [(path, parser, type(error)) for path, parser, error in changes.problems]
    return {name: value for name, value in found.items() if value}


READ = {"read": [(0, "/s/a")]}
CASES: dict[str, tuple[dict[str, KnownFile], dict[str, int], list[ScanRoot], dict[str, Any]]] = {
    "same": ({"/s/a": SAME}, {"/s/a": 10}, [], {"unchanged": 1}),
    "new": ({}, {"/s/a": 10}, [], READ),
    "grown": ({"/s/a": SAME}, {"/s/a": 11}, [], READ | {"grown": 1}),
    "touched to an earlier time": ({"/s/a": SAME}, {"/s/a": 9}, [], READ | {"grown": 1}),
    "no parser's": ({}, {"/s/a": 10}, [place(matches=lambda path: False)], {}),
    "gone": ({"/s/a": SAME}, {"/s/b": 1}, [place(matches=lambda path: False)], {"gone": ["/s/a"], "missing": 1}),
    "gone for long": ({"/s/a": (10, "pi", 3, True), "/s/b": SAME}, {"/s/b": 10}, [], {"unchanged": 1, "missing": 1}),
    "gone with its root": ({"/s/a": SAME}, {}, [], {"absent_roots": ["/s"]}),
    "gone, unread": ({"/s/a": (UNREAD, "pi", 3, False), "/s/b": SAME}, {"/s/b": 10}, [],
        {"unchanged": 1, "gone": ["/s/a"], "missing": 1}),
    "gone in two sources": ({"/s/d/a": SAME, "/s/d/b": SAME}, {"/s/d/b": 10}, [place(), place(root="/s/d")],
        {"unchanged": 1, "gone": ["/s/d/a"], "missing": 1}),
    "back": ({"/s/a": (10, "pi", 3, True)}, {"/s/a": 10}, [], {"unchanged": 1, "returned": ["/s/a"]}),
    "back and changed": ({"/s/a": (10, "pi", 3, True)}, {"/s/a": 11}, [], READ),
    "back, for another version": ({"/s/a": (10, "pi", 2, True)}, {"/s/a": 10}, [], READ),
    "other version": ({"/s/a": (10, "pi", 2, False)}, {"/s/a": 10}, [], READ),
    "failed before, or a run has more to do": ({"/s/a": (UNREAD, "pi", 3, False)}, {"/s/a": 10}, [], READ),
    "other parser": ({"/s/a": (10, "other", 3, False)}, {"/s/a": 11}, [], {}),
    "other parser, gone": ({"/s/a": (10, "other", 3, False)}, {"/s/b": 1}, [place(matches=lambda path: False)], {}),
    "excluded now": ({"/s/a": SAME}, {"/s/a": 11}, [place(exclude=("/s/a",))], {"excluded": ["/s/a"]}),
    "excluded and new": ({}, {"/s/a": 10}, [place(exclude=("/s",))], {}),
    "excluded and gone": ({"/s/a": SAME}, {"/s/b": 10}, [place(exclude=("/s",))], {"gone": ["/s/a"], "missing": 1}),
    "excluded in one source, not in the next": ({"/s/a": SAME}, {"/s/a": 10}, [place(exclude=("/s/a",)), place()],
        {"unchanged": 1}),
    "excluded in the next source": ({"/s/a": SAME}, {"/s/a": 10}, [place(), place(exclude=("/s/a",))],
        {"unchanged": 1}),
    "claimed by an earlier source": ({}, {"/s/a": 10}, [place("other"), place()], READ),
    "claimed by a later source": ({}, {"/s/a": 10}, [place(matches=lambda path: False), place("other")],
        {"read": [(1, "/s/a")]}),
    "known to the later source": ({"/s/a": SAME}, {"/s/a": 11}, [place("other"), place()],
        {"read": [(1, "/s/a")], "grown": 1}),
    "below two parts": ({}, {"/s/d/a": 10}, [place(parts=("/s", "/s/d"))], {"read": [(0, "/s/d/a")]}),
    "beside the parts": ({"/s/a": SAME, "/s/b": SAME}, {"/s/d/a": 10}, [place(parts=("/s/d",))],
        {"read": [(0, "/s/d/a")]}),
    "no part, no root": ({"/s/a": SAME}, {"/t/a": 10}, [place(parts=())], {}),
    "outside": ({"/t/a": SAME}, {"/s/b": 10, "/t/b": 1}, [], {"read": [(0, "/s/b")]}),
    "a parser that fails": ({}, {"/s/a": 10}, [place(matches=refuse(KeyError())), place("other")],
        {"read": [(1, "/s/a")], "problems": [("/s/a", "pi", KeyError)]}),
    "a file that cannot be looked at": ({}, {"/s/a": 10}, [place(matches=refuse(PermissionError())), place("other")],
        {"problems": [("/s/a", "pi", PermissionError)]}),
    "a file that vanished": ({}, {"/s/a": 10}, [place(matches=refuse(FileNotFoundError()))], {}),
    "a name that is not UTF-8": ({}, {"/s/\udce9": 10}, [], {"problems": [("/s/\udce9", "pi", OSError)]}),
    "notes of sessions": ({"/s/a": (10, NOTES, 1, False)}, {"/s/b": 1}, [place(matches=lambda path: False)], {}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_has_changed(case: str) -> None:
    known, disk, places, expected = CASES[case]
    assert told(detected(known, disk, *places)) == expected


@pytest.mark.parametrize("case", CASES)
def test_only_files_with_another_time_are_growth(case: str) -> None:
    known, disk, places, expected = CASES[case]
    changes = detected(known, disk, *places)
    others = expected.keys() & {"returned", "gone", "excluded", "problems"}
    assert changes.is_growth == (not others and len(expected.get("read", [])) == expected.get("grown", 0))
    assert detected(known, disk, *places, growth_only=True).is_growth == changes.is_growth


def test_a_look_for_growth_ends_with_the_first_other_change() -> None:
    seen: list[str] = []
    disk = {"/s/a": 11, "/s/b": 10, "/s/c": 10}
    matches = lambda path: seen.append(path) is None  # noqa: E731
    changes = detected({"/s/a": SAME}, disk, place(matches=matches), growth_only=True)
    assert [file.path for _, file in changes.read] == ["/s/a", "/s/b"]
    assert seen == ["/s/b"]


def test_a_file_is_known_by_the_path_that_is_stored() -> None:
    """A secret in a path is not stored."""
    hidden: Callable[[str], str] = lambda path: path.replace("secret", "***")  # noqa: E731
    known = {"/s/***": SAME, "/s/***2": (10, "pi", 3, True), "/s/***3": SAME}
    disk = {"/s/secret": 10, "/s/secret2": 10, "/s/secret4": 10}
    assert told(detected(known, disk, stored_path=hidden)) == {
        "unchanged": 2, "returned": ["/s/***2"], "read": [(0, "/s/secret4")], "gone": ["/s/***3"], "missing": 1
    }  # fmt: skip


def test_a_file_with_a_secret_in_its_path_is_excluded_by_its_real_path() -> None:
    """The stored path is not on the disk: the file would be taken for missing, and its sessions would stay."""
    hidden: Callable[[str], str] = lambda path: path.replace("secret", "***")  # noqa: E731
    known = {"/s/***": SAME, "/s/b": SAME}
    disk = {"/s/secret": 10, "/s/b": 10}
    changes = detected(known, disk, place(exclude=("/s/secret",)), stored_path=hidden)
    assert told(changes) == {"unchanged": 1, "excluded": ["/s/***"]}


NOTED = (10, NOTES, VERSION, False)


@pytest.mark.parametrize(
    ("known", "found", "expected"),
    [
        ({"/n/a": NOTED, "/s/a": SAME}, {"/n/a": 10}, {"unchanged": 1}),
        ({}, {"/n/a": 10}, {"read": [(0, "/n/a")]}),
        ({"/n/a": NOTED}, {"/n/a": 11}, {"read": [(0, "/n/a")], "grown": 1}),
        ({"/n/a": (10, NOTES, VERSION - 1, False)}, {"/n/a": 10}, {"read": [(0, "/n/a")]}),
        ({"/n/a": (UNREAD, NOTES, VERSION, False)}, {"/n/a": 10}, {"read": [(0, "/n/a")]}),
        ({"/n/a": NOTED}, {}, {"gone": ["/n/a"], "missing": 1}),
        ({"/n/a": (0, NOTES, VERSION, True)}, {}, {"missing": 1}),
        ({"/n/a": (10, NOTES, VERSION, True)}, {"/n/a": 10}, {"unchanged": 1, "returned": ["/n/a"]}),
        ({"/before/a": NOTED}, {}, {"gone": ["/before/a"], "missing": 1}),
        ({"/n/a": NOTED}, None, {}),
    ],
    ids=["same", "new", "written", "version", "unread", "gone", "long gone", "back", "elsewhere", "no directory"],
)
def test_what_has_changed_in_notes(
    known: dict[str, KnownFile], found: dict[str, int] | None, expected: dict[str, Any]
) -> None:
    assert told(detect_notes(Path("/n"), found, known)) == expected


@pytest.mark.parametrize(
    ("within", "parts"),
    [
        ([], ("/s",)),
        (["/s"], ("/s",)),
        (["/"], ("/s",)),
        (["/s/a", "/s/b"], ("/s/a", "/s/b")),
        (["/t"], ()),
        (["/sb"], ()),
        (["/", "/s/a"], ("/s/a", "/s")),
    ],
)
def test_the_parts_of_a_source_that_some_paths_mean(within: list[str], parts: tuple[str, ...]) -> None:
    source = Source(parser=Selection(name="pi"), path=Path("/s"))
    assert ScanRoot.of(source, "/s", SimpleNamespace(version=3), within).parts == parts  # type: ignore[arg-type]
