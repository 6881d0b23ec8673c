"""The code blocks of docs/agents.md, which readers copy."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The page's blocks of code in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def commands(beginning: str) -> list[str]:
    """The page's command lines that start with a string."""
    return [line for block in blocks("sh") for line in block.splitlines() if line.startswith(beginning)]
