"""The sessions of a workstation, with their heads, their conversations, and the workstation's counts."""

from __future__ import annotations

from typing import Any

import psycopg

from sesame_core.sdk import ingest
from sesame_core.sdk.where import Where
from sesame_core.types.transcript import Notes, Session

from . import conversations, rows, words
from .filters import DIALECT
from .staging import LONGEST_SUBWORDS, cut

_COLUMNS = rows.SESSION_COLUMNS.split(", ")
#: Columns of a session with counts, whose sums are the workstation's.
_COUNTED = ("chunk_count", "chunk_tokens", "head_tokens")
_INSERT = DIALECT.insert(
    "sessions", ("id", "file", "workstation", *_COLUMNS, *_COUNTED, "conversation_count", "conversation_tokens")
)
_UPDATE = (
    f"UPDATE sessions AS s SET {DIALECT.assignments((*_COLUMNS, *_COUNTED))} FROM (SELECT title, summary, prompts, "
    "notes FROM sessions WHERE id = %s) AS b WHERE s.id = %s "
    "RETURNING s.conversation_count, b.*"
)
_HEAD = (
    "INSERT INTO heads (session, workstation, tokens, words) VALUES (%s, %s, %s, "
    "beside(setweight(to_tsvector('code', %s), 'A'), beside(setweight(to_tsvector('code', %s), 'B'), "
    "setweight(to_tsvector('code', %s), 'C')))) "
    "ON CONFLICT (session) DO UPDATE SET tokens = excluded.tokens, words = excluded.words"
)
_PATHS = "INSERT INTO paths (session, workstation, reversed) SELECT %s, %s, unnest(%s::text[]) ON CONFLICT DO NOTHING"


class Target(ingest.Target):
    """The destination of the chunks of one session, and their counts so far."""

    __slots__ = ("is_new", "paths", "tokens")

    def __init__(self, number: int | None, seq: int = 0, tokens: int = 0, *, is_stored: bool = False) -> None:
        super().__init__(number, seq, is_stored=is_stored)
        #: Number of words of its chunks.
        self.tokens = tokens
        #: Whether the session is new, so that its row must be inserted.
        self.is_new = not is_stored
        #: Paths that its tool calls name, in their stored form.
        self.paths: set[str] = set()


