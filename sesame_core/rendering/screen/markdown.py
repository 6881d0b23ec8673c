"""Markdown on a screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from io import StringIO
from typing import TYPE_CHECKING

from .style import Screen

if TYPE_CHECKING:
    from rich.console import Console

#: Characters from which on a text is shown as it is: a log that somebody pasted is no Markdown, and takes long.
LONGEST = 50_000
#: Code without a background of its own, which suits dark screens only.
STYLES = {"markdown.code": "cyan", "markdown.code_block": "cyan"}


def markdown_lines(text: str, screen: Screen) -> list[str]:
    """Return a text that is safe to print as lines that fit the screen.  Links are shown, and lead nowhere."""
    if len(text) > LONGEST:
        return text.split("\n")
    from rich.markdown import Markdown

    # What a person typed has line feeds where he wants them, which Markdown would join.
    made = Markdown(text.replace("\n", "  \n"), hyperlinks=False, code_theme="ansi_dark")
    console = _console(screen)
    console.print(made)
    return [line.rstrip() for line in _written(console).rstrip("\n").split("\n")]


def with_marks(body: str, find: Callable[[str], Iterable[tuple[int, int]]]) -> str:
    """Return text with control sequences in which what a query found stands out.

    :param find: returns where it is in plain text.
    """
    from rich.text import Text

    lines = []
    for line in body.split("\n"):
        text = Text.from_ansi(line)
        for start, end in find(text.plain):
            text.stylize("bold yellow", start, end)
        console = _console(Screen(width=max(text.cell_len, 1), height=1))
        console.print(text, soft_wrap=True, end="")
        lines.append(_written(console))
    return "\n".join(lines)


def _console(screen: Screen) -> Console:
    from rich.console import Console
    from rich.theme import Theme

    return Console(
        file=StringIO(),
        width=screen.width,
        force_terminal=screen.has_color,
        color_system="standard" if screen.has_color else None,
        no_color=not screen.has_color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        theme=Theme(STYLES),
        _environ={},
    )


def _written(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()
