"""The examples of docs/questions.md about people and periods print what the page shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core.config import identity

from ..support.pages import assert_printed, steps

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "questions.md").read_text("utf-8")
HEADINGS = ("Who worked on it", "What happened")
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}
BLOCKS = [block for name in HEADINGS for block in re.findall(r"^```console\n(.*?)^```", SECTIONS[name], re.M | re.S)]


@pytest.mark.parametrize("block", BLOCKS)
def test_an_example_prints_what_is_shown(
    block: str, demo_sessions: Path, utc: None, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "owner", lambda: "ann")
    cli("index")
    for words, expected in steps(block):
        ran = cli(*words)
        assert (ran.code, ran.err) == (0, "")
        assert_printed(ran.out.splitlines(), expected)
