"""What this installation has stored under other ids than the workstation's present one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import psycopg

from .sessions import Sessions


class Former:
    """The rows of these workstations, which are still this one's: rules for what others see apply to them.

    :param numbers: of the workstations; most have none.
    """

    def __init__(self, db: psycopg.Connection[Any], numbers: Iterable[int]) -> None:
        self._db = db
        self.numbers = [*numbers]

    def files(self, path: str) -> list[tuple[int, int]]:
        """Return number and workstation of the files with a path."""
        if not self.numbers:
            return []
        sql = "SELECT id, workstation FROM files WHERE workstation = ANY (%s) AND md5(path) = md5(%s) AND path = %s"
        return self._db.execute(sql, (self.numbers, path, path)).fetchall()

    def delete(self, files: Iterable[tuple[int, int]]) -> int:
        """Delete files as of `files` with their sessions; return the number of their chunks."""
        deleted = 0
        for number, workstation in files:
            sessions = Sessions(self._db, workstation)
            deleted += sessions.delete_of_file(number)
            self._db.execute("SELECT drop_files(%s)", ([number],))
            sessions.record()
        return deleted

    def forget(self, agent: str, session_id: str) -> int:
        """Forget a session as `Sessions.forget` does; return the number of its chunks."""
        deleted = 0
        for workstation in self.numbers:
            sessions = Sessions(self._db, workstation)
            deleted += sessions.forget(agent, session_id)
            sessions.record()
        return deleted
