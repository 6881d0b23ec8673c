"""One row per session with everything that people and agents said in it, for ranking whole sessions.

The row is rewritten when a session has grown by half, or has been quiet for a while: not on every append, because
it costs time proportional to the session.  The table stores no text (`content = ''`); the content of a row is read
back from the first `sessions.conversation_count` chunks.
"""

from __future__ import annotations

import sqlite3
import time

from sesame_core.dataclass import dataclass, field
from sesame_core.sdk import ingest

from .schema import SESSION_SHIFT

#: Characters of one row; later parts of a longer session are found by its chunks.
LIMIT = 2_000_000

_QUIET = "chunk_count > conversation_count AND modified < ?"
#: Selects the files of quiet sessions with an outdated row; its value is `quiet_before()`.
QUIET_FILES = f"SELECT file FROM sessions WHERE {_QUIET}"


@dataclass(slots=True)
class Conversation:
    """The conversation of a session, up to the limit."""

    user: list[str] = field(default_factory=list)
    assistant: list[str] = field(default_factory=list)
    left: int = LIMIT

    def add(self, role: str | None, text: str) -> None:
        """Add the text of a message, if it is a person's or an agent's."""
        if self.left <= 0 or role not in ("user", "assistant"):
            return
        said = text[: self.left]
        self.left -= len(said)
        (self.user if role == "user" else self.assistant).append(said)

    def texts(self) -> tuple[str, str]:
        """Return the text of people and the text of agents."""
        return "\n".join(self.user), "\n".join(self.assistant)

    @classmethod
    def read(cls, db: sqlite3.Connection, session: int, count: int) -> Conversation:
        """Return the conversation of the first `count` chunks of a session."""
        self = cls()
        sql = (
            "SELECT role, content FROM chunks "
            "WHERE id >= ? AND id < ? AND kind = 'message' AND role IN ('user', 'assistant') ORDER BY id"
        )
        base = session << SESSION_SHIFT
        for role, text in db.execute(sql, (base, base + (count << 2))):
            self.add(role, text)
            if self.left <= 0:
                break
        return self


def insert(db: sqlite3.Connection, session: int, title: str, conversation: Conversation) -> None:
    """Write a session's row."""
    sql = "INSERT INTO conversations_fts (rowid, title, user, assistant) VALUES (?, ?, ?, ?)"
    db.execute(sql, (session, title, *conversation.texts()))


def delete(db: sqlite3.Connection, session: int) -> None:
    """Delete a session's row; its chunks must still be there."""
    sql = "SELECT conversation_count, conversation_title FROM sessions WHERE id = ?"
    count, title = db.execute(sql, (session,)).fetchone()
    sql = (
        "INSERT INTO conversations_fts (conversations_fts, rowid, title, user, assistant) VALUES ('delete', ?, ?, ?, ?)"
    )
    db.execute(sql, (session, title, *Conversation.read(db, session, count).texts()))


def renew(db: sqlite3.Connection, session: int) -> None:
    """Rewrite a session's row for its present content."""
    delete(db, session)
    sql = "SELECT chunk_count, coalesce(title, '') FROM sessions WHERE id = ?"
    count, title = db.execute(sql, (session,)).fetchone()
    insert(db, session, title, Conversation.read(db, session, count))
    sql = "UPDATE sessions SET conversation_count = ?, conversation_title = ? WHERE id = ?"
    db.execute(sql, (count, title, session))


def quiet(db: sqlite3.Connection, busy: set[int]) -> list[int]:
    """Return some quiet sessions with an outdated row.

    :param busy: sessions that have just grown, whatever the times of their messages are.
    """
    found = db.execute(f"SELECT id FROM sessions WHERE {_QUIET} LIMIT ?", (quiet_before(), ingest.RENEWED_PER_RUN))
    return [session for (session,) in found if session not in busy]


def quiet_before() -> int:
    """Return the time since which a quiet session has had no message, in milliseconds since 1970."""
    return round((time.time() - ingest.QUIET_SECONDS) * 1000)
