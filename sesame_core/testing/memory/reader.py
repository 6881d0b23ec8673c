"""The read half of the backend in memory: every call scans the whole index."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from datetime import UTC, datetime

from ...query.filters import of_metadata
from ...sdk.filtering import chunk_matches, has_chunk, is_hidden, narrows_chunks, standing, values_of
from ...types.index import (
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
from ...types.query import Condition, Filters, Query, Word
from ...types.transcript import Session
from .index import State
from .words import bm25

#: Weights of title, summary and prompts in a head, and of title, people and agents in a conversation: SQLite's.
HEAD_WEIGHTS, CONVERSATION_WEIGHTS = (2.0, 1.0, 2.0), (4.0, 1.5, 1.0)
#: Replaces a modified time that `datetime` cannot represent.
_LAST = datetime.max.replace(tzinfo=UTC)


class MemoryReader:
    """Reads the present state of an index, or inside of a snapshot the one at its start.

    :param present: returns the present state.
    """

    def __init__(self, present: Callable[[], State]) -> None:
        self._present = present
        self._held = threading.local()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Hold one state for the calls of this thread."""
        before = getattr(self._held, "state", None)
        self._held.state = before or self._present()
        try:
            yield
        finally:
            self._held.state = before

    def candidates(self, query: Query, filters: Filters) -> Candidates:
        """Score all chunks, heads and conversations that match."""
        state = self._state()
        scores = bm25(state.documents, query.words)
        sessions = {stored.number: stored for stored in state.matching(filters, query.condition)}
        hidden = {number for number, stored in sessions.items() if is_hidden(filters, stored.session)}
        found = [
            ScoredChunk(session=number, seq=seq, weight_class=chunk.weight_class, score=score)
            for (number, seq), score in scores.items()
            if number in sessions and chunk_matches(filters, chunk := state.entries[number].chunks[seq])
        ]
        shown = [chunk for chunk in found if chunk.session not in hidden]
        left_out = {chunk.session for chunk in found if chunk.session in hidden}
        numbers = {chunk.session for chunk in shown}
        candidates = Candidates(
            chunks=sorted(shown, key=lambda chunk: (-chunk.score, -chunk.session, -chunk.seq)),
            heads={},
            document_frequencies=[_frequency(state, word) for word in query.words],
            chunk_total=len(state.documents),
            session_total=len(numbers),
            left_out={"headless": len(left_out)} if left_out else {},
            scanned=len(shown),
        )
        if not narrows_chunks(filters):
            heads = bm25({n: entry.head for n, entry in state.entries.items()}, query.words, HEAD_WEIGHTS)
            whole = {n for n, stored in sessions.items() if not narrows_chunks(filters, stored.session)}
            candidates.heads = {n: score for n, score in heads.items() if n in whole - hidden}
        if candidates.heads:
            said = {n: entry.conversation for n, entry in state.entries.items()}
            of_all = bm25(said, query.words, CONVERSATION_WEIGHTS)
            near = numbers | candidates.heads.keys()
            candidates.conversations = {n: score for n, score in of_all.items() if n in near}
        return candidates

    def sessions(self, numbers: Iterable[int]) -> list[StoredSession]:
        """Return sessions by number."""
        state = self._state()
        return [state.stored(number) for number in dict.fromkeys(numbers) if number in state.entries]

    def find_sessions(self, prefix: str) -> list[StoredSession]:
        """Return the sessions with this id, else those whose id starts with it."""
        state = self._state()
        ids = {n: entry.session.id for n, entry in state.entries.items()}
        exact = [n for n, id in ids.items() if id == prefix]
        return [state.stored(n) for n in exact or [n for n, id in ids.items() if prefix and id.startswith(prefix)]]

    def find_by_id(self, ids: Iterable[str]) -> list[StoredSession]:
        """Return the sessions that have one of these ids."""
        state, wanted = self._state(), set(ids)
        return [state.stored(n) for n, entry in state.entries.items() if entry.session.id in wanted]

    def children(self, session_id: str) -> list[int]:
        """Return the numbers of the sessions whose parent has this id."""
        return [n for n, entry in self._state().entries.items() if entry.session.parent_id == session_id]

    def origins(self, number: int) -> list[int | None]:
        """Return the origin of each chunk of a session by position."""
        entry = self._state().entries.get(number)
        return [chunk.origin for chunk in entry.chunks] if entry else []

    def list_sessions(
        self, filters: Filters, *, limit: int, offset: int = 0, condition: Condition | None = None
    ) -> tuple[list[StoredSession], int]:
        """Return sessions, newest first, and their total number."""
        state = self._state()
        speaking = standing(state.sessions.values())
        found = [
            stored
            for stored in state.matching(filters, condition)
            if stored.number in speaking
            and not is_hidden(filters, stored.session)
            and has_chunk(filters, stored, state.entries[stored.number].chunks)
        ]
        found.sort(key=lambda stored: (stored.session.modified or _LAST, stored.number), reverse=True)
        return [state.stored(stored.number) for stored in found[offset : offset + limit]], len(found)

    def chunks(self, ranges: Sequence[ChunkRange]) -> list[list[Chunk]]:
        """Return the chunks of each range by position."""
        entries = self._state().entries
        found: list[list[Chunk]] = []
        for number, first, count in ranges:
            end = None if count is None else first + count
            found.append([copy(chunk) for chunk in entries[number].chunks[first:end]] if number in entries else [])
        return found

    def matching(self, query: Query, chunks: Sequence[tuple[int, int]]) -> list[frozenset[int]]:
        """Return the query's words that each chunk contains."""
        documents = self._state().documents
        return [
            frozenset(i for i, word in enumerate(query.words) if place in documents and documents[place].contains(word))
            for place in chunks
        ]

    def terms(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return the terms that start with a prefix, with their numbers of chunks, the commonest first."""
        found = [(term, count) for term, count in self._state().terms.items() if term.startswith(prefix)]
        return sorted(found, key=lambda each: (-each[1], each[0]))[:limit]

    def frequencies(self, words: Sequence[Word]) -> list[int]:
        """Return the number of chunks with each word."""
        state = self._state()
        return [_frequency(state, word) for word in words]

    def values(self, field: str, limit: int) -> list[tuple[str, int]]:
        """Return the values of a field of filters, with their numbers of sessions, the commonest first."""
        sessions = [entry.session for entry in self._state().entries.values()]
        found = Counter(value for value, _ in {(v, s.key) for s in sessions for v in values_of(field, s)})
        return sorted(found.items(), key=lambda each: (-each[1], each[0]))[:limit]

    def tallies(self) -> dict[int, tuple[int, int]]:
        """Return by session its chunks with an error, and the files that its tool calls named."""
        return {
            number: (
                sum(chunk.is_error for chunk in entry.chunks),
                len({path.replace("\\", "/") for chunk in entry.chunks for path in chunk.paths}),
            )
            for number, entry in self._state().entries.items()
        }

    def withheld(self, filters: Filters) -> int:
        """Return the number of sessions of which only metadata is visible."""
        found = self._state().matching(of_metadata(filters), None)
        sessions = [stored.session for stored in found if not is_hidden(filters, stored.session)]
        return len({session.key for session in sessions if session.visibility == "metadata"})

    def directories(self, limit: int) -> list[str]:
        """Return the directories of sessions, each once."""
        sessions = (entry.session for entry in self._state().entries.values())
        return list(dict.fromkeys(place for session in sessions for place in session.places))[:limit]

    def terms_with(self, part: str, limit: int) -> list[tuple[str, int]]:
        """Return the terms that contain a string, with their numbers of chunks, the commonest first."""
        found = [(term, count) for term, count in self._state().terms.items() if part in term]
        return sorted(found, key=lambda each: (-each[1], each[0]))[:limit]

    def known_files(self, first_ns: int | None = None, last_ns: int | None = None) -> dict[str, KnownFile]:
        """Return the known files."""
        known: dict[str, KnownFile] = {
            path: (
                UNREAD if file.error is not None else file.mtime_ns,
                file.parser,
                file.parser_version,
                file.missing_since is not None,
                file.size,
            )
            for path, file in self._state().files.items()
        }
        first, last = first_ns or 0, math.inf if last_ns is None else last_ns
        is_bounded = first_ns is not None or last_ns is not None
        return {path: of for path, of in known.items() if not is_bounded or of[0] == UNREAD or first <= of[0] <= last}

    def freshness(self) -> Freshness:
        """Return the time of the last sync, and the number of files that could not be read."""
        state = self._state()
        return Freshness(last_sync=state.synced_at, unreadable=sum(f.error is not None for f in state.files.values()))

    def scan_cache_path(self) -> str | None:
        """Return None: no other process can use the index."""
        return None

    def statistics(self) -> Statistics:
        """Return counts of the content."""
        state = self._state()
        groups: dict[tuple[str, str], list[Session]] = {}
        for entry in state.entries.values():
            groups.setdefault((entry.session.agent, entry.session.kind or ""), []).append(entry.session)
        files = [file for file in state.files.values() if file.parser != NOTES]
        skipped = Counter[str]()
        for file in state.files.values():
            skipped.update(file.skipped)
        return Statistics(
            sessions=len({entry.session.key for entry in state.entries.values()}),
            chunks=len(state.documents),
            messages=sum(entry.session.message_count for entry in state.entries.values()),
            files=len(files),
            size=sum(len(chunk.text) for entry in state.entries.values() for chunk in entry.chunks),
            location="memory",
            agents=tuple(
                AgentStatistics(
                    agent=agent,
                    kind=kind,
                    sessions=len({session.key for session in sessions}),
                    messages=sum(session.message_count for session in sessions),
                    newest_message=_newest(sessions),
                )
                for (agent, kind), sessions in sorted(groups.items())
            ),
            missing=sum(file.missing_since is not None for file in files),
            failed=tuple(sorted((f.path, f.error) for f in state.files.values() if f.error is not None)),
            skipped=dict(skipped),
            last_sync=state.synced_at,
            newest_message=_newest(entry.session for entry in state.entries.values()),
            forgotten=len(state.tombstones),
        )

    def _state(self) -> State:
        return getattr(self._held, "state", None) or self._present()


def _frequency(state: State, word: Word) -> int:
    return sum(document.contains(word) for document in state.documents.values())


def _newest(sessions: Iterable[Session]) -> datetime | None:
    return max((session.modified for session in sessions if session.modified), default=None)
