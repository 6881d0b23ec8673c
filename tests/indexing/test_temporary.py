"""Files that editors, systems and transfers leave next to sessions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sesame_core.api.sesame import Sesame
from sesame_core.config.model import Selection, Source
from sesame_core.indexing.temporary import is_temporary

from ..support.transcripts import Claude, write

ID = "11111111-1111-4111-8111-111111111111"
LEFT = [
    ".{}.jsonl.swp",  # vim, nano
    ".{}.jsonl.swo",
    ".{}.jsonl.swx",
    ".{}.jsonl.un~",
    ".{}.jsonl.kate-swp",
    "{}.jsonl~",
    "{}.jsonl.~1~",
    "#{}.jsonl#",
    ".#{}.jsonl",
    ".~lock.{}.jsonl#",
    "{}.jsonl___jb_tmp___",
    "{}.jsonl.sb-1a2b3c4d-XyZ123",
    "._{}.jsonl",
    ".{}.jsonl.X1y2Z3",
    "{}.jsonl.tmp",
    "{}.jsonl.tmp-4711",
    "{}.jsonl.tmp.4711.1772445600000",
    "{}.jsonl.temp",
    "{}.jsonl.lock",
    ".syncthing.{}.jsonl.tmp",
    "{}.jsonl.part",
    "{}.jsonl.crdownload",
    "{}.jsonl.!sync",
    ".DS_Store",
    ".nfs0000000000a1b2c300000004",
    ".fuse_hidden0000a1b200000003",
    "4913",
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    claude = Claude()
    write(tmp_path / "sessions" / "-w" / f"{ID}.jsonl", claude.user("the quick fox"))
    return tmp_path / "sessions"


@pytest.fixture
def library(root: Path, tmp_path: Path) -> Sesame:
    return Sesame(sources=[Source(parser=Selection(name="claude-code"), path=root)], data_dir=tmp_path / "data")


def test_what_programs_leave_next_to_a_session_is_not_told(root: Path, library: Sesame) -> None:
    for name in LEFT:
        (root / "-w" / name.format(ID)).write_bytes(b"b0VIM 9.0\0\0\0\0\x10\0\0 fox\n")
    with library as sesame:
        for report in (sesame.index(), sesame.refresh(9), sesame.refresh(9), sesame.unread()):
            assert (report.errors, report.unrecognised) == ([], [])


def test_what_a_program_left_is_an_error_when_it_is_named(root: Path, library: Sesame) -> None:
    path = root / "-w" / f".{ID}.jsonl.swp"
    path.write_bytes(b"b0VIM 9.0")
    with library as sesame:
        assert [error.path for error in sesame.index([path]).errors] == [str(path)]


def test_the_lock_of_emacs_is_no_broken_link(root: Path, library: Sesame) -> None:
    (root / "-w" / f".#{ID}.jsonl").symlink_to("ann@owl.4711:1772445600")
    with library as sesame:
        for report in (sesame.index(), sesame.refresh(9)):
            assert report.errors == []


def test_sessions_below_a_directory_of_such_a_name_are_read(root: Path, library: Sesame) -> None:
    os.rename(root / "-w", root / "w.tmp~")
    with library as sesame:
        assert sesame.index().added == 1


@pytest.mark.parametrize(
    "name", ["a.jsonl", ".a.jsonl", "a.tmp-1.jsonl", "a.jsonl.bak", "a.jsonl.gz", "a.jsonl.zst", "A.JSONL", "a#b.jsonl"]
)
def test_sessions_and_copies_that_a_person_made_are_not_temporary(name: str) -> None:
    assert not is_temporary(name)
