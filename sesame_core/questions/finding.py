"""The chunks that a question is about, found by their words and read once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias

from ..plugin.backend import Bounding, Counting, IndexReader, Phrases
from ..query.parser import parse
from ..search.grouping import copy_rank
from ..search.rarest import with_rarest_words
from ..text.tokens import split
from ..tool_calls.results import is_refused
from ..types.fixes import Seen
from ..types.index import Chunk, ChunkRange, ScoredChunk, StoredSession
from ..types.query import Condition, Filters, Query, Word

#: Stands in an order for a time that is not known.
LONG_AGO = datetime.min.replace(tzinfo=UTC)
#: Number of a session, and a position in it.
Place: TypeAlias = tuple[int, int]
#: Words of a phrase that is looked up, as of a search (`search.nearness`).
PHRASE = 4
#: Chunks after a call in which its result is looked for: calls that run at once have their results after all of them.
RESULTS = 8
#: A phrase whose rarest word is in more chunks is not looked up (`search.second_look`).
COMMON = 8_000


def rarity(reader: IndexReader, words: Iterable[str]) -> dict[str, float]:
    """Return how much each word tells, relative to the commonest of them; {} if the index cannot count."""
    known = list(dict.fromkeys(words))
    if not isinstance(reader, Counting) or not known:
        return {}
    counts = reader.frequencies([word_of(" ".join(split(word)) or word) for word in known])
    most = max(counts) + 1
    return {word: 0.5 + math.log(2 * most / (count + 1)) for word, count in zip(known, counts, strict=True)}


def phrase_of(key: Sequence[str], weights: Mapping[str, float]) -> Word | None:
    """Return the neighbouring words of an error's key that tell most; None if it has several, and no neighbours.

    :param key: with `#` and `/` where something differs from run to run.
    """
    runs: list[list[tuple[str, float]]] = [[]]
    for word in key:
        if word in "#/":
            runs.append([])
        else:
            runs[-1] += [(token, weights.get(word, float(len(word)))) for token in split(word)]
    least = min(2, sum(map(len, runs))) or 1
    best: tuple[float, tuple[str, ...]] | None = None
    for run in runs:
        for start in range(max(1, len(run) - PHRASE + 1)):
            part = run[start : start + PHRASE]
            told = sum(weight for _, weight in part)
            if len(part) >= least and (best is None or told > best[0]):
                best = told, tuple(token for token, _ in part)
    return word_of(" ".join(best[1])) if best else None


class Found(NamedTuple):
    """The newest chunks with a word or phrase."""

    chunks: list[ScoredChunk]
    #: Whether these are all.
    is_whole: bool


def chunks_with(
    reader: IndexReader,
    word: Word,
    filters: Filters,
    limit: int,
    *,
    condition: Condition | None = None,
    beside: Sequence[Word] = (),
) -> Found:
    """Return chunks with a word or phrase; of more than the limit those of the newest sessions, if the index can tell.

    :param condition: what their sessions meet.
    :param beside: words of which the chunks have one, too, if the index can tell.
    """
    is_bounded = False
    if isinstance(reader, Bounding):
        chunks, is_bounded = reader.bounded_phrase(word, filters, condition, limit, beside=beside)
    elif isinstance(reader, Phrases):
        chunks = reader.phrase(word, filters, condition, limit, beside=beside)
    else:
        query = Query(text=word.text, words=(word,), condition=condition)
        chunks = reader.candidates(query, filters).chunks[:limit]
    return Found(chunks, len(chunks) < limit and not is_bounded)


def refused(reader: IndexReader, calls: Iterable[tuple[int, Chunk]]) -> set[Place]:
    """Return the places of those calls whose results say that they did nothing.

    :param calls: each with the number of its session.
    """
    wanted = sorted((number, call.seq, call.call_id) for number, call in calls if call.call_id)
    ranges: list[ChunkRange] = []
    for number, seq, _ in wanted:
        last, first, count = ranges[-1] if ranges else (None, 0, 0)
        if last == number and seq < first + (count or 0):  # what is behind both is read once
            ranges[-1] = number, first, seq + 1 + RESULTS - first
        else:
            ranges.append((number, seq + 1, RESULTS))
    undone: dict[tuple[int, str | None], list[int]] = {}
    for (number, _, _), chunks in zip(ranges, reader.chunks(ranges) if ranges else [], strict=True):
        for chunk in chunks:
            if chunk.kind == "tool_result" and is_refused(chunk):
                undone.setdefault((number, chunk.call_id), []).append(chunk.seq)
    return {
        (number, seq)
        for number, seq, call_id in wanted
        if any(seq < result <= seq + RESULTS for result in undone.get((number, call_id), ()))
    }


def with_phrase(
    reader: IndexReader, word: Word, filters: Filters, limit: int, *, beside: Sequence[Word] = ()
) -> tuple[list[Place], bool]:
    """Return the chunks with a phrase, those of the newest sessions first, and whether these are all.

    :param beside: words of which the chunks have one, too, if the index can tell.
    """
    found = chunks_with(reader, word, filters, limit, beside=beside)
    return sorted(((chunk.session, chunk.seq) for chunk in found.chunks), reverse=True), found.is_whole


def query_of(reader: IndexReader, words: Sequence[str]) -> Query:
    """Return a query for any of some words, which are not read as operators."""
    return with_rarest_words(reader, parse(" ".join(split(" ".join(words)))))


def chunks_at(reader: IndexReader, places: Iterable[Place]) -> dict[Place, Chunk]:
    """Return the chunks at some places, in the order of these."""
    wanted = list(dict.fromkeys(places))
    read = reader.chunks([(*place, 1) for place in wanted]) if wanted else []
    return {place: chunks[0] for place, chunks in zip(wanted, read, strict=True) if chunks}


def originals_at(reader: IndexReader, places: Iterable[Place]) -> dict[Place, Chunk]:
    """Return the chunks at some places, each once: of copies of a message in several sessions the first."""
    first: dict[object, Place] = {}
    found = chunks_at(reader, places)
    for place, chunk in found.items():
        first.setdefault(place if chunk.origin is None else chunk.origin, place)
    return {place: found[place] for place in first.values()}


def seen(chunk: Chunk, stored: StoredSession) -> Seen:
    """Return where and when a chunk was said; if that is not known, when its session was last active."""
    return Seen(stored=stored, position=chunk.seq, at=chunk.timestamp or stored.session.modified)


def sessions_of(reader: IndexReader, numbers: Iterable[int]) -> dict[int, StoredSession]:
    """Return sessions by number; of a session in several files only the copy that represents it."""
    best: dict[str, StoredSession] = {}
    for stored in sorted(reader.sessions(sorted(set(numbers))), key=copy_rank):
        best[stored.session.key] = stored
    return {stored.number: stored for stored in best.values()}


def project(stored: StoredSession) -> str:
    """Return what tells a session's project from others: its repository, else the end of its first directory."""
    session = stored.session
    if session.repository:
        return session.repository.lower()
    cwd = (session.cwd or "").replace("\\", "/")
    for mark in ("/.worktrees/", "/.claude/worktrees/", "-worktrees/", "/worktrees/"):
        cwd = cwd.partition(mark)[0]
    return cwd.rstrip("/").rpartition("/")[2].lower()


def word_of(text: str) -> Word:
    """Return a text as a word or phrase that is looked up as it is."""
    return Word(text=text, alternatives=(text,))
