"""A session's page: some of its messages around a position, and what can be done with it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..api.resuming import refusal, shell_line
from ..errors import ResumeError, UnknownSessionError
from ..query.parser import parse
from ..rendering.export.pieces import Piece, facts, pieces
from ..rendering.text import count, session_name
from ..types.export import Export, Part
from .asking import QUERY, number, url
from .searching import session_path
from .showing import LONG, body, page

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

    from ..types.index import Chunk, StoredSession
    from .desk import Desk

#: Messages on a page, and how many of them are before the one that is asked for.
SHOWN, BEFORE = 200, 60
#: Characters from which on a page shows Markdown as it is: rendering one of them takes 1 µs, at worst 12.
MARKDOWN = 500_000
#: Places of what was found within a session that have a link.
FOUND = 60


def session_page(desk: Desk, reference: str, given: QueryParams) -> str:
    """Return the page of a session.

    :param reference: its id, and what else `Sesame.get_session` takes.
    :raises UnknownSessionError: it does not exist, or has no such position.
    :raises QueryError: a parameter is not valid.
    """
    stored, named = desk.sesame.get_place(reference)
    total = stored.chunk_count
    at = number(given, "at", None) if given.get("at") else named
    find, q = given.get("find", "")[:QUERY], given.get("q", "")[:QUERY]
    found, has_all = desk.sesame.find_within(stored, find) if find.strip() else ([], True)
    if at is None and found and not given.get("from"):
        at = found[0]
    if at is not None and at >= total:
        raise UnknownSessionError(f"session {stored.session.id} has no position {at}; its last is {total - 1}")
    most = 1 if given.get("whole") else SHOWN
    first = number(given, "from", None) if given.get("from") else max(0, total - most if at is None else at - BEFORE)
    first = min(first, max(0, total - 1)) if given.get("from") else min(first, max(0, total - most))
    chunks = desk.sesame.list_messages(stored, offset=first, limit=most)
    below, forks = desk.sesame.subagents(stored, chunks), desk.sesame.forks(stored)
    words = parse(find or q) if (find or q).strip() else None
    path, kept = session_path(stored.session.id), {"find": find, "q": q}

    def link(**values: int | str) -> str:
        anchor = f"m{values['at']}" if "at" in values else ""
        start = {"from": values.pop("first")} if "first" in values else {}
        return url(path, {**kept, **start, **values}, anchor)

    return page(
        "session.html",
        stored=stored,
        session=stored.session,
        notes=stored.session.notes,
        name=session_name(stored),
        short=desk.sesame.abbreviate(stored.session.id),
        facts=_facts(stored),
        messages=list(_messages(stored, chunks, [*below, *forks], words, at, is_whole=bool(given.get("whole")))),
        made=[
            (count(len(below), "subagent"), list(map(_linked, below))),
            (f"{count(len(forks), 'session')} made from this one", list(map(_linked, forks))),
        ],
        first=first,
        last=first + len(chunks) - 1,
        total=total,
        shown=SHOWN,
        at=at,
        find=find,
        q=q,
        found=[(one, link(at=one)) for one in found[:FOUND]],
        found_total=len(found),
        has_all=has_all,
        around=_around(found, at),
        link=link,
        path=path,
        earlier=link(first=max(0, first - SHOWN)) if first else None,
        later=link(first=first + len(chunks)) if first + len(chunks) < total else None,
        mark=f"/mark{path.removeprefix('/s')}",
        export=f"/export{path.removeprefix('/s')}",
        session_path=session_path,
        resume=_resume(desk, stored),
        state=desk.state(),
    )


def _facts(stored: StoredSession) -> list[tuple[str, str]]:
    part = Part(stored=stored, chunks=())
    shown = facts(part, Export(parts=(part,)))
    return [(name, value) for name, value in shown if name not in ("About", "Secrets", "Subagents")]


def _messages(
    stored: StoredSession, chunks: Sequence[Chunk], below: Sequence[Part], words: Any, at: int | None, *, is_whole: bool
) -> Any:
    """Yield what the template shows of each message."""
    begun: dict[int, list[Part]] = {}
    for part in below:
        if part.started_at is not None:
            begun.setdefault(part.started_at, []).append(part)
    rendered = 0
    shown = list(pieces(Part(stored=stored, chunks=tuple(chunks))))
    for row, (chunk, piece) in enumerate(zip(chunks, shown, strict=True)):
        rendered += min(len(piece.text), LONG) if piece.kind == "message" else 0
        is_left = piece.is_abandoned and not (row and shown[row - 1].is_abandoned)
        yield {
            "piece": piece,
            "body": body(piece, words, is_whole=is_whole, is_plain=rendered > MARKDOWN),
            "is_prompt": piece.kind == "message" and chunk.role == "user",
            "is_open": piece.kind == "message" or piece.position == at or is_whole,
            "rest": 0 if is_whole else max(0, len(piece.text) - LONG),
            "back": _back(shown[row:]) if is_left else None,
            "begun": list(map(_linked, begun.get(piece.position, ()))),
        }


def _linked(part: Part) -> dict[str, Any]:
    """Return what the template shows of a subagent or a fork."""
    session = part.stored.session
    kind = "Subagent" if session.kind == "subagent" else "Fork"
    return {"kind": kind, "url": session_path(session.id), "name": session_name(part.stored)}


def _back(shown: Sequence[Piece]) -> int:
    """Return the position after an abandoned branch that begins here, as far as the page has it."""
    return next((piece.position for piece in shown if not piece.is_abandoned), shown[-1].position + 1)


def _around(found: Sequence[int], at: int | None) -> tuple[int | None, int | None]:
    """Return the places before and after a position, of what was found."""
    before, after = (0, 0) if at is None else (bisect_left(found, at), bisect_right(found, at))
    return found[before - 1] if before else None, found[after] if after < len(found) else None


def _resume(desk: Desk, stored: StoredSession) -> tuple[str | None, str | None]:
    """Return the line for a shell that resumes a session, or why it cannot be resumed."""
    try:
        resumption = desk.sesame.resumption(stored)
    except ResumeError as error:
        return None, str(error)
    reason = refusal(resumption)
    return (None, reason) if reason else (shell_line(resumption), None)
