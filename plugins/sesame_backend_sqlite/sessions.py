"""The sessions of an index with their heads and conversations, changed together."""

from __future__ import annotations

import sqlite3
from typing import Any

from sesame_core.sdk import ingest
from sesame_core.types.index import IndexedFile
from sesame_core.types.transcript import Session

from . import conversations, rows
from .chunks import Chunks
from .conversations import Conversation
from .files import OF_FILE
from .filters import DIALECT

_COLUMNS = rows.SESSION_COLUMNS.split(", ")
_INSERT = DIALECT.insert(
    "sessions", ["id", "file", "chunk_count", "conversation_count", "conversation_title", *_COLUMNS]
)
_UPDATE = f"UPDATE sessions SET {DIALECT.assignments(_COLUMNS)}, chunk_count = ? WHERE id = ?"


class Target(ingest.Target):
    """The destination of the chunks of one session, with its conversation if it is new."""

    __slots__ = ("conversation",)

    def __init__(self, number: int | None, seq: int = 0, *, is_stored: bool = False) -> None:
        super().__init__(number, seq, is_stored=is_stored)
        self.conversation = Conversation()


class Sessions:
    """The sessions of one index.

    :param chunks: their chunks.
    """

    def __init__(self, db: sqlite3.Connection, chunks: Chunks) -> None:
        self._db = db
        self._chunks = chunks
        #: Sessions that have grown in this run.
        self._grown: set[int] = set()
        (highest,) = db.execute("SELECT max(id) FROM sessions").fetchone()
        self._next_number = (highest or 0) + 1

    def targets(self, path: str) -> dict[str, Target]:
        """Return the targets of the sessions that were read from a file, by their ids."""
        sql = f"SELECT session_id, id, chunk_count FROM sessions WHERE {OF_FILE}"
        return {id: Target(number, count, is_stored=True) for id, number, count in self._db.execute(sql, (path,))}

    def target(self, session: Session) -> Target:
        """Return the target of a new session; one without a number if it, or what it is part of, was forgotten."""
        names = ingest.lineage(session.id)
        sql = f"SELECT 1 FROM tombstones WHERE agent = ? AND session_id IN ({DIALECT.marks(names)})"
        if self._db.execute(sql, (session.agent, *names)).fetchone():
            return Target(None)
        number, self._next_number = self._next_number, self._next_number + 1
        return Target(number)

    def store(self, number: int, target: Target, session: Session, file: int, indexed: IndexedFile) -> None:
        """Store a session, whose chunks were added.

        :param file: number of its file.
        """
        values = rows.session_row(session, indexed.mtime_ns // 1_000_000)
        if target.is_stored:
            self.update(number, _UPDATE, (*values, target.seq))
            self._renew_conversation(number, target.seq)
            return
        title = session.title or ""
        self._db.execute(_INSERT, (number, file, target.seq, target.seq, title, *values))
        conversations.insert(self._db, number, title, target.conversation)
        self._insert_head(number, self._head(number))

    def update(self, number: int, sql: str, values: tuple[Any, ...]) -> None:
        """Change a session's row and its head."""
        before = self._head(number)
        self._db.execute(sql, (*values, number))
        after = self._head(number)
        if after != before:
            self._delete_head(number, before)
            self._insert_head(number, after)

    def outdated(self) -> list[int]:
        """Return some sessions that are quiet and whose conversations are outdated."""
        return conversations.quiet(self._db, self._grown)

    def delete_of_file(self, path: str) -> int:
        """Delete the sessions that were read from a file; return the number of deleted chunks."""
        found = self._db.execute(f"SELECT id FROM sessions WHERE {OF_FILE}", (path,)).fetchall()
        return sum(self.delete(session) for (session,) in found)

    def delete(self, number: int) -> int:
        """Delete a session; return the number of deleted chunks."""
        self._chunks.write()
        conversations.delete(self._db, number)
        deleted = self._chunks.delete(number)
        self._delete_head(number, self._head(number))
        self._db.execute("DELETE FROM sessions WHERE id = ?", (number,))
        return deleted

    def _renew_conversation(self, number: int, count: int) -> None:
        self._grown.add(number)
        sql = "SELECT conversation_count FROM sessions WHERE id = ?"
        (in_row,) = self._db.execute(sql, (number,)).fetchone()
        if ingest.is_outgrown(count, in_row):
            self._chunks.write()
            conversations.renew(self._db, number)

    def _head(self, number: int) -> tuple[str, str, str]:
        sql = "SELECT title, summary, prompts FROM heads WHERE id = ?"
        title, summary, prompts = self._db.execute(sql, (number,)).fetchone()
        return title, summary, prompts

    def _insert_head(self, number: int, head: tuple[str, str, str]) -> None:
        # With SELECT in place of the values, SQLite would open a savepoint, at which FTS5 flushes all pending terms.
        sql = "INSERT INTO heads_fts (rowid, title, summary, prompts) VALUES (?, ?, ?, ?)"
        self._db.execute(sql, (number, *head))

    def _delete_head(self, number: int, head: tuple[str, str, str]) -> None:
        sql = "INSERT INTO heads_fts (heads_fts, rowid, title, summary, prompts) VALUES ('delete', ?, ?, ?, ?)"
        self._db.execute(sql, (number, *head))
