"""The read half."""

import threading
from collections import Counter
from contextlib import contextmanager

from sesame_core import AgentStatistics, Candidates, ScoredChunk, Statistics
from sesame_core.sdk import filtering
from sesame_core.types.index import NOTES, UNREAD, Freshness

from .words import count, score, stems


class Reader:
    def __init__(self, storage):
        self._storage = storage
        self._pinned = threading.local()

    @property
    def _index(self):
        return getattr(self._pinned, "index", None) or self._storage.read()

    @contextmanager
    def snapshot(self):
        before = getattr(self._pinned, "index", None)
        self._pinned.index = self._index
        try:
            yield
        finally:
            self._pinned.index = before

    def candidates(self, query, filters):
        entries = self._index.entries
        documents = {(number, seq): d for number, e in entries.items() for seq, d in enumerate(e.documents)}
        scores, frequencies = score(query.words, documents)
        chunks, heads = [], {}
        for number, seq in sorted(scores, key=scores.get, reverse=True):
            chunk, points = entries[number].chunks[seq], scores[number, seq]
            if filtering.chunk_matches(filters, chunk):
                chunks.append(ScoredChunk(session=number, seq=seq, weight_class=chunk.weight_class, score=points))
        if not filtering.narrows_chunks(filters):
            narrow = {n for n, e in entries.items() if filtering.narrows_chunks(filters, e.stored.session)}
            heads, _ = score(query.words, {n: _head(e.stored.session) for n, e in entries.items() if n not in narrow})
        found = {chunk.session for chunk in chunks} | heads.keys()
        found = {number for number in found if _meets(entries[number], filters, query.condition)}
        shown = {number for number in found if not filtering.is_hidden(filters, entries[number].stored.session)}
        return Candidates(
            chunks=[chunk for chunk in chunks if chunk.session in shown],
            heads={number: heads[number] for number in shown & heads.keys()},
            document_frequencies=frequencies,
            chunk_total=len(documents),
            session_total=len(shown),
            left_out={"headless": len(found - shown)} if found - shown else {},
            scanned=len(scores),
        )

    def matching(self, query, chunks):
        documents = [self._index.entries[number].documents[seq] for number, seq in chunks]
        return [frozenset(n for n, word in enumerate(query.words) if count(word, d)) for d in documents]

    def sessions(self, numbers):
        entries = self._index.entries
        return [entries[number].stored for number in numbers if number in entries]

    def find_sessions(self, prefix):
        sessions = [e.stored for e in self._index.entries.values()]
        exact = [stored for stored in sessions if stored.session.id == prefix]
        return exact or [stored for stored in sessions if prefix and stored.session.id.startswith(prefix)]

    def find_by_id(self, ids):
        ids = set(ids)
        return [e.stored for e in self._index.entries.values() if e.stored.session.id in ids]

    def list_sessions(self, filters, *, limit, offset=0, condition=None):
        entries = [e for e in self._index.entries.values() if not filtering.is_hidden(filters, e.stored.session)]
        entries = [e for e in entries if filtering.has_chunk(filters, e.stored, e.chunks)]
        found = [e.stored for e in entries if _meets(e, filters, condition)]
        standing = filtering.standing(found)
        found = sorted((s for s in found if s.number in standing), key=lambda s: s.session.modified, reverse=True)
        return found[offset : offset + limit], len(found)

    def chunks(self, ranges):
        entries = self._index.entries
        of = [(entries[number].chunks if number in entries else [], first, many) for number, first, many in ranges]
        return [chunks[first:] if many is None else chunks[first : first + many] for chunks, first, many in of]

    def statistics(self):
        index, agents = self._index, {}
        standing = filtering.standing(entry.stored for entry in index.entries.values())
        for entry in index.entries.values():
            session = entry.stored.session
            new = AgentStatistics(agent=session.agent, kind=session.kind or "", sessions=0, messages=0)
            agent = agents.setdefault((new.agent, new.kind), new)
            agent.sessions += entry.stored.number in standing
            agent.messages += session.message_count
            agent.newest_message = max(agent.newest_message or session.modified, session.modified)
        files = [file for file in index.files.values() if file.parser != NOTES]
        return Statistics(
            sessions=len(standing),
            chunks=sum(len(entry.chunks) for entry in index.entries.values()),
            messages=sum(agent.messages for agent in agents.values()),
            files=len(files),
            size=self._storage.path.stat().st_size if self._storage.path.exists() else 0,
            location=str(self._storage.path),
            agents=tuple(agents.values()),
            missing=sum(file.missing_since is not None for file in files),
            failed=tuple((file.path, file.error) for file in index.files.values() if file.error),
            skipped=sum((Counter(file.skipped) for file in files), Counter()),
            last_sync=index.last_sync,
            newest_message=max((agent.newest_message for agent in agents.values()), default=None),
            forgotten=len(index.forgotten),
        )

    # An optional ability, `TracksFiles`: with it, a search detects that no file has changed.

    def known_files(self, first_ns=None, last_ns=None):
        known = {}
        for path, file in self._index.files.items():
            time = UNREAD if file.error else file.mtime_ns
            if time == UNREAD or (first_ns or 0) <= time <= (last_ns or time):
                known[path] = (time, file.parser, file.parser_version, file.missing_since is not None)
        return known

    def freshness(self):
        index = self._index
        return Freshness(last_sync=index.last_sync, unreadable=sum(bool(file.error) for file in index.files.values()))

    def scan_cache_path(self):
        return None


def _head(session):
    notes = session.notes.text if session.notes else None
    return stems("\n".join(filter(None, (session.title, session.summary, *session.prompts, notes))))


def _meets(entry, filters, condition):
    documents = entry.documents
    judge = filtering.SessionFilter(lambda _, chunk, word: count(word, documents[chunk.seq]) > 0)
    return judge.matches(filters, entry.stored, entry.chunks) and judge.meets(condition, entry.stored, entry.chunks)
