"""Output in an encoding without the signs that Sesame uses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sesame_core.cli.signs import HANDLER, PLAIN
from sesame_core.text.cells import cells

from .terminal import on_a_terminal


def run(*arguments: str, encoding: str) -> str:
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    command = [sys.executable, "-m", "sesame_core", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, check=True).stdout.decode(encoding)


def test_each_sign_has_one_of_ascii_that_is_as_wide() -> None:
    assert all(plain.isascii() and len(plain) == cells(sign) == 1 for sign, plain in PLAIN.items())
    assert "a…b·日本→c é".encode("ascii", HANDLER) == b"a~b-\\u65e5\\u672c>c \\xe9"
    assert "a…b·日→".encode("latin-1", HANDLER) == b"a~b\xb7\\u65e5>"


@pytest.mark.parametrize(("encoding", "dot"), [("ascii", "-"), ("latin-1", "·"), ("cp1252", "·")])
def test_a_list_is_readable_in_an_older_encoding(indexed_sessions: Path, encoding: str, dot: str) -> None:
    shown = run("search", "flaky", "publish", encoding=encoding)
    assert f"/home/ann/code/lantern-cli {dot} pi" in shown
    assert "\\u2026" not in shown
    assert "日記" not in run("sessions", encoding=encoding)
    assert "\\u65e5\\u8a18" in run("sessions", encoding=encoding)


def test_no_line_is_wider_than_a_terminal_of_an_older_encoding(
    indexed_sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("NO_COLOR", "1")
    _, shown = on_a_terminal(["search", "--no-refresh", "flaky", "publish"], size=(50, 24))
    assert "~" in shown
    assert all(len(line) <= 50 for line in shown.splitlines())


@pytest.mark.parametrize("columns", ["0", "1", "7", "abc", "-3"])
def test_help_is_readable_however_narrow_the_terminal_says_it_is(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    shown = run("--help", encoding="utf-8")
    assert "Full-text search" in shown
