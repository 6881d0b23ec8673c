"""After a look at all files, the next ones look at directories and at the files that changed lately, for a minute."""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sesame_core import Sesame, Source
from sesame_core.config.model import Selection
from sesame_core.demo import sessions_dir
from sesame_core.indexing import scan_cache, scanning
from sesame_core.indexing.scan_cache import LASTING, RECENT_DAYS
from sesame_core.indexing.scanning import scan_recent
from sesame_core.types.report import IndexReport

LONG_AGO = int((time.time() - (RECENT_DAYS + 1) * 86_400) * 1e9)


class Home:
    """The demo's sessions of pi in a directory, all of them old but one, and their index."""

    def __init__(self, tmp_path: Path) -> None:
        self.root = tmp_path / "sessions"
        shutil.copytree(sessions_dir() / "pi", self.root)
        self.data = tmp_path / "data"
        self.files = sorted(self.root.rglob("*.jsonl"))
        self.recent, *self.old = self.files
        for file in self.old:
            os.utime(file, ns=(LONG_AGO, LONG_AGO))
        self.settle()

    def settle(self) -> None:
        """Let all directories have been changed a while ago."""
        for directory, _, _ in os.walk(self.root):
            os.utime(directory, (time.time() - 60, time.time() - 60))

    def open(self, parser: str = "pi") -> Sesame:
        return Sesame(sources=[Source(parser=Selection(name=parser), path=self.root)], data_dir=self.data)

    def refresh(self) -> IndexReport:
        with self.open() as sesame:
            return sesame.refresh(60)

    @property
    def note(self) -> Path:
        return self.data / "index.sqlite-looked"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """The index, after a look at all files."""
    monkeypatch.setattr(scan_cache, "LEAST", 1)
    home = Home(tmp_path)
    with home.open() as sesame:
        sesame.index()
    report = home.refresh()
    assert (report.unchanged, report.not_scanned, report.scanned_at) == (len(home.files), 0, None)
    return home


def grow(path: Path, at: int | None = None) -> None:
    with path.open("a") as file:
        message = {"role": "user", "content": "kumquat", "timestamp": round(time.time() * 1000)}
        file.write(json.dumps({"type": "message", "id": "kumquat1", "parentId": None, "message": message}) + "\n")
    if at is not None:
        os.utime(path, ns=(at, at))


def test_old_files_are_taken_to_be_as_they_were_and_the_report_says_so(home: Home) -> None:
    before = time.time()
    report = home.refresh()
    assert (report.unchanged, report.not_scanned) == (len(home.files), len(home.old))
    assert report.scanned_at is not None
    assert 0 <= before - report.scanned_at.timestamp() < LASTING


def test_a_recent_file_that_has_grown_is_found_at_once(home: Home) -> None:
    grow(home.recent)
    report = home.refresh()
    assert (report.appended, report.unchanged, report.not_scanned) == (1, len(home.old), len(home.old))
    assert [(source.changed, source.pending) for source in report.sources] == [(1, 0)]
    assert home.refresh().appended == 0
    with home.open() as sesame:
        assert sesame.search("kumquat").hits


