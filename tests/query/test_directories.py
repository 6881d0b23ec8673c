"""One directory under all its names."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sesame_core.query.directories import Names, absolute
from sesame_core.query.here import elsewhere


def names(directory: object, *known: object) -> set[str]:
    return set(Names().others(str(directory), map(str, known)))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (r"C:\Users\Ann\Api", r"C:\Users\Ann\Api"),
        (r"c:/Users/Ann/../Bo/", r"c:\Users\Bo"),
        (r"\\wsl$\Ubuntu\home\ann", r"\\wsl$\Ubuntu\home\ann"),
        ("/a/./b/../c//", "/a/c"),
    ],
)
def test_a_directory_of_windows_is_absolute_anywhere(written: str, expected: str) -> None:
    assert absolute(written) == expected


def test_a_home_and_a_relative_directory_are_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert absolute("~/app/") == absolute("app") == absolute("./x/../app") == str(tmp_path / "app")


@pytest.mark.parametrize(
    "asked",
    [r"C:\Users\Ann\Api", r"c:\users\ann\api", "/mnt/c/Users/Ann/Api", "/mnt/c/users/ann/api", "/c/Users/Ann/Api"],
)
@pytest.mark.parametrize(
    "known", [r"C:\Users\Ann\Api", "C:/Users/Ann/Api", "/mnt/c/Users/ann/Api", "/cygdrive/c/users/ann/api"]
)
def test_a_directory_of_windows_has_a_name_in_wsl_and_none_in_which_case_counts(asked: str, known: str) -> None:
    assert known in {asked, *names(asked, known)}
    assert names(asked, known + "/src") - names(asked) <= {known}
    assert names(asked, r"C:\Users\Ann\Api-v2", "/mnt/d/Users/Ann/Api") == names(asked)


def test_a_directory_of_linux_has_a_name_in_windows() -> None:
    assert r"\\wsl.localhost\Ubuntu\home\ann" in names("/home/ann", r"\\wsl.localhost\Ubuntu\home\ann\app")
    assert "/home/ann/app" in names(r"\\wsl$\Debian\home\ann\app", "/home/ann/app/src")
    assert names("/home/ann", r"\\wsl$\Ubuntu\home\bo") == set()


def test_a_directory_behind_a_link_is_known_by_both_names(tmp_path: Path) -> None:
    (tmp_path / "real" / "app").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "short").symlink_to(tmp_path / "real" / "app")
    real, link, short = tmp_path / "real" / "app", tmp_path / "link" / "app", tmp_path / "short"
    assert names(link, real / "src") == {str(real)}
    assert names(real, link / "src" / "gone", tmp_path / "other") == {str(link)}
    assert names(real, short) == {str(short)}
    assert names(tmp_path / "real", short) == {str(short)}
    assert names(real / "src", short) == set()


def test_a_name_with_decomposed_characters_is_the_composed_one() -> None:
    assert names("/w/\u00dcbung", "/w/U\u0308bung/src") == {"/w/U\u0308bung"}


def test_where_case_counts_another_case_is_another_directory(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "APP").mkdir(exist_ok=True)
    is_one = (tmp_path / "app").samefile(tmp_path / "APP")
    assert names(tmp_path / "app", tmp_path / "APP" / "src") == ({str(tmp_path / "APP")} if is_one else set())


def test_a_loop_of_links_and_names_that_no_file_can_have_are_only_names(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert names(tmp_path / "loop", tmp_path / "loop" / "x", "", "relative", "/a\0b", "/" + "x" * 5000) == set()
    assert names("/a\0b", "/a\0b/c") == set()


def test_a_checkout_has_the_names_of_the_others(tmp_path: Path) -> None:
    main, tree = tmp_path / "app", tmp_path / "trees" / "login"

    def git(*command: object) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *map(str, command)], check=True, cwd=main)

    main.mkdir()
    git("init", "-q")
    (main / "src").mkdir()
    git("commit", "-q", "--allow-empty", "-m", "first")
    git("worktree", "add", "-q", tree)
    assert elsewhere(str(main)) == [str(tree)]
    assert elsewhere(str(tree / "src")) == [str(main / "src")]
    assert names(main / "src", tree / "src" / "deep") == {str(tree / "src")}
    assert elsewhere(str(tmp_path)) == []
