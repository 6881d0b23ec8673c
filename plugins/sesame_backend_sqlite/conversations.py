"""One row per session with all that people and agents said in it, for ranking whole sessions.

The row is written anew when a session has grown by half, or has been quiet for a while: not on every append,
because it costs what the session is long.  The table keeps no text (`content = ''`); what a row holds is read
back from the chunks, of which `sessions.conversation_count` tells how many it has.
"""

from __future__ import annotations

import sqlite3
import time

from sesame_core.dataclass import dataclass, field
from sesame_core.sdk import ingest

from .schema import SESSION_SHIFT

#: Characters of one row; what comes later in a longer session is found by its chunks.
LIMIT = 2_000_000

_QUIET = "chunk_count > conversation_count AND modified < ?"
#: Selects the files of sessions that are behind and quiet; its value is `quiet_before()`.
QUIET_FILES = f"SELECT file FROM sessions WHERE {_QUIET}"


@dataclass(slots=True)
class Conversation:
    """What was said in a session, up to the limit."""

    user: list[str] = field(default_factory=list)
    assistant: list[str] = field(default_factory=list)
    left: int = LIMIT

    def add(self, role: str | None, text: str) -> None:
        """Take in the text of a message, if it is a person's or an agent's."""
        if self.left <= 0 or role not in ("user", "assistant"):
            return
        said = text[: self.left]
        self.left -= len(said)
        (self.user if role == "user" else self.assistant).append(said)

    def texts(self) -> tuple[str, str]:
        """Return what people said and what agents said."""
        return "\n".join(self.user), "\n".join(self.assistant)

    @classmethod
    def read(cls, db: sqlite3.Connection, session: int, count: int) -> Conversation:
        """Return what the first `count` chunks of a session say."""
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
    """Write a session's row anew, as the session is now."""
    delete(db, session)
    sql = "SELECT chunk_count, coalesce(title, '') FROM sessions WHERE id = ?"
    count, title = db.execute(sql, (session,)).fetchone()
    insert(db, session, title, Conversation.read(db, session, count))
    sql = "UPDATE sessions SET conversation_count = ?, conversation_title = ? WHERE id = ?"
    db.execute(sql, (count, title, session))


def quiet(db: sqlite3.Connection, busy: set[int]) -> list[int]:
    """Return some sessions that are behind and quiet.

    :param busy: sessions that have just grown, whatever the times in their messages say.
    """
    found = db.execute(f"SELECT id FROM sessions WHERE {_QUIET} LIMIT ?", (quiet_before(), ingest.RENEWED_PER_RUN))
    return [session for (session,) in found if session not in busy]


def quiet_before() -> int:
    """Return the time before which a session was last active when it is quiet, in milliseconds since 1970."""
    return round((time.time() - ingest.QUIET_SECONDS) * 1000)
