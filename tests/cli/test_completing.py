"""A shell completes commands, options and values, and shows nothing where it cannot."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ..support.transcripts import Claude, write
from .terminal import NIX

pytestmark = pytest.mark.once


def completed(line: str, shell: str = "bash") -> list[str]:
    """Return what a shell is told when Tab is pressed at the end of a line."""
    words = re.split(r"(?<!\\) ", line)
    if shell == "bash":
        asked = {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
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
    assert completed("sesame who src/") == [r"src/a\ \[1\].py"]
    assert completed("sesame who src/", "fish") == ["src/a [1].py"]


@pytest.mark.parametrize(
    "line", [f"sesame show {NIX[:3]}", f"sesame resume {NIX[:5]}", f"sesame search --exclude {NIX[:5]}"]
)
def test_sessions_are_completed_by_their_ids(indexed_sessions: Path, line: str) -> None:
    assert NIX[:8] in completed(line)


def test_a_shell_that_can_show_titles_gets_them(indexed_sessions: Path) -> None:
    (told,) = completed(f"sesame show {NIX[:6]}", "fish")
    assert told.startswith(NIX[:8])
    assert "Simplify the nix flake infrastructure" in told


#: Names of directories that a shell would take for syntax, with how bash must get them.
NAMES = {
    "my code": r"my\ code",
    'it\'s "here"': r"it\'s\ \"here\"",
    "$(touch ran)": r"\$\(touch\ ran\)",
    r"\$(touch ran)": r"\\\$\(touch\ ran\)",
    "`touch ran`;&": r"\`touch\ ran\`\;\&",
    "a*b?": r"a\*b\?",
    "проект": "проект",
    "new\nline": "",
}


@pytest.fixture
def odd_directories(home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A session in each directory of `NAMES`, with the name in its title."""
    monkeypatch.chdir(home)
    for number, name in enumerate(NAMES):
        one = Claude(f"{number:08x}-0000-4000-8000-000000000000", cwd=f"/w/{name}")
        write(one.path, one.user(f"where is {name} and who made it"))
    assert cli("index").code == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_directory_is_completed_in_bash_as_one_word(odd_directories: None, name: str) -> None:
    wanted = f"/w/{NAMES[name]}"
    found = completed("sesame search --cwd /w/")
    if not NAMES[name]:
        assert not any("line" in value for value in found)
        return
    assert wanted in found
    typed = wanted[:-1].rstrip("\\")
    assert completed(f"sesame search --cwd {typed}") == [wanted]
    done = subprocess.run(["bash", "-c", f"printf %s {wanted}"], capture_output=True, text=True, check=True)
    assert done.stdout == f"/w/{name}"


#: What completes a word behind a quotation mark: the mark stays, and bash adds the other one.
MARKED = {
    ('"', "my code"): "my code",
    ('"', 'it\'s "here"'): 'it\'s \\"here\\"',
    ('"', "$(touch ran)"): r"\$(touch ran)",
    ('"', r"\$(touch ran)"): r"\\\$(touch ran)",
    ('"', "`touch ran`;&"): r"\`touch ran\`;&",
    ("'", "my code"): "my code",
    ("'", 'it\'s "here"'): "it'\\''s \"here\"",
    ("'", "$(touch ran)"): "$(touch ran)",
    ("'", r"\$(touch ran)"): r"\$(touch ran)",
    ("'", "`touch ran`;&"): "`touch ran`;&",
}


@pytest.mark.parametrize(("mark", "name"), MARKED)
def test_a_directory_is_completed_in_bash_behind_a_quotation_mark(odd_directories: None, mark: str, name: str) -> None:
    wanted = f"/w/{MARKED[mark, name]}"
    assert wanted in completed(f"sesame search --cwd {mark}/w/")
    done = subprocess.run(["bash", "-c", f"printf %s {mark}{wanted}{mark}"], capture_output=True, text=True, check=True)
    assert done.stdout == f"/w/{name}"


def test_an_exclamation_mark_is_not_completed_where_bash_would_expand_it(home: Path, cli: Callable[..., Any]) -> None:
    one = Claude("00000000-0000-4000-8000-000000000000", cwd="/w/now!")
    write(one.path, one.user("where is it"))
    assert cli("index").code == 0
    assert completed("sesame search --cwd '/w/") == ["/w/now!"]
    assert completed('sesame search --cwd "/w/') == []
    assert completed("sesame search --cwd /w/") == [r"/w/now\!"]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@pytest.mark.parametrize("line", ["sesame search --cwd ", "sesame show ", "sesame search --in "])
def test_zsh_runs_no_command_of_a_title_or_a_directory(odd_directories: None, home: Path, line: str) -> None:
    # What `_arguments` of zsh does with a list of values.
    code = """_arguments() { eval "told=( ${1[7,-3]} )"; print -rl -- $told }; eval $(cat answer)"""
    (home / "answer").write_text("\n".join(completed(line, "zsh")))
    done = subprocess.run(["zsh", "-fc", code], cwd=home, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (home / "ran").exists()
    assert "проект" in done.stdout
    assert "$(touch ran)" in done.stdout


#: The same as PowerShell must get them: what is in single quotes is text, and one of them is written twice.
POWER_NAMES = {
    "my code": "'/w/my code'",
    'it\'s "here"': "'/w/it''s \"here\"'",
    "$(touch ran)": "'/w/$(touch ran)'",
    r"\$(touch ran)": r"'/w/\$(touch ran)'",
    "`touch ran`;&": "'/w/`touch ran`;&'",
    "a*b?": "'/w/a*b?'",
    "проект": "/w/проект",
}


@pytest.mark.parametrize("shell", ["powershell", "pwsh"])
def test_a_directory_is_completed_in_powershell_as_text(odd_directories: None, shell: str) -> None:
    found = {line.partition(":::")[0] for line in completed("sesame search --cwd ", shell)}
    assert found >= set(POWER_NAMES.values())
    assert not any("line" in value for value in found)


def test_powershell_takes_a_typographic_quote_for_a_quote(cli: Callable[..., Any], home: Path) -> None:
    one = Claude("00000000-0000-4000-8000-000000000000", cwd="/w/it\u2019s; \u201bran")
    write(one.path, one.user("where is it"))
    assert cli("index").code == 0
    (told,) = completed("sesame search --cwd ", "pwsh")
    assert told.partition(":::")[0] == "'/w/it\u2019\u2019s; \u201b\u201bran'"


def test_without_an_index_no_session_is_completed(home: Path) -> None:
    assert completed("sesame show 01") == []
