"""What every answer from a history says of itself: where something was seen, and what the answer is based on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..config import identity
from .text import HINT, QUERY, SCHEMA_VERSION, about_headless, count, day, iso, one_line, place, session_name, shortened

if TYPE_CHECKING:
    from ..types.fixes import Known, Seen
    from ..types.report import IndexReport
    from .schemas.fixes import KnownJson, SeenJson, SeenSessionJson


def seen_json(seen: Seen) -> SeenJson:
    """Return the JSON value of where something happened."""
    return {"sessionId": seen.stored.session.id, "position": seen.position, "at": iso(seen.at)}


def seen_session_json(seen: Seen) -> SeenSessionJson:
    """Return the JSON value of where something happened, with the session."""
    session = seen.stored.session
    return {
        **seen_json(seen),
        "title": session_name(seen.stored),
        "source": session.agent,
        "cwd": session.cwd,
        "owner": session.owner or None,
        "host": session.host or None,
    }


def known_json(
    about: str, basis: Known, results: int, refreshed: IndexReport | None, current: Sequence[str]
) -> KnownJson:
    """Return the JSON fields that every answer has.

    :param results: number of results.
    :param current: ids of the caller's own sessions, which were left out.
    """
    from .freshness import index_json

    return {
        "schemaVersion": SCHEMA_VERSION,
        "about": shortened(about, QUERY),
        "resultCount": results,
        "total": basis.total,
        "sessionCount": basis.sessions,
        "searched": basis.searched,
        "truncated": basis.is_truncated,
        "leftOut": dict(basis.left_out),
        "withheld": basis.withheld,
        "hints": [shortened(hint, HINT) for hint in basis.hints],
        "index": index_json(refreshed, basis.freshness),
        "currentSessions": list(current),
    }


def place_of(seen: Seen, abbreviate: Callable[[str], str]) -> str:
    """Return what to type for where something happened: `35ea950f:21`."""
    return one_line(f"{abbreviate(seen.stored.session.id)}:{seen.position}")


def by_whom(seen: Seen) -> str:
    """Return when something happened, and who else did it where: `2026-11-05, ann · ~/work/app · pi`."""
    session = seen.stored.session
    owner = f", {one_line(session.owner)}" if session.owner and session.owner != identity.owner() else ""
    return f"{day(seen.at)}{owner} · {place(session.cwd)} · {one_line(session.agent)}"


def notes(basis: Known, refreshed: IndexReport | None, current: Sequence[str]) -> list[str]:
    """Return the notes below an answer as text: what it is not based on.

    :param current: ids of the caller's own sessions, which were left out.
    """
    from .notes import about_current, about_refresh

    found = [one_line(hint) for hint in basis.hints]
    if basis.is_truncated:
        found.append("There is more than was read: the newest and the best were")
    found += about_headless(basis.left_out)
    if basis.withheld:
        found.append(f"Not searched: {count(basis.withheld, 'session')} whose texts their owners do not share")
    return [*found, *about_current(current), *about_refresh(refreshed)]


def nothing(what: str, basis: Known, refreshed: IndexReport | None) -> str:
    """Return the line of an answer without results on this page, with the number of sessions that were searched.

    :param what: what is not known.
    """
    if basis.total:
        return f"No more is known about {what}: the pages before have {count(basis.total, 'result')}"
    so_far = " so far" if refreshed and refreshed.pending else ""
    seen = f" in {count(basis.searched, 'session')}" if basis.searched else ""
    return f"Nothing is known{so_far} about {what}{seen}"