def test_an_old_file_that_has_grown_is_found_when_the_minute_is_over(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(home.old[0])
    assert home.refresh().changed == 0
    later = time.time() + LASTING
    monkeypatch.setattr(time, "time", lambda: later)
    report = home.refresh()
    assert (report.appended, report.not_scanned) == (1, 0)
    report = home.refresh()
    assert (report.appended, report.not_scanned) == (0, len(home.old) - 1)
    grow(home.old[0], at=home.old[0].stat().st_mtime_ns + 1)
    assert home.refresh().appended == 1, "now it is a recent one"


def test_many_changed_files_are_left_to_a_run_over_all(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "FEW", 1)
    home.note.unlink()
    for file in home.files[:2]:
        grow(file)
        os.utime(file)
    report = home.refresh()
    assert (report.appended, report.not_scanned) == (2, 0)
    report = home.refresh()
    assert report.appended == 0
    assert report.scanned_at is not None


def new(home: Home) -> None:
    shutil.copy2(home.old[0], home.old[0].with_name("another.jsonl"))


def gone(home: Home) -> None:
    home.old[0].unlink()


def renamed(home: Home) -> None:
    home.old[0].rename(home.old[0].with_name("another.jsonl"))


def replaced(home: Home) -> None:
    draft = home.old[0].with_name("draft")
    draft.write_text(home.old[0].read_text())
    draft.replace(home.old[0])


def new_directory(home: Home) -> None:
    (home.root / "more").mkdir()
    shutil.copy2(home.old[0], home.root / "more" / "another.jsonl")


def root_is_gone(home: Home) -> None:
    home.root.rename(home.root.with_name("unmounted"))


@pytest.mark.parametrize("change", [new, gone, renamed, replaced, new_directory, root_is_gone])
def test_what_changes_a_directory_is_found_at_once(home: Home, change: Callable[[Home], None]) -> None:
    change(home)
    report = home.refresh()
    assert report.changed or report.missing or report.absent_roots
    assert report.not_scanned == 0


def test_a_root_that_exists_again_is_scanned(home: Home) -> None:
    root_is_gone(home)
    assert home.refresh().absent_roots
    assert home.refresh().absent_roots
    home.root.with_name("unmounted").rename(home.root)
    assert home.refresh().absent_roots == []


def test_another_configuration_looks_at_all_files(home: Home) -> None:
    with Sesame(sources=[Source(parser=Selection(name="claude-code"), path=home.root)], data_dir=home.data) as sesame:
        assert sesame.refresh(60).scanned_at is None


def test_another_index_in_its_place_gets_a_full_scan(home: Home) -> None:
    with home.open() as sesame:
        sesame.index(full=True)
    assert not home.note.exists(), "it goes with the index it was about"
    assert home.refresh().scanned_at is None
    assert home.refresh().scanned_at is not None


def test_a_directory_that_has_just_changed_may_change_again_unseen(home: Home) -> None:
    home.note.unlink()
    new(home)
    for _ in range(3):
        assert home.refresh().scanned_at is None
    home.settle()
    assert home.refresh().scanned_at is None
    assert home.refresh().scanned_at is not None


def test_work_that_a_run_could_not_do_is_detected_again(home: Home) -> None:
    home.note.unlink()
    home.old[0].write_text("no session\n")
    os.utime(home.old[0], ns=(LONG_AGO - 1, LONG_AGO - 1))
    for _ in range(3):
        assert len(home.refresh().errors) == 1
    home.old[0].write_bytes(home.old[1].read_bytes())
    report = home.refresh()
    assert (report.updated, report.errors) == (1, [])


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"at": "now"}', "\x00\xff"])
def test_a_damaged_note_is_none(home: Home, text: str) -> None:
    home.note.write_text(text, encoding="latin-1")
    assert home.refresh().scanned_at is None
    assert home.refresh().scanned_at is not None


def test_a_note_from_the_future_is_none(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    earlier = time.time() - LASTING
    monkeypatch.setattr(time, "time", lambda: earlier)
    assert home.refresh().scanned_at is None


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
def test_a_note_is_its_owners_alone_and_no_draft_stays(home: Home) -> None:
    assert stat.S_IMODE(home.note.stat().st_mode) == 0o600
    assert [file.name for file in home.data.glob("*looked*")] == [home.note.name]
    assert not [*home.data.glob("*.new")]


def test_a_note_that_cannot_be_written_stops_nothing(home: Home) -> None:
    home.note.unlink()
    home.note.mkdir()
    for _ in range(2):
        assert (home.refresh().reason, home.refresh().scanned_at) == (None, None)


def test_few_files_are_all_checked_each_time(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.note.unlink()
    monkeypatch.setattr(scan_cache, "LEAST", len(home.files) + 1)
    for _ in range(2):
        assert home.refresh().scanned_at is None


def test_an_answer_reports_the_files_that_were_not_checked(home: Home) -> None:
    from sesame_core.rendering.answers import answer_text
    from sesame_core.rendering.freshness import index_json

    report = home.refresh()
    told = index_json(report)
    assert told["notScanned"] == len(home.old)
    assert told["scannedAt"].endswith("Z")
    assert (index_json(IndexReport())["notScanned"], index_json(IndexReport())["scannedAt"]) == (0, None)
    with home.open() as sesame:
        text = answer_text(sesame.search("nix"), abbreviate=str, refreshed=report)
    assert f"{len(home.old)} older session files were last scanned" in text


def test_without_a_note_a_look_does_not_begin(home: Home) -> None:
    assert scan_recent([], home.data, None, object()) is None  # type: ignore[arg-type]
