"""The lean parser reads a command line as typer does, or leaves it to typer."""

from __future__ import annotations

import contextlib
import inspect
import json
import random
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sesame_core.cli import searching
from sesame_core.cli.commands import MODULES, command, commands
from sesame_core.cli.options import Command
from sesame_core.cli.parse import parse, with_dashed_queries
from sesame_core.query.fields import FIELDS

SEARCH = searching.COMMANDS[0]

WORDS = ["nix", "a b", "*", "-", '"a phrase"', "é", "", "+must", "10", "-5", "全文", "/w/den"]
VALUES = ["x", "7d", "/w", "10", "0", "256", "1001", "ten", "-5", "--json", "", " ", "٣", "1" * 12, "1.5", "+5", "0x10"]
MISTAKES = [
    "--nonsense",
    "--nonsense=1",
    "-x",
    "-n",
    "-n5",
    "-n=5",
    "-C2",
    "-yn",
    "--lim",
    "--lim=5",
    "--no-json",
    "--help",
]


def command_lines(command: Any, count: int, seed: int) -> list[list[str]]:
    """Return seeded random command lines, right and wrong ones, of the options that typer knows the command by."""
    draw = random.Random(seed)
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    switches = [flag for option in options if option.is_flag for flag in (*option.opts, *option.secondary_opts)]
    takers = [flag for option in options if not option.is_flag for flag in option.opts] or switches
    lines = []
    for number in range(count):
        line: list[str] = []
        for _ in range(draw.randrange(7)):
            kind = draw.random()
            if kind < 0.4:
                line.append(draw.choice(WORDS))
            elif kind < 0.5 and switches:
                line.append(draw.choice(switches))
            elif kind < 0.7 and takers:
                line += [draw.choice(takers), draw.choice(VALUES)]
            elif kind < 0.85 and takers:
                line.append(f"{draw.choice(takers)}={draw.choice(VALUES)}")
            elif kind < 0.9 and takers:
                line += [taken := draw.choice(takers), draw.choice(VALUES), taken, draw.choice(VALUES)]
            elif kind < 0.94:
                line.append("--")
            elif number % 2:
                line.append(draw.choice([*MISTAKES, *takers, *(f"{flag}={draw.choice(VALUES)}" for flag in switches)]))
        lines.append(line)
    # Each option by itself in each of its spellings, with each value, and with none.
    for flag in takers + switches:
        lines += [[flag], [f"{flag}="], ["a", flag], ["a", "b", flag]]
        for value in VALUES if flag in takers else VALUES[:1]:
            lines += [[flag, value], [f"{flag}={value}"], [flag + value], ["a", flag, value, "b"]]
    return lines


@pytest.mark.parametrize(
    ("given", "words", "options"),
    [
        ("docker run -it ubuntu", "-it ubuntu", "docker run"),
        ("--json docker run -it ubuntu", "-it ubuntu", "--json docker run"),
        ("docker run -it ubuntu --json", "docker run -it ubuntu", "--json"),
        ("-draft release -n 3", "-draft release", "-n 3"),
        ("rm -rf dist --json -old", "-rf -old", "rm dist --json"),
        ("git rebase -- -i autosquash", "-i autosquash", "git rebase"),
    ],
)
def test_the_words_of_a_command_stay_in_their_order(given: str, words: str, options: str) -> None:
    assert with_dashed_queries(["search", *given.split()]) == ["search", *options.split(), "--", *words.split()]


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ("--prune", "sesame search -- --prune"),
        ("git rebase -i autosquash", "sesame search -- git rebase -i autosquash"),
        ("--prune --map", "sesame search -- --prune"),
        ("--oneline 'a b'", "sesame search -- --oneline 'a b'"),
    ],
)
def test_an_unknown_option_of_a_search_is_an_error_that_says_how_to_search_for_it(
    given: str, advice: str, cli: Callable[..., Any]
) -> None:
    ran = cli("search", *shlex.split(given))
    assert (ran.code, ran.out) == (2, "")
    assert "no such option" in ran.err
    assert f"to search for the text: {advice}" in ran.err
    assert cli(*shlex.split(advice)[1:]).code == 0
    assert "to search for" not in cli("show", "--prune").err


