"""Finding session files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sesame_core import Sesame
from sesame_core.indexing.discovery import is_below, scan

from ..support.transcripts import Pi, append, pi_session, write


def names(root: Path, wanted: str = ".jsonl") -> list[str]:
    return sorted(os.path.relpath(found.path, root) for found in scan(str(root), lambda path: path.endswith(wanted)))


def make(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_wanted_files_are_found_at_any_depth(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b/c.jsonl", "b/d/e/f.jsonl", "b/readme.md", ".hidden/g.jsonl"):
        make(tmp_path / name)
    assert names(tmp_path) == [".hidden/g.jsonl", "a.jsonl", "b/c.jsonl", "b/d/e/f.jsonl"]


def test_a_found_file_has_size_and_time(tmp_path: Path) -> None:
    path = make(tmp_path / "a.jsonl", "12345")
    os.utime(path, ns=(10**18, 10**18 + 7))
    (found,) = scan(str(tmp_path), lambda _: True)
    assert (found.path, found.mtime_ns, found.size) == (str(path), 10**18 + 7, 5)


def test_a_root_may_be_one_file(tmp_path: Path) -> None:
    path = make(tmp_path / "a.jsonl")
    make(tmp_path / "b.jsonl")
    assert [found.path for found in scan(str(path), lambda _: True)] == [str(path)]
    assert list(scan(str(path), lambda _: False)) == []


def test_a_root_that_does_not_exist_has_no_files(tmp_path: Path) -> None:
    assert list(scan(str(tmp_path / "nowhere"), lambda _: True)) == []


def test_links_are_followed_once_by_their_real_path(tmp_path: Path) -> None:
    root = tmp_path / "root"
    make(root / "a.jsonl")
    make(tmp_path / "elsewhere/b.jsonl")
    make(tmp_path / "single.jsonl")
    (root / "one").symlink_to(tmp_path / "elsewhere")
    (root / "two").symlink_to(tmp_path / "elsewhere")
    (root / "self").symlink_to(root)
    (tmp_path / "elsewhere" / "back").symlink_to(root)
    (root / "file1.jsonl").symlink_to(tmp_path / "single.jsonl")
    (root / "file2.jsonl").symlink_to(tmp_path / "single.jsonl")
    found = [f.path for f in scan(str(root), lambda path: path.endswith(".jsonl"))]
    assert sorted(found) == [
        str(tmp_path / "elsewhere/b.jsonl"),
        str(root / "a.jsonl"),
        str(tmp_path / "single.jsonl"),
    ]


def test_a_link_to_a_file_of_the_same_tree_does_not_find_it_twice(tmp_path: Path) -> None:
    """Whichever of the two the system lists first."""
    for number in range(20):
        real = make(tmp_path / f"real-{number}.jsonl")
        (tmp_path / f"{'a' if number % 2 else 'z'}-{number}.jsonl").symlink_to(real)
    found = [f.path for f in scan(str(tmp_path), lambda _: True)]
    assert sorted(found) == sorted(set(found))
    assert len(found) == 20


def test_a_dangling_link_and_an_irregular_file_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").symlink_to(tmp_path / "nowhere.jsonl")
    (tmp_path / "circle.jsonl").symlink_to(tmp_path / "circle.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "dir.jsonl").mkdir()
    asked: list[str] = []
    assert list(scan(str(tmp_path), lambda path: asked.append(path) is None)) == []
    assert asked == []


def test_a_directory_that_cannot_be_read_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "a.jsonl")
    locked = make(tmp_path / "locked/b.jsonl").parent
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path == str(locked):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert names(tmp_path) == ["a.jsonl"]


def test_a_file_that_is_deleted_during_the_scan_is_skipped(tmp_path: Path) -> None:
    path = make(tmp_path / "a.jsonl")
    assert list(scan(str(tmp_path), lambda _: path.unlink() is None)) == []


@pytest.mark.parametrize(
    ("path", "root", "expected"),
    [
        ("/a", "/a", True),
        ("/a/b", "/a", True),
        ("/a/b", "/a/", True),
        ("/ab", "/a", False),
        ("/a", "/a/b", False),
        ("/a", "/", True),
        ("/", "/", True),
    ],
)
def test_what_lies_below_a_root(path: str, root: str, expected: bool) -> None:
    assert is_below(path, root) is expected


@pytest.mark.upstream(8)
def test_every_depth_and_linked_directories_are_found_whoever_looks(tmp_path: Path) -> None:
    main = pi_session("main", "the main echidna")
    sub = Pi("sub")
    nested = write(main.with_suffix("") / "run" / "run-1" / "session.jsonl", sub.header(), sub.user("a nested echidna"))
    linked = Pi("linked")
    write(tmp_path / "elsewhere" / "a.jsonl", linked.header(), linked.user("a linked echidna"))
    (linked.root / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    with Sesame() as sesame:
        assert sesame.index().added == 3
        assert sorted(stored.session.id for stored in sesame.list_sessions()[0]) == ["linked", "main", "sub"]
        assert sesame.get_session("sub").session.parent_id == "main"
        # What `sesame watch` does for a changed file leads to the same.
        append(nested, sub.user("and more"))
        assert sesame.index([nested]).appended == 1
        assert sesame.index().changed == 0
