"""Sessions to be read: a chunk as JSON, a session with its chunks as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .text import SCHEMA_VERSION, count, day, days, iso, metadata_lines, one_line, place, printable, session_name

if TYPE_CHECKING:
    from ..types.index import Chunk, StoredSession
    from ..types.report import IndexReport
    from .schemas.sessions import ChunkJson, TranscriptJson


def chunk_json(chunk: Chunk) -> ChunkJson:
    """Return a chunk's JSON value."""
    return {
        "position": chunk.seq,
        "type": chunk.kind,
        "role": chunk.role,
        "tool": chunk.tool_name,
        "callId": chunk.call_id,
        "isError": chunk.is_error,
        "at": iso(chunk.timestamp),
        "entryId": chunk.entry_id,
        "sourceType": chunk.source_type,
        "cut": chunk.cut,
        "text": chunk.text,
    }


def transcript_json(
    stored: StoredSession, chunks: Iterable[Chunk], refreshed: IndexReport | None = None
) -> TranscriptJson:
    """Return the JSON value of a session with these of its chunks.

    :param refreshed: what is known of files that are not indexed yet.
    """
    from .freshness import index_json
    from .sessions import session_json, session_summary

    return {
        "schemaVersion": SCHEMA_VERSION,
        **session_json(stored),
        "summary": session_summary(stored),
        "index": index_json(refreshed),
        "chunks": [chunk_json(chunk) for chunk in chunks],
    }


def header_lines(stored: StoredSession) -> list[str]:
    """Return the lines above a transcript: id and name; directory, agent, days, file, notes."""
    session = stored.session
    lines = [f"{one_line(session.id)} ({session_name(stored)})"]
    lines += [f"  {place(session.cwd)}"] if session.cwd else []
    messages = count(session.message_count, "message")
    lines.append(f"  {one_line(session.agent)}, {messages}, {days(session.created, session.modified)}")
    gone = f" (gone since {day(stored.missing_since)})" if stored.missing_since else ""
    return [*lines, f"  {one_line(stored.path)}{gone}", *metadata_lines(stored)]


def spoken_by(chunk: Chunk) -> str:
    """Return who speaks in a chunk, as a transcript says it: `user`, `Bash call`, `Bash result`, `title`."""
    speaker = chunk.tool_name or (chunk.source_type if chunk.role == "metadata" else chunk.role) or ""
    return one_line(speaker) + {"tool_call": " call", "tool_result": " result"}.get(chunk.kind, "")


def transcript_text(stored: StoredSession, chunks: Iterable[Chunk], marked: int | None = None) -> str:
    """Return a session as a transcript; the chunk at position `marked` gets an arrow."""
    lines, session = header_lines(stored), stored.session
    abandoned = set(session.abandoned or ())
    for chunk in chunks:
        time = f" {chunk.timestamp.astimezone():%Y-%m-%d %H:%M}" if chunk.timestamp else ""
        flags = (" error" if chunk.is_error else "") + (" abandoned" if chunk.segment in abandoned else "")
        arrow = "→" if chunk.seq == marked else "#"
        lines += ["", f"{arrow}{chunk.seq} {spoken_by(chunk)}{flags}{time}", printable(chunk.text)]
    return "\n".join(lines)
