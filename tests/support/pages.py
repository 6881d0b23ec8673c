"""Blocks of a page of the documentation, to be run as they stand."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Block:
    """A block of code, in the section with the nearest heading above it."""

    heading: str
    #: "console", "sql" and the like.
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """The lines after a prompt."""
        return re.findall(r"^\$ (.*)$", self.text, re.MULTILINE)


def block_with(page: Path, text: str) -> str:
    """Return the text of the one block of a page that has a text."""
    (found,) = (block.text for block in blocks(page) if text in block.text)
    return found


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page, in order."""
    found, heading = [], ""
    for title, language, text in re.findall(
        r"^#+ ([^\n]+)$|^```(\w+)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        if title:
            heading = title
        else:
            found.append(Block(heading, language, text))
    return found


def steps(block: str) -> list[tuple[list[str], list[str]]]:
    """Return the commands of a block, each with the lines it is said to print."""
    # The demo prints a command of its own.
    parts = [block] if block.startswith("$ sesame demo") else re.split(r"^(?=\$ )", block, flags=re.MULTILINE)[1:]
    found = []
    for text in parts:
        command, _, output = text.partition("\n")
        found.append((shlex.split(command, comments=True)[2:], output.splitlines()))
    return found


def assert_printed(out: list[str], expected: list[str]) -> None:
    """Fail unless lines are those that a page shows; where these end in an ellipsis, the first are."""
    if expected[-1] == "…":
        assert out[: len(expected) - 1] == expected[:-1]
    else:
        assert out == expected
