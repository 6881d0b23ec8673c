"""The screen that output is made for, and the colours on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dataclass import dataclass

if TYPE_CHECKING:
    from ...types.answer import Snippet

#: Parameters of the control sequence that sets each style (ECMA-48, "select graphic rendition").
MATCH, TITLE, DIM, FAILURE = "1;33", "1", "2", "31"
USER, AGENT, TOOL = "1;36", "1;32", "35"
REMOVED, ADDED = "31", "32"
#: Columns that a text needs at least, however narrow a terminal says it is.
NARROWEST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """A terminal."""

    #: Columns, and rows.
    width: int
    height: int
    has_color: bool = True

    def styled(self, text: str, style: str) -> str:
        """Return a text in a style; as it is without colours, and when there is none."""
        return styled(text, style) if self.has_color and text else text

    def marked(self, snippet: Snippet, style: str = "") -> str:
        """Return a text in which what matched stands out.

        :param snippet: text that is safe to print.
        :param style: of what is around the matches.
        """
        return marked(snippet, style) if self.has_color else snippet.text


def styled(text: str, style: str) -> str:
    """Return a text in a style.  Each line begins and ends it, as pagers require."""
    if not style:
        return text
    return "\n".join(f"\x1b[{style}m{line}\x1b[0m" if line else "" for line in text.split("\n"))


def marked(snippet: Snippet, style: str = "") -> str:
    """Return a text in which what matched has a style of its own.

    :param snippet: text that is safe to print.
    :param style: of what is around the matches.
    """
    out, position = "", 0
    for start, end in snippet.marks:
        between = snippet.text[position:start]
        out += (styled(between, style) if between else "") + styled(snippet.text[start:end], MATCH)
        position = end
    rest = snippet.text[position:]
    return out + (styled(rest, style) if rest else "")
