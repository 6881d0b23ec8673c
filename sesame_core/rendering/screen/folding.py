"""How much of a chunk is shown where it is read on a screen: one rule for `show` and for the preview of the picker.

What was said is whole.  Of the call of a tool, of its output and of what an agent injects some lines are shown: the
first ones, or those around a match.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...text.readable import readable
from ..calls import Line, call_lines
from ..text import count, printable

if TYPE_CHECKING:
    from ...types.index import Chunk

#: Lines that are shown of what is folded: a tool's output, one that failed, a call, what an agent injects.
OUTPUT, FAILED, CALL, INJECTED = 3, 10, 12, 1
#: Least lines that are shown around a match.
AROUND = 5
#: The roles of messages that somebody reads whole.
SAID = ("user", "assistant", "summary")


def is_said(chunk: Chunk) -> bool:
    """Return whether a chunk is what a person or a model said, and not a call, an output or injected text."""
    return chunk.kind == "message" and chunk.role in SAID


def lines_of(chunk: Chunk) -> list[Line]:
    """Return the text of a chunk as it is read, in lines that are safe to print: an edit as a diff."""
    text = printable(chunk.text)
    if chunk.kind == "tool_call":
        return call_lines(text)
    return [Line(line) for line in readable(text, chunk.kind).strip("\n").split("\n")]


def most_of(chunk: Chunk, *, is_around: bool = False) -> int | None:
    """Return how many lines of a chunk are shown; None if all of them are.

    :param is_around: around a match in place of the first ones.
    """
    if is_said(chunk):
        return None
    if chunk.kind == "tool_call":
        most = CALL
    elif chunk.kind == "message":
        most = INJECTED
    else:
        most = FAILED if chunk.is_error else OUTPUT
    return max(most, AROUND) if is_around else most


def folded(lines: int, most: int | None, *, first: int = 0) -> range:
    """Return the lines of a text that are shown: all when `most` is None, and otherwise this number from a line on.

    A single line is not hidden: the note that it is would take its place.

    :param lines: how many lines the text has.
    :param first: the first line that is shown; earlier ones are, too, where the text ends before.
    """
    if most is None or lines <= most + 1:
        return range(lines)
    first = max(0, min(first, lines - most))
    return range(first, first + most)


def above(hidden: int) -> str:
    """Return the note on lines that are hidden above."""
    return f"… {count(hidden, 'line')} above"


def below(hidden: int) -> str:
    """Return the note on lines that are hidden below."""
    return f"… {count(hidden, 'more line')}"
