"""How Sesame's nouns are written into rows and read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from psycopg.types.json import Jsonb

from sesame_core.protocols import StoredSession
from sesame_core.tokens import clean, subwords
from sesame_core.types import Checkpoint, Chunk, IndexedFile, Notes, Session

FILE_COLUMNS = (
    "path, parser, parser_version, mtime_ns, size, missing_since, error, skipped, head_hash, tail_hash, recent_origins"
)
SESSION_COLUMNS = (
    "session_id, agent, kind, parent_id, cwd, repository, git_branch, model, created, modified, message_count, "
    "exchange_count, tool_counts, abandoned, first_origin, title, summary, prompts, key, host, owner, visibility, notes"
)
CHUNK_COLUMNS = (
    "seq, kind, role, tool_name, call_id, entry_id, origin, segment, timestamp, is_error, source_type, cut, content"
)

_WEIGHT_CLASSES = {"tool_call": 2, "tool_result": 3}
#: The latest moment the database and Python both know, for times beyond.
_END = datetime(9999, 12, 31, tzinfo=UTC)


def weight_class(chunk: Chunk) -> int:
    """Return 0 for a human prompt, 2 for a tool call, 3 for a tool result, 1 for anything else."""
    return 0 if chunk.role == "user" and chunk.kind == "message" else _WEIGHT_CLASSES.get(chunk.kind, 1)


def file_row(file: IndexedFile) -> tuple[Any, ...]:
    """Return the values of `FILE_COLUMNS` and the checkpoint."""
    at = file.checkpoint
    return (
        file.path,
        file.parser,
        file.parser_version,
        file.mtime_ns,
        file.size,
        file.missing_since,
        _clean(file.error),
        _counts(file.skipped),
        file.head_hash,
        file.tail_hash,
        list(file.recent_origins),
        json.dumps([at.offset, at.line, at.state]) if at else None,
    )


def to_file(row: tuple[Any, ...]) -> IndexedFile:
    """Return the file of a row of `FILE_COLUMNS`, followed by the checkpoint if it was asked for."""
    path, parser, version, mtime_ns, size, missing, error, skipped, head, tail, recent, *checkpoint = row
    return IndexedFile(
        path=path,
        parser=parser,
        parser_version=version,
        mtime_ns=mtime_ns,
        size=size,
        missing_since=missing,
        error=error,
        skipped=skipped,
        head_hash=head,
        tail_hash=tail,
        recent_origins=tuple(recent),
        checkpoint=_to_checkpoint(checkpoint[0]) if checkpoint and checkpoint[0] else None,
    )


def _to_checkpoint(text: str) -> Checkpoint:
    offset, line, state = json.loads(text)
    return Checkpoint(offset=offset, line=line, state=state)


def session_row(session: Session, mtime_ns: int) -> tuple[Any, ...]:
    """Return the values of `SESSION_COLUMNS`.

    :param mtime_ns: of its file; what counts as modified when the session does not tell.
    """
    return (
        clean(session.id),
        clean(session.agent),
        session.kind or "interactive",
        _clean(session.parent_id),
        _clean(session.cwd),
        _clean(session.repository),
        _clean(session.git_branch),
        _clean(session.model),
        session.created,
        session.modified or _moment(mtime_ns),
        session.message_count,
        session.exchange_count,
        _counts(session.tool_counts),
        list(session.abandoned or ()),
        session.first_origin,
        _clean(session.title),
        _clean(session.summary),
        [clean(prompt) for prompt in session.prompts],
        clean(session.key),
        clean(session.host),
        clean(session.owner),
        session.visibility,
        from_notes(session.notes),
    )


def to_session(row: tuple[Any, ...]) -> Session:
    """Return the session of a row of `SESSION_COLUMNS`."""
    (session_id, agent, kind, parent, cwd, repository, branch, model, created, modified, messages, exchanges, tools,
     abandoned, origin, title, summary, prompts, key, host, owner, visibility, notes) = row  # fmt: skip
    return Session(
        id=session_id,
        agent=agent,
        kind=kind,
        parent_id=parent,
        cwd=cwd,
        repository=repository,
        git_branch=branch,
        model=model,
        created=created,
        modified=modified,
        message_count=messages,
        exchange_count=exchanges,
        tool_counts=tools,
        abandoned=tuple(abandoned),
        first_origin=origin,
        title=title,
        summary=summary,
        prompts=tuple(prompts),
        key=key,
        host=host,
        owner=owner,
        visibility=visibility,
        notes=_to_notes(notes),
    )


def from_notes(notes: Notes | None) -> Jsonb | None:
    """Return the value of notes in the column `notes`."""
    if notes is None:
        return None
    return Jsonb([clean(notes.name), clean(notes.description), clean(notes.summary), [*map(clean, notes.tags)]])


def _to_notes(value: list[Any] | None) -> Notes | None:
    if value is None:
        return None
    name, description, summary, tags = value
    return Notes(name=name, description=description, summary=summary, tags=tuple(tags))


def head(session: Session) -> tuple[str, str, str]:
    """Return the texts of a session's head: title, summary, prompts, with what its notes add to them."""
    notes = session.notes
    told = [session.summary, *((notes.description, notes.summary, *notes.tags, subwords(notes.text)) if notes else ())]
    return session.name or "", "\n".join(filter(None, told)), "\n".join(session.prompts)


