"""`sesame fix` and `sesame how`: where the text comes from, and what is printed."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LAPTOP = "error: attribute 'isLaptop' missing"


def test_an_error_may_come_from_standard_input_with_everything_around_it(
    indexed_sessions: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    end = f"trace: while evaluating\n{LAPTOP}\n       at /x/power.nix:9:3:\nmake: *** [all] Error 1\n"
    monkeypatch.setattr("sys.stdin", io.StringIO("building…\n" * 5_000 + end))
    out = cli("fix", "-").out
    assert out.startswith(f'"{LAPTOP}": seen 1 time in 1 session; 1 fix held')
    assert "services.tlp.enable = true;" in out


@pytest.mark.parametrize("words", [["-bash: zebra: command not found"], ["--", "-x", "zebra"]])
def test_an_error_may_begin_with_a_dash(words: list[str], indexed_sessions: Path, cli: Callable[..., Any]) -> None:
    ran = cli("fix", "--no-refresh", *words)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Nothing is known about")


def test_an_unknown_option_says_how_to_ask_for_the_text(indexed_sessions: Path, cli: Callable[..., Any]) -> None:
    ran = cli("how", "--zebra")
    assert ran.code == 2
    assert "to search for the text: sesame how -- --zebra" in ran.err


def test_without_words_the_command_is_used_wrongly(home: Path, cli: Callable[..., Any]) -> None:
    assert cli("fix").code == 2


def test_an_empty_index_says_why_nothing_is_known(home: Path, cli: Callable[..., Any]) -> None:
    ran = cli("fix", LAPTOP)
    assert ran.code == 0
    assert ran.out.startswith(f'Nothing is known about "{LAPTOP}"\n\n')
    assert "sessions" in ran.out.partition("\n\n")[2]


def test_the_page_of_fixes_is_that_of_limit_and_offset(indexed_sessions: Path, cli: Callable[..., Any]) -> None:
    first, second = (cli("how", "run", "the", "tests", "-n", "1", "--offset", n, "--json").json for n in (0, 1))
    assert (first["resultCount"], second["resultCount"]) == (1, 1)
    assert first["total"] == second["total"] > 1
    assert first["ways"][0]["name"] != second["ways"][0]["name"]
    beyond = cli("how", "run", "the", "tests", "--offset", "1000").out
    assert beyond.startswith('No more is known about "run the tests": the pages before have ')
    assert cli("fix", LAPTOP, "--offset", "1").out.startswith(f'No more is known about "{LAPTOP}": ')


def test_no_control_characters_of_a_session_are_printed(home: Path, cli: Callable[..., Any], tmp_path: Path) -> None:
    from ..support import worked

    steps = [
        worked.asks("build \x1b[31mit"),
        worked.runs("make \x1b]0;title\x07", "\x1b[31merror: boom of the zebra\x1b[0m\x07", fails=True),
        worked.says("Because of \x1b[2J this."),
        worked.edits("a\x1b[1m.py", "x", "\x1b[5my"),
        worked.runs("make \x1b]0;title\x07", "ok"),
        worked.says("done"),
    ]
    config = home / ".config" / "sesame" / "config.jsonc"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f'{{"sources": [{{"parser": "sesame", "path": "{tmp_path / "in"}"}}]}}')
    worked.write(tmp_path / "in", "s1", steps, cwd="/code/\x1b[1mapp")
    assert cli("index").code == 0
    for words in (("fix", "error: boom of the zebra"), ("how", "make")):
        out = cli(*words).out
        assert "seen 1 time" in out or "succeeded" in out
        assert not any(ord(character) < 32 and character != "\n" for character in out)
