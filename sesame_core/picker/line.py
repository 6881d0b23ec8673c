"""The line that is typed, and what keys do to it."""

from __future__ import annotations

import re

from ..rendering.text import one_line
from ..text.cells import steady

#: Most characters of the line: a pasted text is a query, too, a pasted log is not.
LONGEST = 2_000

_BEFORE = re.compile(r"\S*\s*\Z")
_AFTER = re.compile(r"\s*\S*")


class Line:
    """A text with a cursor in it.

    :param text: the text at the start; the cursor is at its end.
    """

    def __init__(self, text: str = "") -> None:
        self.text = ""
        #: Number of characters before the cursor.
        self.cursor = 0
        self.insert(text)

    def replace(self, text: str, cursor: int | None = None) -> None:
        """Set the text, and the cursor, at its end when None."""
        self.text = text[:LONGEST]
        self.cursor = len(self.text) if cursor is None else min(cursor, len(self.text))

    def insert(self, text: str) -> None:
        """Insert a text before the cursor, on one line, without what controls a terminal."""
        safe = steady(one_line(text))
        self.replace(self.text[: self.cursor] + safe + self.text[self.cursor :], self.cursor + len(safe))

    def move(self, where: str) -> None:
        """Move the cursor: `left`, `right`, `start`, `end`, `word-left` or `word-right`."""
        self.cursor = self._place(where)

    def delete(self, where: str) -> None:
        """Delete from the cursor to a place as of `move`."""
        first, last = sorted((self.cursor, self._place(where)))
        self.replace(self.text[:first] + self.text[last:], first)

    def _place(self, where: str) -> int:
        if where == "left":
            return max(self.cursor - 1, 0)
        if where == "right":
            return min(self.cursor + 1, len(self.text))
        if where == "word-left":
            match = _BEFORE.search(self.text[: self.cursor])
            return match.start() if match else 0
        if where == "word-right":
            match = _AFTER.match(self.text, self.cursor)
            return match.end() if match else len(self.text)
        return 0 if where == "start" else len(self.text)
