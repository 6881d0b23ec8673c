"""A session on a screen, to be read: tool calls and what agents inject as a line or two, Markdown as such, diffs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...types.answer import Snippet
from ..text import printable
from ..transcripts import header_lines, spoken_by
from .folding import below, folded, is_said, lines_of, most_of
from .layout import fitted, safe
from .prose import texts
from .style import ADDED, AGENT, DIM, FAILURE, REMOVED, TITLE, TOOL, USER, Screen

if TYPE_CHECKING:
    from ...types.index import Chunk, StoredSession
    from ...types.query import Query

_SPEAKERS = {"user": USER, "assistant": AGENT, "summary": AGENT}
_SIDES = {"-": REMOVED, "+": ADDED}


def transcript_screen(
    stored: StoredSession,
    chunks: Iterable[Chunk],
    screen: Screen,
    *,
    marked: int | None = None,
    is_full: bool = False,
    query: Query | None = None,
) -> Iterator[str]:
    """Yield a session as it is read on a screen, a piece at a time.

    :param marked: the position of a chunk with an arrow.
    :param is_full: show outputs and injected texts whole.
    :param query: its words stand out.
    """
    title, *about = header_lines(stored)
    yield "\n".join([*texts([title], screen, style=TITLE), *texts(about, screen, style=DIM)])
    abandoned = set(stored.session.abandoned or ())
    for chunk in chunks:
        heading = _heading(chunk, is_marked=chunk.seq == marked, is_abandoned=chunk.segment in abandoned)
        style = FAILURE if chunk.is_error else _SPEAKERS.get(chunk.role or "", TOOL if chunk.tool_name else DIM)
        first = screen.styled(fitted(safe(Snippet(heading)), screen.width).text, style)
        body = "\n".join(_body(chunk, screen, is_full=is_full or chunk.seq == marked))
        yield "\n" + first + "\n" + (_highlighted(body, query) if query is not None and screen.has_color else body)


def _heading(chunk: Chunk, *, is_marked: bool, is_abandoned: bool) -> str:
    time = f" · {chunk.timestamp.astimezone():%Y-%m-%d %H:%M}" if chunk.timestamp else ""
    flags = (" · error" if chunk.is_error else "") + (" · abandoned" if is_abandoned else "")
    return f"{'→' if is_marked else '#'}{chunk.seq} {spoken_by(chunk)}{flags}{time}"


def _body(chunk: Chunk, screen: Screen, *, is_full: bool) -> list[str]:
    if is_said(chunk):
        from .markdown import markdown_lines

        return markdown_lines(printable(chunk.text), screen)
    lines = lines_of(chunk)
    kept = folded(len(lines), None if is_full else most_of(chunk))
    plain = "" if is_full or chunk.kind == "tool_call" else DIM
    shown = []
    for line, side in lines[kept.start : kept.stop]:
        text = line if is_full else fitted(safe(Snippet(line)), screen.width).text
        shown.append(screen.styled(text, _SIDES.get(side, plain)))
    hidden = len(lines) - kept.stop
    return shown + (texts([f"{below(hidden)} (--full)"], screen, style=DIM) if hidden else [])


def _highlighted(body: str, query: Query) -> str:
    from ...text.snippets import occurrences
    from .markdown import with_marks

    return with_marks(body, lambda line: [(start, end) for start, end, _ in occurrences(line, query)])
