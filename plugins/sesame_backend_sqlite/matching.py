"""Finds and scores the chunks that match a query, within a budget.

FTS5 has no early exit: it walks the postings of every word that is scored (0.045 µs each), steps through the matches
(0.1 µs each) and scores those that pass the filters (1.1 µs each).  So every statement reads the newest matches first
and stops at a limit, and the words are taken rarest first: what has one of the rarest is a candidate, as far as the
budget goes; when even the rarest word is too common, what has others as well is.  The budget picks candidates;
each candidate's score counts all words of the query.
"""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Iterable, Sequence
from operator import itemgetter

from sesame_core.dataclass import dataclass
from sesame_core.protocols import Candidates, ScoredChunk
from sesame_core.query import Filters, Query, Word

from . import fts
from .filters import Condition, meeting, on_chunks, on_sessions
from .schema import SESSION_SHIFT

#: Chunks that one query may score, so that 100,000 chunks answer within 50 ms.  From 11,000 on, the labelled queries
#: (`benchmarks/quality.py`, 125,495 chunks) get the same ranks as without a budget.
BUDGET = 12_000
#: When even the rarest word has more chunks than that, so many of its newest.
NEWEST = 4_000
#: Of chunks that were chosen by some words only, the best whose score then counts all words.
RESCORED = 600
#: Candidates handed to the ranking; more change nothing [facts: 500 as good as all].
CANDIDATES = 500
#: Head rows with one of the words that chose the chunks, the newest ones, that are scored beside those of the chunks.
HEADS = 1_000
#: The part of the matches that a filter on tool or role is taken to let through, until it is known better.
SELECTIVE = 0.1
#: Weights of title, summary and prompts in the head row.
HEAD_WEIGHTS = "2.0, 1.0, 2.0"
#: Weights of the title, of what people and of what agents said in the conversation row.
CONVERSATION_WEIGHTS = "4.0, 1.5, 1.0"
#: There are few headless sessions, and an index lists them.
HEADLESS = "(SELECT id FROM sessions WHERE kind = 'headless')"


