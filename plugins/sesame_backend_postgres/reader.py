"""The read half: every method is one query, so one round trip to the server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from sesame_core.config import identity
from sesame_core.errors import UnpreparedError
from sesame_core.query.filters import of_metadata
from sesame_core.sdk.ingest import MAX_CHUNKS
from sesame_core.sdk.rows import tallied
from sesame_core.types.index import (
    UNREAD,
    Candidates,
    Chunk,
    ChunkRange,
    Freshness,
    KnownFile,
    ScoredChunk,
    Statistics,
    StoredSession,
    WorkstationStatistics,
)
from sesame_core.types.query import Condition, Filters, Query, Word

from . import conversations, matching, phrases, rows, spelling, words
from .asking import Asking, Question, Values
from .connecting import Server
from .filters import ALL_STANDING, DIALECT, STANDING, Where, having_chunks, meeting, on_kind, on_sessions
from .generation import GENERATION, cache_path
from .opening import FORGOTTEN, FORMER, INSTALLATION

if TYPE_CHECKING:
    from sesame_core.types.server import ServerState

#: Sessions by number, and all that have the id of a parent of one of them.
_WITH_PARENTS = (
    f"SELECT false, {rows.STORED_COLUMNS} FROM {rows.STORED_FROM} WHERE s.id = ANY (%s) "
    f"UNION ALL SELECT true, {rows.STORED_COLUMNS} FROM {rows.STORED_FROM} WHERE s.session_id = ANY (ARRAY("
    "SELECT parent_id FROM sessions WHERE id = ANY (%s) AND kind = 'subagent'))"
)
#: For each of some ids the first of some lengths at which no other session has its beginning; NULL for none.
_UNIQUE = """
SELECT (
  SELECT min(n) FROM unnest(%s::int[]) AS n WHERE char_length(i.id) <= n OR NOT EXISTS (
    SELECT 1 FROM sessions AS s WHERE s.session_id >= left(i.id, n) COLLATE "C"
      AND s.session_id < (left(i.id, n) || U&'\\+10FFFF') COLLATE "C"
      AND s.session_id <> i.id COLLATE "C" AND NOT starts_with(s.session_id, i.id || '/')
  )
) FROM unnest(%s::text[]) WITH ORDINALITY AS i (id, place) ORDER BY i.place
"""
_FRESHNESS = (
    "SELECT coalesce((SELECT last_sync FROM workstations WHERE name = %s), (SELECT max(last_sync) FROM workstations)), "
    "(SELECT count(*) FROM files WHERE error IS NOT NULL AND workstation = "
    "(SELECT id FROM workstations WHERE name = %s))"
)
#: Which of several words some chunks contain.
_MATCHING = (
    "SELECT t.session, t.seq, q.n FROM unnest(%s::bigint[], %s::int[]) AS a (session, seq) "
    "JOIN texts AS t USING (session, seq) "
    "CROSS JOIN (SELECT n, to_tsquery('code', q) AS q FROM unnest(%s::int[], %s::text[]) AS v (n, q)) AS q "
    "WHERE t.words @@ q.q"
)
#: The first message of the assistant from each of some chunks on that is followed by one of the user, or by nothing.
_CLOSINGS = """
SELECT (
  SELECT m.seq FROM chunks AS m
  WHERE m.session = a.session AND m.seq >= a.seq AND m.kind = 'message' AND m.role = 'assistant' AND coalesce((
    SELECT n.role = 'user' AND n.kind = 'message' FROM chunks AS n
    WHERE n.session = m.session AND n.seq > m.seq
      AND (n.kind IN ('tool_call', 'tool_result') OR n.kind = 'message' AND n.role IN ('user', 'assistant'))
    ORDER BY n.seq LIMIT 1
  ), true)
  ORDER BY m.seq LIMIT 1
) FROM unnest(%s::bigint[], %s::int[]) WITH ORDINALITY AS a (session, seq, place) ORDER BY a.place
"""
_CHUNK = ", ".join("c." + column for column in rows.CHUNK_COLUMNS.split(", "))
#: Of a chunk that a search reads, what can have matched: one of 60 MB would take seconds of everyone's searches.
_FOUND_CHUNK = _CHUNK.replace("c.content", f"left(c.content, {words.LONGEST_TEXT})")
#: The largest number that a column holds, such as a time in nanoseconds since 1970.
LARGEST = (1 << 63) - 1


class PostgresReader:
    """Reads what all workstations have written."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._asking = Asking(server)

    def snapshot(self) -> AbstractContextManager[None]:
        """Show one state of the index to the calls inside: that of the first query."""
        return self._asking.snapshot()

    def candidates(self, query: Query, filters: Filters) -> Candidates:
        """Find and score chunks."""
        known = self._asking.foresight
        if known:
            known.searched(query.words)
        return matching.candidates(self._rows, query, filters, known.counts if known else {})

    def phrase(
        self, word: Word, filters: Filters, condition: Condition | None, limit: int, *, beside: Sequence[Word] = ()
    ) -> list[ScoredChunk]:
        """Find the newest chunks with a phrase."""
        return self.bounded_phrase(word, filters, condition, limit, beside=beside)[0]

    def bounded_phrase(
        self, word: Word, filters: Filters, condition: Condition | None, limit: int, *, beside: Sequence[Word] = ()
    ) -> tuple[list[ScoredChunk], bool]:
        """Find the newest chunks with a phrase, and say whether older ones were not looked at."""
        made = phrases.statement(word, filters, condition, limit, beside)
        found = self._rows(made.sql, made.values) if made else []
        chunks = [
            ScoredChunk(session=number, seq=seq, weight_class=matching.weight_class(of), score=0.0)
            for _, number, seq, of in found
            if number is not None
        ]
        return chunks, bool(found and found[0][0])

    def sessions(self, numbers: Iterable[int]) -> list[StoredSession]:
        """Return sessions by number."""
        wanted = list(numbers)
        known = self._asking.foresight
        if known is None or not known.is_search:
            return self._stored("WHERE s.id = ANY (%s)", (wanted,))
        found = self._asking.together((_WITH_PARENTS, (wanted, wanted)), self._freshness())
        called, above = ([rows.to_stored(row) for is_above, *row in found[0] if is_above == x] for x in (False, True))
        known.keep_above(called, above)
        known.freshness, known.is_ranked = _fresh(found[1]), True
        return called

    def list_sessions(
        self, filters: Filters, *, limit: int, offset: int = 0, condition: Condition | None = None
    ) -> tuple[list[StoredSession], int]:
        """Return sessions, newest first, and their total number."""
        wanted = on_sessions(filters).and_(meeting(condition), on_kind(filters), having_chunks(filters))
        # A page of no sessions is asked for their number, which is mostly large.
        wanted = wanted.and_(STANDING if limit else ALL_STANDING)
        # In one query: finding them takes most of the time.
        sql = (
            f"WITH found AS MATERIALIZED (SELECT s.id, s.modified FROM sessions AS s{wanted.where()}) "
            f"SELECT n.count, p.* FROM (SELECT count(*) FROM found) AS n LEFT JOIN (SELECT {rows.STORED_COLUMNS} "
            "FROM (SELECT id FROM found ORDER BY modified DESC, id DESC LIMIT %s OFFSET %s) AS page, "
            f"{rows.STORED_FROM} WHERE s.id = page.id) AS p ON true ORDER BY p.modified DESC, p.id DESC"
        )
        found = self._rows(sql, (*wanted.values, limit, min(offset, LARGEST)))
        page = [rows.to_stored(row) for _, *row in found if row[0] is not None]
        return page, found[0][0] if found else 0

    def find_sessions(self, prefix: str) -> list[StoredSession]:
        """Return the sessions with this id, else those whose id starts with it."""
        if not prefix:
            return []
        # One query for both.
        sql = (
            "WHERE s.session_id = %s OR (s.session_id >= %s AND s.session_id < %s || U&'\\+10FFFF' "
            "AND NOT EXISTS (SELECT 1 FROM sessions WHERE session_id = %s))"
        )
        return self._stored(sql, (prefix,) * 4)

    def find_by_id(self, ids: Iterable[str]) -> list[StoredSession]:
        """Return the sessions that have one of these ids."""
        wanted = list(ids)
        if (known := self._asking.foresight) and (found := known.by_id(wanted)) is not None:
            return found
        return self._stored("WHERE s.session_id = ANY (%s)", (wanted,)) if wanted else []

    def children(self, session_id: str) -> list[int]:
        """Return the numbers of the sessions whose parent has this id."""
        return [number for (number,) in self._rows("SELECT id FROM sessions WHERE parent_id = %s", (session_id,))]

    def origins(self, number: int) -> list[int | None]:
        """Return the origin of each chunk of a session by position."""
        sql = "SELECT origin FROM chunks WHERE session = %s ORDER BY seq"
        return [origin for (origin,) in self._rows(sql, (number,))]

    def abbreviated(self, ids: Sequence[str], lengths: Sequence[int]) -> list[str]:
        """Return the beginning of each id that is unique, of the first of some lengths at which it is."""
        answers = self._rows(_UNIQUE, (list(lengths), list(ids)))
        return [session_id[:length] for session_id, (length,) in zip(ids, answers, strict=True)]

    def chunks(self, ranges: Sequence[ChunkRange]) -> list[list[Chunk]]:
        """Return the chunks of each range by position."""
        if not ranges:
            return []
        known = self._asking.foresight
        columns = _CHUNK if known is None or not known.is_search else _FOUND_CHUNK
        sql = (
            f"SELECT w.place, s.session_id, {columns} "
            "FROM unnest(%s::bigint[], %s::int[], %s::int[]) WITH ORDINALITY AS w (session, first, last, place) "
            "JOIN sessions AS s ON s.id = w.session "
            "JOIN chunks AS c ON c.session = w.session AND c.seq >= w.first AND c.seq < w.last ORDER BY w.place, c.seq"
        )
        numbers, begin, count = zip(*ranges, strict=True)
        first = [min(MAX_CHUNKS, position) for position in begin]
        last = [
            MAX_CHUNKS if length is None else min(MAX_CHUNKS, position + length)
            for position, length in zip(first, count, strict=True)
        ]
        found: list[list[Chunk]] = [[] for _ in ranges]
        question = (sql, (list(numbers), first, last))
        if known is not None and known.is_ranked and set(count) == {1}:
            known.is_ranked = False
            places = list(zip(numbers, first, strict=True))
            asked = [(position, word) for position, word in enumerate(known.words) if word is not None]
            answers, contained = self._asking.together(question, _matching(asked, places))
            known.keep_matching(places, contained)
        else:
            answers = self._rows(*question)
        for place, session_id, *row in answers:
            found[place - 1].append(rows.to_chunk(tuple(row), session_id))
        return found

    def closings(self, places: Sequence[tuple[int, int]]) -> list[int | None]:
        """Return, for each chunk, the position of the first message of the assistant from it on that closes a turn."""
        if not places:
            return []
        numbers, positions = zip(*places, strict=True)
        return [closing for (closing,) in self._rows(_CLOSINGS, (list(numbers), list(positions)))]

    def matching(self, query: Query, chunks: Sequence[tuple[int, int]]) -> list[frozenset[int]]:
        """Return the query's words that each chunk contains."""
        made = [words.any_of([word]) for word in query.words]
        if (known := self._asking.foresight) and (found := known.matching(made, chunks)) is not None:
            return found
        asked = [(position, word) for position, word in enumerate(made) if word is not None]
        if not chunks or not asked:
            return [frozenset()] * len(chunks)
        contained: dict[tuple[int, int], set[int]] = {}
        for number, seq, position in self._rows(*_matching(asked, chunks)):
            contained.setdefault((number, seq), set()).add(position)
        return [frozenset(contained.get(chunk, ())) for chunk in chunks]

    def terms(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return words that start with a prefix, the commonest first: as counted by the last run, and later ones."""
        plain = words.plain(prefix).strip()
        return self._terms(spelling.BEGINNING, {"part": plain, "most": limit, "prefix": words.phrase(f"{plain}*")})

    def terms_with(self, part: str, limit: int) -> list[tuple[str, int]]:
        """Return words that contain a string, as counted by the last run, the commonest first."""
        return self._terms(spelling.CONTAINING, {"part": words.plain(part).strip(), "most": limit})

    def _terms(self, sql: str, values: Mapping[str, Any]) -> list[tuple[str, int]]:
        return [(term, count) for term, count in self._rows(sql, values)] if values["part"] else []

    def frequencies(self, words: Sequence[Word]) -> list[int]:
        """Return the number of chunks with each word, of a common one or a phrase an estimate."""
        known = self._asking.foresight
        return matching.frequencies(self._rows, words, known.counts if known else {})

    def values(self, field: str, limit: int) -> list[tuple[str, int]]:
        """Return the values of a field of filters, with their numbers of sessions, the commonest first."""
        return [(value, count) for value, count in self._rows(DIALECT.values_of(field), (limit,))]

    def tallies(self) -> dict[int, tuple[int, int]]:
        """Return by session its chunks with an error, and the files that its tool calls named."""
        failures = self._rows("SELECT session, count(*) FROM chunks WHERE is_error GROUP BY session", ())
        return tallied(failures, self._rows("SELECT session, count(*) FROM paths GROUP BY session", ()))

    def withheld(self, filters: Filters) -> int:
        """Return the number of sessions of which only metadata is visible."""
        wanted = on_sessions(of_metadata(filters)).and_(on_kind(filters), Where("s.visibility = 'metadata'"))
        sql = f"SELECT count(DISTINCT s.key) FROM sessions AS s{wanted.where()}"
        return int(self._rows(sql, wanted.values)[0][0])

    def freshness(self) -> Freshness:
        """Return the last sync of this workstation, and the number of its files that could not be read."""
        if (known := self._asking.foresight) and known.freshness:
            return known.freshness
        return _fresh(self._rows(*self._freshness()))

    def known_files(self, first_ns: int | None = None, last_ns: int | None = None) -> dict[str, KnownFile]:
        """Return this workstation's files; one with a quiet session and an outdated conversation counts as unread."""
        quiet = (
            "EXISTS (SELECT 1 FROM sessions AS s "
            f"WHERE s.file = f.id AND s.workstation = f.workstation AND {conversations.IS_QUIET})"
        )
        sql = (
            f"SELECT f.path, CASE WHEN f.error IS NULL AND NOT {quiet} "
            "THEN f.mtime_ns ELSE %s END, f.parser, f.parser_version, f.missing_since IS NOT NULL, f.size "
            "FROM files AS f JOIN workstations AS w ON w.id = f.workstation WHERE w.name = %s AND NOT f.superseded"
        )
        values: tuple[Any, ...] = (UNREAD, identity.workstation_id())
        if first_ns is not None or last_ns is not None:
            sql += f" AND (f.mtime_ns BETWEEN %s AND %s OR f.error IS NOT NULL OR {quiet})"
            values += (0 if first_ns is None else first_ns, LARGEST if last_ns is None else last_ns)
        try:
            return {path: tuple(known) for path, *known in self._rows(sql, values)}
        except UnpreparedError:
            return {}  # the run that follows makes the tables, or says why it cannot

    def scan_cache_path(self) -> str | None:
        """Return a path in the data directory, for this workstation's rows in this schema."""
        try:
            found = self._rows(GENERATION, (identity.workstation_id(),))
        except UnpreparedError:
            return None
        return cache_path(self._server.place, found[0]) if found else None

    def workstations(self) -> list[WorkstationStatistics]:
        """Return what each workstation has written, the last synchronised first."""
        from . import statistics  # only for who asks

        return statistics.workstations(self._rows)

    def statistics(self) -> Statistics:
        """Return counts of the content; missing and failed files are this workstation's."""
        from . import statistics

        with self.snapshot():
            return statistics.whole(self._rows, self._server.place, self.freshness().last_sync)

    def former_ids(self) -> tuple[str, ...]:
        """Return other ids under which this installation has written, and may write."""
        if not identity.is_kept(INSTALLATION):
            return ()
        values = (identity.kept_random(INSTALLATION), identity.workstation_id())
        return tuple(name for _, name in self._rows(FORMER, values))

    def forgotten(self) -> set[tuple[str, str]]:
        """Return agent and id of the forgotten sessions of this workstation."""
        return {(agent, session) for agent, session in self._rows(FORGOTTEN, (identity.workstation_id(),))}

    def server_state(self) -> ServerState:
        """Return the state of the server."""
        from . import monitoring  # only for who asks

        with self.snapshot():
            return monitoring.state(self._rows)

    def may_write(self) -> bool:
        """Return whether this login may write to the index."""
        return bool(self._rows("SELECT NOT pg_is_in_recovery() AND has_table_privilege('chunks', 'INSERT')", ())[0][0])

    # -- implementation -----------------------------------------------------------------------------------

    def _stored(self, where: str, values: tuple[Any, ...]) -> list[StoredSession]:
        sql = f"SELECT {rows.STORED_COLUMNS} FROM {rows.STORED_FROM} {where}"
        return [rows.to_stored(row) for row in self._rows(sql, values)]

    def _freshness(self) -> Question:
        return _FRESHNESS, (identity.workstation_id(),) * 2

    def _rows(self, sql: str, values: Values = ()) -> list[Any]:
        """Return the rows of a query."""
        return self._asking.rows(sql, values)


def _fresh(found: Sequence[tuple[Any, int]]) -> Freshness:
    return Freshness(last_sync=found[0][0], unreadable=found[0][1]) if found else Freshness()


def _matching(asked: Sequence[tuple[int, str]], chunks: Sequence[tuple[int, int]]) -> Question:
    """Return the question which words, each with its position, the chunks contain."""
    return _MATCHING, (
        [number for number, _ in chunks],
        [seq for _, seq in chunks],
        [position for position, _ in asked],
        [word for _, word in asked],
    )
