"""The read half: every method queries on the calling thread's own connection."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path

from sesame_core.query.filters import of_metadata
from sesame_core.sdk.ingest import MAX_CHUNKS
from sesame_core.sdk.rows import tallied
from sesame_core.types.index import (
    NOTES,
    UNREAD,
    AgentStatistics,
    Candidates,
    Chunk,
    ChunkRange,
    Freshness,
    KnownFile,
    ScoredChunk,
    Statistics,
    StoredSession,
)
from sesame_core.types.query import Condition, Filters, Query, Word

from . import conversations, fts, matching, rows, schema
from .failures import translated, translating
from .filters import DIALECT, TRUE, Where, on_kind
from .opening import Opened
from .view import View

#: Chunks with the positions of their ranges: `[[first row id, the one after the last], ...]`.
_CHUNKS_OF_RANGES = f"""SELECT ranges.key, c.{rows.CHUNK_COLUMNS} FROM json_each(?) AS ranges CROSS JOIN chunks AS c
    ON c.id >= json_extract(ranges.value, '$[0]') AND c.id < json_extract(ranges.value, '$[1]')"""
#: The roles of a range of chunks.  The columns are those of the index, so that no text is read.
_SPEAKERS = "SELECT id, role FROM chunks INDEXED BY chunks_facts WHERE id >= ? AND id < ? ORDER BY id"
#: The largest number that a column holds, such as a time in nanoseconds since 1970.
LARGEST = (1 << 63) - 1


class SqliteReader:
    """Reads one index, whichever generation of it is the present one.

    :param connect: opens the present generation.
    :param is_current: returns whether that is still the present generation.
    """

    def __init__(self, connect: Callable[[], Opened], is_current: Callable[[Opened], bool]) -> None:
        self._connect = connect
        self._is_current = is_current
        self._local = threading.local()

    @property
    def path(self) -> Path:
        """The file that this thread reads."""
        self._db()
        path: Path = self._local.opened.path
        return path

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Show one state of the index to the calls inside."""
        db = self._db()
        if db.in_transaction:
            yield
            return
        db.execute("BEGIN")
        try:
            with translated(self.path):
                view: View | None = getattr(self._local, "view", None)
                if view is None or not view.is_of(db):
                    self._local.view = View(db)
            yield
        except BaseException:  # whatever it is, Ctrl-C too, goes on from here: this only undoes what was begun
            self._local.view = None  # its temporary tables go with the transaction
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        with translated(self.path):
            # Nothing was written but temporary tables, and without them every statement would be compiled again.
            db.execute("COMMIT")

    @translating
    def candidates(self, query: Query, filters: Filters) -> Candidates:
        """Find and score chunks."""
        with self.snapshot():
            return matching.candidates(self._view(), query, filters)

    @translating
    def phrase(
        self, word: Word, filters: Filters, condition: Condition | None, limit: int, *, beside: Sequence[Word] = ()
    ) -> list[ScoredChunk]:
        """Find the newest chunks with a phrase."""
        with self.snapshot():
            return matching.phrase(self._view(), word, filters, condition, limit, beside)

    @translating
    def sessions(self, numbers: Iterable[int]) -> list[StoredSession]:
        """Return sessions by number."""
        wanted = list(numbers)
        sql = f"SELECT {rows.STORED_COLUMNS} FROM {rows.STORED_FROM} WHERE s.id IN ({', '.join('?' * len(wanted))})"
        return rows.select(self._db(), rows.to_stored, sql, wanted) if wanted else []

    @translating
    def list_sessions(
        self, filters: Filters, *, limit: int, offset: int = 0, condition: Condition | None = None
    ) -> tuple[list[StoredSession], int]:
        """Return sessions, newest first, and their total number."""
        order = "ORDER BY s.modified DESC, s.id DESC LIMIT ? OFFSET ?"
        with self.snapshot():
            total = self._view().count(condition, filters)
            if not limit:
                return [], total
            sql, values = self._view().listing(condition, filters)
            page = (limit, min(offset, LARGEST))
            select = f"SELECT {rows.STORED_COLUMNS} {sql} {order}"
            return rows.select(self._db(), rows.to_stored, select, (*values, *page)), total

    @translating
    def find_sessions(self, prefix: str) -> list[StoredSession]:
        """Return the sessions with this id, else those whose id starts with it."""
        columns = f"SELECT {rows.STORED_COLUMNS} FROM {rows.STORED_FROM} WHERE"
        exact = rows.select(self._db(), rows.to_stored, f"{columns} s.session_id = ?", (prefix,))
        if exact or not prefix:
            return exact
        sql = f"{columns} s.session_id >= ? AND s.session_id < ?"
        return rows.select(self._db(), rows.to_stored, sql, (prefix, prefix + "\U0010ffff"))

    @translating
    def find_by_id(self, ids: Iterable[str]) -> list[StoredSession]:
        """Return the sessions that have one of these ids."""
        wanted = list(ids)
        marks = ", ".join("?" * len(wanted))
        sql = f"SELECT {rows.STORED_COLUMNS} FROM {rows.STORED_FROM} WHERE s.session_id IN ({marks})"
        return rows.select(self._db(), rows.to_stored, sql, wanted) if wanted else []

    @translating
    def children(self, session_id: str) -> list[int]:
        """Return the numbers of the sessions whose parent has this id."""
        return [
            number for (number,) in self._db().execute("SELECT id FROM sessions WHERE parent_id = ?", (session_id,))
        ]

    @translating
    def origins(self, number: int) -> list[int | None]:
        """Return the origin of each chunk of a session by position."""
        sql = "SELECT origin FROM chunks WHERE id >= ? AND id < ? ORDER BY id"
        return [origin for (origin,) in self._db().execute(sql, _rows_of(number, 0, None))]

    @translating
    def chunks(self, ranges: Sequence[ChunkRange]) -> list[list[Chunk]]:
        """Return the chunks of each range by position."""
        if not ranges:
            return []
        with self.snapshot():
            numbers = {number for number, _, _ in ranges}
            marks = ", ".join("?" * len(numbers))
            ids = dict(self._db().execute(f"SELECT id, session_id FROM sessions WHERE id IN ({marks})", tuple(numbers)))
            wanted = [_rows_of(*one) if one[0] in ids else (0, 0) for one in ranges]
            found: list[list[Chunk]] = [[] for _ in ranges]
            # One statement for all ranges takes a third of the time of one for each.
            for place, *row in self._db().execute(_CHUNKS_OF_RANGES, (json.dumps(wanted),)):
                found[place].append(rows.to_chunk(row, ids[ranges[place][0]]))
            for chunks in found:
                # SQLite reads them in this order, without being asked to sort all texts.
                chunks.sort(key=attrgetter("seq"))
            return found

    @translating
    def closings(self, places: Sequence[tuple[int, int]]) -> list[int | None]:
        """Return, for each chunk, the position of the first message of the assistant from it on that closes a turn."""
        return [self._closing(*_rows_of(*place, None)) for place in places]

    def _closing(self, first: int, end: int) -> int | None:
        closing = None
        with contextlib.closing(self._db().execute(_SPEAKERS, (first, end))) as speakers:
            for row, role in speakers:
                weight_class = row & 3
                if weight_class == 1 and role == "assistant":
                    closing = row >> 2 & (MAX_CHUNKS - 1)
                elif weight_class == 0 and closing is not None:
                    break
                elif weight_class > 1:
                    closing = None
        return closing

    @translating
    def matching(self, query: Query, chunks: Sequence[tuple[int, int]]) -> list[frozenset[int]]:
        """Return the query's words that each chunk contains."""
        # Without an order FTS5 walks the postings of a common word up to the chunk, in six times the time.
        sql = "SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC"
        found = []
        for number, seq in chunks:
            row = number << schema.SESSION_SHIFT | seq << 2
            found.append(
                frozenset(
                    position
                    for position, word in enumerate(query.words)
                    if self._db().execute(sql, (fts.any_of([word]), row, row | 3)).fetchone()
                )
            )
        return found

    @translating
    def terms(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return the index's terms that start with a prefix, with their numbers of chunks, the commonest first."""
        with self.snapshot():
            return list(self._view().terms(prefix, limit))

    @translating
    def frequencies(self, words: Sequence[Word]) -> list[int]:
        """Return the number of chunks with each word, of a common one an estimate."""
        with self.snapshot():
            return matching.frequencies(self._view(), words)

    @translating
    def values(self, field: str, limit: int) -> list[tuple[str, int]]:
        """Return the values of a field of filters, with their numbers of sessions, the commonest first."""
        return self._db().execute(DIALECT.values_of(field), (limit,)).fetchall()

    @translating
    def tallies(self) -> dict[int, tuple[int, int]]:
        """Return by session its chunks with an error, and the files that its tool calls named."""
        failed = "FROM chunks INDEXED BY chunks_error WHERE is_error GROUP BY 1"
        failures = self._db().execute(f"SELECT id >> {schema.SESSION_SHIFT}, count(*) {failed}")
        return tallied(failures, self._db().execute("SELECT session, count(*) FROM paths GROUP BY session"))

    @translating
    def withheld(self, filters: Filters) -> int:
        """Return the number of sessions of which only metadata is visible."""
        wanted = DIALECT.on_sessions(of_metadata(filters)).and_(on_kind(filters), Where("s.visibility = 'metadata'"))
        sql = f"SELECT count(DISTINCT s.key) FROM sessions AS s{wanted.where()}"
        return int(self._db().execute(sql, wanted.values).fetchone()[0])

    @translating
    def directories(self, limit: int) -> list[str]:
        """Return the directories of sessions, each once."""
        return [place for (place,) in self._db().execute(DIALECT.directories(), (limit,))]

    @translating
    def terms_with(self, part: str, limit: int) -> list[tuple[str, int]]:
        """Return terms that contain a string, with their numbers of chunks; of a large index only some are compared."""
        with self.snapshot():
            return self._view().vocabulary.terms_with(part, limit)

    @translating
    def freshness(self) -> Freshness:
        """Return the time of the last sync, and the number of files that could not be read."""
        synced = self._db().execute("SELECT value FROM meta WHERE key = 'last_sync_at'").fetchone()
        (unreadable,) = self._db().execute("SELECT count(*) FROM files WHERE error IS NOT NULL").fetchone()
        return Freshness(last_sync=rows.from_ms(synced[0]) if synced else None, unreadable=unreadable)

    @translating
    def known_files(self, first_ns: int | None = None, last_ns: int | None = None) -> dict[str, KnownFile]:
        """Return the known files; one with a quiet session and an outdated conversation counts as unread."""
        quiet = (conversations.quiet_before(),)
        which = TRUE
        if first_ns is not None or last_ns is not None:
            times = (0 if first_ns is None else first_ns, LARGEST if last_ns is None else last_ns)
            sql = f"mtime_ns BETWEEN ? AND ? OR error IS NOT NULL OR id IN ({conversations.QUIET_FILES})"
            which = Where(sql, (*times, *quiet))
        sql = f"""SELECT path, iif(error IS NULL AND id NOT IN ({conversations.QUIET_FILES}), mtime_ns, ?),
            parser, parser_version, missing_since IS NOT NULL, size FROM files{which.where()}"""
        return {row[0]: row[1:] for row in self._db().execute(sql, (*quiet, UNREAD, *which.values))}

    def scan_cache_path(self) -> str | None:
        """Return a path next to this generation of the index."""
        self._db()
        return f"{self._local.opened.path}-looked" if self._local.opened.is_made else None

    @translating
    def statistics(self) -> Statistics:
        """Return counts of the content."""
        with self.snapshot():
            db = self._db()
            agents = db.execute(
                "SELECT agent, kind, count(DISTINCT key), sum(message_count), max(modified) FROM sessions "
                "GROUP BY agent, kind ORDER BY agent, kind"
            ).fetchall()
            skipped: dict[str, int] = {}
            for file in rows.select(db, rows.to_file, f"SELECT {rows.FILE_COLUMNS} FROM files WHERE skipped <> '{{}}'"):
                for reason, count in file.skipped.items():
                    skipped[reason] = skipped.get(reason, 0) + count
            # As a query of its own, it uses the index of keys, which takes a fifth of the time.
            (sessions,) = db.execute("SELECT count(DISTINCT key) FROM sessions").fetchone()
            meta = dict(db.execute("SELECT key, value FROM meta"))
            sql = "SELECT count(*), count(missing_since) FROM files WHERE parser <> ?"
            files, missing = db.execute(sql, (NOTES,)).fetchone()
            failed = db.execute("SELECT path, error FROM files WHERE error IS NOT NULL ORDER BY path").fetchall()
            (forgotten,) = db.execute("SELECT count(*) FROM tombstones").fetchone()
            path = str(self.path)
            return Statistics(
                sessions=sessions,
                chunks=meta["chunks"],
                messages=sum(messages for _, _, _, messages, _ in agents),
                files=files,
                size=sum(map(_size, (path, path + "-wal", path + "-shm"))),
                location=path,
                schema_version=schema.version(db),
                agents=tuple(
                    AgentStatistics(agent=a, kind=k, sessions=n, messages=m, newest_message=rows.from_ms(t))
                    for a, k, n, m, t in agents
                ),
                missing=missing,
                failed=tuple(failed),
                skipped=skipped,
                last_sync=rows.from_ms(meta.get("last_sync_at")),
                newest_message=rows.from_ms(max((newest for *_, newest in agents), default=None)),
                forgotten=forgotten,
            )

    def _view(self) -> View:
        """Return the state that this thread's snapshot shows."""
        view: View = self._local.view
        return view

    def _db(self) -> sqlite3.Connection:
        """Return this thread's connection, opened again when another generation replaced the index."""
        opened: Opened | None = getattr(self._local, "opened", None)
        if opened is not None:
            if opened.db.in_transaction or self._is_current(opened):
                return opened.db
            opened.db.close()
        opened = self._local.opened = self._connect()
        return opened.db


def _rows_of(number: int, first: int, count: int | None) -> tuple[int, int]:
    """Return the row id of the first chunk of a range, and the one after its last."""
    # A further position would reach into the number of the next session.
    end = MAX_CHUNKS if count is None else min(MAX_CHUNKS, first + count)
    base = number << schema.SESSION_SHIFT
    return base + (min(first, end) << 2), base + (end << 2)


def _size(path: str) -> int:
    """Return a file's size, 0 when it is missing: the log next to a database is temporary."""
    try:
        return os.path.getsize(path)
    except (FileNotFoundError, NotADirectoryError):
        return 0
