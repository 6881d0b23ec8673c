"""The write half: one workstation's rows, its chunks and their word lists changed together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain

import psycopg

from sesame_core.errors import BackendError, ParseError
from sesame_core.plugin.backend import IndexWriter, Positions
from sesame_core.sdk import ingest
from sesame_core.types.index import Chunk, IndexedFile
from sesame_core.types.transcript import Notes, Session

from . import rows
from .carry import carry_over
from .connection import Connection
from .failures import translating
from .files import Files
from .former import Former
from .opening import FORGOTTEN, Workstation
from .schema import LONGEST_ID
from .sessions import Sessions, Target
from .staging import Staging

#: Number of chunks after which a shared transaction is committed.
COMMIT_AFTER = 20_000


class PostgresWriter:
    """Writes one workstation's rows; made and closed by `PostgresBackend`.

    :param place: the server, for messages.
    :param is_rebuild: everything is one transaction, in which the workstation's rows are set aside until `take_over`.
    """

    def __init__(self, db: Connection, place: str, workstation: Workstation, *, is_rebuild: bool = False) -> None:
        self._db = db
        #: The server and the connected role, for messages.
        self.place, self.role = place, db.info.user
        self._workstation, self._name = workstation.id, workstation.name
        self._former = Former(db, workstation.former)
        self._is_rebuild = is_rebuild
        self._files = Files(db, workstation.id)
        self._sessions = Sessions(db, workstation.id)
        self._staging = Staging(db, workstation.id)
        #: Number of chunks stored since the last commit.
        self._pending = 0
        #: Whether sessions were deleted whose words must not stay in `lexemes`.
        self._is_less = False
        if is_rebuild:
            self._files.supersede()

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
        for file in files:
            self._begin()
            self._files.store(file, keeps_checkpoint=True)

    @translating
    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Set the notes of this workstation's sessions with this id."""
        self._begin()
        return self._sessions.annotate(session_id, notes)

    @translating
    def forget(self, number: int) -> int:
        """Delete a session with its copies and subagents, and leave tombstones.

        :raises BackendError: it is another workstation's.
        """
        sql = (
            "SELECT s.agent, s.session_id, s.workstation, w.name, w.host FROM sessions AS s "
            "JOIN workstations AS w ON w.id = s.workstation WHERE s.id = %s"
        )
        found = self._db.execute(sql, (number,)).fetchone()
        if found is None:
            return 0
        agent, session_id, workstation, name, host = found
        if workstation not in (self._workstation, *self._former.numbers):
            raise BackendError(f"session {session_id} belongs to workstation {name} ({host}): forget it there")
        self._begin()
        self._flush()
        self._is_less = True
        return self._sessions.forget(agent, session_id) + self._former.forget(agent, session_id)

    @translating
    def delete_file(self, path: str) -> int:
        """Delete a file and its sessions."""
        deleted = self._delete_former(path)
        number = self._files.number(path)
        if number is None:
            return deleted
        self._begin()
        self._flush()
        deleted += self._sessions.delete_of_file(number)
        self._files.delete(number, path)
        self._is_less = True
        return deleted

    @translating
    def finish(self, *, synced_at: datetime | None) -> None:
        """Rebuild outdated conversations, store the time of the sync, and commit."""
        self._begin()
        self._flush()
        self._sessions.catch_up()
        if synced_at is not None:
            sql = "UPDATE workstations SET last_sync = %s WHERE id = %s"
            self._db.execute(sql, (synced_at, self._workstation))
        self._sessions.record()
        # Words that only a deleted session had must not stay in the list of all words.
        self._db.execute("SELECT tidy(%s)", (self._is_less,))
        self._is_less = False
        self.commit()

    @translating
    def commit(self) -> None:
        """Make everything since the last commit visible; in a rebuild, everything at its end."""
        if not self._is_open():
            return
        self._flush()
        self._sessions.record()
        self._pending = 0
        if not self._is_rebuild:
            self._db.execute("COMMIT")

    @translating
    def fingerprint(self) -> str:
        """Return the totals of this workstation, under each of its ids, and the numbers that it has reserved."""
        sql = (
            "SELECT string_agg(row(sessions, chunks, chunk_tokens, head_tokens, conversation_tokens, reserved)::text, "
            "' ' ORDER BY id) FROM workstations WHERE id = ANY (%s)"
        )
        row = self._db.execute(sql, ([self._workstation, *self._former.numbers],)).fetchone()
        return str(row[0]) if row else ""

    @translating
    def forgotten(self) -> set[tuple[str, str]]:
        """Return agent and id of the forgotten sessions of this workstation."""
        return set(self._db.execute(FORGOTTEN, (self._name,)).fetchall())

    def rollback(self) -> None:
        """Drop everything since the last commit."""
        self._staging.clear()
        self._sessions.clear()
        self._pending = 0
        if not self._db.closed and self._is_open():
            self._db.execute("ROLLBACK")
            if not self._db.closed:
                self._files.load()

    @translating
    def take_over(self, writer: IndexWriter) -> None:
        """End a rebuild: carry over sessions that could not be read again, and delete the rest of the old index.

        :param writer: this writer, perhaps wrapped in others.
        """
        self._flush()
        carry_over(self._db, self._files, self._sessions, writer)

    # -- implementation -----------------------------------------------------------------------------------

    def _is_open(self) -> bool:
        return self._db.info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    def _begin(self) -> None:
        if not self._is_open():
            self._db.execute("BEGIN")

    def _write(self, file: IndexedFile, content: Iterable[Session | Chunk], *, forget: bool) -> Positions:
        """Write a file's content: a small one is read first, so that a failure leaves nothing to undo."""
        first, rest = ingest.read_ahead(_checked(file, content))
        if rest is not None:
            return self._write_large(file, chain(first, rest), forget=forget)
        self._begin()
        positions = self._store(file, first, forget=forget)
        self._pending += sum(map(len, positions.values()))
        if self._pending >= COMMIT_AFTER:
            self.commit()
        return positions

    def _write_large(self, file: IndexedFile, content: Iterable[Session | Chunk], *, forget: bool) -> Positions:
        """Write a file while it is read; in a rebuild, a failure must not roll back the other files."""
        self.commit()
        self._begin()
        self._flush()
        self._db.execute("SAVEPOINT large")
        try:
            positions = self._store(file, content, forget=forget)
            self._flush()
        except psycopg.Error:
            raise
        except BaseException:
            self._staging.clear()
            self._sessions.clear()
            self._db.execute("ROLLBACK TO large")
            self._files.load()
            raise
        self._db.execute("RELEASE large")
        self.commit()
        return positions

    def _store(self, file: IndexedFile, content: Iterable[Session | Chunk], *, forget: bool) -> Positions:
        number = self._files.number(file.path)
        targets: dict[str, Target] = {}
        if number is not None and forget:
            self._flush()
            self._sessions.delete_of_file(number)
        elif number is not None:
            targets = self._sessions.targets(number)

        def add(target: Target, chunk: Chunk, seq: int) -> None:
            assert target.number is not None
            target.tokens += self._staging.add(target.number, seq, chunk)
            target.paths.update(map(rows.reversed_path, chunk.paths))
            if self._staging.is_full:
                # In a large file: the rows of chunks reference the row of their session.
                self._store_sessions(targets.values(), file)
                self._flush()

        positions = ingest.place(content, targets, self._target, add)
        self._store_sessions(targets.values(), ingest.as_stored(file, targets.values()), is_end=True)
        if any(target.session is not None and target.session.visibility == "metadata" for target in targets.values()):
            self._delete_former(file.path)
        return positions

    def _delete_former(self, path: str) -> int:
        numbers = self._former.files(path)
        if numbers:
            self._begin()
            self._is_less = True
        return self._former.delete(numbers)

    def _target(self, session: Session) -> Target:
        return Target(None if self._sessions.is_forgotten(session) else self._sessions.next_number())

    def _store_sessions(self, targets: Iterable[Target], file: IndexedFile, *, is_end: bool = False) -> None:
        number = self._files.store(file)
        for target in targets:
            if target.number is not None and target.session is not None:
                self._sessions.store(target.number, target, target.session, number, file.mtime_ns, is_end=is_end)

    def _flush(self) -> None:
        """Send the pending chunks, and build the conversations of their sessions."""
        self._staging.send()
        self._sessions.document()


def _checked(file: IndexedFile, content: Iterable[Session | Chunk]) -> Iterator[Session | Chunk]:
    """Yield a file's content.

    :raises ParseError: a session's id is longer than the database allows.
    """
    for item in content:
        if isinstance(item, Session) and len(item.id) > LONGEST_ID:
            raise ParseError(file.path, f"a session's id is longer than {LONGEST_ID} characters")
        yield item
