"""The help is made from the declarations, fits the terminal, and agrees with the documentation."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core.cli.commands import GROUPS, MODULES, command, commands
from sesame_core.cli.help import command_help, metavar, program_help
from sesame_core.cli.options import Option
from sesame_core.cli.parse import parse, with_dashed_queries

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 200])
def test_no_line_of_a_help_is_wider_than_the_terminal(columns: int) -> None:
    texts = [program_help(columns), *(command_help(one, columns) for one in commands())]
    prose = (line for text in texts for line in text.partition("\nExamples:")[0].splitlines()[1:])
    assert [line for line in prose if len(line) > min(columns, 100)] == []


def test_every_command_is_in_one_group_with_one_line() -> None:
    text = program_help(80)
    assert list(MODULES) == [name for group in GROUPS.values() for name in group]
    for name in MODULES:
        assert len(re.findall(rf"^  {name} +[A-Z].*$", text, re.MULTILINE)) == 1, name
    assert "\n         " not in text.partition("\nOptions:")[0]


@pytest.mark.parametrize("name", MODULES)
def test_every_command_has_an_example_that_the_program_takes(name: str) -> None:
    declared = command(name)
    assert declared is not None
    assert declared.examples
    for example in declared.examples:
        program, *words = shlex.split(example)
        assert program == "sesame"
        given, *rest = with_dashed_queries(words)
        assert given == name
        assert parse(declared, rest) is not None, example


@pytest.mark.parametrize("name", MODULES)
def test_the_help_and_the_page_call_a_value_the_same(name: str) -> None:
    declared = command(name)
    assert declared is not None
    section = PAGE.partition(f"\n## sesame {name}\n")[2].partition("\n## ")[0]
    documented = dict(
        re.findall(r"`(--[a-z-]+) ([A-Z][A-Z:]*)`", "\n".join(re.findall(r"^\| (`-[^|]*) \|", section, re.M)))
    )
    options = {option.flag: option for option in declared.options if option.kind is not bool}
    assert {flag: metavar(options[flag]) for flag in documented} == documented


def test_an_argument_of_a_bracketed_pair_is_listed_without_its_half_of_the_brackets() -> None:
    text = command_help(command("share"), 80)
    assert "[PATTERN VISIBILITY]" in text.splitlines()[0]
    assert re.findall(r"^  (\S+)  +", text.partition("Arguments:")[2].partition("Options:")[0], re.MULTILINE) == [
        "PATTERN",
        "VISIBILITY",
    ]


def test_the_help_says_what_numbers_are_possible() -> None:
    text = command_help(command("search"), 100)  # type: ignore[arg-type]
    assert "-n, --limit N            Results at most; 10, with --brief 5. [1 to 1000]" in text
    assert "--offset N               Results to skip. [default: 0; from 0]" in text
    assert not re.search(r"<\w", text)
    assert metavar(Option("token_file", Path, "")) == "TOKEN-FILE"


@pytest.mark.parametrize("line", [["--help"], ["-h"], ["search", "--help"], ["share", "-h"]])
def test_a_help_does_not_load_typer(line: list[str]) -> None:
    code = (
        f"import sys; sys.argv = ['sesame', *{line!r}]; from sesame_core.cli import main; main(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: sesame ")
    assert "typer" not in done.stdout.splitlines()[-1].split()


@pytest.mark.parametrize("line", [["--help"], ["search", "--help"], ["search", "-n", "3", "--help"]])
def test_typer_prints_the_same_help(
    line: list[str],
    typer_command: Callable[..., Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    with pytest.raises(SystemExit) as end:
        typer_command(args=line)
    search = command("search")
    assert search is not None
    assert end.value.code == 0
    assert capsys.readouterr().out.rstrip("\n") == (
        program_help(90) if line == ["--help"] else command_help(search, 90)
    )


def test_without_a_command_the_help_is_the_answer(cli: Callable[..., Any]) -> None:
    ran = cli()
    assert "Find and read:" in ran.out + ran.err
