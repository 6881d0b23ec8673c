"""Where Sesame keeps its things."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sesame_core.config import paths

unix = pytest.mark.skipif(sys.platform == "win32", reason="XDG rules hold on Linux and macOS")


@unix
def test_without_any_variable_the_xdg_defaults_hold(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert paths.data_dir() == home / ".local/share/sesame"
    assert paths.config_dir() == home / ".config/sesame"
    assert paths.config_file() == home / ".config/sesame/config.jsonc"
    assert paths.origin("data") == paths.origin("config") == "default"


@unix
def test_macos_follows_the_xdg_rules_too(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delenv("XDG_DATA_HOME")
    assert paths.data_dir() == home / ".local/share/sesame"


@unix
def test_xdg_variables_move_both_directories(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert paths.data_dir() == tmp_path / "data/sesame"
    assert paths.config_dir() == tmp_path / "config/sesame"
    assert paths.origin("data") == "XDG_DATA_HOME"


def test_windows_uses_its_own_places(monkeypatch: pytest.MonkeyPatch) -> None:
    from platformdirs.windows import Windows

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(Windows, "user_data_dir", property(lambda self: f"local/{self.appname}/{self.appauthor}"))
    assert paths.data_dir() == Path("local/sesame/False")
    assert paths.origin("data") == "default"


@pytest.mark.parametrize(("purpose", "directory"), [("data", paths.data_dir), ("config", paths.config_dir)])
def test_sesames_own_variables_win_over_xdg(
    purpose: str, directory: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(f"XDG_{purpose.upper()}_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv(f"SESAME_{purpose.upper()}_DIR", str(tmp_path / "mine"))
    assert callable(directory)
    assert directory() == tmp_path / "mine"
    assert paths.origin(purpose) == f"SESAME_{purpose.upper()}_DIR"


@pytest.mark.parametrize(("text", "expected"), [("~", ""), ("~/my index", "my index")])
def test_a_tilde_in_a_variable_is_the_home_directory(
    text: str, expected: str, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("SESAME_DATA_DIR", text)
    assert paths.data_dir() == home / expected


def test_a_relative_variable_becomes_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SESAME_DATA_DIR", "index")
    assert paths.data_dir() == tmp_path / "index"


@unix
def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("SESAME_DATA_DIR", "")
    assert paths.data_dir() == home / ".local/share/sesame"
    assert paths.origin("data") == "XDG_DATA_HOME"


def test_expand_begins_relative_paths_at_the_base(tmp_path: Path, home: Path) -> None:
    assert paths.expand("a/../b", tmp_path) == tmp_path / "b"
    assert paths.expand(str(tmp_path), Path("/elsewhere")) == tmp_path
    assert paths.expand("~/x", tmp_path) == home / "x"


@unix
def test_a_relative_xdg_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "settings")
    assert paths.config_dir() == home / ".config/sesame"
    assert paths.origin("config") == "default"


@unix
@pytest.mark.parametrize("variables", [{}, {"XDG_DATA_HOME": "/x/data", "XDG_CONFIG_HOME": "/x/config"}])
def test_the_rules_are_those_of_platformdirs(
    monkeypatch: pytest.MonkeyPatch, home: Path, variables: dict[str, str]
) -> None:
    from platformdirs.unix import Unix

    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    theirs = Unix(paths.APPLICATION, appauthor=False)
    assert (paths.data_dir(), paths.config_dir()) == (theirs.user_data_path, theirs.user_config_path)


@unix
def test_platformdirs_is_not_imported(home: Path) -> None:
    program = (
        "import sys\nfrom sesame_core.config import paths\npaths.data_dir(); paths.config_file()\n"
        "assert 'platformdirs' not in sys.modules"
    )
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env={"HOME": str(home), "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
    )


# -- one way to write a file whole ----------------------------------------------------------------------------


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("fsync", [False, True])
@pytest.mark.parametrize("content", ["größe\n", b"\xff\n\r"])
def test_a_private_file_has_what_was_written_and_its_directory_is_private_too(
    tmp_path: Path, content: str | bytes, fsync: bool
) -> None:
    path = tmp_path / "new" / "file"
    for _ in range(2):
        paths.write_private(path, content, fsync=fsync)
        assert path.read_bytes() == (content if isinstance(content, bytes) else content.encode())
    assert [*path.parent.iterdir()] == [path]
    if os.name == "posix":
        assert (mode(path), mode(path.parent)) == (0o600, 0o700)


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
def test_rights_are_kept_where_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch(0o644)
    path.chmod(0o644)
    paths.write_private(path, "x", keeps_rights=True)
    assert mode(path) == 0o644
    paths.write_private(path, "x")
    assert mode(path) == 0o600


def test_a_file_that_must_not_be_replaced_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    paths.write_private(path, "first", replaces=False)
    with pytest.raises(FileExistsError):
        paths.write_private(path, "second", replaces=False)
    assert path.read_text() == "first"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("fails", ["replace", "fsync"])
def test_a_write_that_fails_leaves_what_was_there_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    path = tmp_path / "file"
    path.write_text("before")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, fails, fail)
    with pytest.raises(OSError, match="No space"):
        paths.write_private(path, "after", fsync=True)
    assert path.read_text() == "before"
    assert [*tmp_path.iterdir()] == [path]


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    paths.write_private(path, "x")
    assert path.read_text() == "x"


def test_a_file_system_without_hard_links_keeps_an_existing_file_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")  # as exFAT does

    monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "key"
    paths.write_private(path, "first", replaces=False)
    with pytest.raises(FileExistsError):
        paths.write_private(path, "second", replaces=False)
    assert (path.read_text(), os.listdir(tmp_path)) == ("first", ["key"])


def test_a_draft_that_was_left_behind_is_overwritten(tmp_path: Path) -> None:
    path, draft = tmp_path / "file", tmp_path / ".file.new"
    draft.write_text("half of a longer one")
    paths.write_private(path, "whole", draft=draft)
    assert (path.read_text(), os.listdir(tmp_path)) == ("whole", ["file"])
