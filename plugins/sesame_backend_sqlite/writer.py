"""The write half: the one place where chunks and the full-text tables change, together."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from sesame_core.dataclass import dataclass, field
from sesame_core.types import Chunk, IndexedFile, Notes, Session

from . import conversations, rows
from .conversations import Conversation
from .failures import translating
from .schema import MAX_CHUNKS, SESSION_SHIFT

#: Characters written at once; `OVERHEAD` stands for what an object takes beside its text.
BATCH = 2 << 20
OVERHEAD = 1_000
#: A file with more characters than this is streamed in a transaction of its own; smaller ones share one, because
#: each commit flushes a small FTS5 segment that must be merged later.
SHARED = 8 << 20
#: Chunks after which a shared transaction is committed.
COMMIT_AFTER = 131_072

_SELECT_HEAD = "SELECT title, summary, prompts FROM heads WHERE id = ?"
_SESSION_COLUMNS = rows.SESSION_COLUMNS.split(", ")
_FILE_COLUMNS = (*rows.FILE_COLUMNS.split(", "), "checkpoint")


@dataclass(slots=True)
class _Target:
    """Where the chunks of one session go; number None: the session is forgotten."""

    number: int | None
    seq: int
    session: Session | None = None
    is_stored: bool = False
    conversation: Conversation = field(default_factory=Conversation)


class SqliteWriter:
    """Writes to one index; made and closed by `SqliteBackend`."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        #: The file that is written.
        self.path = path
        #: Rows of `chunks` that are not written yet, and how many were written since the last commit.
        self._rows: list[tuple[Any, ...]] = []
        self._paths: set[tuple[int, str]] = set()
        self._held = 0
        self._pending = 0
        #: Sessions that have grown in this run.
        self._grown: set[int] = set()
        (highest,) = db.execute("SELECT max(id) FROM sessions").fetchone()
        self._next_number = (highest or 0) + 1

    # -- reading what is known ----------------------------------------------------------------------------

    @translating
    def files(self) -> dict[str, IndexedFile]:
        """Return every known file by path, without checkpoints."""
        found = rows.select(self._db, rows.to_file, f"SELECT {rows.FILE_COLUMNS} FROM files")
        return {file.path: file for file in found}

    @translating
    def file(self, path: str) -> IndexedFile | None:
        """Return one file with its checkpoint."""
        sql = f"SELECT {rows.FILE_COLUMNS}, checkpoint FROM files WHERE path = ?"
        found = rows.select(self._db, rows.to_file, sql, (path,))
        return found[0] if found else None

    @translating
    def file_sessions(self, path: str) -> list[Session]:
        """Return the sessions read from a file."""
        sql = f"SELECT {rows.SESSION_COLUMNS} FROM sessions WHERE file = (SELECT id FROM files WHERE path = ?)"
        return rows.select(self._db, rows.to_session, sql, (path,))

    # -- changing it --------------------------------------------------------------------------------------

    @translating
    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> int:
        """Forget what the file said and store what it says now."""
        return self._write(file, content, forget=True)

    @translating
    def append(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> int:
        """Add to what the file said."""
        return self._write(file, content, forget=False)

    @translating
    def update_files(self, files: Iterable[IndexedFile]) -> None:
        """Remember new facts about files whose content did not change."""
        self._begin()
        for file in files:
            self._update_file(file, keeps_checkpoint=True)

    @translating
    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Give the sessions of this id their notes."""
        text = rows.from_notes(notes)
        sql = "SELECT id FROM sessions WHERE session_id = ? AND notes IS NOT ? AND visibility <> 'metadata'"
        changed = self._db.execute(sql, (session_id, text)).fetchall()
        for (number,) in changed:
            self._begin()
            self._change_session(number, "UPDATE sessions SET notes = ? WHERE id = ?", (text,))
        return len(changed)

    @translating
    def forget(self, number: int) -> int:
        """Delete a session with its copies and subagents; they do not come back."""
        found = self._db.execute("SELECT agent, session_id FROM sessions WHERE id = ?", (number,)).fetchone()
        if found is None:
            return 0
        agent, session_id = found
        below = session_id + "/"
        sql = "SELECT id, session_id FROM sessions WHERE agent = ? AND (session_id = ? OR substr(session_id, 1, ?) = ?)"
        family = self._db.execute(sql, (agent, session_id, len(below), below)).fetchall()
        self._begin()
        now = rows.to_ms(datetime.now(UTC))
        names = {session_id, *(name for _, name in family)}
        self._db.executemany("INSERT OR REPLACE INTO tombstones VALUES (?, ?, ?)", [(agent, n, now) for n in names])
        return sum(self._delete_session(member) for member, _ in family)

    @translating
    def finish(self, *, synced_at: datetime | None) -> None:
        """Renew what fell behind, record the time of the sync, and commit."""
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

    # -- how ----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")

    def _write(self, file: IndexedFile, content: Iterable[Session | Chunk], *, forget: bool) -> int:
        """Write a file's content: a small one is read first, so that failing midway leaves nothing to undo."""
        waiting = iter(content)
        first: list[Session | Chunk] = []
        held = 0
        for item in waiting:
            first.append(item)
            held += OVERHEAD + (len(item.text) if isinstance(item, Chunk) else 0)
            if held >= SHARED:
                break
        is_large = held >= SHARED
        if is_large:
            self.commit()
        self._begin()
        try:
            stored = self._store(file, first, waiting if is_large else iter(()), forget=forget)
        except BaseException:
            self.rollback()
            raise
        self._pending += stored
        if is_large or self._pending >= COMMIT_AFTER:
            self.commit()
        return stored

    def _store(
        self,
        file: IndexedFile,
        first: list[Session | Chunk],
        rest: Iterator[Session | Chunk],
        *,
        forget: bool,
    ) -> int:
        number = self._file_number(file.path)
        targets: dict[str, _Target] = {}
        if forget:
            for (session,) in self._db.execute("SELECT id FROM sessions WHERE file = ?", (number,)).fetchall():
                self._delete_session(session)
        else:
            sql = "SELECT session_id, id, chunk_count FROM sessions WHERE file = ?"
            for session_id, session, count in self._db.execute(sql, (number,)):
                targets[session_id] = _Target(session, count, is_stored=True)
        stored = 0
        for item in chain(first, rest):
            if isinstance(item, Session):
                target = targets.get(item.id) or targets.setdefault(item.id, self._target(item))
                target.session = item
                continue
            target = targets[item.session_id]
            if target.number is None or target.seq >= MAX_CHUNKS:
                continue
            self._add_chunk(target, item)
            stored += 1
        if number is None:
            number = self._insert_file(file)
        else:
            self._update_file(file)
        for target in targets.values():
            if target.number is not None and target.session is not None:
                self._store_session(target, number, file)
        return stored

    def _target(self, session: Session) -> _Target:
        names = [session.id]
        while "/" in names[-1]:
            names.append(names[-1].rpartition("/")[0])
        marks = ", ".join("?" * len(names))
        sql = f"SELECT 1 FROM tombstones WHERE agent = ? AND session_id IN ({marks})"
        if self._db.execute(sql, (session.agent, *names)).fetchone():
            return _Target(None, 0)
        number, self._next_number = self._next_number, self._next_number + 1
        return _Target(number, 0)

    def _add_chunk(self, target: _Target, chunk: Chunk) -> None:
        assert target.number is not None
        chunk.seq = target.seq
        target.seq += 1
        self._rows.append(rows.chunk_row(target.number, chunk))
        for path in chunk.paths:
            self._paths.add((target.number, path))
        if not target.is_stored and chunk.kind == "message":
            target.conversation.add(chunk.role, chunk.text)
        self._held += OVERHEAD + len(chunk.text)
        if self._held >= BATCH:
            self._flush()

    def _flush(self) -> None:
        """Write the rows that wait, to both tables."""
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

    def _store_session(self, target: _Target, file: int, indexed: IndexedFile) -> None:
        assert target.session is not None
        assert target.number is not None
        values = rows.session_row(target.session, indexed.mtime_ns // 1_000_000)
        if target.is_stored:
            assignments = ", ".join(f"{column} = ?" for column in _SESSION_COLUMNS)
            sql = f"UPDATE sessions SET {assignments}, chunk_count = ? WHERE id = ?"
            self._change_session(target.number, sql, (*values, target.seq))
            self._renew_conversation(target)
        else:
            title = target.session.title or ""
            marks = ", ".join("?" * (len(_SESSION_COLUMNS) + 5))
            columns = f"id, file, chunk_count, conversation_count, conversation_title, {rows.SESSION_COLUMNS}"
            sql = f"INSERT INTO sessions ({columns}) VALUES ({marks})"
            self._db.execute(sql, (target.number, file, target.seq, target.seq, title, *values))
            conversations.insert(self._db, target.number, title, target.conversation)
            self._insert_head(target.number)

    def _change_session(self, number: int, sql: str, values: tuple[Any, ...]) -> None:
        """Change a session's row, and with it its head."""
        before = self._db.execute(_SELECT_HEAD, (number,)).fetchone()
        self._db.execute(sql, (*values, number))
        if self._db.execute(_SELECT_HEAD, (number,)).fetchone() != before:
            self._delete_head(number, before)
            self._insert_head(number)

    def _insert_head(self, number: int) -> None:
        sql = "INSERT INTO heads_fts (rowid, title, summary, prompts) SELECT id, title, summary, prompts FROM heads"
        self._db.execute(f"{sql} WHERE id = ?", (number,))

    def _renew_conversation(self, target: _Target) -> None:
        assert target.number is not None
        self._grown.add(target.number)
        sql = "SELECT conversation_count FROM sessions WHERE id = ?"
        (in_row,) = self._db.execute(sql, (target.number,)).fetchone()
        if conversations.is_outgrown(target.seq, in_row):
            self._flush()
            conversations.renew(self._db, target.number)

    def _delete_head(self, number: int | None, head: tuple[str, str, str]) -> None:
        sql = "INSERT INTO heads_fts (heads_fts, rowid, title, summary, prompts) VALUES ('delete', ?, ?, ?, ?)"
        self._db.execute(sql, (number, *head))

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
        head = self._db.execute(_SELECT_HEAD, (number,)).fetchone()
        self._delete_head(number, head)
        self._db.execute("DELETE FROM sessions WHERE id = ?", (number,))
        return deleted

    def _file_number(self, path: str) -> int | None:
        found = self._db.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        return found[0] if found else None

    def _insert_file(self, file: IndexedFile) -> int:
        marks = ", ".join("?" * len(_FILE_COLUMNS))
        sql = f"INSERT INTO files ({', '.join(_FILE_COLUMNS)}) VALUES ({marks})"
        return self._db.execute(sql, rows.file_row(file)).lastrowid or 0

    def _update_file(self, file: IndexedFile, *, keeps_checkpoint: bool = False) -> None:
        assignments = [f"{column} = ?" for column in _FILE_COLUMNS]
        if keeps_checkpoint:
            assignments[-1] = "checkpoint = coalesce(?, checkpoint)"
        sql = f"UPDATE files SET {', '.join(assignments)} WHERE path = ?"
        if self._db.execute(sql, (*rows.file_row(file), file.path)).rowcount == 0:
            self._insert_file(file)
