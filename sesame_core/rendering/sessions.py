"""Sessions in a list: two lines and a JSON value of each, and pages of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from .text import (
    SCHEMA_VERSION,
    about_headless,
    count,
    day,
    interval,
    iso,
    metadata_lines,
    one_line,
    page,
    place,
    printable,
    session_name,
    with_notes,
)

if TYPE_CHECKING:
    from ..types.answer import KeptOut
    from ..types.index import StoredSession
    from ..types.query import Filters
    from ..types.report import IndexReport
    from .schemas.sessions import MarkedJson, SessionJson, SessionsJson


def session_json(stored: StoredSession) -> SessionJson:
    """Return a session's JSON value."""
    session, notes = stored.session, stored.session.notes
    return {
        "sessionId": session.id,
        "source": session.agent,
        "path": stored.path,
        "cwd": session.cwd,
        "directories": list(session.directories),
        "name": session.name,
        "description": notes.description if notes and notes.is_described else None,
        "tags": list(notes.tags) if notes else [],
        "starred": bool(notes and notes.is_starred),
        "note": notes.note or None if notes else None,
        "firstPrompt": session.prompts[0][:200] if session.prompts else None,
        "kind": session.kind,
        "created": iso(session.created),
        "modified": iso(session.modified),
        "messageCount": session.message_count,
        "exchangeCount": session.exchange_count,
        "chunkCount": stored.chunk_count,
        "toolCounts": session.tool_counts,
        "gitBranch": session.git_branch,
        "repository": session.repository,
        "model": session.model,
        "parentId": session.parent_id,
        "missingSince": iso(stored.missing_since),
        "key": session.key,
        "workstation": session.workstation or None,
        "host": session.host or None,
        "owner": session.owner or None,
    }


def session_summary(stored: StoredSession) -> str | None:
    """Return the summary in a session's notes, else the latest that its agent made."""
    session = stored.session
    return session.notes.summary if session.notes and session.notes.is_described else session.summary


def marked_json(found: Iterable[StoredSession]) -> MarkedJson:
    """Return the JSON value of sessions that were marked."""
    return {"schemaVersion": SCHEMA_VERSION, "sessions": [session_json(stored) for stored in found]}


def sessions_json(
    found: Sequence[StoredSession],
    total: int,
    offset: int = 0,
    kept_out: KeptOut | None = None,
    refreshed: IndexReport | None = None,
) -> SessionsJson:
    """Return the JSON value of one page of sessions.

    :param total: number of sessions on all pages.
    :param offset: number of sessions before this page.
    :param kept_out: what is not in the list, and why.
    :param refreshed: what is known of files that are not indexed yet.
    """
    from .freshness import index_json
    from .notes import missing_hints

    return {
        "schemaVersion": SCHEMA_VERSION,
        "sessionCount": len(found),
        "offset": offset,
        "total": total,
        "hints": [*missing_hints(refreshed), *(kept_out.hints if kept_out else ())],
        "leftOut": dict(kept_out.counts) if kept_out else {},
        "index": index_json(refreshed),
        "sessions": [session_json(stored) for stored in found],
    }


def sessions_text(
    found: Sequence[StoredSession],
    total: int,
    *,
    abbreviate: Callable[[str], str],
    offset: int = 0,
    filters: Filters | None = None,
    kept_out: KeptOut | None = None,
    refreshed: IndexReport | None = None,
) -> str:
    """Return one page of sessions as text, two lines per session.

    :param filters: those of the list, whose dates are told.
    :param kept_out: what is not in the list, and why.
    :param abbreviate: shortens a session id as far as it stays unique.
    :param offset: number of sessions before this page.
    :param refreshed: what is known of files that are not indexed yet.
    """
    lines = [sessions_headline(found, total, offset=offset, refreshed=refreshed)]
    for stored in found:
        lines += ["", *session_lines(stored, abbreviate(stored.session.id)), *metadata_lines(stored)]
    notes = sessions_notes(filters, kept_out, refreshed)
    return with_notes(lines, notes)


def sessions_headline(found: Sequence[StoredSession], total: int, *, offset: int, refreshed: IndexReport | None) -> str:
    """Return the first line of a page of sessions: how many of how many it has."""
    shown, every = len(found), count(total, "session")
    if not shown:
        so_far = " so far" if refreshed is not None and refreshed.pending else ""
        return f"No more results: {every}" if offset and total else f"No sessions found{so_far}"
    if shown == total:
        return every + (", latest first" if shown > 1 else "")
    return page(shown, every, offset=offset, first=f"Latest {shown}")


def session_lines(stored: StoredSession, reference: str) -> list[str]:
    """Return the two lines of a session in a list: name and day, directory and agent.

    :param reference: what to type for it.
    """
    heading = f"  {one_line(reference)} ({session_name(stored)}) - {day(stored.session.modified)}"
    return [heading, "  " + " · ".join(about_session(stored))]


def about_session(stored: StoredSession) -> list[str]:
    """Return the parts of the line below a session's name."""
    session = stored.session
    parts = [place(session.cwd), one_line(session.agent)]
    parts += [one_line(session.kind)] if session.kind and session.kind != "interactive" else []
    parts += [count(session.message_count, "message")]
    return parts + (["file is gone"] if stored.missing_since else [])


def sessions_notes(filters: Filters | None, kept_out: KeptOut | None, refreshed: IndexReport | None) -> list[str]:
    """Return the notes below a page of sessions, a line each; the parameters are those of `sessions_text`."""
    notes = interval(filters) + [f"Note: {printable(hint)}" for hint in (kept_out.hints if kept_out else ())]
    notes += about_headless(kept_out.counts) if kept_out else []
    if refreshed is not None:
        from .notes import about_refresh

        notes += about_refresh(refreshed)
    return notes
