"""Converts sessions, files and chunks to rows and back, for backends with a relational database.

The columns and their order are defined here once.  A value without a type in the database is JSON, unless the
backend's own `Rows` overrides it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ..types.index import Chunk, IndexedFile, StoredSession
from ..types.transcript import Checkpoint, Notes, Session

FILE_COLUMNS = (
    "path, parser, parser_version, mtime_ns, size, missing_since, error, skipped, head_hash, tail_hash, recent_origins"
)
SESSION_COLUMNS = (
    "session_id, agent, kind, parent_id, cwd, repository, git_branch, model, created, modified, message_count, "
    "exchange_count, tool_counts, abandoned, first_origin, title, summary, prompts, key, host, owner, visibility, "
    "notes, directories"
)
CHUNK_COLUMNS = (
    "seq, kind, role, tool_name, call_id, entry_id, origin, segment, timestamp, is_error, source_type, cut, content"
)
_OF_SESSION = ", ".join("s." + column for column in SESSION_COLUMNS.split(", "))
STORED_COLUMNS = f"s.id, f.path, f.missing_since, s.chunk_count, {_OF_SESSION}"
STORED_FROM = "sessions AS s JOIN files AS f ON f.id = s.file"


def tallied(failures: Iterable[tuple[int, int]], files: Iterable[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """Return the answer of `plugin.backend.Tallying` from two queries, of numbers by session."""
    failed, named = dict(failures), dict(files)
    return {number: (failed.get(number, 0), named.get(number, 0)) for number in failed.keys() | named.keys()}


class Rows:
    """Converts domain types to rows and back; a backend overrides the types that its database has natively."""

    # -- values -------------------------------------------------------------------------------------------

    def json(self, value: Any) -> str:
        """Return a value as JSON."""
        return json.dumps(value)

    def from_json(self, text: str) -> Any:
        """Return the value of a JSON string."""
        return json.loads(text)

    def text(self, text: str) -> str:
        """Return a string that the database accepts."""
        return text

    def time(self, time: datetime | None) -> Any:
        """Return a time as its columns store it."""
        return time

    def from_time(self, value: Any) -> datetime | None:
        """Return the time of a column."""
        time: datetime | None = value
        return time

    def counts(self, counts: Mapping[str, int]) -> Any:
        """Return numbers by name as their columns store them."""
        return self.json(counts)

    def from_counts(self, value: Any) -> dict[str, int]:
        """Return the numbers of a column, by name."""
        counts: dict[str, int] = self.from_json(value)
        return counts

    def segments(self, numbers: Sequence[int]) -> Any:
        """Return `Session.abandoned` as its column stores it."""
        return self.json(numbers)

    def from_segments(self, value: Any) -> Sequence[int]:
        """Return the numbers of the column `abandoned`."""
        numbers: Sequence[int] = self.from_json(value)
        return numbers

    def origins(self, origins: Sequence[int]) -> Any:
        """Return `IndexedFile.recent_origins`, numbers of 63 bits, as its column stores it."""
        return self.json(origins)

    def from_origins(self, value: Any) -> Sequence[int]:
        """Return the numbers of the column `recent_origins`."""
        origins: Sequence[int] = self.from_json(value)
        return origins

    def prompts(self, prompts: Sequence[str]) -> Any:
        """Return `Session.prompts` as its column stores it."""
        return self.json([self.text(prompt) for prompt in prompts])

    def from_prompts(self, value: Any) -> Sequence[str]:
        """Return the strings of the column `prompts`."""
        prompts: Sequence[str] = self.from_json(value)
        return prompts

    def notes(self, notes: Notes | None) -> Any:
        """Return `Session.notes` as its column stores it: name, description, summary, tags, `more`, what is one's own.

        The last two are left out if there are none.
        """
        if notes is None:
            return None
        value: list[Any] = [
            *map(self.text, (notes.name, notes.description, notes.summary)),
            [*map(self.text, notes.tags)],
        ]
        more = self.more(notes)
        if more is not None or notes.own:
            value.append(more or "")
        if notes.own:
            value.append({"title": self.text(notes.title), "note": self.text(notes.note)})
        return self.json(value)

    def more(self, notes: Notes) -> str | None:
        """Return what else is indexed of notes, for a database that indexes their column."""
        return None

    def from_notes(self, value: Any) -> Notes | None:
        """Return the notes of the column `notes`."""
        if value is None:
            return None
        name, description, summary, tags, *more = self.from_json(value)
        own = more[1] if len(more) > 1 else {}
        return Notes(name=name, description=description, summary=summary, tags=tuple(tags), **own)

    def directories(self, directories: Sequence[str]) -> Any:
        """Return `Session.directories` as its column stores it: their positions by name, NULL for none."""
        return self.counts({self.text(place): n for n, place in enumerate(directories)}) if directories else None

    def from_directories(self, value: Any) -> tuple[str, ...]:
        """Return the directories of the column `directories`."""
        places = self.from_counts(value) if value else {}
        return tuple(sorted(places, key=places.__getitem__))

    def _text(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    # -- rows ---------------------------------------------------------------------------------------------

    def of_file(self, file: IndexedFile) -> tuple[Any, ...]:
        """Return the values of `FILE_COLUMNS` and the checkpoint."""
        at = file.checkpoint
        return (
            file.path,
            file.parser,
            file.parser_version,
            file.mtime_ns,
            file.size,
            self.time(file.missing_since),
            self._text(file.error),
            self.counts(file.skipped),
            file.head_hash,
            file.tail_hash,
            self.origins(file.recent_origins),
            self.json([at.offset, at.line, at.state]) if at else None,
        )

    def to_file(self, row: Sequence[Any]) -> IndexedFile:
        """Return the file of a row of `FILE_COLUMNS`, followed by the checkpoint if it was selected."""
        path, parser, version, mtime_ns, size, missing, error, skipped, head, tail, recent, *checkpoint = row
        return IndexedFile(
            path=path,
            parser=parser,
            parser_version=version,
            mtime_ns=mtime_ns,
            size=size,
            missing_since=self.from_time(missing),
            error=error,
            skipped=self.from_counts(skipped),
            head_hash=head,
            tail_hash=tail,
            recent_origins=tuple(self.from_origins(recent)),
            checkpoint=self._to_checkpoint(checkpoint[0]) if checkpoint and checkpoint[0] else None,
        )

    def _to_checkpoint(self, text: str) -> Checkpoint:
        offset, line, state = self.from_json(text)
        return Checkpoint(offset=offset, line=line, state=state)

    def of_session(self, session: Session, modified: Any) -> tuple[Any, ...]:
        """Return the values of `SESSION_COLUMNS`.

        :param modified: value of its column when the session has none: the time of its file.
        """
        return (
            self.text(session.id),
            self.text(session.agent),
            session.kind or "interactive",
            self._text(session.parent_id),
            self._text(session.cwd),
            self._text(session.repository),
            self._text(session.git_branch),
            self._text(session.model),
            self.time(session.created),
            self.time(session.modified) or modified,
            session.message_count,
            session.exchange_count,
            self.counts(session.tool_counts),
            self.segments(session.abandoned or ()),
            session.first_origin,
            self._text(session.title),
            self._text(session.summary),
            self.prompts(session.prompts),
            self.text(session.key),
            self.text(session.host),
            self.text(session.owner),
            session.visibility,
            self.notes(session.notes),
            self.directories(session.directories),
        )

    def to_session(self, row: Sequence[Any]) -> Session:
        """Return the session of a row of `SESSION_COLUMNS`."""
        (session_id, agent, kind, parent, cwd, repository, branch, model, created, modified, messages, exchanges, tools,
         abandoned, origin, title, summary, prompts, key, host, owner, visibility, notes, places) = row  # fmt: skip
        return Session(
            id=session_id,
            agent=agent,
            kind=kind,
            parent_id=parent,
            cwd=cwd,
            repository=repository,
            git_branch=branch,
            model=model,
            created=self.from_time(created),
            modified=self.from_time(modified),
            message_count=messages,
            exchange_count=exchanges,
            tool_counts=self.from_counts(tools),
            abandoned=tuple(self.from_segments(abandoned)),
            first_origin=origin,
            title=title,
            summary=summary,
            prompts=tuple(self.from_prompts(prompts)),
            key=key,
            host=host,
            owner=owner,
            visibility=visibility,
            notes=self.from_notes(notes),
            directories=self.from_directories(places),
        )

    def to_stored(self, row: Sequence[Any]) -> StoredSession:
        """Return the stored session of a row of `STORED_COLUMNS`."""
        number, path, missing, chunk_count, *session = row
        return StoredSession(
            number=number,
            path=path,
            missing_since=self.from_time(missing),
            chunk_count=chunk_count,
            session=self.to_session(session),
        )

    def of_chunk(self, seq: int, chunk: Chunk) -> tuple[Any, ...]:
        """Return the values of `CHUNK_COLUMNS`.

        :param seq: the chunk's position.
        """
        return (
            seq,
            chunk.kind,
            chunk.role,
            self._text(chunk.tool_name),
            self._text(chunk.call_id),
            self._text(chunk.entry_id),
            chunk.origin,
            chunk.segment,
            self.time(chunk.timestamp),
            chunk.is_error,
            self.text(chunk.source_type),
            chunk.cut,
            self.text(chunk.text),
        )

    def to_chunk(self, row: Sequence[Any], session_id: str) -> Chunk:
        """Return the chunk of a row of `CHUNK_COLUMNS`."""
        seq, kind, role, tool, call, entry, origin, segment, time, is_error, source_type, cut, content = row
        return Chunk(
            kind=kind,
            text=content,
            role=role,
            tool_name=tool,
            call_id=call,
            is_error=bool(is_error),
            cut=cut,
            session_id=session_id,
            seq=seq,
            timestamp=self.from_time(time),
            entry_id=entry,
            source_type=source_type,
            segment=segment,
            origin=origin,
        )
