"""Prose on a screen: lines that are too long are broken between words, below their own indent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...text.cells import TAB, cells
from ...types.answer import Snippet
from .layout import safe
from .style import Screen

#: Columns by which what follows the first part of a line is indented more than the line.
STEP = 2
#: The start of a line that is a command, perhaps behind its position in a session.
_COMMAND = re.compile(r" *(?:\d+ )?\$ ")


def fitted_lines(text: str, columns: int) -> str:
    """Return a text whose lines are broken between words to fit a screen.

    A word that is longer than the screen, a path or an address, is not broken, nor is a command behind `$`: a terminal
    does that in a way that leaves them whole when they are copied.

    :param text: without control characters other than line feeds and tabs.
    """
    return "\n".join(part for line in text.split("\n") for part in _parts(_without_tabs(line), columns))


def texts(lines: Iterable[str], screen: Screen, *, style: str = "") -> list[str]:
    """Return lines as `fitted_lines` breaks them, safe to print, in a style."""
    fitted = (fitted_lines(safe(Snippet(line)).text, screen.width) for line in lines)
    return [screen.styled(part, style) for text in fitted for part in text.split("\n")]


def _parts(line: str, columns: int) -> Iterator[str]:
    if cells(line) <= columns or _COMMAND.match(line):
        yield line
        return
    own = len(line) - len(line.lstrip(" "))
    indent = " " * min(own + STEP, columns // 2)
    part = line[:own]
    is_begun = False
    for gap, word in _words(line[own:]):
        if is_begun and cells(part) + len(gap) + cells(word) > columns:
            yield part
            part, gap = indent, ""
        part += (gap if is_begun else "") + word
        is_begun = True
    yield part


def _without_tabs(line: str) -> str:
    """Return a line with spaces in place of tabs, which are counted from where its text begins."""
    margin = len(line) - len(line.lstrip(" "))
    return line[:margin] + line[margin:].expandtabs(TAB)


def _words(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words of a line, each with the spaces before it."""
    gap = ""
    for word in text.rstrip(" ").split(" "):
        if word:
            yield gap, word
            gap = " "
        else:
            gap += " "
