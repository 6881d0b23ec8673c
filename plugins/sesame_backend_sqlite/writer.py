"""The write half: the only module that changes chunks and the full-text tables, always together."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from sesame_core.plugin.backend import Positions
from sesame_core.sdk import ingest
from sesame_core.sdk.ingest import MAX_CHUNKS, OVERHEAD, Target
from sesame_core.sdk.where import Where
from sesame_core.types.index import Chunk, IndexedFile
from sesame_core.types.transcript import Notes, Session

from . import conversations, rows
from .conversations import Conversation
from .failures import translating
from .files import OF_FILE, Files
from .filters import DIALECT
from .schema import SESSION_SHIFT

#: Characters written at once.
BATCH = 2 << 20
#: Number of chunks after which a shared transaction is committed.
COMMIT_AFTER = 131_072

_SESSION_COLUMNS = rows.SESSION_COLUMNS.split(", ")
_INSERT_SESSION = DIALECT.insert(
    "sessions", ["id", "file", "chunk_count", "conversation_count", "conversation_title", *_SESSION_COLUMNS]
)
_UPDATE_SESSION = f"UPDATE sessions SET {DIALECT.assignments(_SESSION_COLUMNS)}, chunk_count = ? WHERE id = ?"


class _Target(Target):
    """The destination of the chunks of one session, with its conversation if it is new."""

    __slots__ = ("conversation",)

    def __init__(self, number: int | None, seq: int = 0, *, is_stored: bool = False) -> None:
        super().__init__(number, seq, is_stored=is_stored)
        self.conversation = Conversation()


class SqliteWriter:
    """Writes to one index; made and closed by `SqliteBackend`."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._files = Files(db)
        #: The database file.
        self.path = path
        #: Rows of `chunks` that are not written yet, and the number written since the last commit.
        self._rows: list[tuple[Any, ...]] = []
        self._paths: set[tuple[int, str]] = set()
        self._held = 0
        self._pending = 0
        #: Sessions that have grown in this run.
        self._grown: set[int] = set()
        (highest,) = db.execute("SELECT max(id) FROM sessions").fetchone()
        self._next_number = (highest or 0) + 1

    # -- reading ------------------------------------------------------------------------------------------

    @translating
    def files(self) -> dict[str, IndexedFile]:
        """Return every known file by path, without checkpoints."""
        return self._files.all()

    @translating
    def file(self, path: str) -> IndexedFile | None:
        """Return one file with its checkpoint."""
        return self._files.one(path)

    @translating
    def file_sessions(self, path: str) -> list[Session]:
        """Return the sessions read from a file."""
        return self._files.sessions(path)

    # -- writing ------------------------------------------------------------------------------------------

    @translating
    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Replace the content of a file."""
        return self._write(file, content, forget=True)

    @translating
    def append(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Add to the content of a file."""
        return self._write(file, content, forget=False)

    @translating
    def update_files(self, files: Iterable[IndexedFile]) -> None:
        """Update files whose content did not change."""
        self._begin()
        for file in files:
            self._files.store(file, keeps_checkpoint=True)

    @translating
    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Set the notes of the sessions with this id."""
        text = rows.from_notes(notes)
        sql = "SELECT id FROM sessions WHERE session_id = ? AND notes IS NOT ? AND visibility <> 'metadata'"
        changed = self._db.execute(sql, (session_id, text)).fetchall()
        for (number,) in changed:
            self._begin()
            self._update_session(number, "UPDATE sessions SET notes = ? WHERE id = ?", (text,))
        return len(changed)

    @translating
    def delete_file(self, path: str) -> int:
        """Delete a file and its sessions."""
        self._begin()
        deleted = self._delete_sessions(path)
        self._files.delete(path)
        return deleted

    @translating
    def forget(self, number: int) -> int:
        """Delete a session with its copies and subagents, and leave tombstones."""
        found = self._db.execute("SELECT agent, session_id FROM sessions WHERE id = ?", (number,)).fetchone()
        if found is None:
            return 0
        of_family = Where("agent = ?", (found[0],)).and_(DIALECT.family("session_id", found[1]))
        family = self._db.execute(f"SELECT id FROM sessions{of_family.where()}", of_family.values).fetchall()
        self._begin()
        self._db.execute(
            f"INSERT OR REPLACE INTO tombstones SELECT DISTINCT agent, session_id, ? FROM sessions{of_family.where()}",
            (rows.to_ms(datetime.now(UTC)), *of_family.values),
        )
        self._files.drop_content(of_family)
        return sum(self._delete_session(member) for (member,) in family)

    @translating
    def finish(self, *, synced_at: datetime | None) -> None:
        """Rewrite outdated conversations, store the time of the sync, and commit."""
        self._flush()
        for session in conversations.quiet(self._db, self._grown):
            self._begin()
            conversations.renew(self._db, session)
        if synced_at is not None:
            self._begin()
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('last_sync_at', ?)", (rows.to_ms(synced_at),))
        self.commit()

    @translating
    def commit(self) -> None:
        """Make everything since the last commit visible."""
        self._flush()
        if self._db.in_transaction:
            self._db.execute("COMMIT")
        self._pending = 0

    def rollback(self) -> None:
        """Drop everything since the last commit."""
        self._rows.clear()
        self._paths.clear()
        self._held = 0
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._pending = 0

    # -- implementation -----------------------------------------------------------------------------------

    def _begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")

    def _write(self, file: IndexedFile, content: Iterable[Session | Chunk], *, forget: bool) -> Positions:
        """Write a file's content: a small one is read first, so that a failure leaves nothing to undo."""
        first, rest = ingest.read_ahead(content)
        if rest is not None:
            self.commit()
        self._begin()
        try:
            positions = self._store(file, first if rest is None else chain(first, rest), forget=forget)
        except BaseException:
            self.rollback()
            raise
        self._pending += sum(map(len, positions.values()))
        if rest is not None or self._pending >= COMMIT_AFTER:
            self.commit()
        return positions

    def _store(self, file: IndexedFile, content: Iterable[Session | Chunk], *, forget: bool) -> Positions:
        targets: dict[str, _Target] = {}
        if forget:
            self._delete_sessions(file.path)
        else:
            sql = f"SELECT session_id, id, chunk_count FROM sessions WHERE {OF_FILE}"
            for session_id, session, count in self._db.execute(sql, (file.path,)):
                targets[session_id] = _Target(session, count, is_stored=True)
        positions = ingest.place(content, targets, self._target, self._add_chunk, MAX_CHUNKS)
        number = self._files.store(ingest.as_stored(file, targets.values()))
        for target in targets.values():
            if target.number is not None and target.session is not None:
                self._store_session(target.number, target, target.session, number, file)
        return positions

    def _target(self, session: Session) -> _Target:
        names = ingest.lineage(session.id)
        sql = f"SELECT 1 FROM tombstones WHERE agent = ? AND session_id IN ({DIALECT.marks(names)})"
        if self._db.execute(sql, (session.agent, *names)).fetchone():
            return _Target(None)
        number, self._next_number = self._next_number, self._next_number + 1
        return _Target(number)

    def _add_chunk(self, target: _Target, chunk: Chunk, seq: int) -> None:
        assert target.number is not None
        self._rows.append(rows.chunk_row(target.number, seq, chunk))
        for path in chunk.paths:
            self._paths.add((target.number, path))
        if not target.is_stored and chunk.kind == "message":
            target.conversation.add(chunk.role, chunk.text)
        self._held += OVERHEAD + len(chunk.text)
        if self._held >= BATCH:
            self._flush()

    def _flush(self) -> None:
        """Write the pending rows, to both tables."""
        if not self._rows:
            return
        self._db.executemany(rows.INSERT_CHUNK, self._rows)
        self._db.executemany(
            "INSERT INTO chunks_fts (rowid, subwords, content) VALUES (?, ?, ?)",
            [(row[0], row[-2], row[-1]) for row in self._rows],
        )
        self._db.executemany("INSERT OR IGNORE INTO paths VALUES (?, ?)", sorted(self._paths))
        self._count_chunks(len(self._rows))
        self._rows.clear()
        self._paths.clear()
        self._held = 0

    def _count_chunks(self, change: int) -> None:
        self._db.execute("UPDATE meta SET value = value + ? WHERE key = 'chunks'", (change,))

    def _store_session(self, number: int, target: _Target, session: Session, file: int, indexed: IndexedFile) -> None:
        values = rows.session_row(session, indexed.mtime_ns // 1_000_000)
        if target.is_stored:
            self._update_session(number, _UPDATE_SESSION, (*values, target.seq))
            self._renew_conversation(number, target.seq)
            return
        title = session.title or ""
        self._db.execute(_INSERT_SESSION, (number, file, target.seq, target.seq, title, *values))
        conversations.insert(self._db, number, title, target.conversation)
        self._insert_head(number, self._head(number))

    def _update_session(self, number: int, sql: str, values: tuple[Any, ...]) -> None:
        """Change a session's row and its head."""
        before = self._head(number)
        self._db.execute(sql, (*values, number))
        after = self._head(number)
        if after != before:
            self._delete_head(number, before)
            self._insert_head(number, after)

    def _renew_conversation(self, number: int, count: int) -> None:
        self._grown.add(number)
        sql = "SELECT conversation_count FROM sessions WHERE id = ?"
        (in_row,) = self._db.execute(sql, (number,)).fetchone()
        if ingest.is_outgrown(count, in_row):
            self._flush()
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

    def _delete_sessions(self, path: str) -> int:
        """Delete the sessions that were read from a file; return the number of deleted chunks."""
        found = self._db.execute(f"SELECT id FROM sessions WHERE {OF_FILE}", (path,)).fetchall()
        return sum(self._delete_session(session) for (session,) in found)

    def _delete_session(self, number: int) -> int:
        self._flush()
        conversations.delete(self._db, number)
        bounds = (number << SESSION_SHIFT, (number + 1) << SESSION_SHIFT)
        self._db.execute(
            "INSERT INTO chunks_fts (chunks_fts, rowid, content, subwords) "
            "SELECT 'delete', id, content, subwords FROM chunks WHERE id >= ? AND id < ?",
            bounds,
        )
        deleted = self._db.execute("DELETE FROM chunks WHERE id >= ? AND id < ?", bounds).rowcount
        self._count_chunks(-deleted)
        self._db.execute("DELETE FROM paths WHERE session = ?", (number,))
        self._delete_head(number, self._head(number))
        self._db.execute("DELETE FROM sessions WHERE id = ?", (number,))
        return deleted
