"""Converts Sesame's objects to rows of this database and back."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sesame_core.sdk import rows
from sesame_core.sdk.ingest import MAX_CHUNKS
from sesame_core.text.tokens import subwords
from sesame_core.types.index import Chunk
from sesame_core.types.transcript import Notes

from .schema import SESSION_SHIFT

FILE_COLUMNS, SESSION_COLUMNS = rows.FILE_COLUMNS, rows.SESSION_COLUMNS
STORED_COLUMNS, STORED_FROM = rows.STORED_COLUMNS, rows.STORED_FROM
#: A chunk's position is in its row id.
CHUNK_COLUMNS = f"id >> 2 & {MAX_CHUNKS - 1} AS {rows.CHUNK_COLUMNS}"
INSERT_CHUNK = "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

PROMPT_SEPARATOR = "\x1e"


class _Rows(rows.Rows):
    """Times are milliseconds; 64-bit numbers are packed; prompts are one string, which the table of heads indexes."""

    def json(self, value: Any) -> str:
        import orjson  # only writers need it

        try:
            return orjson.dumps(value).decode()
        except TypeError:
            # Lone surrogates, keys that are not strings: a parser's state may contain them.
            return json.dumps(value)

    def from_json(self, text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError as error:
            raise sqlite3.DataError(f"a value is not valid JSON: {error}") from error

    def time(self, time: datetime | None) -> int | None:
        return None if time is None else round(time.timestamp() * 1000)

    def from_time(self, value: int | None) -> datetime | None:
        """Return the time of a column; None also for one that `datetime` cannot represent."""
        if value is None:
            return None
        try:
            return datetime.fromtimestamp(value / 1000, UTC)
        except (OverflowError, ValueError, OSError):
            return None

    def from_counts(self, value: str) -> dict[str, int]:
        return {} if value == "{}" else super().from_counts(value)

    def from_segments(self, value: str) -> Sequence[int]:
        return () if value == "[]" else super().from_segments(value)

    def origins(self, origins: Sequence[int]) -> bytes:
        return struct.pack(f"<{len(origins)}q", *origins)

    def from_origins(self, value: bytes) -> Sequence[int]:
        return struct.unpack(f"<{len(value) // 8}q", value)

    def prompts(self, prompts: Iterable[str]) -> str:
        return PROMPT_SEPARATOR.join(prompt.replace(PROMPT_SEPARATOR, " ") for prompt in prompts)

    def from_prompts(self, value: str | None) -> Sequence[str]:
        return value.split(PROMPT_SEPARATOR) if value else ()

    def more(self, notes: Notes) -> str:
        """Return the parts of their words, and what a person wrote: the table of heads indexes it."""
        return "\n".join((subwords(notes.text), *notes.own))


_rows = _Rows()
to_ms, from_ms = _rows.time, _rows.from_time
file_row, to_file = _rows.of_file, _rows.to_file
session_row, to_session, to_stored = _rows.of_session, _rows.to_session, _rows.to_stored
to_chunk = _rows.to_chunk
from_notes = _rows.notes


def chunk_row(session: int, seq: int, chunk: Chunk) -> tuple[Any, ...]:
    """Return the values of `INSERT_CHUNK` for a chunk of a session at a position.

    It is called for each chunk, so it is written out: one more call per column would be measurable.
    """
    time = chunk.timestamp
    return (
        session << SESSION_SHIFT | seq << 2 | chunk.weight_class,
        chunk.kind,
        chunk.role,
        chunk.tool_name,
        chunk.call_id,
        chunk.entry_id,
        chunk.origin,
        chunk.segment,
        None if time is None else round(time.timestamp() * 1000),
        int(chunk.is_error),  # sqlite3 searches an adapter for a bool, which takes longer than the rest of the row
        chunk.source_type,
        chunk.cut,
        chunk.subwords,
        chunk.text,
    )


def select(
    db: sqlite3.Connection,
    make: Callable[[tuple[Any, ...]], Any],
    sql: str,
    values: Sequence[Any] | Mapping[str, Any] = (),
) -> list[Any]:
    """Run a query and make an object of each row."""
    return [make(row) for row in db.execute(sql, values)]
