"""Carries sessions of files that cannot be read any more over into a rebuilt index."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg

from sesame_core.plugin.backend import IndexWriter
from sesame_core.sdk.ingest import is_carried_over
from sesame_core.text.tokens import subwords
from sesame_core.types.index import Chunk
from sesame_core.types.transcript import Session

from . import rows
from .files import Files
from .sessions import Sessions

#: Chunks that are fetched from the server at once.
PAGE = 256

_CHUNKS = f"SELECT {rows.CHUNK_COLUMNS} FROM chunks WHERE session = %s AND seq >= %s ORDER BY seq LIMIT {PAGE}"


def carry_over(db: psycopg.Connection[Any], files: Files, sessions: Sessions, writer: IndexWriter) -> None:
    """Carry over or delete, at the end of a rebuild, the files that were set aside; most are deleted.

    :param writer: writes to the new index, perhaps wrapped in others.
    """
    rebuilt = writer.files()
    for number, path, is_missing in files.superseded():
        # A writer around this backend's may now store another path.
        now = rebuilt.get(path) or writer.file(path)
        if is_carried_over(path, now, is_missing=is_missing):
            file = files.of(number)
            if now is not None:
                file.error = now.error
            else:
                file.missing_since = file.missing_since or datetime.now(UTC)
            writer.replace(file, _content(db, number))
        sessions.delete_of_file(number)
        files.delete(number)


def _content(db: psycopg.Connection[Any], file: int) -> Iterator[Session | Chunk]:
    """Yield the stored sessions and chunks of a file."""
    sql = f"SELECT id, {rows.SESSION_COLUMNS} FROM sessions WHERE file = %s ORDER BY id"
    for number, *row in db.execute(sql, (file,)).fetchall():
        session = rows.to_session(row)
        yield session
        found = db.execute("SELECT reversed FROM paths WHERE session = %s", (number,)).fetchall()
        paths = tuple(reversed_path[::-1] for (reversed_path,) in found)
        for chunk in _chunks(db, number, session.id):
            # The index stores the named files by session, not by chunk: the first chunk gets them all.
            chunk.paths, paths = paths, ()
            yield chunk


def _chunks(db: psycopg.Connection[Any], number: int, session_id: str) -> Iterator[Chunk]:
    first = 0
    while page := db.execute(_CHUNKS, (number, first)).fetchall():
        for row in page:
            chunk = rows.to_chunk(row, session_id)
            chunk.subwords = subwords(chunk.text)
            yield chunk
        first = chunk.seq + 1
