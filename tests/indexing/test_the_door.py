"""Files that cannot be read, listed or recognised: named or counted, and never taken for deleted ones."""

from __future__ import annotations

import errno
import gzip
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Sesame
from sesame_core.config.model import Selection, Source
from sesame_core.indexing import discovery
from sesame_core.indexing.discovery import may_exist
from sesame_core.sdk.oddities import oddity
from tests.support.in_memory import in_memory, plugins_with_memory
from tests.support.transcripts import CLAUDE_ID, Claude, append, write

OTHER = "22222222-2222-4222-8222-222222222222"
is_root = hasattr(os, "geteuid") and os.geteuid() == 0
needs_permissions = pytest.mark.skipif(is_root, reason="root may read everything; the fault is injected in other tests")


def session(path: Path, text: str) -> Path:
    return write(path, Claude(path.stem).user(text))


def write_at(path: Path, mtime_ns: int, *records: Any) -> None:
    write(path, *records)
    os.utime(path, ns=(mtime_ns, mtime_ns))


def opened(root: Path, **options: Any) -> Sesame:
    source = Source(parser=Selection(name="claude-code"), path=root, **options)
    return in_memory([source], root.parent / "data", plugins_with_memory())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "projects"
    session(root / "-w" / f"{CLAUDE_ID}.jsonl", "the quick fox")
    session(root / "-x" / f"{OTHER}.jsonl", "a lazy owl")
    return root


@pytest.fixture
def library(root: Path) -> Iterator[Sesame]:
    with opened(root) as sesame:
        yield sesame


def refuse(monkeypatch: pytest.MonkeyPatch, directory: Path, number: int) -> None:
    """Make a directory unreadable for any user, as a server does that does not answer."""
    scandir, stat = os.scandir, os.stat

    def refused(path: Any) -> None:
        if isinstance(path, str | os.PathLike) and Path(path).is_relative_to(directory):
            raise OSError(number, os.strerror(number), str(path))

    def listed(path: Any) -> Any:
        refused(path)
        return scandir(path)

    def found(path: Any, **options: Any) -> Any:
        if isinstance(path, str | os.PathLike) and Path(path) != directory:
            refused(path)
        return stat(path, **options)

    monkeypatch.setattr(discovery.os, "scandir", listed)
    monkeypatch.setattr(discovery.os, "stat", found)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ELOOP])
