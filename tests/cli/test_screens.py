"""Commands on a real terminal: its size, its colours, and the pager."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core.text.cells import cells

from ..support.transcripts import Pi, write
from .terminal import NIX, on_a_terminal

pytestmark = pytest.mark.once

COLOR = re.compile(r"\x1b\[[\d;]*m")


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal with colours and no opinion about them, and no pager."""
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("SESAME_PAGER", "cat")


@pytest.mark.parametrize("columns", [20, 40, 80, 120])
@pytest.mark.parametrize(
    "command",
    [
        ["search", "--no-refresh", "the"],
        ["search", "--no-refresh"],
        ["sessions"],
        ["show", NIX],
        ["resolve"],
        ["resolve", "the"],
        ["resolve", "no such name"],
        ["stats", "--by", "agent"],
    ],
)
def test_no_line_of_several_words_is_wider_than_the_terminal(indexed: Path, columns: int, command: list[str]) -> None:
    code, shown = on_a_terminal(command, size=(columns, 24))
    assert code == 0
    # A path stays whole, so that it can be copied.
    wide = [line for line in COLOR.sub("", shown).splitlines() if cells(line) > columns and len(line.split()) > 1]
    assert wide == []


@pytest.mark.parametrize(
    "command",
    [
        ["status"],
        ["plugins"],
        ["config"],
        ["audit"],
        ["star", NIX],
        ["resolve", NIX],
        ["ask", NIX, "why", "--no-model"],
        ["who", "src/socket.ts"],
        ["who", "reconnect", "backoff"],
        ["digest", "--since", "2020-01-01"],
        ["blame", __file__],
        ["how", "nix"],
    ],
)
def test_a_line_of_a_report_is_broken_between_words(indexed: Path, command: list[str], cli: Callable[..., Any]) -> None:
    code, shown = on_a_terminal(command, size=(50, 24))
    assert code == 0
    assert all(cells(line) <= 50 or len(line.split()) == 1 for line in shown.splitlines())
    assert len(shown.split()) == len(cli(*command).out.split()), "it says what it says in a pipe"


def test_a_command_that_may_be_copied_stays_on_one_line(indexed: Path, cli: Callable[..., Any]) -> None:
    asked = ["fix", "error: attribute 'isLaptop' missing"]
    _, shown = on_a_terminal(asked, size=(50, 24))
    (wide,) = [line for line in shown.splitlines() if cells(line) > 50]
    assert wide.startswith("        15 $ nix flake check && ")
    assert wide in cli(*asked).out.splitlines()


def test_markdown_is_not_broken(indexed: Path, cli: Callable[..., Any]) -> None:
    asked = ["digest", "--since", "2020-01-01", "--md"]
    assert on_a_terminal(asked, size=(50, 24)) == (0, cli(*asked).out)


def test_each_agent_of_the_status_is_a_line_on_80_columns(indexed: Path, cli: Callable[..., Any]) -> None:
    (table,) = [part for part in cli("status").out.split("\n\n") if part.startswith("  Agents:")]
    assert table in on_a_terminal(["status"], size=(80, 24))[1]


def test_the_name_of_a_kind_of_secret_is_on_one_line(indexed: Path) -> None:
    _, shown = on_a_terminal(["audit"], size=(80, 24))
    words = shown.split()
    assert "azure-signature," in words
    assert not [word for word in words if word.endswith("-")]


def test_a_prompt_that_is_the_name_of_its_session_is_listed_once(home: Path, cli: Callable[..., Any]) -> None:
    write(home / ".pi" / "agent" / "sessions" / "fox.jsonl", (pi := Pi("fox")).header(), pi.user("Feed the fox"))
    cli("index")
    code, shown = on_a_terminal(["search", "--no-refresh"], size=(80, 24))
    assert (code, shown.count("Feed the fox")) == (0, 1)


def test_candidates_of_a_name_are_listed_as_sessions_are(indexed: Path) -> None:
    _, listed = on_a_terminal(["sessions", "-n", "30"], size=(80, 24))
    _, meant = on_a_terminal(["resolve", "-n", "3"], size=(80, 24))
    titles = [re.findall(r"\x1b\[1m(.*?)\x1b", shown) for shown in (listed, meant)]
    assert len(titles[1]) == 3
    assert set(titles[1]) <= set(titles[0])
    assert "The next ones: --offset 3" in meant


def test_the_best_of_ten_results_is_seen_on_24_rows(indexed: Path) -> None:
    _, shown = on_a_terminal(["search", "--no-refresh", "the"], size=(80, 24))
    assert shown.count("\n") < 24
    assert len(re.findall(r"^[0-9a-f]{8}:\d+ ", shown, re.MULTILINE)) >= 7


