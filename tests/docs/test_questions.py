"""The page about questions: each example is run, and prints what is shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ..support.pages import assert_printed, steps

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "questions.md").read_text(encoding="utf-8")
#: The sections of this module; the others have modules of their own.
MINE = "".join(
    part for part in re.split(r"^(?=## )", PAGE, flags=re.MULTILINE) if part.startswith(("## How an", "## How some"))
)


@pytest.mark.parametrize("block", re.findall(r"^```console\n(\$ sesame .*?)^```", MINE, re.DOTALL | re.MULTILINE))
def test_an_example_prints_what_is_shown(block: str, indexed_sessions: Path, cli: Callable[..., Any]) -> None:
    for words, expected in steps(block):
        ran = cli(*words)
        assert (ran.code, ran.err) == (0, "")
        assert_printed(ran.out.splitlines(), expected)
