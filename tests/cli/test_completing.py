"""A shell completes commands, options and values, and shows nothing where it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .terminal import NIX

pytestmark = pytest.mark.once


def completed(line: str, shell: str = "bash") -> list[str]:
    """Return what a shell is told when Tab is pressed at the end of a line."""
    words = line.split(" ")
    if shell == "bash":
        asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    else:
        asked = {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    code = "import sys; sys.argv = ['sesame']; from sesame_core.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **asked, "_SESAME_COMPLETE": f"complete_{shell}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return [line for line in done.stdout.split("\n") if line]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("sesame sea", ["search"]),
        ("sesame search --agent p", ["pi"]),
        ("sesame search --agent claude", ["claude-code"]),
        ("sesame integrate c", ["claude-code", "codex", "copilot"]),
        ("sesame search --role a", ["assistant"]),
        ("sesame show --color a", ["auto", "always"]),
        ("sesame share ~/x p", ["private"]),
        ("sesame search --role nothing-like-it", []),
        ("sesame digest --by p", ["project", "person"]),
        ("sesame stats --by p", ["project"]),
    ],
)
def test_values_are_completed(home: Path, line: str, wanted: list[str]) -> None:
    assert sorted(completed(line)) == sorted(wanted)


def test_files_that_are_here_are_completed(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a [1].py").touch()
    (tmp_path / "setup.py").touch()
    monkeypatch.chdir(tmp_path)
    assert completed("sesame who s") == ["setup.py", "src/"]
    assert completed("sesame who src/") == ["src/a [1].py"]


@pytest.mark.parametrize(
    "line", [f"sesame show {NIX[:3]}", f"sesame resume {NIX[:5]}", f"sesame search --exclude {NIX[:5]}"]
)
def test_sessions_are_completed_by_their_ids(indexed_sessions: Path, line: str) -> None:
    assert NIX[:8] in completed(line)


def test_a_shell_that_can_show_titles_gets_them(indexed_sessions: Path) -> None:
    (told,) = completed(f"sesame show {NIX[:6]}", "fish")
    assert told.startswith(NIX[:8])
    assert "Simplify the nix flake infrastructure" in told


def test_without_an_index_no_session_is_completed(home: Path) -> None:
    assert completed("sesame show 01") == []