def test_a_directory_that_cannot_be_listed_is_named_and_nothing_in_it_is_missing(
    number: int, root: Path, library: Sesame, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.index()
    with monkeypatch.context() as patched:
        refuse(patched, root / "-x", number)
        for report in (library.index(), library.refresh(9), library.refresh(9), library.unread()):
            assert [(error.path, error.message) for error in report.errors] == [(str(root / "-x"), os.strerror(number))]
            assert (report.missing, report.unchanged) == (0, 1)
    assert library.status().missing == 0
    report = library.index()
    assert (report.errors, report.unchanged) == ([], 2)


def test_a_root_that_cannot_be_listed_is_named_and_nothing_is_missing(
    root: Path, library: Sesame, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.index()
    refuse(monkeypatch, root, errno.EACCES)
    report = library.index()
    assert [error.path for error in report.errors] == [str(root)]
    assert (report.missing, report.absent_roots) == (0, [])


@needs_permissions
def test_a_directory_without_permission_is_named(root: Path, library: Sesame) -> None:
    library.index()
    (root / "-x").chmod(0)
    try:
        report = library.index()
    finally:
        (root / "-x").chmod(0o755)
    assert [error.path for error in report.errors] == [str(root / "-x")]
    assert report.missing == 0


@pytest.mark.parametrize(
    ("number", "named"), [(errno.EACCES, "-x"), (errno.EIO, f"-x/{OTHER}.jsonl"), (errno.ESTALE, f"-x/{OTHER}.jsonl")]
)
def test_a_file_that_is_listed_and_cannot_be_reached_is_named(
    number: int, named: str, root: Path, library: Sesame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory whose names may be read, and nothing else; a server that lost a file."""
    library.index()
    known = session(root / "-x" / "new.jsonl", "a new fox")

    class Entry:
        """An entry of a directory whose `stat` fails."""

        def __init__(self, entry: os.DirEntry[str]) -> None:
            self.path, self.is_symlink, self.is_dir, self.is_file = (
                entry.path,
                entry.is_symlink,
                entry.is_dir,
                entry.is_file,
            )
            self._entry = entry

        def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
            if self.path == str(root / "-x" / f"{OTHER}.jsonl"):
                raise OSError(number, os.strerror(number), self.path)
            return self._entry.stat(follow_symlinks=follow_symlinks)

    entries = discovery._entries
    with monkeypatch.context() as patched:
        patched.setattr(discovery, "_entries", lambda *given: map(Entry, entries(*given)))
        for report in (library.refresh(9), library.index(), library.unread()):
            assert [(error.path, error.message) for error in report.errors] == [
                (str(root / named), os.strerror(number))
            ]
            assert report.missing == 0
    assert known.exists()
    assert (library.index().errors, library.status().files) == ([], 3)


def test_a_file_whose_directory_was_deleted_is_missing(root: Path, library: Sesame) -> None:
    library.index()
    (root / "-x").rename(root.parent / "elsewhere")
    assert library.index().missing == 1
    (root.parent / "elsewhere").rename(root / "-x")
    assert library.index().missing == 0


def test_a_file_whose_directory_became_a_file_is_missing(root: Path, library: Sesame) -> None:
    library.index()
    (root / "-x" / f"{OTHER}.jsonl").unlink()
    (root / "-x").rmdir()
    (root / "-x").write_text("")
    assert library.index().missing == 1


def test_a_file_that_is_found_again_and_cannot_be_read_is_not_gone(
    root: Path, library: Sesame, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sesame_parser_claude_code.parser import ClaudeCodeParser

    library.index()
    file = root / "-x" / f"{OTHER}.jsonl"
    file.rename(root.parent / "kept")
    assert library.index().missing == 1
    (root.parent / "kept").rename(file)
    append(file, Claude(file.stem).user("another owl"))

    def refused(*_: Any, **__: Any) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", str(file))

    monkeypatch.setattr(ClaudeCodeParser, "parse", refused)
    monkeypatch.setattr(ClaudeCodeParser, "parse_tail", refused)
    assert [error.message for error in library.index().errors] == ["Permission denied"]
    status = library.status()
    assert (status.missing, [message for _, message in status.failed]) == (0, ["Permission denied"])


@pytest.mark.parametrize("left", ["two files", "one file in a directory"])
def test_an_empty_root_whose_files_are_all_gone_is_not_mounted(left: str, root: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    if left == "two files":
        for path in [*root.rglob("*.jsonl")]:
            path.rename(root / path.name)
            path.parent.rmdir()
    else:
        (root / "-x" / f"{OTHER}.jsonl").unlink()
        (root / "-x").rmdir()
    files = "all 2 files" if left == "two files" else "the only file"
    message = f"is empty, but the index knows {files} of it: is it not mounted?"
    with opened(root) as library:
        assert library.index().missing == 0
        root.rename(disk)
        root.mkdir()
        for report in (library.index(), library.refresh(9), library.refresh(9), library.unread()):
            assert [(error.path, error.message) for error in report.errors] == [(str(root), message)]
            assert report.missing == 0
        assert library.status().missing == 0
        assert [hit.stored.missing_since for hit in library.search("fox").hits] == [None]
        root.rmdir()
        disk.rename(root)
        for report in (library.refresh(9), library.index()):
            assert (report.errors, report.updated, report.missing) == ([], 0, 0)


def test_the_last_file_of_a_flat_root_that_was_deleted_is_missing(root: Path) -> None:
    with opened(root / "-x") as library:
        library.index()
        (root / "-x" / f"{OTHER}.jsonl").unlink()
        report = library.index()
        assert (report.errors, report.missing) == ([], 1)


def test_the_last_session_of_a_project_that_was_deleted_is_missing(root: Path, library: Sesame) -> None:
    """Claude Code deletes sessions after a month, and leaves their directories."""
    library.index()
    for path in [*root.rglob("*.jsonl")]:
        path.unlink()
    report = library.index()
    assert (report.errors, report.missing) == ([], 2)


def test_what_may_exist() -> None:
    assert may_exist(os.curdir)
    assert not may_exist("/nowhere/at/all")
    assert not may_exist(f"{__file__}/below")
    assert may_exist("/" + "x" * 300), "a name too long for this file system"


@pytest.mark.parametrize(
    ("name", "target", "message"),
    [
        ("gone.jsonl", "nowhere", "its target does not exist: nowhere"),
        ("loop", "loop", "Too many levels of symbolic links"),
        ("disk", "/mnt/of/nobody/sessions", "its target does not exist: /mnt/of/nobody/sessions"),
    ],
)
def test_a_link_to_nothing_is_named(name: str, target: str, message: str, root: Path, library: Sesame) -> None:
    (root / "-w" / name).symlink_to(target)
    report = library.index()
    assert [(error.path, error.message) for error in report.errors] == [(str(root / "-w" / name), message)]
    assert report.added == 2


def test_a_link_whose_target_comes_back_is_read_by_the_next_refresh(root: Path, tmp_path: Path) -> None:
    """Also while the last scan is remembered: it cannot tell by a directory's time."""
    link, archive = root / "-w" / "z.jsonl", root / "-w" / "notes.jsonl.gz"
    target = tmp_path / "33333333-3333-4333-8333-333333333333.jsonl"
    link.symlink_to(target)
    archive.write_bytes(gzip.compress(LINE))
    for directory in (root, *root.iterdir()):
        os.utime(directory, ns=(10**18, 10**18))  # otherwise it may change again at the same time
    with Sesame(sources=[Source(parser=Selection(name="claude-code"), path=root)], data_dir=tmp_path / "d") as sesame:
        scanned = []
        for _ in range(3):
            report = sesame.refresh(9)
            scanned.append(report.scanned_at)
            assert [error.path for error in report.errors] == [str(link)]
            assert [problem.path for problem in report.unrecognised] == [str(archive)]
        assert scanned[-1] is not None, "the scan was not remembered"
        session(target, "a deer came back")
        report = sesame.refresh(9)
        assert (report.errors, report.added) == ([], 1)
        assert [problem.path for problem in report.unrecognised] == [str(archive)]


def test_a_loop_of_directories_loses_nothing(root: Path, library: Sesame) -> None:
    (root / "-w" / "up").symlink_to("..")
    report = library.index()
    assert (report.errors, report.added) == ([], 2)


@pytest.mark.parametrize("change", ["longer", "shorter", "other"])
def test_another_size_at_the_same_time_is_a_change(change: str, root: Path, library: Sesame) -> None:
    path, claude = root / "-w" / f"{CLAUDE_ID}.jsonl", Claude()
    write_at(path, 10**18, claude.user("the quick fox"), claude.user("jumps over"))
    library.index()
    if change == "longer":
        append(path, claude.user("badger"))
        os.utime(path, ns=(10**18, 10**18))
    elif change == "shorter":
        write_at(path, 10**18, claude.user("badger"))
    else:
        other = path.with_suffix(".tmp")
        write_at(other, 10**18, claude.user("badger, and many more words than before, in another file"))
        other.replace(path)
    report = library.refresh(9)
    assert (report.appended, report.updated) == ((1, 0) if change == "longer" else (0, 1))
    assert [hit.session.id for hit in library.search("badger").hits] == [CLAUDE_ID]
    assert library.refresh(9).unchanged == 2


# -- files that no parser recognises ---------------------------------------------------------------------------

RECORD = {"type": "user", "uuid": "u", "sessionId": OTHER, "message": {"role": "user", "content": "gallium"}}
LINE = json.dumps(RECORD).encode() + b"\n"


def zipped(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.jsonl", LINE)


ODD: dict[str, tuple[str, Any, str]] = {
    "pretty-printed": ("a.jsonl", json.dumps(RECORD, indent=4).encode(), "pretty-printed JSON"),
    "pretty-printed, with CRLF": (
        "a.jsonl",
        json.dumps(RECORD, indent=2).replace("\n", "\r\n").encode(),
        "pretty-printed JSON",
    ),
    "an array": ("a.jsonl", json.dumps([RECORD]).encode(), "a JSON array"),
    "a pretty-printed array": ("a.jsonl", json.dumps([RECORD], indent=1).encode(), "a JSON array"),
    "gzip": ("a.jsonl.gz", gzip.compress(LINE), "compressed with gzip"),
    "gzip under the name of a session": ("a.jsonl", gzip.compress(LINE), "compressed with gzip"),
    "zstd": ("a.jsonl.zst", b"\x28\xb5\x2f\xfd\x04\x00", "compressed with zstd"),
    "zip": ("a.jsonl.zip", zipped, "a zip archive"),
    "UTF-16": ("a.jsonl", LINE.decode().encode("utf-16"), "UTF-16"),
    "upper case": ("A.JSONL", LINE, "its name does not end with .jsonl"),
    "a backup": ("a.jsonl.bak", LINE, "its name does not end with .jsonl"),
    "another program's": ("log.jsonl", b'{"level": "info"}\n', "records of no agent with a parser"),
    "text": ("a.jsonl", b"hello\n", "not JSON, or damaged"),
    "numbers": ("a.jsonl", b"1\n2\n", "no records in its lines"),
}


@pytest.mark.parametrize(("name", "content", "reason"), ODD.values(), ids=ODD)
def test_a_file_that_is_not_recognised_is_counted_when_met_and_an_error_when_named(
    name: str, content: Any, reason: str, root: Path, library: Sesame
) -> None:
    path = root / "-w" / name
    if callable(content):
        content(path)
    else:
        path.write_bytes(content)
    for report in (library.index(), library.refresh(9), library.refresh(9), library.unread()):
        assert report.errors == []
        assert [problem.path for problem in report.unrecognised] == [str(path)]
        assert reason in report.unrecognised[0].message
    named = library.index([path])
    assert [(error.path, error.message) for error in named.errors] == [(str(path), report.unrecognised[0].message)]


def test_a_named_file_outside_of_all_sources_is_an_error(library: Sesame, tmp_path: Path) -> None:
    for name, content in (("notes.txt", b"hello"), ("a.json", b"{}"), ("b.jsonl.gz", gzip.compress(LINE))):
        path = tmp_path / name
        path.write_bytes(content)
        assert [error.path for error in library.index([path]).errors] == [str(path)]


def test_an_excluded_file_that_is_named_is_an_error(root: Path) -> None:
    with opened(root, exclude=("**/-x/**",)) as sesame:
        report = sesame.index([root / "-x" / f"{OTHER}.jsonl"])
        assert [error.message for error in report.errors] == ["not a session: excluded by the configuration"]
        assert sesame.index().unrecognised == []


def test_a_device_that_is_named_is_an_error(library: Sesame) -> None:
    from sesame_core.errors import SesameError

    with pytest.raises(SesameError, match="not a file or directory"):
        library.index([os.devnull])


@pytest.mark.parametrize(
    "name", ["memory/notes.jsonl", "journal.jsonl", "history.jsonl", "agent.meta.json", "x.txt", "empty.jsonl"]
)
def test_other_files_of_the_agent_are_not_counted(name: str, root: Path, library: Sesame) -> None:
    path = root / "-w" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"" if name.startswith("empty") else b'{"some": "thing"}\n')
    assert library.index().unrecognised == []


def test_blank_files_have_no_oddity(tmp_path: Path) -> None:
    for content in (b"", b"\n\n", b"\0\0\0", b"\xef\xbb\xbf"):
        (tmp_path / "a.jsonl").write_bytes(content)
        assert oddity(str(tmp_path / "a.jsonl")) is None


@pytest.mark.parametrize("blank", [b"\0", b"\n", b" "])
def test_a_session_after_a_long_blank_beginning_is_counted(blank: bytes, root: Path, library: Sesame) -> None:
    """A crash leaves zeros in place of what was not written yet."""
    path = root / "-w" / "after.jsonl"
    path.write_bytes(blank * (1 << 17) + LINE)
    reason = "not a session: its first 64 KiB are blank"
    assert [(odd.path, odd.message) for odd in library.index().unrecognised] == [(str(path), reason)]
    assert [problem.message for problem in library.index([path]).errors] == [reason]