@pytest.mark.parametrize(
    ("variables", "options", "has_color"),
    [
        ({}, [], True),
        ({"NO_COLOR": "1"}, [], False),
        ({"NO_COLOR": ""}, [], True),
        ({"TERM": "dumb"}, [], False),
        ({"CLICOLOR": "0"}, [], False),
        ({"NO_COLOR": "1"}, ["--color", "always"], True),
        ({}, ["--color", "never"], False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, [], False),
    ],
)
@pytest.mark.parametrize("command", [["search", "--no-refresh", "carousel"], ["sessions"], ["show", NIX]])
def test_colours_are_a_choice(
    indexed: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
    variables: dict[str, str],
    options: list[str],
    has_color: bool,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    code, shown = on_a_terminal([*command, *options])
    assert code == 0
    assert ("\x1b[" in shown) is has_color


@pytest.mark.parametrize(
    ("variables", "options", "has_color"),
    [
        ({}, [], False),
        ({"FORCE_COLOR": "1"}, [], True),
        ({"FORCE_COLOR": "0"}, [], False),
        ({"CLICOLOR_FORCE": "1"}, [], True),
        ({}, ["--color", "always"], True),
        ({"FORCE_COLOR": "1"}, ["--color", "never"], False),
    ],
)
def test_marks_are_kept_through_a_pipe_when_asked_for(
    indexed: Path,
    cli: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    options: list[str],
    has_color: bool,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    shown = cli("search", "--no-refresh", "carousel", *options).out
    assert ("\x1b[1;33mcarousel\x1b[0m" in shown) is has_color
    assert COLOR.sub("", shown) == cli("search", "--no-refresh", "carousel", "--color", "never").out


@pytest.mark.parametrize("command", ["search", "sessions", "show"])
def test_a_choice_of_colours_that_does_not_exist_is_an_error(
    indexed: Path, cli: Callable[..., Any], command: str
) -> None:
    ran = cli(command, *([NIX] if command == "show" else []), "--color", "sometimes")
    assert (ran.code, ran.err) == (2, "sesame: --color 'sometimes': it is one of auto, always, never\n")


def test_what_is_longer_than_the_screen_is_shown_by_the_pager(
    indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGER $LESS $1; cat\n")
    pager.chmod(0o755)
    monkeypatch.setenv("SESAME_PAGER", f"{pager} -x")
    assert on_a_terminal(["show", NIX], size=(80, 10))[1].startswith("PAGER FRX -x\n")
    assert not on_a_terminal(["show", f"{NIX}:0"], size=(80, 500))[1].startswith("PAGER")
    for nothing in ("", "cat", "/no/such/pager"):
        monkeypatch.setenv("SESAME_PAGER", nothing)
        assert "PAGER" not in on_a_terminal(["show", NIX], size=(80, 10))[1]
    monkeypatch.delenv("SESAME_PAGER")
    monkeypatch.setenv("PAGER", str(pager))
    assert on_a_terminal(["show", NIX], size=(80, 10))[1].startswith("PAGER")


def test_a_pager_that_is_no_command_is_an_error(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESAME_PAGER", "less 'x")
    code, shown = on_a_terminal(["show", NIX], size=(80, 10))
    assert (code, shown) == (1, "sesame: $SESAME_PAGER is not a command: No closing quotation\n")


def test_a_pager_that_is_left_early_is_no_error(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESAME_PAGER", "head -n 1")
    code, shown = on_a_terminal(["show", NIX, "--full"], size=(80, 10))
    assert (code, shown.count("\n")) == (0, 1)


def test_a_hit_can_be_typed(indexed: Path, cli: Callable[..., Any]) -> None:
    place = re.search(r"(\w{8}:\d+) \(", cli("search", "loop", "tight").out)
    assert place
    position = place[1].partition(":")[2]
    assert f"\n→{position} " in cli("show", place[1]).out
    assert f"→{position} " in COLOR.sub("", on_a_terminal(["show", place[1]])[1])
    assert cli("show", place[1]).out == cli("show", place[1].partition(":")[0], "--around", position).out
    assert cli("resume", place[1], "--print").out == cli("resume", place[1].partition(":")[0], "--print").out


@pytest.mark.parametrize("arguments", [(f"{NIX}:9999",), (NIX, "--around", "9999")])
def test_a_position_that_a_session_does_not_have_is_an_error(
    indexed: Path, cli: Callable[..., Any], arguments: tuple[str, ...]
) -> None:
    last = len(cli("show", NIX).out.split("\n#")) - 2
    ran = cli("show", *arguments)
    assert ran.code == 2
    assert f"{NIX} has no position" in ran.err
    assert f"its last is {last}" in ran.err
