"""The key in real shells: it puts the command into the line, and Enter runs it."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Sesame
from sesame_core.picker.shells import KEY, SHELLS, start_of

from .terminal import Terminal

pytestmark = pytest.mark.once

SESSION = "d6bc0d35-ccec-43e4-a83f-b0efdb1ed801"
ALT_J, CTRL_G, ESC, ENTER = "\x1bj", "\x07", "\x1b", "\r"
#: How each shell is started, the file that it reads then, and what makes its prompt `ready>`.
STARTS = {
    "bash": (["bash", "--noprofile", "-i"], ".bashrc", "PS1='ready> '"),
    "zsh": (["zsh", "-i"], ".zshrc", "PS1='ready> '"),
    "fish": (
        ["fish", "-i"],
        ".config/fish/config.fish",
        "function fish_prompt; echo 'ready> '; end\nset fish_greeting",
    ),
}
EVAL = {"bash": 'eval "$({})"', "zsh": 'eval "$({})"', "fish": "{} | source"}


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


@pytest.fixture
def directory(home: Path, agent: Path) -> Path:
    """A session in a directory whose name a shell must quote."""
    place = home / "the den"
    place.mkdir()
    record = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": SESSION,
        "cwd": str(place),
        "timestamp": "2026-08-01T10:00:00.000Z",
        "message": {"role": "user", "content": "why does the kingfisher dive at noon"},
    }
    file = home / ".claude" / "projects" / "-den" / f"{SESSION}.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(record) + "\n")
    with Sesame() as sesame:
        assert sesame.index().added == 1
    return place


@contextmanager
def shell_on_a_terminal(home: Path, shell: str, *, before: str = "", more: str = "") -> Iterator[Terminal]:
    command, file, prompt = STARTS[shell]
    start = EVAL[shell].format(f"sesame init {shell}{more}")
    rc = home / file
    rc.parent.mkdir(parents=True, exist_ok=True)
    rc.write_text(f"{before}\n{start}\n{prompt}\n")
    program = home / "bin" / "sesame"
    program.write_text(f"#!{sys.executable}\nfrom sesame_core.cli import main\nmain()\n")
    program.chmod(0o755)
    env = {"PATH": f"{program.parent}:/usr/bin:/bin", "ZDOTDIR": str(home)}
    with Terminal(command, columns=160, env=env) as terminal:
        terminal.wait("ready>")
        yield terminal


def line(terminal: Terminal) -> str:
    """What is in the line of the shell."""
    return next((row.removeprefix("ready>").strip() for row in reversed(terminal.rows) if row.startswith("ready>")), "")


def type_until(terminal: Terminal, key: str, is_there: Callable[[], bool]) -> None:
    """Type a key until it has its effect: a shell drops what is typed between a program's end and its own reading."""
    for _ in range(12):
        terminal.send(key)
        until = time.monotonic() + 5
        while time.monotonic() < until:
            if is_there():
                return
            terminal.read(0.1)
    raise AssertionError(f"{key!r} had no effect\n{terminal.text}")


def test_the_key_puts_the_command_into_the_line_and_enter_runs_it(
    home: Path, directory: Path, agent: Path, shell: str
) -> None:
    with shell_on_a_terminal(home, shell) as terminal:
        terminal.send("kingfisher")
        terminal.wait(lambda: line(terminal) == "kingfisher")
        terminal.send(ALT_J)
        terminal.wait(lambda: terminal.rows[0] == "> kingfisher" and "1 session" in terminal.rows[1])
        terminal.send(ENTER)
        terminal.wait(lambda: line(terminal).startswith("cd "))
        assert line(terminal) == f"cd '{directory}' && claude --resume {SESSION}"
        assert not agent.exists()
        type_until(terminal, ENTER, agent.exists)
        terminal.wait(lambda: bool(agent.read_text()))
        assert agent.read_text() == f"{directory}\n--resume {SESSION}\n"


