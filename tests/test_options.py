"""The lean parser reads a command line as typer does, or leaves it to typer."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sesame_core.cli.app import app
from sesame_core.cli.options import COMMANDS, SEARCH, STATUS, Command, parse

WORDS = ["nix", "a b", "*", "-", '"a phrase"', "é", "", "+must", "10", "--", "全文"]
VALUES = ["x", "7d", "/w", "10", "0", "1001", "ten", "-5", "", "٣", "1" * 12]


def command_lines(command: Command, count: int, seed: int) -> list[list[str]]:
    """Return seeded random command lines, right and wrong ones."""
    draw = random.Random(seed)
    flags = [flag for option in command.options for flag in (option.flag, *option.more)]
    lines = []
    for _ in range(count):
        line: list[str] = []
        for _ in range(draw.randrange(6)):
            kind = draw.random()
            if kind < 0.35:
                line.append(draw.choice(WORDS))
            elif kind < 0.75:
                line += [draw.choice(flags), draw.choice(VALUES)]
            elif kind < 0.9:
                line.append(f"{draw.choice(flags)}={draw.choice(VALUES)}")
            else:
                line.append(draw.choice([*flags, "--nonsense", "-x", "-n5", "--lim", "--help"]))
        lines.append(line)
    return lines


def by_typer(monkeypatch: pytest.MonkeyPatch, command: Command, line: list[str]) -> dict[str, Any] | None:
    """Return the values typer hands to the command; None when it refuses or prints help."""
    taken: list[dict[str, Any]] = []
    monkeypatch.setattr(Command, "run", lambda self, values: taken.append(values))
    CliRunner().invoke(app, [command.name, *line])
    return taken[0] if taken else None


@pytest.mark.parametrize("command", [SEARCH, STATUS], ids=lambda command: command.name)
def test_both_parsers_agree_on_hundreds_of_command_lines(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    certain = 0
    for line in command_lines(command, 400, seed=7):
        lean = parse(command, line)
        if lean is not None:
            certain += 1
            assert lean == by_typer(monkeypatch, command, line), line
    assert certain > 50


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


def test_every_function_of_the_table_takes_what_the_table_says() -> None:
    import inspect
    from importlib import import_module

    for command in COMMANDS.values():
        function = getattr(import_module(command.module, "sesame_core.cli"), command.name)
        names = {option.name for option in command.options} | ({command.words[0]} if command.words else set())
        assert set(inspect.signature(function).parameters) == names


#: What a search of a finished index may load; everything else costs time that the caller of a loop pays.
HEAVY = (
    "typer", "pydantic", "rich", "click", "json5", "orjson", "sqlalchemy", "psycopg", "filelock", "watchfiles",
    "platformdirs", "sesame_core.indexer", "sesame_core.windows", "sesame_core.explanation",
    "sesame_core.rendering.evidence", "sesame_parser_pi", "sesame_parser_claude_code", "sesame_formatter_default",
)  # fmt: skip


def test_a_search_without_refresh_loads_nothing_heavy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("SESAME_DATA_DIR", "SESAME_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    code = (
        "import sys; sys.argv = ['sesame', 'search', 'nix', '--json', '--no-refresh']\n"
        "from sesame_core.cli import main\nmain()\nprint(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(HEAVY) & set(done.stderr.split())