class Sessions:
    """The sessions of one workstation."""

    def __init__(self, db: psycopg.Connection[Any], workstation: int) -> None:
        self._db = db
        self._workstation = workstation
        self._numbers: list[int] = []
        #: Whether this run has reserved numbers; what earlier ones have not used is returned.
        self._has_reserved = False
        #: Agents and ids of forgotten sessions; None until they are needed.
        self._tombstones: set[tuple[str, str]] | None = None
        #: Sessions whose conversation must be rebuilt, with their titles, and those that have grown in this run.
        self._undocumented: dict[int, str] = {}
        self._grown: set[int] = set()
        #: Whether the workstation's counts have changed.
        self._is_changed = False

    def targets(self, file: int) -> dict[str, Target]:
        """Return the targets for more chunks of a file's sessions, by session id."""
        sql = "SELECT session_id, id, chunk_count, chunk_tokens FROM sessions WHERE file = %s"
        return {
            session_id: Target(number, count, tokens, is_stored=True)
            for session_id, number, count, tokens in self._db.execute(sql, (file,)).fetchall()
        }

    def next_number(self) -> int:
        """Return a number that no session has."""
        if not self._numbers:
            found = self._db.execute("SELECT reserve(%s, %s)", (self._workstation, not self._has_reserved)).fetchall()
            self._numbers = [number for (number,) in found][::-1]
            self._has_reserved = True
        return self._numbers.pop()

    def is_forgotten(self, session: Session) -> bool:
        """Return whether a session or an ancestor of it was forgotten."""
        if self._tombstones is None:
            sql = "SELECT agent, session_id FROM tombstones WHERE workstation = %s"
            self._tombstones = set(self._db.execute(sql, (self._workstation,)).fetchall())
        return any((session.agent, name) in self._tombstones for name in ingest.lineage(session.id))

    def store(self, number: int, target: Target, session: Session, file: int, mtime_ns: int, *, is_end: bool) -> None:
        """Store a session's row; before the end of its file, only a preliminary one.

        :param file: the number of its file; `mtime_ns` is the file's modification time.
        """
        head, tokens = _head(session)
        values = (*rows.session_row(session, mtime_ns), target.seq, target.tokens, tokens)
        known = dict(zip((*_COLUMNS, *_COUNTED), values, strict=True))
        if target.is_stored:
            found = self._db.execute(_UPDATE, (*values, number, number)).fetchone()
            assert found is not None
            documented, *named = found
            is_same_head = named == [known["title"], known["summary"], known["prompts"], known["notes"]]
            if is_end:
                self._grown.add(number)
                if ingest.is_outgrown(target.seq, documented):
                    self._undocumented[number] = known["title"] or ""
        else:
            is_same_head = False
            self._db.execute(_INSERT, (number, file, self._workstation, *values, 0, 0))
            target.is_stored = True
        if is_end and target.is_new:
            self._undocumented[number] = known["title"] or ""
        self._is_changed = True
        if not is_same_head:
            self._db.execute(_HEAD, (number, self._workstation, tokens, *head))
        if target.paths:
            self._db.execute(_PATHS, (number, self._workstation, sorted(target.paths)))
            target.paths.clear()

    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Set the notes of the sessions with this id; return the number that changed."""
        text = rows.from_notes(notes)
        sql = (
            f"SELECT id, {rows.SESSION_COLUMNS} FROM sessions WHERE workstation = %s "
            "AND session_id = %s AND notes IS DISTINCT FROM %s AND visibility <> 'metadata'"
        )
        changed = self._db.execute(sql, (self._workstation, session_id, text)).fetchall()
        for number, *row in changed:
            session = rows.to_session(row)
            session.notes = notes
            head, tokens = _head(session)
            sql = "UPDATE sessions SET notes = %s, head_tokens = %s WHERE id = %s"
            self._db.execute(sql, (text, tokens, number))
            self._db.execute(_HEAD, (number, self._workstation, tokens, *head))
            self._is_changed = True
        return len(changed)

    def delete_of_file(self, file: int) -> int:
        """Delete the sessions of a file; return the number of their chunks."""
        return self._delete(Where("file = %s", (file,)))

    def forget(self, agent: str, session_id: str) -> int:
        """Delete a session with its copies and subagents, and leave tombstones; return the number of their chunks."""
        mine = Where("workstation = %s AND agent = %s", (self._workstation, agent))
        family = mine.and_(DIALECT.family("session_id", session_id))
        self._db.execute(
            "INSERT INTO tombstones (workstation, agent, session_id) "
            f"SELECT DISTINCT workstation, agent, session_id FROM sessions{family.where()} ON CONFLICT DO NOTHING",
            family.values,
        )
        self._tombstones = None
        # As `IndexedFile.drop_content`.
        self._db.execute(
            "UPDATE files SET checkpoint = NULL, head_hash = '', tail_hash = '', recent_origins = '{}' "
            f"WHERE id IN (SELECT file FROM sessions{family.where()})",
            family.values,
        )
        return self._delete(family)

    def _delete(self, condition: Where) -> int:
        sql = f"SELECT drop_sessions(ARRAY(SELECT id FROM sessions{condition.where()}))"
        deleted = self._db.execute(sql, condition.values).fetchall()
        self._is_changed = self._is_changed or bool(deleted)
        return sum(count for (count,) in deleted)

    def document(self) -> None:
        """Build the conversations that are new or outgrown; the chunks must be stored."""
        self._renew(self._undocumented)
        self._undocumented.clear()

    def catch_up(self) -> None:
        """Rebuild some outdated conversations of quiet sessions."""
        self._renew(conversations.quiet(self._db, self._workstation, self._grown))

    def _renew(self, titles: dict[int, str]) -> None:
        if titles:
            conversations.renew(self._db, self._workstation, titles)
            self._is_changed = True

    def record(self) -> None:
        """Have the workstation's counts made anew if they have changed."""
        if self._is_changed:
            self._db.execute("SELECT recount(%s)", (self._workstation,))
            self._is_changed = False

    def clear(self) -> None:
        """Drop pending changes, and numbers that may have been reserved since the last commit, after a rollback."""
        self._undocumented.clear()
        self._tombstones = None
        self._numbers.clear()
        self._has_reserved = False
        self._is_changed = True  # perhaps before a savepoint


def _head(session: Session) -> tuple[list[str], int]:
    """Return the plain texts of a session's head, and their number of words."""
    head = [cut(words.plain(text), LONGEST_SUBWORDS) for text in rows.head(session)]
    return head, sum(map(words.count, head))
