"""Every weakness on the list has a test of its number."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
WEAKNESSES = range(1, 45)


def numbers() -> set[int]:
    texts = (file.read_text(encoding="utf-8") for file in HERE.glob("test_*.py"))
    return {int(number) for text in texts for number in re.findall(r"^def test_weakness_(\d\d)_\w+\(", text, re.M)}


def test_every_weakness_has_a_test() -> None:
    assert numbers() == set(WEAKNESSES)


def test_the_list_has_no_others(shared: Path) -> None:
    facts = (shared / "facts" / "upstream-sesame.md").read_text(encoding="utf-8")
    section = facts.partition("\n# 4.")[2].partition("\n# 5.")[0]
    assert {int(number) for number in re.findall(r"^(\d+)\. ", section, re.M)} == set(WEAKNESSES)