def chunk_row(session: int, workstation: int, chunk: Chunk) -> tuple[Any, ...]:
    """Return the values of session, workstation and `CHUNK_COLUMNS`."""
    return (
        session,
        workstation,
        chunk.seq,
        chunk.kind,
        chunk.role,
        _clean(chunk.tool_name),
        _clean(chunk.call_id),
        _clean(chunk.entry_id),
        chunk.origin,
        chunk.segment,
        chunk.timestamp,
        chunk.is_error,
        clean(chunk.source_type),
        chunk.cut,
        clean(chunk.text),
    )


def to_chunk(row: tuple[Any, ...], session_id: str) -> Chunk:
    """Return the chunk of a row of `CHUNK_COLUMNS`."""
    seq, kind, role, tool, call, entry, origin, segment, time, is_error, source_type, cut, content = row
    return Chunk(
        kind=kind,
        text=content,
        role=role,
        tool_name=tool,
        call_id=call,
        is_error=is_error,
        cut=cut,
        session_id=session_id,
        seq=seq,
        timestamp=time,
        entry_id=entry,
        source_type=source_type,
        segment=segment,
        origin=origin,
    )


_OF_SESSION = ", ".join("s." + column for column in SESSION_COLUMNS.split(", "))
STORED_COLUMNS = f"s.id, f.path, f.missing_since, s.chunk_count, {_OF_SESSION}"
STORED_FROM = "sessions AS s JOIN files AS f ON f.id = s.file"


def to_stored(row: tuple[Any, ...]) -> StoredSession:
    """Return the stored session of a row of `STORED_COLUMNS`."""
    number, path, missing, chunk_count, *session = row
    return StoredSession(
        number=number, path=path, missing_since=missing, chunk_count=chunk_count, session=to_session(tuple(session))
    )


def reversed_path(path: str) -> str:
    """Return a path backwards, as it is looked for by its last parts; cut to what an index entry holds."""
    return ("/" + clean(path).replace("\\", "/").removeprefix("/")).lower()[::-1][:600]


def _clean(text: str | None) -> str | None:
    return None if text is None else clean(text)


def _counts(counts: Mapping[str, int]) -> Jsonb:
    return Jsonb({clean(name): count for name, count in counts.items()})


def _moment(mtime_ns: int) -> datetime:
    try:
        return datetime.fromtimestamp(mtime_ns / 1e9, UTC)
    except (OverflowError, ValueError, OSError):
        return _END