@dataclass(frozen=True, slots=True)
class _Frequency:
    word: Word
    count: int


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where is searched: what the user asks for, and what is left out by default."""

    #: On `chunks_fts AS f`.
    chunks: Condition
    #: On `heads_fts AS h`; None when only some chunks of a session are searched.
    heads: Condition | None
    #: On `chunks_fts AS f`: what the user asks for, in sessions that are left out; None when no such session is there.
    headless: Condition | None
    #: The part of all matches that lie in it, roughly.
    share: float


def candidates(db: sqlite3.Connection, query: Query, filters: Filters) -> Candidates:
    """Return the scored chunks and heads for a query."""
    total = db.execute("SELECT value FROM meta WHERE key = 'chunks'").fetchone()[0]
    found = Candidates(chunks=[], heads={}, document_frequencies=[], chunk_total=total, session_total=0, left_out={})
    if not query.words:
        return found
    first, last = db.execute("SELECT (SELECT min(id) FROM sessions), (SELECT max(id) FROM sessions)").fetchone()
    frequencies = [_frequency(db, word, first, last) for word in query.words]
    found.document_frequencies = [f.count for f in frequencies]
    scope = _scope(db, query, filters, last - first + 1 if last else 1)
    selected, scores = _score(db, frequencies, scope, found)
    found.scanned = len(scores)
    found.chunks = [
        ScoredChunk(session=row >> SESSION_SHIFT, seq=row >> 2 & 0x3FFFFF, weight_class=row & 3, score=-score)
        for row, score in heapq.nsmallest(CANDIDATES, scores.items(), key=itemgetter(1))
    ]
    found.session_total = len({row >> SESSION_SHIFT for row in scores})
    sessions = {chunk.session for chunk in found.chunks}
    if scope.heads is not None:
        found.heads = _heads(db, query.words, sessions | _newest_heads(db, selected, scope.heads))
    if found.heads:
        found.conversations = _conversations(db, query.words, sessions | found.heads.keys())
    if scope.headless is not None:
        since = min(scores, default=0) if found.is_truncated else 0
        found.left_out = _left_out(db, selected, scope.headless.and_(Condition("f.rowid >= ?", (since,))))
    return found


def _scope(db: sqlite3.Connection, query: Query, filters: Filters, sessions: int) -> _Scope:
    """Work out once which of so many sessions are searched."""
    on_session = on_sessions(filters).and_(meeting(query.condition))
    is_whole = not (filters.tools_only or filters.tool or filters.role)
    share = SELECTIVE if filters.tool or filters.role else 1.0
    if on_session.sql:
        hidden = "0" if filters.all_kinds else "s.kind = 'headless'"
        sql = f"SELECT s.id, {hidden} FROM sessions AS s{on_session.where()}"
        found = db.execute(sql, on_session.values).fetchall()
        numbers, headless = ([n for n, is_hidden in found if is_hidden == side] for side in (False, True))
        share *= len(numbers) / sessions
        # The plus sign as in `_of_sessions`.
        heads = Condition("+h.rowid IN (SELECT value FROM json_each(?))", (json.dumps(numbers),))
        shown, hides = _listed(numbers), _listed(headless) if headless else None
    elif filters.all_kinds or not db.execute(f"SELECT 1 FROM {HEADLESS} LIMIT 1").fetchone():
        heads, shown, hides = Condition(), Condition(), None
    else:
        heads = Condition(f"h.rowid NOT IN {HEADLESS}")
        shown = Condition(f"f.rowid >> {SESSION_SHIFT} NOT IN {HEADLESS}")
        hides = Condition(f"f.rowid >> {SESSION_SHIFT} IN {HEADLESS}")
    chunks = on_chunks(filters)
    return _Scope(shown.and_(chunks), heads if is_whole else None, hides and hides.and_(chunks), share)


def _listed(numbers: Sequence[int]) -> Condition:
    """Return the condition on `chunks_fts AS f` to lie in one of these sessions."""
    # The bounds keep FTS5 from going on to where none of them is.
    sql = f"f.rowid >= ? AND f.rowid < ? AND f.rowid >> {SESSION_SHIFT} IN (SELECT value FROM json_each(?))"
    first, last = min(numbers, default=0), max(numbers, default=-1)
    return Condition(sql, (first << SESSION_SHIFT, (last + 1) << SESSION_SHIFT, json.dumps(numbers)))


def _frequency(db: sqlite3.Connection, word: Word, first: int, last: int) -> _Frequency:
    """Count the chunks with a word: exactly up to the budget, beyond it by how far back the newest ones reach.

    :param first: number of the first session, and of the last one.
    """
    sql = (
        "SELECT count(*), min(rowid) FROM "
        "(SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY rowid DESC LIMIT ?)"
    )
    count, oldest = db.execute(sql, (fts.any_of([word]), BUDGET + 1)).fetchone()
    if count > BUDGET:
        covered = last - (oldest >> SESSION_SHIFT) + 1
        count = round(count * max(1.0, (last - first + 1) / covered))
    return _Frequency(word, count)


def _score(
    db: sqlite3.Connection, frequencies: Sequence[_Frequency], scope: _Scope, found: Candidates
) -> tuple[list[Word], dict[int, float]]:
    """Return the words that chose the candidates, and the candidates' BM25 by row id (FTS5's sign: lower is better)."""
    words = [f.word for f in frequencies]
    newest: dict[int, float] = {}
    if sum(f.count for f in frequencies) * scope.share <= BUDGET:
        newest = _bm25(db, fts.any_of(words), scope.chunks, BUDGET + 1)
        if len(newest) <= BUDGET:
            return words, newest
    found.is_truncated = True
    selected, others, is_within = _rarest(frequencies, scope.share)
    rare, both = fts.any_of(selected), f"{fts.any_of(selected)} AND {fts.any_of(others)}"
    if not others:
        scores = newest or _bm25(db, rare, scope.chunks, NEWEST)
    elif is_within:
        scores = _bm25(db, rare, scope.chunks, BUDGET)
        best = heapq.nsmallest(RESCORED, scores, key=scores.__getitem__)
        chosen = scope.chunks.and_(Condition("+f.rowid IN (SELECT value FROM json_each(?))", (json.dumps(best),)))
        scores |= _bm25(db, both, chosen, RESCORED)
    else:
        scores = _bm25(db, both, scope.chunks, NEWEST)
        if len(scores) < NEWEST:
            scores = _bm25(db, rare, scope.chunks, NEWEST) | scores
    return selected, scores | newest


def _rarest(frequencies: Sequence[_Frequency], share: float) -> tuple[list[Word], list[Word], bool]:
    """Return the rarest words that fit into the budget together, one at least, the others, and whether they fit.

    :param share: the part of a word's chunks that count.
    """
    ordered = sorted((f for f in frequencies if f.count), key=lambda f: f.count)
    left = BUDGET - ordered[0].count * share
    is_within = left >= 0
    number = 1
    while number < len(ordered) and (left := left - ordered[number].count * share) >= 0:
        number += 1
    words = [f.word for f in ordered]
    return words[:number], words[number:], is_within


def _bm25(db: sqlite3.Connection, match: str, condition: Condition, limit: int) -> dict[int, float]:
    """Return the score of the newest matches."""
    sql = (
        f"SELECT f.rowid, bm25(chunks_fts) FROM chunks_fts AS f WHERE chunks_fts MATCH ?{condition.where('AND')} "
        "ORDER BY f.rowid DESC LIMIT ?"
    )
    return dict(db.execute(sql, (match, *condition.values, limit)))


def _newest_heads(db: sqlite3.Connection, words: Sequence[Word], condition: Condition) -> set[int]:
    """Return the numbers of the newest sessions whose head rows have one of the words."""
    sql = (
        f"SELECT h.rowid FROM heads_fts AS h WHERE heads_fts MATCH ?{condition.where('AND')} "
        "ORDER BY h.rowid DESC LIMIT ?"
    )
    return {number for (number,) in db.execute(sql, (fts.any_of(words), *condition.values, HEADS))}


def _heads(db: sqlite3.Connection, words: Sequence[Word], sessions: Iterable[int]) -> dict[int, float]:
    """Return the BM25 of the best head rows of these sessions, by session number."""
    scored = _of_sessions(db, "heads_fts", HEAD_WEIGHTS, words, sessions)
    return dict(heapq.nlargest(CANDIDATES, scored, key=itemgetter(1)))


def _conversations(db: sqlite3.Connection, words: Sequence[Word], sessions: Iterable[int]) -> dict[int, float]:
    """Return the BM25 of the conversation rows of these sessions, by session number."""
    return dict(_of_sessions(db, "conversations_fts", CONVERSATION_WEIGHTS, words, sessions))


def _of_sessions(
    db: sqlite3.Connection, table: str, weights: str, words: Sequence[Word], sessions: Iterable[int]
) -> list[tuple[int, float]]:
    # Without the plus sign SQLite would ask the full-text table once per session.
    sql = (
        f"SELECT rowid, -bm25({table}, {weights}) FROM {table} "
        f"WHERE {table} MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"
    )
    return db.execute(sql, (fts.any_of(words), json.dumps(sorted(sessions)))).fetchall()


def _left_out(db: sqlite3.Connection, words: Sequence[Word], condition: Condition) -> dict[str, int]:
    """Count the headless sessions that match."""
    sql = (
        f"SELECT count(DISTINCT f.rowid >> {SESSION_SHIFT}) FROM chunks_fts AS f "
        f"WHERE chunks_fts MATCH ?{condition.where('AND')}"
    )
    (count,) = db.execute(sql, (fts.any_of(words), *condition.values)).fetchone()
    return {"headless": count} if count else {}
