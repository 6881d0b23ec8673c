"""The page about the picker, held against its table of keys and against what it draws."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sesame_core.picker.bindings import BINDINGS, title
from sesame_core.picker.shells import KEY, SHELLS

from ..picker.terminal import SESAME, Terminal

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs" / "picker.md").read_text(encoding="utf-8")


def test_the_table_of_keys_is_that_of_the_program() -> None:
    rows = re.findall(r"^\| (`[A-Z][^|]*) \| (.*)\. \|$", PAGE.partition("## Keys")[2], re.MULTILINE)
    documented = [(re.findall(r"`([^`]+)`", keys), text.replace("`", "")) for keys, text in rows]
    assert documented == [([*map(title, binding.keys)], binding.help) for binding in BINDINGS]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_has_its_line_and_the_key_is_named(shell: str) -> None:
    assert f"sesame init {shell}" in PAGE
    assert f"`{title(KEY)}` has no meaning in any of the three shells" in PAGE


@pytest.mark.once
def test_the_screen_on_the_page_is_drawn(indexed_sessions: Path) -> None:
    (shown,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    with Terminal([*SESAME, "pick", "websocket reconn"]) as terminal:
        terminal.wait("→0 user")
        terminal.wait(lambda: "indexing" not in terminal.text)
        rows = [re.sub(r"^(> +)\d+\w+ ", r"\1AGE ", row) for row in terminal.rows]
    for line in filter(None, shown.splitlines()):
        assert re.sub(r"^(> +)\d+\w+ ", r"\1AGE ", line) in rows
