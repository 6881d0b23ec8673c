"""The files in the index."""

from __future__ import annotations

import sqlite3

from sesame_core.sdk.where import Where
from sesame_core.types.index import IndexedFile
from sesame_core.types.transcript import Session

from . import rows
from .filters import DIALECT

_COLUMNS = (*rows.FILE_COLUMNS.split(", "), "checkpoint")
#: The condition that a session was read from a file; the value is the file's path.
OF_FILE = "file = (SELECT id FROM files WHERE path = ?)"
_INSERT = DIALECT.insert("files", _COLUMNS)
_UPDATE = f"UPDATE files SET {DIALECT.assignments(_COLUMNS)} WHERE id = ?"
_UPDATE_FACTS = _UPDATE.replace("checkpoint = ?", "checkpoint = coalesce(?, checkpoint)")


class Files:
    """The files of one index."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def all(self) -> dict[str, IndexedFile]:
        """Return every file by path, without checkpoints."""
        found = rows.select(self._db, rows.to_file, f"SELECT {rows.FILE_COLUMNS} FROM files")
        return {file.path: file for file in found}

    def one(self, path: str) -> IndexedFile | None:
        """Return a file with its checkpoint."""
        sql = f"SELECT {rows.FILE_COLUMNS}, checkpoint FROM files WHERE path = ?"
        found = rows.select(self._db, rows.to_file, sql, (path,))
        return found[0] if found else None

    def sessions(self, path: str) -> list[Session]:
        """Return the sessions that were read from a file."""
        sql = f"SELECT {rows.SESSION_COLUMNS} FROM sessions WHERE {OF_FILE}"
        return rows.select(self._db, rows.to_session, sql, (path,))

    def store(self, file: IndexedFile, *, keeps_checkpoint: bool = False) -> int:
        """Store a file's row; return its number.

        :param keeps_checkpoint: keep the stored checkpoint if the file has none.
        """
        values = rows.file_row(file)
        found = self._db.execute("SELECT id FROM files WHERE path = ?", (file.path,)).fetchone()
        if found is None:
            return self._db.execute(_INSERT, values).lastrowid or 0
        number: int = found[0]
        self._db.execute(_UPDATE_FACTS if keeps_checkpoint else _UPDATE, (*values, number))
        return number

    def drop_content(self, of_sessions: Where) -> None:
        """Drop what says something of the content of files (`IndexedFile.drop_content`), by their sessions."""
        files = f"SELECT file FROM sessions{of_sessions.where()}"
        sql = "UPDATE files SET checkpoint = NULL, head_hash = x'', tail_hash = x'', recent_origins = x'' WHERE id IN "
        self._db.execute(f"{sql}({files})", of_sessions.values)

    def delete(self, path: str) -> None:
        """Delete a file, whose sessions are deleted already."""
        self._db.execute("DELETE FROM files WHERE path = ?", (path,))
