"""Sessions without words to search, on a screen: the latest ones, and those that a reference may mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...types.answer import Snippet
from ..sessions import about_session, sessions_headline, sessions_notes
from ..text import one_line, project, session_name
from .entries import Entry, framed
from .prose import texts
from .style import DIM, Screen

if TYPE_CHECKING:
    from ...types.answer import KeptOut
    from ...types.index import StoredSession
    from ...types.query import Filters
    from ...types.report import IndexReport


def sessions_screen(
    found: Sequence[StoredSession],
    total: int,
    screen: Screen,
    *,
    abbreviate: Callable[[str], str],
    offset: int = 0,
    filters: Filters | None = None,
    kept_out: KeptOut | None = None,
    refreshed: IndexReport | None = None,
) -> str:
    """Return one page of sessions as it fits a screen.  The parameters are those of `sessions_text`."""
    top = texts([sessions_headline(found, total, offset=offset, refreshed=refreshed)], screen)
    below = texts(sessions_notes(filters, kept_out, refreshed), screen, style=DIM)
    return framed(top, [session_entry(stored, abbreviate(stored.session.id)) for stored in found], below, screen)


def session_entry(stored: StoredSession, place: str) -> Entry:
    """Return the entry of a session.

    :param place: what to type for it.
    """
    notes = stored.session.notes
    return Entry(
        place=place,
        title=Snippet(session_name(stored)),
        project=project(stored.session.cwd),
        modified=stored.session.modified,
        about=" · ".join([*about_session(stored), *(f"#{one_line(tag)}" for tag in (notes.tags if notes else ()))]),
        passage=Snippet(" ".join(about.split())) if notes and (about := notes.note or notes.description) else None,
    )
