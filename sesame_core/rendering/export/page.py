"""An exported session as one page of HTML, which needs nothing else and runs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from ..text import count
from .markup import diff, html_of, plain
from .pieces import Piece, facts, pieces, title
from .style import STYLE

if TYPE_CHECKING:
    from ...types.export import Export, Part

#: What the page may load: nothing, and its own style.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(export: Export) -> Iterator[str]:
    """Yield the page, a piece at a time."""
    name = escape(title(export.parts[0]))
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
        f"<title>{name}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n"
    )
    for number, part in enumerate(export.parts):
        yield from _part(export, number, part)
    yield "</body>\n</html>\n"


def _part(export: Export, number: int, part: Part) -> Iterator[str]:
    """Yield a session: the exported one as the main text, each subagent as a section."""
    started: dict[int | None, list[int]] = {}
    for other, below in enumerate(export.parts):
        if below.parent == number:
            started.setdefault(below.started_at, []).append(other)
    level, around = ("h1", "main") if not number else ("h2", "section")
    yield f'<{around} id="s{number}">\n<header>\n<{level}>{escape(title(part))}</{level}>\n'
    if part.parent is not None:
        yield f"<p>{_back(part)}</p>\n"
    yield "<dl>\n"
    for name, value in facts(part, export):
        yield f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>\n"
    yield "</dl>\n</header>\n"
    yield from (_link(export, other) for other in started.pop(None, ()))
    for piece in pieces(part):
        yield _piece(piece, _anchor(number, piece.position))
        yield from (_link(export, other) for other in started.get(piece.position, ()))
    yield f"</{around}>\n"


def _anchor(number: int, position: int) -> str:
    """Return the anchor of a position; that of the exported session is as it is typed after its id."""
    return f"p{position}" if not number else f"s{number}-p{position}"


def _back(part: Part) -> str:
    at = f"s{part.parent}" if part.started_at is None else _anchor(part.parent or 0, part.started_at)
    return f'<a href="#{at}">A subagent: to where it was started</a>'


def _link(export: Export, number: int) -> str:
    name = escape(title(export.parts[number]))
    return f'<p class="sub"><a href="#s{number}">Subagent: {name}</a></p>\n'


def _piece(piece: Piece, anchor: str) -> str:
    gone = f"<small> {count(piece.cut, 'character')} not indexed</small>" if piece.cut else ""
    flags = " abandoned" if piece.is_abandoned else ""
    where = f'<a href="#{anchor}">#{piece.position}</a>'
    if piece.kind == "message":
        failed = " <em>failed</em>" if piece.is_error else ""
        time = f' <time datetime="{piece.moment}">{piece.time}</time>' if piece.time else ""
        who = f"<b>{escape(piece.speaker)}</b> {where}{time}{flags}{failed}{gone}"
        return (
            f'<article id="{anchor}" class="{escape(piece.speaker)}{flags}">\n'
            f'<p class="who">{who}</p>\n{html_of(piece.text)}</article>\n'
        )
    failed = "<b>failed</b> " if piece.is_error else ""
    kind = f"{piece.kind}{' failed' if piece.is_error else ''}{flags}"
    what = f"<small>{'output' if piece.kind == 'output' else escape(piece.speaker)}</small> "
    summary = f"<summary>{where} {failed}{what if piece.kind != 'call' else ''}<code>{escape(piece.line)}</code>"
    body = diff(piece.text, piece.sides) if piece.sides else plain(piece.text)
    return f'<details id="{anchor}" class="{kind}">{summary}{gone}</summary>\n{body}</details>\n'
