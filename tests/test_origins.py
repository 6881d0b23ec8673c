"""Every case of the lists that tests come from has a test that is marked with it."""

from __future__ import annotations

import re
from pathlib import Path

from .support.corpus import PITFALLS

WEAKNESSES = range(1, 45)


def marked(origin: str) -> set[str]:
    """Return what the markers of an origin name, in all tests."""
    texts = (file.read_text(encoding="utf-8") for file in Path(__file__).parent.rglob("test_*.py"))
    return {case for text in texts for case in re.findall(rf"^@pytest\.mark\.{origin}\((.+)\)$", text, re.M)}


def test_every_weakness_of_upstream_has_a_test() -> None:
    assert {int(number) for number in marked("upstream")} == set(WEAKNESSES)


def test_upstream_has_no_other_weaknesses(shared: Path) -> None:
    facts = (shared / "facts" / "upstream-sesame.md").read_text(encoding="utf-8")
    section = facts.partition("\n# 4.")[2].partition("\n# 5.")[0]
    assert {int(number) for number in re.findall(r"^(\d+)\. ", section, re.M)} == set(WEAKNESSES)


def test_every_shared_input_has_a_test(shared: Path) -> None:
    corpus = shared / "corpus"
    inputs = {path.name for path in (corpus / PITFALLS).iterdir()}
    inputs |= {f"pi-synthetic/{path.name}" for path in (corpus / "pi-synthetic").iterdir()}
    inputs |= {f"claude-code-synthetic/{path.name}" for path in (corpus / "claude-code-synthetic").glob("*.jsonl")}
    assert inputs <= {case.strip('"') for case in marked("corpus")}
