"""The files of a workstation in the index."""

from __future__ import annotations

from typing import Any

import psycopg

from sesame_core.types.index import IndexedFile
from sesame_core.types.transcript import Session

from . import rows
from .filters import DIALECT

_COLUMNS = (*rows.FILE_COLUMNS.split(", "), "checkpoint")
_INSERT = DIALECT.insert("files", ("workstation", *_COLUMNS)) + " RETURNING id"
_UPDATE = f"UPDATE files SET {DIALECT.assignments(_COLUMNS)} WHERE id = %s"
_UPDATE_FACTS = _UPDATE.replace("checkpoint = %s", "checkpoint = coalesce(%s, checkpoint)")


class Files:
    """The files of one workstation, without those that a rebuild is about to replace."""

    def __init__(self, db: psycopg.Connection[Any], workstation: int) -> None:
        self._db = db
        self._workstation = workstation
        #: Their numbers, by path.
        self._numbers: dict[str, int] = {}
        self.load()

    def load(self) -> None:
        """Load the files' numbers, again after a rollback."""
        sql = "SELECT path, id FROM files WHERE workstation = %s AND NOT superseded"
        self._numbers = dict(self._db.execute(sql, (self._workstation,)).fetchall())

    def all(self) -> dict[str, IndexedFile]:
        """Return every file by path, without checkpoints."""
        sql = f"SELECT {rows.FILE_COLUMNS} FROM files WHERE workstation = %s AND NOT superseded"
        found = map(rows.to_file, self._db.execute(sql, (self._workstation,)).fetchall())
        return {file.path: file for file in found}

    def one(self, path: str) -> IndexedFile | None:
        """Return a file with its checkpoint."""
        number = self.number(path)
        return None if number is None else self.of(number)

    def sessions(self, path: str) -> list[Session]:
        """Return the sessions that were read from a file."""
        sql = f"SELECT {rows.SESSION_COLUMNS} FROM sessions WHERE file = %s ORDER BY id"
        return [rows.to_session(row) for row in self._db.execute(sql, (self.number(path),)).fetchall()]

    def number(self, path: str) -> int | None:
        """Return a file's number; None when it is not known."""
        return self._numbers.get(path)

    def store(self, file: IndexedFile, *, keeps_checkpoint: bool = False) -> int:
        """Store a file's row; return its number.

        :param keeps_checkpoint: keep the stored checkpoint if the file has none.
        """
        values = rows.file_row(file)
        number = self.number(file.path)
        if number is None:
            found = self._db.execute(_INSERT, (self._workstation, *values)).fetchone()
            assert found is not None
            number = self._numbers[file.path] = int(found[0])
            return number
        self._db.execute(_UPDATE_FACTS if keeps_checkpoint else _UPDATE, (*values, number))
        return number

    def delete(self, number: int, path: str | None = None) -> None:
        """Delete a file, whose sessions are deleted already.

        :param path: its path, if it may be stored again.
        """
        self._db.execute("SELECT drop_files(%s)", ([number],))
        if path is not None:
            self._numbers.pop(path, None)

    # -- rebuild ------------------------------------------------------------------------------------------

    def supersede(self) -> None:
        """Set all files aside: those that are indexed from now on replace them."""
        self._db.execute("UPDATE files SET superseded = true WHERE workstation = %s", (self._workstation,))
        self._numbers = {}

    def superseded(self) -> list[tuple[int, str, bool]]:
        """Return number and path of the files that were set aside, and whether they were missing."""
        sql = "SELECT id, path, missing_since IS NOT NULL FROM files WHERE workstation = %s AND superseded"
        return self._db.execute(sql, (self._workstation,)).fetchall()

    def of(self, number: int) -> IndexedFile:
        """Return the file with a number, with its checkpoint."""
        sql = f"SELECT {rows.FILE_COLUMNS}, checkpoint FROM files WHERE id = %s"
        found = self._db.execute(sql, (number,)).fetchone()
        assert found is not None
        return rows.to_file(found)