def test_leaving_the_picker_leaves_the_line_as_it_was(home: Path, directory: Path, agent: Path, shell: str) -> None:
    with shell_on_a_terminal(home, shell) as terminal:
        terminal.send("echo 'un finished")
        terminal.wait(lambda: line(terminal) == "echo 'un finished")
        terminal.send(ALT_J)
        terminal.wait(lambda: terminal.rows[0] == "> echo 'un finished")
        terminal.send(ESC)
        terminal.wait(lambda: line(terminal) == "echo 'un finished")
        type_until(terminal, "'", lambda: line(terminal) == "echo 'un finished'")
        terminal.send(ENTER)
        terminal.wait(lambda: "un finished" in terminal.rows)


def test_a_variable_keeps_the_key_from_being_bound(home: Path, directory: Path, agent: Path, shell: str) -> None:
    before = "set SESAME_NO_KEY 1" if shell == "fish" else "SESAME_NO_KEY=1"
    with shell_on_a_terminal(home, shell, before=before) as terminal:
        terminal.send(f"{ALT_J}\x15echo free{ENTER}")
        terminal.wait(lambda: any(row.endswith("free") and "echo" not in row for row in terminal.rows))
        assert "session" not in terminal.text


def test_another_key_can_be_given(home: Path, directory: Path, agent: Path, shell: str) -> None:
    with shell_on_a_terminal(home, shell, more=" --key ctrl-g") as terminal:
        terminal.send(CTRL_G)
        terminal.wait("1 session, latest first")
        terminal.send(ENTER)
        terminal.wait(lambda: line(terminal).startswith("cd "))


def test_no_key_is_bound_if_none_is_wanted(home: Path, directory: Path, agent: Path, shell: str) -> None:
    with shell_on_a_terminal(home, shell, more=" --key none") as terminal:
        terminal.send(f"{ALT_J}\x15echo free{ENTER}")
        terminal.wait(lambda: any(row.endswith("free") and "echo" not in row for row in terminal.rows))


def test_the_key_means_nothing_in_a_shell_without_sesame(home: Path, shell: str) -> None:
    assert KEY == "alt-j"
    asks = {
        "bash": ["bash", "--norc", "-ic", "bind -p; bind -X"],
        "zsh": ["zsh", "-fic", "bindkey '^[j'"],
        "fish": ["fish", "--no-config", "-ic", r"bind \ej"],
    }
    done = subprocess.run(asks[shell], capture_output=True, text=True, start_new_session=True)
    if shell == "zsh":
        assert done.stdout.split() == ['"^[j"', "undefined-key"]
    else:
        assert not [row for row in done.stdout.splitlines() if r"\ej" in row and not row.startswith("#")]


@pytest.mark.parametrize("name", SHELLS)
def test_what_is_printed_is_read_without_an_error_and_names_the_program(name: str, cli: Callable[..., Any]) -> None:
    done = cli("init", name)
    assert (done.code, done.err) == (0, "")
    assert "pick --print -- " in done.out
    if shutil.which(name):
        check = subprocess.run([name, "-n"], input=done.out, capture_output=True, text=True)
        assert (check.returncode, check.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["tcsh"], "no shell 'tcsh': use bash, fish, zsh"),
        (["zsh", "--key", "f5"], "'f5' cannot be bound: use alt- or ctrl- and a letter, such as ctrl-g, or none"),
        (["zsh", "--key", "ctrl-m"], "'ctrl-m' cannot be bound"),
        (["bash", "--key", "alt-'"], "cannot be bound"),
        (["bash", "--key", "x"], "cannot be bound"),
    ],
)
def test_a_shell_or_a_key_that_is_not_known_is_an_error(
    arguments: list[str], error: str, cli: Callable[..., Any]
) -> None:
    done = cli("init", *arguments)
    assert (done.code, done.out) == (2, "")
    assert error in done.err


@pytest.mark.parametrize("name", SHELLS)
def test_a_program_in_a_directory_with_a_quote_is_quoted(name: str) -> None:
    assert shlex.quote("/it's/sesame") + " pick --print" in start_of(name, ["/it's/sesame"])
