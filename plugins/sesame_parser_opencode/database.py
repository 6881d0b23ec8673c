"""Reads sessions from a database: the tables of OpenCode 1.2 to 1.18 (`session`), and those of 2 (`session_v2`).

OpenCode 2 copies the sessions of 1.x into its own tables, under the same ids, and never changes the old ones again;
so a session that is in both is read from the new one, unless its messages have not been copied yet.  All columns that
versions lack are optional.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sesame_core.sdk.databases import Connection, StatementError, columns, reading
from sesame_core.types.listing import Unit
from sesame_core.types.transcript import LINE_LIMIT, SHORTENED, Skipped

from .records import Record
from .values import decoded, number

OLD, NEW = "session", "session_v2"
#: Newest messages of a session whose last change is checked: text streams into a row, and a prompt can be queued while
#: older messages are still written.
CHECKED = 4
#: The latest time in milliseconds that an index can store.
LATEST = 9 * 10**12
#: Added to a unit's size for each part, and for each message: about their bytes.
PART, MESSAGE = 2048, 64
#: Longest row in characters that is decoded as it is: one with a file as base64 may have any length.
ROW_LIMIT = 8 * LINE_LIMIT
_FACTS = (
    *("id", "parent_id", "directory", "title", "model", "revert", "version", "fork_session_id"),
    *("time_created", "time_updated"),
)
#: What is kept of a longer row: these strings, up to `LINE_LIMIT` characters each.
_KEPT = ("text", "state.output", "state.error", "state.input.command", "state.input.filePath", "state.input.content")
_SHORT = ("type", "tool", "callID", "state.status", "filename", "synthetic")


@contextmanager
def opened(path: str) -> Iterator[Database]:
    """Open a database for reading.

    :raises OSError: it cannot be read, or is not OpenCode's.
    """
    with reading(path) as db:
        yield Database(path, db)


class Database:
    """An open database."""

    def __init__(self, path: str, db: Connection) -> None:
        self._path = path
        self._db = db
        self._columns = {table: columns(db, table) for table in (OLD, NEW, "message", "part", "session_message")}

    @property
    def is_opencode(self) -> bool:
        """Whether it has the tables of OpenCode's sessions."""
        return self._has(NEW, "session_message") or self._has(OLD, "message", "part")

    @property
    def is_unfinished(self) -> bool:
        """Whether it has a table of sessions without the others: it is being migrated, or damaged."""
        return not self.is_opencode and bool(self._tables())

    def ids(self) -> set[str]:
        """Return the ids of all sessions."""
        return {id for table in self._tables() for (id,) in self._db.execute(f"SELECT id FROM {table}")}

    def units(self, session_id: str | None = None) -> Iterator[Unit]:
        """Yield the sessions with the times of their last changes.

        :param session_id: only this one.
        :raises OSError: tables are missing: it is being migrated.
        """
        self._check()
        condition, values = ("", ()) if session_id is None else (" AND s.id = ?", (session_id,))
        filled = "EXISTS (SELECT 1 FROM session_message WHERE session_id = {0}.id)"
        newer = f"s.id NOT IN (SELECT id FROM {NEW} n WHERE {filled.format('n')})" if self._has(NEW) else "1"
        older = f"({filled.format('s')} OR s.id NOT IN (SELECT id FROM {OLD}))" if self._has(OLD) else "1"
        last = f"FROM message WHERE session_id = s.id ORDER BY time_created DESC, id DESC LIMIT {CHECKED}"
        queries = {
            OLD: f"SELECT s.id, s.time_updated, (SELECT max(time_updated) FROM (SELECT time_updated {last})), "
            f"(SELECT max(time_updated) FROM part WHERE message_id IN (SELECT id {last})), "
            "(SELECT count(*) FROM part WHERE session_id = s.id), "
            f"(SELECT count(*) FROM message WHERE session_id = s.id), {self._reverted(OLD)} "
            f"FROM {OLD} s WHERE {newer}{condition}",
            NEW: "SELECT s.id, s.time_updated, (SELECT max(time_updated) FROM (SELECT time_updated "
            f"FROM session_message WHERE session_id = s.id ORDER BY seq DESC LIMIT {2 * CHECKED})), "
            "0, (SELECT count(*) FROM session_message WHERE session_id = s.id), "
            f"(SELECT max(seq) FROM session_message WHERE session_id = s.id), {self._reverted(NEW)} FROM {NEW} s "
            f"WHERE {older}{condition}",
        }
        for table in self._tables():
            for id, *times, parts, messages, is_reverted in self._db.execute(queries[table], values):
                if isinstance(id, str) and id not in ("", ".", "..") and os.sep not in id:
                    size = PART * parts + MESSAGE * (number(messages) or 0) + is_reverted
                    yield Unit(
                        path=os.path.join(self._path, id),
                        mtime_ns=min(max(number(time) or 0 for time in times), LATEST) * 1_000_000,
                        size=size,
                    )

    def latest(self, most: int, since: int) -> list[str]:
        """Return the ids of the sessions that were written to since a time in milliseconds, the latest first."""
        found: dict[str, int] = {}
        for table in self._tables():
            sql = f"SELECT id, time_updated FROM {table} WHERE time_updated >= ? ORDER BY time_updated DESC LIMIT ?"
            found |= dict(self._db.execute(sql, (since, most)))
        return sorted(found, key=lambda id: -found[id])[:most]

    def newest(self, session_id: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the records of the newest messages of a session that may have calls, with the times of their change."""
        last = f"WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT {CHECKED}"
        queries = []
        if self._has(OLD, "message", "part"):
            queries.append(
                f"SELECT time_updated, data FROM part WHERE message_id IN (SELECT id FROM message {last}) "
                f"AND length(data) <= {ROW_LIMIT}"
            )
        if self._has(NEW, "session_message"):
            queries.append(f"SELECT time_updated, data FROM session_message {last}")
        for sql in queries:
            for at, data in self._db.execute(sql, (session_id,)):
                if (record := decoded(data)) is not None and number(at) is not None:
                    yield at, record

    def session(self, session_id: str) -> OldRows | NewRows | None:
        """Return a session; None when there is none.

        :raises OSError: tables are missing: it is being migrated.
        """
        self._check()
        new = self._facts(NEW, session_id) if self._has(NEW) else None
        old = self._facts(OLD, session_id) if self._has(OLD) else None
        if new is not None and (old is None or self._is_copied(session_id)):
            return NewRows(self, self._db, new)
        return None if old is None else OldRows(self, self._db, old)

    def _is_copied(self, session_id: str) -> bool:
        sql = "SELECT 1 FROM session_message WHERE session_id = ? LIMIT 1"
        return self._db.execute(sql, (session_id,)).fetchone() is not None

    def parent_of(self, session_id: str) -> str:
        """Return the id of the session that started another one; "" when none did."""
        for table in reversed(self._tables()):
            for (parent,) in self._db.execute(f"SELECT parent_id FROM {table} WHERE id = ?", (session_id,)):
                return parent if isinstance(parent, str) else ""
        return ""

    def _facts(self, table: str, session_id: str) -> dict[str, Any] | None:
        names = [name for name in _FACTS if name in self._columns[table]]
        row = self._db.execute(f"SELECT {', '.join(names)} FROM {table} WHERE id = ?", (session_id,)).fetchone()
        return None if row is None else dict(zip(names, row, strict=True))

    def _reverted(self, table: str) -> str:
        return "s.revert IS NOT NULL" if "revert" in self._columns[table] else "0"

    def _tables(self) -> list[str]:
        return [table for table in (OLD, NEW) if self._has(table)]

    def _has(self, *tables: str) -> bool:
        return all(self._columns[table] for table in tables)

    def _check(self) -> None:
        if not self.is_opencode:
            import errno

            what = "it has no sessions of OpenCode: is it being migrated?"
            raise OSError(errno.EIO, what, self._path)


class Rows:
    """A session's rows."""

    def __init__(self, database: Database, db: Connection, facts: Mapping[str, Any]) -> None:
        self.facts = facts
        self._database = database
        self._db = db
        self._row = 0

    def parent_of(self, session_id: str) -> str:
        """Return the id of the session that started another one; "" when none did."""
        return self._database.parent_of(session_id)

    def _read(self, table: str, condition: str, value: str, *extra: str) -> Iterator[Record | Skipped]:
        """Yield the rows of a table; what is damaged, or shortened, is reported."""
        names = "".join(f", {name}" for name in extra)
        sql = f"SELECT id, CASE WHEN length(data) <= {ROW_LIMIT} THEN data END, length(data){names} FROM {table} "
        for id, data, length, *values in self._db.execute(sql + condition, (value,)):
            self._row += 1
            record = decoded(data) if data is not None else None
            if data is None and (length or 0) > ROW_LIMIT:
                record = self._shortened(table, id)
                if record is not None and record.get("type") != "file":
                    yield Skipped(reason=SHORTENED, line=self._row)
            if record is None or not isinstance(id, str):
                yield Skipped(reason="damaged", line=self._row)
                continue
            yield Record(id, {**record, **dict(zip(extra, values, strict=True))} if extra else record)

    def _shortened(self, table: str, id: str) -> Mapping[str, Any] | None:
        """Return what is kept of a row that is too long; None when it is damaged."""
        wanted = [f"json_extract(data, '$.{name}')" for name in _SHORT]
        wanted += [f"substr(json_extract(data, '$.{name}'), 1, {LINE_LIMIT})" for name in _KEPT]
        try:
            row = self._db.execute(f"SELECT {', '.join(wanted)} FROM {table} WHERE id = ?", (id,)).fetchone()
        except StatementError:
            return None  # not valid JSON
        record: dict[str, Any] = {}
        for name, value in zip((*_SHORT, *_KEPT), row or (), strict=True):
            place = record
            *outer, last = name.split(".")
            for key in outer:
                place = place.setdefault(key, {})
            if value is not None:
                place[last] = value
        return record


class OldRows(Rows):
    """A session of OpenCode 1.2 to 1.18."""

    is_new = False

    def messages(self) -> Iterator[Record | Skipped]:
        """Yield the messages in order."""
        return self._read("message", "WHERE session_id = ? ORDER BY time_created, id", self.facts["id"])

    def parts(self, message: Record) -> Iterable[Record | Skipped]:
        """Return the parts of a message in order."""
        return self._read("part", "WHERE message_id = ? ORDER BY id", message.id)


class NewRows(Rows):
    """A session of OpenCode 2; the type of a message is a column."""

    is_new = True

    def messages(self) -> Iterator[Record | Skipped]:
        """Yield the messages in order."""
        return self._read("session_message", "WHERE session_id = ? ORDER BY seq", self.facts["id"], "type")

    def parts(self, message: Record) -> Iterable[Record | Skipped]:
        """Return nothing: what a message consists of is in it."""
        return ()
