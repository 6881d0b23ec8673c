"""The chunks of an index with their full text and the paths that they name, changed together: written here only."""

from __future__ import annotations

import sqlite3
from typing import Any

from sesame_core.sdk.ingest import OVERHEAD
from sesame_core.types.index import Chunk

from . import rows
from .schema import SESSION_SHIFT

#: Characters written at once.
BATCH = 2 << 20


class Chunks:
    """The chunks of one index; those that are added wait until many can be written at once."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        #: Rows of `chunks` that are not written yet, and paths by session.
        self._rows: list[tuple[Any, ...]] = []
        self._paths: set[tuple[int, str]] = set()
        self._held = 0

    def add(self, session: int, seq: int, chunk: Chunk) -> None:
        """Add the chunk at a position of a session."""
        self._rows.append(rows.chunk_row(session, seq, chunk))
        for path in chunk.paths:
            self._paths.add((session, path))
        self._held += OVERHEAD + len(chunk.text)
        if self._held >= BATCH:
            self.write()

    def write(self) -> None:
        """Write the chunks that wait, to both tables."""
        if not self._rows:
            return
        self._db.executemany(rows.INSERT_CHUNK, self._rows)
        self._db.executemany(
            "INSERT INTO chunks_fts (rowid, subwords, content) VALUES (?, ?, ?)",
            [(row[0], row[-2], row[-1]) for row in self._rows],
        )
        self._db.executemany("INSERT OR IGNORE INTO paths VALUES (?, ?)", sorted(self._paths))
        self._count(len(self._rows))
        self.clear()

    def clear(self) -> None:
        """Drop the chunks that wait."""
        self._rows.clear()
        self._paths.clear()
        self._held = 0

    def delete(self, session: int) -> int:
        """Delete the chunks of a session, which do not wait; return their number."""
        bounds = (session << SESSION_SHIFT, (session + 1) << SESSION_SHIFT)
        self._db.execute(
            "INSERT INTO chunks_fts (chunks_fts, rowid, content, subwords) "
            "SELECT 'delete', id, content, subwords FROM chunks WHERE id >= ? AND id < ?",
            bounds,
        )
        deleted = self._db.execute("DELETE FROM chunks WHERE id >= ? AND id < ?", bounds).rowcount
        self._count(-deleted)
        self._db.execute("DELETE FROM paths WHERE session = ?", (session,))
        return deleted

    def _count(self, change: int) -> None:
        self._db.execute("UPDATE meta SET value = value + ? WHERE key = 'chunks'", (change,))
