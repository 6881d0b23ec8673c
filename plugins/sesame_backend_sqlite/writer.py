"""The write half: files with their sessions and chunks, in transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from sesame_core.plugin.backend import Positions
from sesame_core.sdk import ingest
from sesame_core.sdk.ingest import MAX_CHUNKS
from sesame_core.sdk.where import Where
from sesame_core.types.index import Chunk, IndexedFile
from sesame_core.types.transcript import Notes, Session

from . import conversations, rows
from .chunks import Chunks
from .failures import translating
from .files import Files
from .filters import DIALECT
from .sessions import Sessions, Target

#: Number of chunks after which a shared transaction is committed.
COMMIT_AFTER = 131_072


class SqliteWriter:
    """Writes to one index; made and closed by `SqliteBackend`."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._files = Files(db)
        #: The database file.
        self.path = path
        self._chunks = Chunks(db)
        self._sessions = Sessions(db, self._chunks)
        #: Number of chunks stored since the last commit.
        self._pending = 0

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
            self._sessions.update(number, "UPDATE sessions SET notes = ? WHERE id = ?", (text,))
        return len(changed)

    @translating
    def delete_file(self, path: str) -> int:
        """Delete a file and its sessions."""
        self._begin()
        deleted = self._sessions.delete_of_file(path)
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
        return sum(self._sessions.delete(member) for (member,) in family)

    @translating
    def finish(self, *, synced_at: datetime | None) -> None:
        """Rewrite outdated conversations, store the time of the sync, and commit."""
        self._chunks.write()
        for session in self._sessions.outdated():
            self._begin()
            conversations.renew(self._db, session)
        if synced_at is not None:
            self._begin()
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('last_sync_at', ?)", (rows.to_ms(synced_at),))
        self.commit()

    @translating
    def commit(self) -> None:
        """Make everything since the last commit visible."""
        self._chunks.write()
        if self._db.in_transaction:
            self._db.execute("COMMIT")
        self._pending = 0

    def rollback(self) -> None:
        """Drop everything since the last commit."""
        self._chunks.clear()
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
        targets: dict[str, Target] = {}
        if forget:
            self._sessions.delete_of_file(file.path)
        else:
            targets = self._sessions.targets(file.path)
        positions = ingest.place(content, targets, self._sessions.target, self._add, MAX_CHUNKS)
        number = self._files.store(ingest.as_stored(file, targets.values()))
        for target in targets.values():
            if target.number is not None and target.session is not None:
                self._sessions.store(target.number, target, target.session, number, file)
        return positions

    def _add(self, target: Target, chunk: Chunk, seq: int) -> None:
        assert target.number is not None
        if not target.is_stored and chunk.kind == "message":
            target.conversation.add(chunk.role, chunk.text)
        self._chunks.add(target.number, seq, chunk)
