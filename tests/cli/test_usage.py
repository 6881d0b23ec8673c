"""A command line that is wrong is one line: what is wrong, what is possible, where the help is."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from sesame_core.cli.commands import ELSEWHERE, MODULES
from sesame_core.cli.typed import SHELLS

WRONG = {
    "search -n 0 x": "--limit must be a whole number from 1 to 1000, not '0'; see: sesame search --help",
    "search -n0 x": "--limit must be a whole number from 1 to 1000, not '0'; see: sesame search --help",
    "search -n abc x": "--limit must be a whole number from 1 to 1000, not 'abc'; see: sesame search --help",
    "search --limit=-3 x": "--limit must be a whole number from 1 to 1000, not '-3'; see: sesame search --help",
    "search -C x y": "--context must be a whole number of at least 0, not 'x'; see: sesame search --help",
    "search --limt 3 x": "no such option: --limt; did you mean --limit; "
    "to search for the text: sesame search -- --limt 3 x; see: sesame search --help",
    "sessions --jsn": "no such option: --jsn; did you mean --json; see: sesame sessions --help",
    "sessions -q": "no such option: -q; see: sesame sessions --help",
    "sessions -n 2000": "--limit must be a whole number from 1 to 1000, not '2000'; see: sesame sessions --help",
    "show": "SESSION is missing: an id or a prefix of one, words of a name, a hit (35ea:21), or latest; "
    "see: sesame show --help",
    "star": "SESSION is missing: ids or prefixes of them, or names; see: sesame star --help",
    "init": "SHELL is missing: bash, fish or zsh; see: sesame init --help",
    "show a b": "unexpected: b; see: sesame show --help",
    "share a b c d": "unexpected: c d; see: sesame share --help",
    "index --full=3": "option '--full' does not take a value; see: sesame index --help",
    "search --agent": "option '--agent' requires an argument; see: sesame search --help",
    "foo": "no such command 'foo'; to search for it: sesame search foo; see: sesame --help",
    "websocket 'tight loop'": "no such command 'websocket'; to search for it: "
    "sesame search websocket 'tight loop'; see: sesame --help",
    "serch x": "no such command 'serch'; did you mean 'search'; see: sesame --help",
    "list": "no such command 'list'; did you mean 'sessions'; see: sesame --help",
    "ls -n 3": "no such command 'ls'; did you mean 'sessions'; see: sesame --help",
    "grep 'tight loop'": "no such command 'grep'; did you mean 'search'; see: sesame --help",
    "Delete 35ea": "no such command 'Delete'; did you mean 'forget'; see: sesame --help",
    "help view": "no such command 'view'; did you mean 'show'; see: sesame --help",
    "completion": "no such command 'completion'; did you mean '--install-completion'; see: sesame --help",
    "blame": "FILE[:LINE[-LINE]] is missing: a file that exists, and lines of it; see: sesame blame --help",
    "fix": "ERROR is missing: the error as it was printed, of any number of lines; - reads standard input; "
    "see: sesame fix --help",
    "help nope": "no such command 'nope'; did you mean 'open', 'note'; see: sesame --help",
    "help search x": "no such command 'help'; to search for it: sesame search help search x; see: sesame --help",
    "--foo": "no such option: --foo; see: sesame --help",
    "--show-completion tcsh": "no completion for 'tcsh': there is one for bash, zsh, fish, powershell, pwsh",
}


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_command_line_is_one_line(line: str, cli: Callable[..., Any]) -> None:
    ran = cli(*shlex.split(line))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"sesame: {WRONG[line]}\n"


@pytest.mark.parametrize("line", ["search {}", "show {}", "{}"])
def test_an_argument_cannot_control_the_terminal(line: str, cli: Callable[..., Any]) -> None:
    ran = cli(*line.format("--\x1b[2J\x9b1m").split(" "))
    assert ran.code == 2
    assert "\x1b" not in ran.err
    assert "\x9b" not in ran.err
    assert ran.err.count("\n") == 1


def test_help_is_a_command_too(cli: Callable[..., Any]) -> None:
    for line in ("help", "help help", "help --help", "help -h"):
        assert cli(*line.split()).out == cli("--help").out
    assert cli("help", "search").out == cli("search", "--help").out


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_is_printed_for_the_shell_that_is_named(shell: str) -> None:
    command = [sys.executable, "-m", "sesame_core", "--show-completion", shell]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "_SESAME_COMPLETE" in done.stdout
    marks = {"zsh": "#compdef sesame", "fish": "complete --command sesame", "bash": "complete -o"}
    assert marks.get(shell, "Register-ArgumentCompleter") in done.stdout


def test_what_other_programs_call_a_command_is_no_command_here() -> None:
    theirs = [name for names in ELSEWHERE.values() for name in names]
    assert len(set(theirs)) == len(theirs)
    assert MODULES.keys().isdisjoint(theirs)
    assert {own for own in ELSEWHERE if not own.startswith("--")} <= MODULES.keys()
