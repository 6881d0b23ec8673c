"""What a template gets: texts of sessions as HTML in which nothing runs, with the words of a query marked."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from ..rendering.export.markup import diff, highlighted, html_of, plain
from ..rendering.export.pieces import Piece, safe
from ..rendering.text import day, iso, minute

if TYPE_CHECKING:
    from ..types.answer import Snippet
    from ..types.query import Query

#: Characters of a message that are shown at first: a page of long outputs would be many megabytes.
LONG = 20_000


def page(template: str, **values: Any) -> str:
    """Return a page made from a template."""
    return _templates().get_template(template).render(**values)


def snippet(found: Snippet) -> Markup:
    """Return a snippet with its marks."""
    made, position = [], 0
    for start, end in found.marks:
        made += [escape(safe(found.text[position:start])), Markup("<mark>%s</mark>") % safe(found.text[start:end])]
        position = end
    return Markup("").join([*made, escape(safe(found.text[position:]))])


def body(piece: Piece, query: Query | None, *, is_whole: bool = False, is_plain: bool = False) -> Markup:
    """Return the text of a message, or of what is folded.

    :param query: its words are marked.
    :param is_whole: also where it is long.
    :param is_plain: Markdown is shown as it is.
    """
    text = piece.text if is_whole else piece.text[:LONG]
    if piece.kind == "message" and not is_plain:
        made = html_of(text)
    else:
        made = diff(text, piece.sides) if piece.sides else plain(text)
    # The policy of the page allows no style of an element; the cells of a table are aligned by classes.
    made = made.replace(' style="text-align:', ' class="to-')
    return Markup(made if query is None else highlighted(made, query))


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        # Whatever a template shows, it has no characters that a page must not have.
        finalize=lambda value: safe(value) if type(value) is str else value,
    )
    made.filters.update(day=day, minute=minute, iso=iso)
    return made
