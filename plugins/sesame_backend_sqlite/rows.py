"""How Sesame's nouns are written into rows and read back."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from sesame_core.protocols import StoredSession
from sesame_core.tokens import subwords
from sesame_core.types import Checkpoint, Chunk, IndexedFile, Notes, Session

from .schema import SESSION_SHIFT

PROMPT_SEPARATOR = "\x1e"

FILE_COLUMNS = (
    "path, parser, parser_version, mtime_ns, size, missing_since, error, skipped, head_hash, tail_hash, recent_origins"
)
SESSION_COLUMNS = (
    "session_id, agent, kind, parent_id, cwd, repository, git_branch, model, created, modified, message_count, "
    "exchange_count, tool_counts, abandoned, first_origin, title, summary, prompts, key, host, owner, visibility, notes"
)
CHUNK_COLUMNS = (
    "id, kind, role, tool_name, call_id, entry_id, origin, segment, timestamp, is_error, source_type, cut, content"
)
INSERT_CHUNK = "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

_WEIGHT_CLASSES = {"tool_call": 2, "tool_result": 3}


def _joined(prompts: Iterable[str]) -> str:
    return PROMPT_SEPARATOR.join(prompt.replace(PROMPT_SEPARATOR, " ") for prompt in prompts)


def _json(value: Any) -> str:
    import orjson  # only writers need it

    try:
        return orjson.dumps(value).decode()
    except TypeError:
        # Strings that are no Unicode, keys that are no strings: a parser's state may hold them.
        return json.dumps(value)


def to_ms(time: datetime | None) -> int | None:
    """Return milliseconds since 1970, UTC."""
    return None if time is None else round(time.timestamp() * 1000)


def from_ms(ms: int | None) -> datetime | None:
    """Return the time of `to_ms`; None also for what no calendar holds."""
    if ms is None:
        return None
    try:
        return datetime.fromtimestamp(ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def weight_class(chunk: Chunk) -> int:
    """Return 0 for a human prompt, 2 for a tool call, 3 for a tool result, 1 for anything else."""
    return 0 if chunk.role == "user" and chunk.kind == "message" else _WEIGHT_CLASSES.get(chunk.kind, 1)


def row_id(session: int, seq: int, chunk: Chunk) -> int:
    """Return the row id of a chunk at a position of a session."""
    return session << SESSION_SHIFT | seq << 2 | weight_class(chunk)


def chunk_row(session: int, chunk: Chunk) -> tuple[Any, ...]:
    """Return the values of `INSERT_CHUNK` for a chunk of a session, whose position is known."""
    return (
        row_id(session, chunk.seq, chunk),
        chunk.kind,
        chunk.role,
        chunk.tool_name,
        chunk.call_id,
        chunk.entry_id,
        chunk.origin,
        chunk.segment,
        to_ms(chunk.timestamp),
        int(chunk.is_error),  # sqlite3 looks for an adapter for a bool, which takes longer than the rest of the row
        chunk.source_type,
        chunk.cut,
        chunk.subwords,
        chunk.text,
    )


def to_chunk(row: tuple[Any, ...], session_id: str) -> Chunk:
    """Return the chunk of a row of `CHUNK_COLUMNS`."""
    row_id_, kind, role, tool, call, entry, origin, segment, time, is_error, source_type, cut, content = row
    return Chunk(
        kind=kind,
        text=content,
        role=role,
        tool_name=tool,
        call_id=call,
        is_error=bool(is_error),
        cut=cut,
        session_id=session_id,
        seq=row_id_ >> 2 & 0x3FFFFF,
        timestamp=from_ms(time),
        entry_id=entry,
        source_type=source_type,
        segment=segment,
        origin=origin,
    )


def file_row(file: IndexedFile) -> tuple[Any, ...]:
    """Return the values of `FILE_COLUMNS` and the checkpoint."""
    at = file.checkpoint
    checkpoint = _json([at.offset, at.line, at.state]) if at else None
    return (
        file.path,
        file.parser,
        file.parser_version,
        file.mtime_ns,
        file.size,
        to_ms(file.missing_since),
        file.error,
        _json(file.skipped),
        file.head_hash,
        file.tail_hash,
        struct.pack(f"<{len(file.recent_origins)}q", *file.recent_origins),
        checkpoint,
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
        missing_since=from_ms(missing),
        error=error,
        skipped={} if skipped == "{}" else _from_json(skipped),
        head_hash=head,
        tail_hash=tail,
        recent_origins=struct.unpack(f"<{len(recent) // 8}q", recent),
        checkpoint=_to_checkpoint(checkpoint[0]) if checkpoint and checkpoint[0] else None,
    )


def _to_checkpoint(text: str) -> Checkpoint:
    offset, line, state = _from_json(text)
    return Checkpoint(offset=offset, line=line, state=state)


def session_row(session: Session, modified: int) -> tuple[Any, ...]:
    """Return the values of `SESSION_COLUMNS`; `modified` is used when the session does not tell."""
    return (
        session.id,
        session.agent,
        session.kind or "interactive",
        session.parent_id,
        session.cwd,
        session.repository,
        session.git_branch,
        session.model,
        to_ms(session.created),
        to_ms(session.modified) or modified,
        session.message_count,
        session.exchange_count,
        _json(session.tool_counts),
        _json(session.abandoned or ()),
        session.first_origin,
        session.title,
        session.summary,
        _joined(session.prompts),
        session.key,
        session.host,
        session.owner,
        session.visibility,
        from_notes(session.notes),
    )


def to_session(row: tuple[Any, ...]) -> Session:
    """Return the session of a row of `SESSION_COLUMNS`."""
    (session_id, agent, kind, parent, cwd, repository, branch, model, created, modified, messages, exchanges,
     tools, abandoned, origin, title, summary, prompts, key, host, owner, visibility, notes) = row  # fmt: skip
    return Session(
        id=session_id,
        agent=agent,
        kind=kind,
        parent_id=parent,
        cwd=cwd,
        repository=repository,
        git_branch=branch,
        model=model,
        created=from_ms(created),
        modified=from_ms(modified),
        message_count=messages,
        exchange_count=exchanges,
        tool_counts=_from_json(tools),
        abandoned=tuple(_from_json(abandoned)),
        first_origin=origin,
        title=title,
        summary=summary,
        prompts=tuple(prompts.split(PROMPT_SEPARATOR)) if prompts else (),
        key=key,
        host=host,
        owner=owner,
        visibility=visibility,
        notes=_to_notes(notes),
    )


def from_notes(notes: Notes | None) -> str | None:
    """Return the text of notes in the column `notes`."""
    if notes is None:
        return None
    return _json([notes.name, notes.description, notes.summary, notes.tags, subwords(notes.text)])


def _to_notes(text: str | None) -> Notes | None:
    if text is None:
        return None
    name, description, summary, tags, _ = _from_json(text)
    return Notes(name=name, description=description, summary=summary, tags=tuple(tags))


def _from_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise sqlite3.DataError(f"a value is no JSON: {error}") from error


_OF_SESSION = ", ".join("s." + column for column in SESSION_COLUMNS.split(", "))
STORED_COLUMNS = f"s.id, f.path, f.missing_since, s.chunk_count, {_OF_SESSION}"
STORED_FROM = "sessions AS s JOIN files AS f ON f.id = s.file"


def to_stored(row: tuple[Any, ...]) -> StoredSession:
    """Return the stored session of a row of `STORED_COLUMNS`."""
    number, path, missing, chunk_count, *session = row
    return StoredSession(
        number=number,
        path=path,
        missing_since=from_ms(missing),
        chunk_count=chunk_count,
        session=to_session(tuple(session)),
    )


def select(db: sqlite3.Connection, make: Callable[[tuple[Any, ...]], Any], sql: str, values: Any = ()) -> list[Any]:
    """Run a query and make an object of each row."""
    return [make(row) for row in db.execute(sql, values)]