@pytest.fixture
def by_typer(monkeypatch: pytest.MonkeyPatch, typer_command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the values typer hands to the command; None when it refuses or prints help."""
    taken: list[dict[str, Any]] = []
    monkeypatch.setattr(Command, "run", lambda self, values: taken.append(values))

    def ask(command: Command, line: list[str]) -> dict[str, Any] | None:
        taken.clear()
        with contextlib.suppress(SystemExit):
            typer_command([command.name, *line])
        return taken[0] if taken else None

    return ask


@pytest.mark.parametrize("name", MODULES)
def test_both_parsers_agree_on_hundreds_of_command_lines(
    by_typer: Callable[..., Any], typer_command: Any, name: str
) -> None:
    certain = 0
    declared = command(name)
    assert declared
    for line in command_lines(typer_command.commands[name], 400, seed=7):
        lean = parse(declared, line)
        if lean is not None:
            certain += 1
            assert lean == by_typer(declared, line), line
    assert certain >= 10


def test_the_command_lines_hold_every_option_of_every_command(typer_command: Any) -> None:
    for made in typer_command.commands.values():
        words = {word.partition("=")[0] for line in command_lines(made, 0, seed=7) for word in line}
        for option in made.params:
            if option.param_type_name == "option" and option.name != "help":
                assert {*option.opts, *option.secondary_opts} <= words


@pytest.mark.parametrize(
    "line",
    [
        ["--help"],
        ["-h"],
        ["--nonsense"],
        ["--limit"],
        ["--limit", "0"],
        ["--limit", "x"],
        ["-n5"],
        ["--tools=1"],
        ["--no-json"],
    ],
)
def test_what_is_not_certain_is_left_to_typer(line: list[str]) -> None:
    assert parse(SEARCH, line) is None


def test_the_plainest_command_lines_are_certain() -> None:
    for line in (
        ["nix"],
        ["nix", "flake", "--json"],
        ["x", "--limit", "3", "--agent", "pi", "--no-refresh"],
        ["--cwd=/w", "x"],
    ):
        assert parse(SEARCH, line) is not None


def test_every_function_takes_what_its_command_declares() -> None:
    for declared in commands():
        given = {one.name: None for one in (*declared.arguments, *declared.options)}
        taken = inspect.signature(declared.function).bind(**given).arguments
        narrowing = taken.pop("narrowing", {})
        assert taken.keys() | narrowing.keys() == given.keys()
        assert narrowing.keys() <= {field.name for field in FIELDS}


def test_the_index_of_commands_is_what_their_modules_declare() -> None:
    for module in set(MODULES.values()):
        declared = [one.name for one in import_module(f"sesame_core.cli.{module}").COMMANDS]
        assert sorted(declared) == sorted(name for name, home in MODULES.items() if home == module)


#: The modules of the standard library that the hot commands may load besides what Python itself starts with: each
#: costs time that whoever calls them in a loop pays.
ALLOWED = {
    "__future__", "abc", "atexit", "codecs", "collections", "contextlib", "copyreg", "datetime", "encodings", "enum",
    "errno", "fnmatch", "functools", "gc", "genericpath", "heapq", "importlib", "io", "ipaddress", "itertools", "json",
    "keyword", "math", "ntpath", "operator", "os", "pathlib", "posixpath", "re", "reprlib", "sqlite3", "stat", "struct",
    "threading", "time", "types", "typing", "unicodedata", "urllib", "warnings",
    # … and with Python 3.13's pathlib:
    "glob", "grp", "pwd",
}  # fmt: skip
#: Modules of ours that read files, write, or are for other commands.
OTHERS = {
    "sesame_core.cli.app", "sesame_core.search.explain", "sesame_core.plugin.hookspecs", "sesame_core.config.identity",
    "sesame_core.indexing.indexer", "sesame_core.sdk.jsonl", "sesame_core.indexing.file_reader",
    "sesame_core.rendering.session_answers", "sesame_core.rendering.schemas", "sesame_core.rendering.config",
    "sesame_core.rendering.evidence", "sesame_core.rendering.sharing",
    "sesame_core.search.windows", "sesame_backend_sqlite.carry", "sesame_backend_sqlite.writer",
    "sesame_formatter_default.formatter",
}  # fmt: skip
#: What they may load of parsers, those of the agents that have sessions: what has changed, what will be deleted.
PARSERS = {"sesame_parser_pi.parser", "sesame_parser_claude_code.parser", "sesame_parser_claude_code.retention"}


@pytest.mark.parametrize(
    "line",
    [
        "search nix --json",
        "search nix --json --no-refresh",
        "status --json",
        "sessions --json",
        "show d6bc --json",
        "--version",
    ],
)
@pytest.mark.parametrize("is_configured", [False, True], ids=["default", "configured"])
def test_the_hot_commands_load_what_they_may_and_nothing_else(
    demo_sessions: Path, line: str, is_configured: bool
) -> None:
    from sesame_core.api.sesame import Sesame

    with Sesame() as sesame:
        assert sesame.index().added
    if is_configured:
        source = {"parser": "pi", "path": str(demo_sessions / ".pi" / "agent" / "sessions")}
        file = demo_sessions / ".config" / "sesame" / "config.jsonc"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"sources": [source]}))
    code = (
        "import sys; before = {*sys.modules}; sys.argv = ['sesame', *sys.argv[1:]]\n"
        "from sesame_core.cli import main\nmain()\nprint(*({*sys.modules} - before), file=sys.stderr)"
    )
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}", *line.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not loaded & OTHERS
    assert {name for name in loaded if re.match(r"sesame_parser_\w+\.", name)} <= PARSERS
    packages = {name.partition(".")[0] for name in loaded}
    assert {name for name in packages if not name.startswith(("sesame_", "_"))} <= ALLOWED
    if line.startswith("search"):
        assert json.loads(done.stdout)["index"]["refreshed"] is ("--no-refresh" not in line)
