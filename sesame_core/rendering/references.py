"""References to sessions: which session each one means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..search.windows import cut
from ..text.folding import spaced
from .freshness import index_json
from .notes import about_refresh
from .sessions import session_json, session_lines, session_summary
from .text import SCHEMA_VERSION, day, iso, one_line, session_name

if TYPE_CHECKING:
    from ..search.passages import Retrieval
    from ..search.resolve import Candidate, Reference
    from ..types.index import StoredSession
    from ..types.report import IndexReport
    from .schemas.references import CandidateJson, ReferenceJson, ReferencesJson

#: Bytes of a passage's position and speaker.
_SPEAKER_BYTES = 32


def references_json(found: Sequence[Reference], texts: Mapping[int, str], refreshed: IndexReport) -> ReferencesJson:
    """Return the JSON value of references.

    :param texts: the outline of each referenced session, by the session's number.
    :param refreshed: the refresh of the index that was done first.
    """
    return {
        "schemaVersion": SCHEMA_VERSION,
        "index": index_json(refreshed),
        "references": [_reference_json(reference, texts) for reference in found],
    }


def _reference_json(reference: Reference, texts: Mapping[int, str]) -> ReferenceJson:
    stored = reference.stored
    return {
        "reference": reference.text,
        "status": "found" if stored else "ambiguous" if reference.candidates else "unknown",
        "by": reference.by,
        "session": session_json(stored) if stored else None,
        "text": texts[stored.number] if stored else None,
        "candidates": [_candidate_json(candidate) for candidate in reference.candidates],
        "total": reference.total,
        "nearest": [_candidate_json(candidate) for candidate in reference.nearest],
    }


def references_text(
    found: Sequence[Reference], texts: Mapping[int, str], refreshed: IndexReport | None = None, *, offset: int = 0
) -> str:
    """Return references as text: the outline of the referenced session, or the candidates.

    :param refreshed: the refresh of the index that was done first.
    :param offset: number of candidates before this page.
    """
    parts = []
    for reference in found:
        if reference.stored:
            parts.append(texts[reference.stored.number])
        elif reference.candidates:
            lines = [
                candidates_headline(reference),
                *(_candidate_lines(candidate) for candidate in reference.candidates),
            ]
            end = offset + len(reference.candidates)
            if offset or end < reference.total:
                more = f"; the next: --offset {end}" if end < reference.total else ""
                lines.append(f"  {offset + 1}-{end} of {reference.total}{more}")
            parts.append("\n".join(lines))
        elif reference.total:
            parts.append(unknown_line(reference, refreshed))
        else:
            near = [f"Nearest:\n{_candidate_lines(candidate)}" for candidate in reference.nearest[:1]]
            near += [_candidate_lines(candidate) for candidate in reference.nearest[1:]]
            parts.append("\n".join([unknown_line(reference, refreshed), *near]))
    if notes := about_refresh(refreshed):
        parts.append("\n".join(notes))
    return "\n\n".join(parts)


def candidates_headline(reference: Reference) -> str:
    """Return the line above the sessions that a reference may mean."""
    return f'"{one_line(reference.text)}" may mean one of these:' if reference.text else "The latest sessions:"


def unknown_line(reference: Reference, refreshed: IndexReport | None) -> str:
    """Return the line that says that a reference means no session, or that a page is behind the last one."""
    if reference.total:
        return f"No more sessions: {reference.total}"
    what = "session that is indexed so far" if refreshed and refreshed.pending else "session"
    return f'No {what} is called "{one_line(reference.text)}".' if reference.text else "No sessions found"


def session_outline(stored: StoredSession, found: Retrieval, *, max_bytes: int) -> str:
    """Return a session's outline: name, directory, agent, date, summary, how it begins and ends.

    :param found: the passages of its outline.
    :param max_bytes: UTF-8 bytes of the outline at most; the summary takes no more than half of them.
    """
    session = stored.session
    about = [one_line(session.cwd or ""), one_line(session.agent), f"last active {day(session.modified)}"]
    lines = [f"Session {one_line(session.id)} ({session_name(stored)})", " · ".join(filter(None, about))]
    if summary := session_summary(stored):
        lines += ["", f"Summary: {_shortened(summary, max_bytes // 2)}"]
    items = [item for passage in found.passages for item in passage.items]
    if items:
        lines += ["", "How it begins and ends:"]
        room = (max_bytes - len("\n".join(lines).encode())) // len(items) - _SPEAKER_BYTES
        lines += [f"#{item.chunk.seq} {item.chunk.role or ''}: {_shortened(item.text, room)}" for item in items]
    return cut("\n".join(lines), max_bytes)


def _shortened(text: str, most: int) -> str:
    text = spaced(text)
    return text if len(text.encode()) <= most else cut(text, max(most - len(" …".encode()), 0)) + " …"


def _candidate_json(candidate: Candidate) -> CandidateJson:
    stored = candidate.stored
    return {
        "reference": candidate.reference,
        "sessionId": stored.session.id,
        "source": stored.session.agent,
        "name": session_name(stored),
        "cwd": stored.session.cwd,
        "modified": iso(stored.session.modified),
    }


def _candidate_lines(candidate: Candidate) -> str:
    return "\n".join(session_lines(candidate.stored, candidate.reference))
