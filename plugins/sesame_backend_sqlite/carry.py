"""Carries tombstones and sessions over from the old index into a rebuilt one.

The sessions are those of files that cannot be read any more (`sesame_core.sdk.ingest.is_carried_over`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from sesame_core.plugin.backend import IndexWriter
from sesame_core.sdk.ingest import is_carried_over
from sesame_core.text.tokens import subwords
from sesame_core.types.index import Chunk
from sesame_core.types.transcript import Session

from . import rows
from .failures import translated
from .files import OF_FILE
from .schema import SESSION_SHIFT


def copy_tombstones(db: sqlite3.Connection, old_path: Path) -> None:
    """Copy the tombstones, before anything is indexed.

    :raises DamagedError: the old index cannot be read to the end.
    """
    with translated(old_path), closing(_open(old_path)) as old:
        tombstones = old.execute("SELECT agent, session_id, forgotten_at FROM tombstones").fetchall()
    db.executemany("INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?)", tombstones)


def carry_over(db: sqlite3.Connection, writer: IndexWriter, old_path: Path) -> None:
    """Copy sessions that can no longer be read from their files, and the time of the last sync.

    :param writer: writes to the new index, perhaps wrapped in others.
    :raises DamagedError: the old index cannot be read to the end.
    """
    rebuilt = writer.files()
    with translated(old_path), closing(_open(old_path)) as old:
        for file in rows.select(old, rows.to_file, f"SELECT {rows.FILE_COLUMNS}, checkpoint FROM files"):
            # A writer around this backend's may now store another path.
            now = rebuilt.get(file.path) or writer.file(file.path)
            if not is_carried_over(file.path, now, is_missing=file.missing_since is not None):
                continue
            if now is not None:
                file.error = now.error
            else:
                file.missing_since = file.missing_since or datetime.now(UTC)
            writer.replace(file, _content(old, old_path, file.path))
        last = old.execute("SELECT value FROM meta WHERE key = 'last_sync_at'").fetchone()
        if last is not None:
            db.execute("INSERT OR IGNORE INTO meta VALUES ('last_sync_at', ?)", last)


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path.absolute().as_uri() + "?mode=ro", uri=True, isolation_level=None)


def _content(old: sqlite3.Connection, old_path: Path, path: str) -> Iterator[Session | Chunk]:
    """Yield the stored sessions and chunks of a file."""
    with translated(old_path):
        sql = f"SELECT id, {rows.SESSION_COLUMNS} FROM sessions WHERE {OF_FILE}"
        for number, *row in old.execute(sql, (path,)).fetchall():
            session = rows.to_session(row)
            yield session
            paths = [p for (p,) in old.execute("SELECT path FROM paths WHERE session = ?", (number,))]
            bounds = (number << SESSION_SHIFT, (number + 1) << SESSION_SHIFT)
            sql = f"SELECT {rows.CHUNK_COLUMNS} FROM chunks WHERE id >= ? AND id < ? ORDER BY id"
            for columns in old.execute(sql, bounds):
                chunk = rows.to_chunk(columns, session.id)
                chunk.subwords = subwords(chunk.text)
                # The index stores the named files by session, not by chunk: the first chunk gets them all.
                chunk.paths, paths = tuple(paths), []
                yield chunk
