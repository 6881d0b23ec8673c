"""A search that finds no file changed does not write; whatever may have changed goes to the indexer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from sesame_core import IndexWriter, Sesame, Source
from sesame_core.config.model import Selection
from sesame_core.demo import sessions_dir

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
    return {name: getattr(report, name) for name in report.__slots__ if name != "seconds"}


def test_nothing_changed_is_told_as_the_indexer_would_and_nothing_is_written(home: Home) -> None:
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


def test_a_root_that_is_gone_is_no_change(home: Home) -> None:
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

    (home.root / "pi" / "unknown").touch()
    monkeypatch.setattr(PiParser, "matches", fail)
    (problem,) = home.refresh().errors
    assert "ZeroDivisionError" in problem.message
    assert home.written == 1


def test_another_process_that_writes_does_not_hinder_a_search_when_nothing_changed(home: Home) -> None:
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


def test_sessions_that_are_behind_call_for_a_run(home: Home) -> None:
    import sqlite3

    with sqlite3.connect(home.data / "index.sqlite") as db:
        db.execute("UPDATE sessions SET conversation_count = conversation_count - 1 WHERE id = 1")
    db.close()
    home.refresh()
    assert home.written == 1
    home.refresh()
    assert home.written == 1
