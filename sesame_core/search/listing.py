"""A list of sessions, newest first, which answers a query without words; and what each session is called in it."""

from __future__ import annotations

from collections.abc import Sequence

from ..dataclass import replace
from ..plugin.backend import IndexReader
from ..query.filters import asked
from ..text.snippets import snippet
from ..types.answer import Answer, Hit, Page, Snippet
from ..types.query import Condition, Filters, Query
from ..types.transcript import Session

#: Shortest prefix of a session's id that finds the session, in characters: the first part of a UUID, as answers
#: print it.
ID_PREFIX = 8


def browse(reader: IndexReader, query: Query, filters: Filters, page: Page) -> Answer:
    """List sessions by time, for a query without words."""
    # What is to be counted begins with the first pages: one query has both, and counting takes most of its time.
    is_counted = page.found >= page.end
    start, limit = (0, page.found) if is_counted else (page.offset, page.end - page.offset)
    found, total = reader.list_sessions(filters, limit=limit, offset=start, condition=query.condition)
    every, found = found, found[page.offset : page.end] if is_counted else found
    hits = [
        Hit(stored=stored, score=0.0, snippet=Snippet(_first_line(stored.session) or "(no text)")) for stored in found
    ]
    if query.condition or asked(replace(filters, exclude=(), all_kinds=False)):
        from .deciding import deciding_passages

        passages = deciding_passages(reader, filters, query.condition, [stored.number for stored in found])
        for hit in hits:
            if passage := passages.get(hit.stored.number):
                hit.passages, hit.chunk, hit.snippet = [passage], passage.chunk, passage.snippet
                hit.is_abandoned = passage.chunk.segment in (hit.session.abandoned or ())
    left_out = headless(reader, filters, total, query.condition)
    answer = Answer(query=query, hits=hits, total=total, mode="browse", left_out=left_out)
    if page.found and not is_counted:
        every, _ = reader.list_sessions(filters, limit=page.found, condition=query.condition)
    answer.found = every if page.found else []
    return answer


def headless(reader: IndexReader, filters: Filters, total: int, condition: Condition | None = None) -> dict[str, int]:
    """Return the number of headless sessions that a list leaves out, as in `Answer.left_out`; {} if there are none.

    :param total: number of sessions in the list.
    """
    if filters.all_kinds:
        return {}
    _, every = reader.list_sessions(replace(filters, all_kinds=True), limit=0, condition=condition)
    return {"headless": every - total} if every > total else {}


def _first_line(session: Session) -> str:
    """Return the first text of a session that is not empty, on one line: a prompt, its summary, its name.

    The name is the last, since every list has it beside this line.
    """
    texts: Sequence[str] = (*session.prompts, session.summary or "", session.name or "")
    return snippet(_prose(next((t for t in texts if t.strip()), "")), Query(text="")).text


def display_name(session: Session) -> str | None:
    """Return the session's title or name, or else one of its prompts, as `text.titles` makes one."""
    if session.name:
        return session.name
    from ..text.titles import best

    return best(session.prompts, (session.summary,) if session.summary else ()) or None


def _prose(text: str) -> str:
    """Return a prompt without the fences of its code."""
    if "```" not in text and "~~~" not in text:
        return text
    from ..text.readable import readable

    return readable(text)
