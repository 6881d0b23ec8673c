"""The file and the lines that a question is about."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sesame_core.errors import SesameError
from sesame_core.questions.target import LARGEST, target

REMOTES = {
    "https://github.com/bo/fox.git": "github.com/bo/fox",
    "https://bo:token@GitHub.com/bo/fox": "github.com/bo/fox",
    "git@github.com:bo/fox.git": "github.com/bo/fox",
    "ssh://git@git.example.org:2222/team/fox.git": "git.example.org/team/fox",
    "/srv/git/fox.git": "",
    "": "",
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_are_counted_as_git_counts_them(tmp_path: Path, end: str) -> None:
    file = tmp_path / "a.el"
    file.write_bytes(f"\ufeffone{end}\x0ctwo\u2028{end}three".encode())
    found = target(f"{file}:2")
    assert found.lines == ("one", "\x0ctwo\u2028", "three")
    assert (found.first, found.last) == (2, 2)


@pytest.mark.parametrize("url", REMOTES)
def test_the_remote_of_a_repository_is_written_as_sessions_have_it(tmp_path: Path, url: str) -> None:
    (tmp_path / ".git").mkdir()
    other = '[remote "upstream"]\n\turl = https://example.org/other/one\n'
    origin = f'[remote "origin"]\n\tfetch = +refs/heads/*\n\turl = {url}\n' if url else ""
    (tmp_path / ".git" / "config").write_text(f"[core]\n\tbare = false\n{other}{origin}[branch]\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("x\n")
    found = target(str(tmp_path / "src" / "a.py"))
    assert (found.repository, found.name, found.root) == (REMOTES[url], "src/a.py", str(tmp_path))


def test_a_file_of_the_home_directory_that_no_shell_has_expanded(home: Path) -> None:
    (home / "a.py").write_text("one\ntwo\n")
    assert target("~/a.py").lines == ("one", "two")
    assert target("~/a.py:2").first == 2


def test_a_file_behind_a_link_is_the_file(tmp_path: Path) -> None:
    (tmp_path / "real" / ".git").mkdir(parents=True)
    (tmp_path / "real" / "a.py").write_text("x\n")
    os.symlink(tmp_path / "real", tmp_path / "link")
    assert target(str(tmp_path / "link" / "a.py")).path == str(tmp_path / "real" / "a.py")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x\n" * LARGEST)
    with pytest.raises(SesameError, match="is larger than 4 MiB"):
        target(str(tmp_path / "a.txt"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes in directories")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (str(tmp_path / "pipe"), os.devnull):
        with pytest.raises(SesameError, match="is a pipe or a device"):
            target(name)
