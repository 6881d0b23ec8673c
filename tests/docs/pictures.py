"""The pictures of the README: what the program draws over the demo sessions, as SVG for light and dark pages.

`python -m tests.docs.pictures` draws them again.  A picture has the text of the screen, so that a test can compare it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from sesame_core.demo import sessions_dir

from ..picker.terminal import SESAME, Screen, Terminal
from ..support.agent_homes import ROOTS

PLACE = Path(__file__).resolve().parents[2] / "docs" / "pictures"
#: Pixels of a cell, around the screen, and from the top of a row to the line of its text.
WIDTH, HEIGHT, EDGE, BASE = 8, 18, 14, 13
#: Colours by name of pyte, for a light page and for a dark one.
THEMES: dict[str, dict[str, str]] = {
    "light": {
        "back": "#ffffff",
        "edge": "#d0d7de",
        "default": "#1f2328",
        "dim": "#6e7781",
        "cyan": "#0b7285",
        "brown": "#9a5b00",
        "red": "#cf222e",
        "green": "#1a7f37",
        "blue": "#0550ae",
        "magenta": "#8250df",
    },
    "dark": {
        "back": "#0d1117",
        "edge": "#30363d",
        "default": "#e6edf3",
        "dim": "#8b949e",
        "cyan": "#56d4dd",
        "brown": "#f2cc60",
        "red": "#ff7b72",
        "green": "#7ee787",
        "blue": "#79c0ff",
        "magenta": "#d2a8ff",
    },
}
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_AGE = re.compile(r"\b\d+ ?(?:s|min|h|d|w|mo|y)\b(?: ago)?")


class _Dimming(Screen):
    """A screen that also knows which cells are dim, which pyte does not: it has them blink."""

    def select_graphic_rendition(self, *attrs: int, **more: Any) -> None:
        super().select_graphic_rendition(*({2: 5, 22: 25}.get(code, code) for code in attrs), **more)


@dataclass(frozen=True)
class Picture:
    """A picture: a command line, the text that its screen has when it is ready, and the size of the screen."""

    command: str
    ready: str
    columns: int
    rows: int

    @property
    def is_typed(self) -> bool:
        """Whether the command is above what it prints, as it was typed: the picker takes the whole screen."""
        return "pick" not in self.command


PICTURES = {
    "picker": Picture("sesame pick migration broke reconnect test", "→0 user", 104, 20),
    "search": Picture("sesame search publish job release workflow", "Found ", 92, 12),
}


def taken(picture: Picture) -> Screen:
    """Return the screen that a picture shows, drawn by the program over the sessions of this home."""
    words = shlex.split(picture.command)[1:]
    environment = {"COLUMNS": str(picture.columns), "LINES": str(picture.rows), "TZ": "UTC", "PAGER": "cat"}
    size: dict[str, Any] = {"columns": picture.columns, "rows": picture.rows}
    with Terminal([*SESAME, *words], env=environment, screen=_Dimming, **size) as terminal:
        if picture.is_typed:
            assert terminal.end() == 0
        terminal.wait(picture.ready)
        terminal.wait(lambda: "indexing" not in terminal.text)
        return terminal.screen


def text_of(screen: Screen) -> list[str]:
    """Return the rows of a screen that are not empty at its end, without the ages of sessions, which grow."""
    cells = range(screen.columns)
    rows = ["".join(screen.buffer[row][cell].data for cell in cells).rstrip() for row in range(screen.lines)]
    return without_ages("\n".join(rows).rstrip("\n").split("\n"))


def text_in(svg: str) -> list[str]:
    """Return the rows of a picture, without the ages of sessions."""
    rows = ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return without_ages(["".join(row.itertext()).rstrip() for row in rows])


def without_ages(rows: list[str]) -> list[str]:
    """Return rows with one word for each age, without the spaces around it."""
    return [re.sub(r" +", " ", _AGE.sub("AGE", row)) for row in rows]


def drawn(picture: Picture, screen: Screen, theme: Mapping[str, str]) -> str:
    """Return a screen as SVG."""
    rows = len(text_of(screen))
    first = [("$ ", "dim", False), (picture.command, "default", True)] if picture.is_typed else []
    width, height = screen.columns * WIDTH + 2 * EDGE, (rows + bool(first)) * HEIGHT + 2 * EDGE
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(picture.command)}">',
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8" fill="{theme["back"]}" '
        f'stroke="{theme["edge"]}"/>',
        '<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="13">',
    ]
    if first:
        lines.append(_row([(text, colour, bold, False, len(text)) for text, colour, bold in first], 0, theme))
    for row in range(rows):
        lines.append(_row(list(_runs(screen, row)), row + bool(first), theme))
    return "\n".join([*lines, "</g>", "</svg>", ""])


def _runs(screen: Screen, row: int) -> Iterator[tuple[str, str, bool, bool, int]]:
    """Yield the text of a row in parts of one style: text, colour, whether it is bold and reversed, cells."""
    cells = [screen.buffer[row][column] for column in range(screen.columns)]
    while cells and cells[-1].data == " " and not cells[-1].reverse:
        cells.pop()
    for (colour, bold, reverse), run in groupby(
        cells, lambda cell: ("dim" if cell.blink and cell.fg == "default" else cell.fg, cell.bold, cell.reverse)
    ):
        part = list(run)
        yield "".join(cell.data for cell in part), colour, bold, reverse, len(part)


def _row(runs: list[tuple[str, str, bool, bool, int]], row: int, theme: Mapping[str, str]) -> str:
    top, column = EDGE + row * HEIGHT, 0
    boxes, texts = [], []
    for text, colour, bold, reverse, cells in runs:
        x, fill = EDGE + column * WIDTH, theme[colour]
        if reverse:
            box = f'<rect x="{x}" y="{top}" width="{cells * WIDTH}" height="{HEIGHT}" fill="{fill}"/>'
            boxes.append(box)
            fill = theme["back"]
        weight = ' font-weight="bold"' if bold else ""
        fitted = f'textLength="{cells * WIDTH}" lengthAdjust="spacingAndGlyphs"'
        texts.append(f'<tspan x="{x}" fill="{fill}"{weight} {fitted}>{escape(text)}</tspan>')
        column += cells
    return f'{"".join(boxes)}<text y="{top + BASE}" xml:space="preserve">{"".join(texts)}</text>'


def settle(home: Path) -> None:
    """Put the demo's sessions of all agents into a home, and index them."""
    from sesame_core import Sesame

    for agent, place in ROOTS.items():
        shutil.copytree(sessions_dir() / agent, home / place)
    with Sesame() as sesame:
        assert not sesame.index().errors


def main() -> None:
    """Draw all pictures."""
    with tempfile.TemporaryDirectory() as home:
        for name in list(os.environ):
            if name.startswith(("SESAME_", "XDG_")):
                del os.environ[name]
        os.environ["HOME"] = home
        settle(Path(home))
        PLACE.mkdir(exist_ok=True)
        for name, picture in PICTURES.items():
            screen = taken(picture)
            for theme, colours in THEMES.items():
                (PLACE / f"{name}-{theme}.svg").write_text(drawn(picture, screen, colours), encoding="utf-8")


if __name__ == "__main__":
    main()
