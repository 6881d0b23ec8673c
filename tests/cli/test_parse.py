"""The lean parser reads a command line as typer does, or leaves it to typer."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


@pytest.mark.parametrize("command", [SEARCH, STATUS], ids=lambda command: command.name)
def test_both_parsers_agree_on_hundreds_of_command_lines(by_typer: Callable[..., Any], command: Command) -> None:
    certain = 0
    for line in command_lines(command, 400, seed=7):
        lean = parse(command, line)
        if lean is not None:
            certain += 1
            assert lean == by_typer(command, line), line
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


#: The modules of the standard library that the two commands may load besides what Python itself starts with: each
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
    "sesame_formatter_default.formatter", "sesame_parser_claude_code.files", "sesame_parser_claude_code.transcript",
    "sesame_parser_pi.events", "sesame_parser_pi.headers", "sesame_parser_sesame.events",
}  # fmt: skip


@pytest.mark.parametrize("line", ["search nix --json", "search nix --json --no-refresh", "status --json"])
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
    packages = {name.partition(".")[0] for name in loaded}
    assert {name for name in packages if not name.startswith(("sesame_", "_"))} <= ALLOWED
    if line.startswith("search"):
        assert json.loads(done.stdout)["index"]["refreshed"] is ("--no-refresh" not in line)
