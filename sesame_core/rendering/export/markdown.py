"""An exported session as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..text import count
from .markup import is_closed
from .pieces import Piece, facts, pieces, title

if TYPE_CHECKING:
    from ...types.export import Export, Part

#: A heading of ours, which no message may have.
_OURS = re.compile(r"^ {0,3}#+ +(?:#\d|Subagent \d)", re.MULTILINE)


def markdown(export: Export) -> Iterator[str]:
    """Yield the text, a piece at a time."""
    for number, part in enumerate(export.parts):
        yield from _part(export, number, part)


def fenced(text: str, language: str = "") -> str:
    """Return a text in a fence, which is longer than all in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}\n"


def _part(export: Export, number: int, part: Part) -> Iterator[str]:
    started: dict[int | None, list[int]] = {}
    for other, below in enumerate(export.parts):
        if below.parent == number:
            started.setdefault(below.started_at, []).append(other)
    yield f"# {_inline(title(part))}\n\n" if not number else f"\n## Subagent {number}\n\n{_inline(title(part))}\n\n"
    if part.parent is not None:
        above = f"[subagent {part.parent}](#subagent-{part.parent})" if part.parent else "the session"
        at = "" if part.started_at is None else f" at #{part.started_at}"
        yield f"Started by {above}{at}.\n\n"
    for name, value in facts(part, export):
        yield f"- {name}: {_inline(value)}\n"
    yield from (_link(export, other) for other in started.pop(None, ()))
    for piece in pieces(part):
        yield _piece(piece)
        yield from (_link(export, other) for other in started.get(piece.position, ()))


def _link(export: Export, number: int) -> str:
    return f"\n→ [Subagent {number}](#subagent-{number}): {_inline(title(export.parts[number]))}\n"


def _piece(piece: Piece) -> str:
    what = piece.speaker + {"call": " call", "output": " output"}.get(piece.kind, "")
    flags = (" · failed" if piece.is_error else "") + (" · abandoned" if piece.is_abandoned else "")
    flags += f" · {count(piece.cut, 'character')} not indexed" if piece.cut else ""
    heading = f"\n### #{piece.position} {_inline(what)}{flags}{f' · {piece.time}' if piece.time else ''}\n\n"
    if piece.kind == "message":
        is_safe = is_closed(piece.text) and not _OURS.search(piece.text)
        return heading + (piece.text.strip("\n") + "\n" if is_safe else fenced(piece.text))
    line = f"{_inline(piece.line)}\n\n" if piece.kind == "call" and piece.line != piece.text else ""
    return heading + line + fenced(piece.text, "diff" if piece.sides else "")


def _inline(text: str) -> str:
    """Return a text on one line in which nothing is Markdown."""
    return re.sub(r"([\\`*_\[\]<>|~!#&])", r"\\\1", text) if re.search(r"[`<\[*]|!\[", text) else text
