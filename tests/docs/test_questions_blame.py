"""docs/questions.md on lines, held against the program: its examples are run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from sesame_core import Sesame
from sesame_core.types.questions import Evidence

from ..support.pages import assert_printed, steps
from .test_cli import SECTIONS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "questions.md").read_text("utf-8")
PART = PAGE.partition("\n## Who wrote a line\n")[2].partition("\n## ")[0]


@pytest.fixture
def checkout(indexed_sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the page, in a checkout of the project."""
    (text,) = re.findall(r"^```ts\n(.*?)^```", PART, re.MULTILINE | re.DOTALL)
    place = tmp_path / "chat-client"
    file = place / "src" / "socket.ts"
    file.parent.mkdir(parents=True)
    (place / ".git").mkdir()
    file.write_text(text, encoding="utf-8")
    monkeypatch.chdir(place)
    monkeypatch.setenv("USER", "ann")
    return place


@pytest.mark.parametrize("block", re.findall(r"^```console\n(\$ sesame .*?)^```", PART, re.MULTILINE | re.DOTALL))
def test_an_example_prints_what_is_shown(block: str, checkout: Path, cli: Callable[..., Any]) -> None:
    for words, expected in steps(block):
        ran = cli(*words)
        assert (ran.code, ran.err) == (0, "")
        # Whoever runs the tests owns the sessions.
        out = re.sub(r"· claude-code · [^·]+ ·", "· claude-code · ann ·", ran.out).splitlines()
        assert_printed(out, expected)


def test_the_example_in_python_runs(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", PART, re.MULTILINE | re.DOTALL)
    exec(compile(code, "questions.md", "exec"), {})
    assert capsys.readouterr().out.startswith("3 3 d6bc0d35")


def test_every_kind_of_evidence_is_on_the_pages(checkout: Path) -> None:
    (sentence,) = re.findall(r"^`evidence` is (.*)\.$", SECTIONS["blame"], re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", sentence)) == set(get_args(Evidence))
    assert set(re.findall(r"\(`(\w+)`\)", PART)) == set(get_args(Evidence)) - {"note", "edit"}
    with Sesame() as sesame:
        assert sesame.blame("src/socket.ts:3").runs[0].writers[0].evidence == "edit"
