"""The write half: one workstation's rows, its chunks and their word lists changed together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any

import psycopg

from sesame_core.errors import BackendError, ParseError
from sesame_core.tokens import clean
from sesame_core.types import Chunk, IndexedFile, Notes, Session

from . import conversations, rows, words
from .failures import translating
from .opening import Workstation
from .schema import LONGEST_ID, MAX_CHUNKS

#: Characters sent at once; `OVERHEAD` stands for what an object takes beside its text.
BATCH = 4 << 20
OVERHEAD = 1_000
#: A file with more characters than this is streamed in a transaction of its own; smaller ones share one.
SHARED = 8 << 20
#: Chunks after which a shared transaction is committed.
COMMIT_AFTER = 20_000
#: Numbers of sessions that are fetched from the server at once.
NUMBERS = 64

#: Characters whose words are found: a word list holds a megabyte.  The text itself is stored whole.
LONGEST_TEXT, LONGEST_SUBWORDS = 400_000, 150_000

_CHUNK_COLUMNS = f"session, workstation, {rows.CHUNK_COLUMNS}"
_WORD_COLUMNS = "class, tool, tokens, spoken, plain, subwords"
# Row-level security does not go with COPY, so rows take the way over a table of the connection's own.
_STAGING = (
    "CREATE TEMPORARY TABLE IF NOT EXISTS staging (LIKE chunks, class smallint, tool text, tokens int, spoken int, "
    "plain text, subwords text) ON COMMIT DELETE ROWS"
)
_COPY = f"COPY staging ({_CHUNK_COLUMNS}, {_WORD_COLUMNS}) FROM STDIN"
_INSERT_CHUNKS = f"INSERT INTO chunks ({_CHUNK_COLUMNS}) SELECT {_CHUNK_COLUMNS} FROM staging"
_INSERT_TEXTS = (
    "INSERT INTO texts (session, seq, workstation, class, role, tool, tokens, spoken, words) "
    "SELECT session, seq, workstation, class, role, tool, tokens, spoken, "
    "beside(to_tsvector('code', plain), setweight(to_tsvector('code', subwords), 'A')) FROM staging"
)
_SESSION_COLUMNS = rows.SESSION_COLUMNS.split(", ")
_FILE_COLUMNS = (*rows.FILE_COLUMNS.split(", "), "checkpoint")
_HEAD = (
    "INSERT INTO heads (session, workstation, tokens, words) VALUES (%s, %s, %s, "
    "beside(setweight(to_tsvector('code', %s), 'A'), beside(setweight(to_tsvector('code', %s), 'B'), "
    "setweight(to_tsvector('code', %s), 'C')))) "
    "ON CONFLICT (session) DO UPDATE SET tokens = excluded.tokens, words = excluded.words"
)
#: Counts of a workstation, in the order in which a deleted session takes its own away.
_COUNTS = ("chunks", "chunk_tokens", "sessions", "head_tokens", "conversation_tokens")
#: The workstation's count that a session's column adds to.
_COUNTED = {"chunk_count": "chunks", "chunk_tokens": "chunk_tokens", "head_tokens": "head_tokens"}


@dataclass(slots=True)
class _Target:
    """Where the chunks of one session go; number None: the session is forgotten."""

    number: int | None
    seq: int
    tokens: int = 0
    session: Session | None = None
    is_stored: bool = False
    is_new: bool = False
    paths: set[str] = field(default_factory=set)


class PostgresWriter:
    """Writes one workstation's rows; made and closed by `PostgresBackend`.

    :param place: the server, for messages.
    :param is_rebuild: everything is one transaction, in which the workstation has no rows at first.
    """

    def __init__(
        self, db: psycopg.Connection[Any], place: str, workstation: Workstation, *, is_rebuild: bool = False
    ) -> None:
        self._db = db
        #: The server and who is connected, for messages.
        self.place, self.role = place, db.info.user
        self._workstation = workstation
        self._is_rebuild = is_rebuild
        #: Rows of chunks and their words that are not sent yet.
        self._rows: list[tuple[Any, ...]] = []
        self._held = 0
        self._pending = 0
        self._numbers: list[int] = []
        self._files: dict[str, int] = {}
        #: New sessions without a document, and sessions that have grown in this run.
        self._undocumented: dict[int, str] = {}
        self._grown: set[int] = set()
        self._change: Counter[str] = Counter()
        self._load_files()

    def _load_files(self) -> None:
        sql = "SELECT path, id FROM files WHERE workstation = %s AND NOT superseded"
        self._files = dict(self._db.execute(sql, (self._workstation.id,)).fetchall())

    # -- reading what is known ----------------------------------------------------------------------------

    @translating
    def files(self) -> dict[str, IndexedFile]:
        """Return every known file by path, without checkpoints."""
        sql = f"SELECT {rows.FILE_COLUMNS} FROM files WHERE workstation = %s AND NOT superseded"
        found = map(rows.to_file, self._db.execute(sql, (self._workstation.id,)).fetchall())
        return {file.path: file for file in found}

    @translating
    def file(self, path: str) -> IndexedFile | None:
        """Return one file with its checkpoint."""
        sql = f"SELECT {rows.FILE_COLUMNS}, checkpoint FROM files WHERE id = %s"
        found = self._db.execute(sql, (self._files.get(path),)).fetchone()
        return rows.to_file(found) if found else None

    @translating
    def file_sessions(self, path: str) -> list[Session]:
        """Return the sessions read from a file."""
        sql = f"SELECT {rows.SESSION_COLUMNS} FROM sessions WHERE file = %s ORDER BY id"
        return [rows.to_session(row) for row in self._db.execute(sql, (self._files.get(path),)).fetchall()]

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
        for file in files:
            self._begin()
            self._store_file(file, keeps_checkpoint=True)

    @translating
    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Give this workstation's sessions of this id their notes."""
        value = rows.from_notes(notes)
        sql = (
            f"SELECT id, head_tokens, {rows.SESSION_COLUMNS} FROM sessions WHERE workstation = %s "
            "AND session_id = %s AND notes IS DISTINCT FROM %s AND visibility <> 'metadata'"
        )
        self._begin()
        changed = self._db.execute(sql, (self._workstation.id, session_id, value)).fetchall()
        for number, before, *row in changed:
            session = rows.to_session(tuple(row))
            session.notes = notes
            head, tokens = _head(session)
            sql = "UPDATE sessions SET notes = %s, head_tokens = %s WHERE id = %s"
            self._db.execute(sql, (value, tokens, number))
            self._db.execute(_HEAD, (number, self._workstation.id, tokens, *head))
            self._change["head_tokens"] += tokens - before
        return len(changed)

    @translating
    def forget(self, number: int) -> int:
        """Delete a session with its copies and subagents; they do not come back.

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
        if workstation != self._workstation.id:
            raise BackendError(f"session {session_id} is workstation {name}'s ({host}): only there it can be forgotten")
        self._begin()
        mine = (self._workstation.id, agent, session_id, session_id + "/")
        of_family = "workstation = %s AND agent = %s AND (session_id = %s OR starts_with(session_id, %s))"
        self._db.execute(
            "INSERT INTO tombstones (workstation, agent, session_id) "
            f"SELECT DISTINCT workstation, agent, session_id FROM sessions WHERE {of_family} "
            "ON CONFLICT DO NOTHING",
            mine,
        )
        return self._delete_sessions(of_family, mine)

    @translating
    def finish(self, *, synced_at: datetime | None) -> None:
        """Renew what fell behind, record the time of the sync, and commit."""
        self._begin()
        self._flush()
        if quiet := conversations.quiet(self._db, self._workstation.id, self._grown):
            self._change["conversation_tokens"] += conversations.renew(self._db, self._workstation.id, quiet)
        if synced_at is not None:
            sql = "UPDATE workstations SET last_sync = %s WHERE id = %s"
            self._db.execute(sql, (synced_at, self._workstation.id))
        self._record()
        self._db.execute("SELECT tidy()")
        self.commit()

    @translating
    def commit(self) -> None:
        """Make everything since the last commit visible; in a rebuild, everything at its end."""
        if not self._is_open():
            return
        self._flush()
        self._record()
        self._pending = 0
        if not self._is_rebuild:
            self._db.execute("COMMIT")

    def rollback(self) -> None:
        """Drop everything since the last commit."""
        self._rows.clear()
        self._held = self._pending = 0
        self._undocumented.clear()
        self._change.clear()
        if not self._db.closed and self._is_open():
            self._db.execute("ROLLBACK")
            if not self._db.closed:
                self._load_files()

    # -- at the end of a rebuild --------------------------------------------------------------------------

    @translating
    def keep(
        self, file: int, *, path: str = "", error: str | None = None, missing_since: datetime | None = None
    ) -> None:
        """Take an old file over into the rebuilt index.

        :param path: of the new file of this name, which could not be read; the old one takes its place.
        :param missing_since: when it was found gone, if that was not known.
        """
        if path:
            self.drop(self._files.pop(path))
        sql = (
            "UPDATE files SET superseded = false, error = %s, missing_since = coalesce(missing_since, %s) WHERE id = %s"
        )
        self._db.execute(sql, (error, missing_since, file))

    @translating
    def drop(self, file: int) -> None:
        """Delete a file and its sessions."""
        self._delete_sessions("file = %s", (file,))
        self._db.execute("DELETE FROM files WHERE id = %s", (file,))

    # -- how ----------------------------------------------------------------------------------------------

    def _is_open(self) -> bool:
        return self._db.info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    def _begin(self) -> None:
        if not self._is_open():
            self._db.execute("BEGIN")

    def _write(self, file: IndexedFile, content: Iterable[Session | Chunk], *, forget: bool) -> int:
        """Write a file's content: a small one is read first, so that failing midway leaves nothing to undo."""
        waiting = iter(content)
        first: list[Session | Chunk] = []
        held = 0
        for item in waiting:
            if isinstance(item, Session) and len(item.id) > LONGEST_ID:
                raise ParseError(file.path, f"a session's id is longer than {LONGEST_ID} characters")
            first.append(item)
            held += _weight(item)
            if held >= SHARED:
                break
        is_large = held >= SHARED
        if is_large:
            self.commit()
        self._begin()
        if not is_large:
            stored = self._store(file, first, iter(()), forget=forget)
            self._pending += stored
            if self._pending >= COMMIT_AFTER:
                self.commit()
            return stored
        # In a rebuild there is one transaction for all files; a large one that fails must not take the others along.
        self._flush()
        change = self._change.copy()
        self._db.execute("SAVEPOINT large")
        try:
            stored = self._store(file, first, waiting, forget=forget)
            self._flush()
        except psycopg.Error:
            raise
        except BaseException:
            self._rows.clear()
            self._undocumented.clear()
            self._held = 0
            self._change = change
            self._db.execute("ROLLBACK TO large")
            self._load_files()
            raise
        self._db.execute("RELEASE large")
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
        number = self._files.get(file.path)
        targets: dict[str, _Target] = {}
        if number is not None and forget:
            self._delete_sessions("file = %s", (number,))
        elif number is not None:
            sql = "SELECT session_id, id, chunk_count, chunk_tokens FROM sessions WHERE file = %s"
            for session_id, session, count, tokens in self._db.execute(sql, (number,)).fetchall():
                targets[session_id] = _Target(session, count, tokens, is_stored=True)
        stored = 0
        wanted = {item.id: item for item in first if isinstance(item, Session) and item.id not in targets}
        forgotten = self._forgotten(wanted.values())
        for item in chain(first, rest):
            if isinstance(item, Session):
                target = targets.get(item.id)
                if target is None:
                    if item.id not in wanted:
                        forgotten |= self._forgotten([item])
                    number_of = None if item.id in forgotten else self._next_number()
                    target = targets[item.id] = _Target(number_of, 0)
                target.session = item
                continue
            target = targets[item.session_id]
            if target.number is None or target.seq >= MAX_CHUNKS:
                continue
            self._add_chunk(target, item)
            stored += 1
            if self._held >= BATCH:
                # Of a large file: rows of chunks refer to their session's.
                self._store_sessions(targets.values(), file)
                self._flush()
        self._store_sessions(targets.values(), file, is_end=True)
        return stored

    def _store_sessions(self, targets: Iterable[_Target], file: IndexedFile, *, is_end: bool = False) -> None:
        number = self._store_file(file)
        for target in targets:
            if target.number is not None and target.session is not None:
                self._store_session(target.number, target, number, file, is_end=is_end)

    def _next_number(self) -> int:
        if not self._numbers:
            sql = "SELECT nextval(pg_get_serial_sequence('sessions', 'id')) FROM generate_series(1, %s)"
            self._numbers = [number for (number,) in self._db.execute(sql, (NUMBERS,)).fetchall()][::-1]
        return self._numbers.pop()

    def _forgotten(self, sessions: Iterable[Session]) -> set[str]:
        """Return the ids of those sessions that were forgotten, themselves or with one they worked for."""
        names: dict[tuple[str, str], list[str]] = {}
        for session in sessions:
            name = session.id
            while name:
                names.setdefault((session.agent, name), []).append(session.id)
                name = name.rpartition("/")[0]
        if not names:
            return set()
        sql = (
            "SELECT agent, session_id FROM tombstones WHERE workstation = %s "
            "AND (agent, session_id) IN (SELECT * FROM unnest(%s::text[], %s::text[]))"
        )
        values = (self._workstation.id, [agent for agent, _ in names], [name for _, name in names])
        return {id for found in self._db.execute(sql, values).fetchall() for id in names[found]}

    def _add_chunk(self, target: _Target, chunk: Chunk) -> None:
        assert target.number is not None
        chunk.seq = target.seq
        target.seq += 1
        text, subwords = words.plain(chunk.text), words.plain(chunk.subwords)
        said = words.count(text)
        tokens = said + words.count(subwords)
        target.tokens += tokens
        is_speech = chunk.kind == "message" and chunk.role in ("user", "assistant")
        self._rows.append(
            (
                *rows.chunk_row(target.number, self._workstation.id, chunk),
                rows.weight_class(chunk),
                clean(chunk.tool_name).lower() if chunk.tool_name else None,
                tokens,
                said if is_speech else 0,
                _cut(text, LONGEST_TEXT),
                _cut(subwords, LONGEST_SUBWORDS),
            )
        )
        target.paths.update(map(rows.reversed_path, chunk.paths))
        self._held += _weight(chunk)

    def _flush(self) -> None:
        """Send the rows that wait, and put the documents of new sessions together."""
        if self._rows:
            self._db.execute(_STAGING)
            with self._db.cursor() as cursor, cursor.copy(_COPY) as copy:
                for row in self._rows:
                    copy.write_row(row)
            self._db.execute(_INSERT_CHUNKS)
            self._db.execute(_INSERT_TEXTS)
            self._db.execute("TRUNCATE staging")
            self._rows.clear()
            self._held = 0
        if self._undocumented:
            grown = conversations.renew(self._db, self._workstation.id, self._undocumented)
            self._change["conversation_tokens"] += grown
            self._undocumented.clear()

    def _store_session(self, number: int, target: _Target, file: int, indexed: IndexedFile, *, is_end: bool) -> None:
        """Store what is known of a session; before the end of its file, only that it is there."""
        assert target.session is not None
        session = target.session
        head, tokens = _head(session)
        values = rows.session_row(session, indexed.mtime_ns)
        mine = {"id": number, "file": file, "workstation": self._workstation.id}
        counts = {"chunk_count": target.seq, "chunk_tokens": target.tokens, "head_tokens": tokens}
        known = dict(zip(_SESSION_COLUMNS, values, strict=True)) | counts
        if target.is_stored:
            sql = (
                f"UPDATE sessions AS s SET {', '.join(f'{name} = %s' for name in known)} FROM (SELECT chunk_count, "
                "chunk_tokens, head_tokens, title, summary, prompts, notes FROM sessions WHERE id = %s) AS b "
                "WHERE s.id = %s RETURNING b.title IS NOT DISTINCT FROM s.title AND b.summary IS NOT DISTINCT FROM "
                "s.summary AND b.prompts = s.prompts AND b.notes IS NOT DISTINCT FROM s.notes, "
                "b.chunk_count, b.chunk_tokens, b.head_tokens, s.conversation_count"
            )
            found = self._db.execute(sql, (*known.values(), number, number)).fetchone()
            assert found is not None
            is_same_head, chunks, chunk_tokens, head_tokens, documented = found
            before = {"chunk_count": chunks, "chunk_tokens": chunk_tokens, "head_tokens": head_tokens}
            if is_end:
                self._grown.add(number)
                if conversations.is_outgrown(target.seq, documented):
                    self._undocumented[number] = known["title"] or ""
        else:
            before, is_same_head = {}, False
            columns = {**mine, **known, "conversation_count": 0, "conversation_tokens": 0}
            sql = f"INSERT INTO sessions ({', '.join(columns)}) VALUES ({', '.join(['%s'] * len(columns))})"
            self._db.execute(sql, tuple(columns.values()))
            self._change["sessions"] += 1
            target.is_stored = True
            target.is_new = True
        if is_end and target.is_new:
            self._undocumented[number] = known["title"] or ""
        for name, count in counts.items():
            self._change[_COUNTED[name]] += count - before.get(name, 0)
        if not is_same_head:
            self._db.execute(_HEAD, (number, self._workstation.id, tokens, *head))
        if target.paths:
            sql = (
                "INSERT INTO paths (session, workstation, reversed) SELECT %s, %s, unnest(%s::text[]) "
                "ON CONFLICT DO NOTHING"
            )
            self._db.execute(sql, (number, self._workstation.id, sorted(target.paths)))
            target.paths.clear()

    def _delete_sessions(self, condition: str, values: tuple[Any, ...]) -> int:
        """Delete the sessions that meet a condition, with all that is theirs; return their chunks."""
        self._flush()
        sql = (
            f"DELETE FROM sessions WHERE {condition} "
            "RETURNING chunk_count, chunk_tokens, 1, head_tokens, conversation_tokens"
        )
        deleted = self._db.execute(sql, values).fetchall()
        for row in deleted:
            self._change.subtract(dict(zip(_COUNTS, row, strict=True)))
        return sum(row[0] for row in deleted)

    def _store_file(self, file: IndexedFile, *, keeps_checkpoint: bool = False) -> int:
        """Store what is remembered of a file; return its number."""
        values = rows.file_row(file)
        number = self._files.get(file.path)
        if number is None:
            columns = ", ".join(("workstation", *_FILE_COLUMNS))
            marks = ", ".join(["%s"] * (len(_FILE_COLUMNS) + 1))
            sql = f"INSERT INTO files ({columns}) VALUES ({marks}) RETURNING id"
            found = self._db.execute(sql, (self._workstation.id, *values)).fetchone()
            assert found is not None
            number = self._files[file.path] = int(found[0])
            return number
        assignments = [f"{column} = %s" for column in _FILE_COLUMNS]
        if keeps_checkpoint:
            assignments[-1] = "checkpoint = coalesce(%s, checkpoint)"
        self._db.execute(f"UPDATE files SET {', '.join(assignments)} WHERE id = %s", (*values, number))
        return number

    def _record(self) -> None:
        """Add what has changed to the workstation's counts."""
        changed = {name: change for name, change in self._change.items() if change}
        self._change.clear()
        if changed:
            assignments = ", ".join(f"{name} = {name} + %s" for name in changed)
            sql = f"UPDATE workstations SET {assignments} WHERE id = %s"
            self._db.execute(sql, (*changed.values(), self._workstation.id))


def _weight(item: Session | Chunk) -> int:
    return OVERHEAD + (len(item.text) if isinstance(item, Chunk) else 0)


def _head(session: Session) -> tuple[list[str], int]:
    """Return the plain texts of a session's head, and how many words they have."""
    head = [_cut(words.plain(text), LONGEST_SUBWORDS) for text in rows.head(session)]
    return head, sum(map(words.count, head))


def _cut(text: str, length: int) -> str:
    """Return the beginning of a plain text, which takes more bytes when it is not ASCII."""
    return text[: length if text.isascii() else length // 3]
