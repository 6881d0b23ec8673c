"""The first page: a search, or the latest sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..rendering.answers import about, headline, place_of, says_name, shown_ids
from ..rendering.notes import answer_notes
from ..rendering.text import session_name
from .asking import RESULTS, Asked, url
from .facets import COUNTED, facets
from .showing import page, snippet

if TYPE_CHECKING:
    from ..types.answer import Answer, Hit
    from .desk import Desk

#: Pages of results with a link, before and after the one that is shown.
AROUND = 2


def search_page(desk: Desk, asked: Asked) -> str:
    """Return the page for a query; without one, of the latest sessions.

    :raises QueryError: a filter is not valid.
    """
    report = desk.refreshing()
    first = (asked.page - 1) * RESULTS
    answer = desk.sesame.search(asked.q, asked.filters, limit=RESULTS, offset=first, found=COUNTED)
    short = desk.sesame.abbreviations(shown_ids(answer))
    return page(
        "search.html",
        asked=asked,
        answer=answer,
        headline=headline(answer, is_partial=bool(report and report.pending)),
        hits=[_shown(hit, asked.q, short) for hit in answer.hits],
        notes=answer_notes(answer, report, (), names_commands=False),
        pages=_pages(asked, answer),
        facets=facets(answer, asked, desk),
        counted=len(answer.found) if len(answer.found) < answer.total else None,
        is_hiding=not answer.is_widened and "headless" in answer.left_out,
        state=desk.state(),
    )


def _shown(hit: Hit, q: str, short: dict[str, str]) -> dict[str, Any]:
    chunk = hit.chunk
    at = None if chunk is None else chunk.seq
    session_id = (chunk.session_id if chunk else "") or hit.session.id
    anchor = "" if at is None else f"m{at}"
    name = session_name(hit.stored)
    return {
        "url": url(session_path(session_id), {"at": at, "q": q}, anchor),
        "place": place_of(hit, short.__getitem__),
        "name": name,
        "score": hit.score,
        "modified": hit.session.modified,
        "about": about(hit),
        "tags": hit.session.notes.tags if hit.session.notes else (),
        "snippet": None if says_name(hit, name) else snippet(hit.snippet),
    }


def session_path(session_id: str) -> str:
    """Return the path of a session's page."""
    from urllib.parse import quote

    return f"/s/{quote(session_id, safe='/')}"


def _pages(asked: Asked, answer: Answer) -> list[tuple[int, str]]:
    """Return the numbers of the pages around the one that is shown, with their links."""
    last = max(1, -(-answer.total // RESULTS))
    near = range(max(1, asked.page - AROUND), min(last, asked.page + AROUND) + 1)
    return [(number, asked.url(page=number)) for number in dict.fromkeys([1, *near])] if last > 1 else []
