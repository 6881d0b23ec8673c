"""Finds and scores the chunks that match a query, within a budget.

FTS5 has no early exit: `bm25()` scores every match (1.2–1.5 µs each) and first walks the postings of every
phrase (0.045 µs each).  So the broadest words are bounded: candidates are the chunks with the rarest words, as
many as the budget allows, and the newest ones when even the rarest word is too common.  The budget picks
candidates; each candidate's score counts all words of the query.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from sesame_core.dataclass import dataclass
from sesame_core.protocols import Candidates, ScoredChunk
from sesame_core.query import Filters, Query, Word

from . import fts
from .filters import Condition, in_sessions, meeting, on_chunks, on_kind, on_sessions
from .schema import SESSION_SHIFT

#: Chunks that one query may score, so that 100,000 chunks answer within 50 ms.
BUDGET = 10_000
#: When even the rarest word has more chunks than that, so many of its newest.
NEWEST = 4_000
#: Of chunks that were chosen by some words only, the best whose score then counts all words.
RESCORED = 600
#: Candidates handed to the ranking; more change nothing [facts: 500 as good as all].
CANDIDATES = 500
#: Weights of title, summary and prompts in the head row.
HEAD_WEIGHTS = "2.0, 1.0, 2.0"
#: Weights of the title, of what people and of what agents said in the conversation row.
CONVERSATION_WEIGHTS = "4.0, 1.5, 1.0"
#: Chunks of headless sessions, and all others; there are few headless ones, and an index lists them.
HEADLESS = Condition(f"f.rowid >> {SESSION_SHIFT} IN (SELECT id FROM sessions WHERE kind = 'headless')")
NOT_HEADLESS = Condition(f"f.rowid >> {SESSION_SHIFT} NOT IN (SELECT id FROM sessions WHERE kind = 'headless')")


@dataclass(frozen=True, slots=True)
class _Frequency:
    word: Word
    count: int


def candidates(db: sqlite3.Connection, query: Query, filters: Filters) -> Candidates:
    """Return the scored chunks and heads for a query."""
    on_session = _evaluated(db, on_sessions(filters).and_(meeting(query.condition)))
    hides_headless = not filters.all_kinds and _has_headless(db)
    total = db.execute("SELECT value FROM meta WHERE key = 'chunks'").fetchone()[0]
    found = Candidates(chunks=[], heads={}, document_frequencies=[], chunk_total=total, session_total=0, left_out={})
    if not query.words:
        return found
    frequencies = [_frequency(db, word) for word in query.words]
    found.document_frequencies = [f.count for f in frequencies]
    narrow = on_chunks(filters).and_(in_sessions(on_session))
    scores = _score(db, frequencies, narrow, NOT_HEADLESS if hides_headless else Condition(), found)
    best = sorted(scores.items(), key=lambda item: item[1])[:CANDIDATES]
    found.chunks = [
        ScoredChunk(session=row >> SESSION_SHIFT, seq=row >> 2 & 0x3FFFFF, weight_class=row & 3, score=-score)
        for row, score in best
    ]
    found.session_total = len({row >> SESSION_SHIFT for row in scores})
    found.heads = _heads(db, query.words, filters, on_session.and_(on_kind(filters)))
    if found.heads:
        found.conversations = _conversations(db, query.words, {*found.heads, *(c.session for c in found.chunks)})
    if hides_headless:
        found.left_out = _left_out(db, query.words, narrow)
    return found


def _evaluated(db: sqlite3.Connection, condition: Condition) -> Condition:
    """Return a condition on `sessions AS s` as the list of those that meet it, so that it is worked out only once."""
    if not condition.sql:
        return condition
    numbers = [
        number for (number,) in db.execute(f"SELECT s.id FROM sessions AS s{condition.where()}", condition.values)
    ]
    return Condition("s.id IN (SELECT value FROM json_each(?))", (json.dumps(numbers),))


def _has_headless(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sessions WHERE kind = 'headless' LIMIT 1").fetchone() is not None


def _frequency(db: sqlite3.Connection, word: Word) -> _Frequency:
    """Count the chunks with a word: exactly up to the budget, beyond it by how far back the newest ones reach."""
    match = fts.any_of([word])
    sql = (
        "SELECT count(*), min(rowid), max(rowid) FROM "
        "(SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY rowid DESC LIMIT ?)"
    )
    count, oldest, newest = db.execute(sql, (match, BUDGET + 1)).fetchone()
    if count > BUDGET:
        first, last = db.execute("SELECT min(id), max(id) FROM sessions").fetchone()
        covered = max(1, (newest >> SESSION_SHIFT) - (oldest >> SESSION_SHIFT) + 1)
        count = round(count * max(1.0, (last - first + 1) / covered))
    return _Frequency(word, count)


def _score(
    db: sqlite3.Connection, frequencies: Sequence[_Frequency], narrow: Condition, shown: Condition, found: Candidates
) -> dict[int, float]:
    """Return the BM25 of the candidates by row id (FTS5's sign: lower is better).

    :param narrow: what the user's filters ask for.
    :param shown: what is left out by default.
    """
    condition = narrow.and_(shown)
    words = [f.word for f in frequencies]
    everything = fts.any_of(words)
    if sum(f.count for f in frequencies) <= BUDGET or (narrow.sql and _fits(db, everything, condition)):
        scores = _bm25(db, everything, condition)
        found.scanned = len(scores)
        return scores
    found.is_truncated = True
    selected = _rarest(frequencies)
    match = fts.any_of(selected)
    within = condition
    if sum(f.count for f in frequencies if f.word in selected) > BUDGET:
        within = condition.and_(_newest(db, match, condition, NEWEST))
    alone = _bm25(db, match, within)
    found.scanned = len(alone)
    if len(selected) == len(words):
        return alone
    best = sorted(alone, key=alone.__getitem__)[:RESCORED]
    chosen = within.and_(Condition("+f.rowid IN (SELECT value FROM json_each(?))", (json.dumps(best),)))
    # The selected words stand in this expression twice, as the condition and as scored words; taking their own
    # score away once leaves the sum over all words.
    scores = {row: score - alone[row] for row, score in _bm25(db, f"{match} AND {everything}", chosen).items()}
    if within is not condition and len(words) > 1:
        every = fts.all_of(words)
        scores.update(_bm25(db, every, condition.and_(_newest(db, every, condition, RESCORED))))
    return scores


def _rarest(frequencies: Sequence[_Frequency]) -> list[Word]:
    """Return the rarest words that fit into the budget together, one at least."""
    ordered = sorted((f for f in frequencies if f.count), key=lambda f: f.count)
    selected = [ordered[0].word]
    left = BUDGET - ordered[0].count
    for frequency in ordered[1:]:
        left -= frequency.count
        if left < 0:
            break
        selected.append(frequency.word)
    return selected


def _fits(db: sqlite3.Connection, match: str, condition: Condition) -> bool:
    sql = (
        f"SELECT count(*) FROM (SELECT 1 FROM chunks_fts AS f WHERE chunks_fts MATCH ?{condition.where('AND')} LIMIT ?)"
    )
    (count,) = db.execute(sql, (match, *condition.values, BUDGET + 1)).fetchone()
    return bool(count <= BUDGET)


def _newest(db: sqlite3.Connection, match: str, condition: Condition, count: int) -> Condition:
    """Return a condition that holds for so many of the newest matches."""
    sql = (
        f"SELECT rowid FROM chunks_fts AS f WHERE chunks_fts MATCH ?{condition.where('AND')} "
        "ORDER BY rowid DESC LIMIT 1 OFFSET ?"
    )
    found = db.execute(sql, (match, *condition.values, count)).fetchone()
    return Condition("f.rowid > ?", (found[0],)) if found else Condition()


def _bm25(db: sqlite3.Connection, match: str, condition: Condition) -> dict[int, float]:
    sql = f"SELECT f.rowid, bm25(chunks_fts) FROM chunks_fts AS f WHERE chunks_fts MATCH ?{condition.where('AND')}"
    return dict(db.execute(sql, (match, *condition.values)).fetchall())


def _heads(db: sqlite3.Connection, words: Sequence[Word], filters: Filters, shown: Condition) -> dict[int, float]:
    """Return the BM25 of head rows by session number; none when only some chunks are searched."""
    if filters.tools_only or filters.tool or filters.role:
        return {}
    condition = Condition()
    if shown.sql:
        # Without the plus sign SQLite would ask the full-text table once per session.
        condition = Condition(f"+h.rowid IN (SELECT s.id FROM sessions AS s WHERE {shown.sql})", shown.values)
    sql = (
        f"SELECT h.rowid, -bm25(heads_fts, {HEAD_WEIGHTS}) FROM heads_fts AS h "
        f"WHERE heads_fts MATCH ?{condition.where('AND')} ORDER BY 2 DESC LIMIT ?"
    )
    return dict(db.execute(sql, (fts.any_of(words), *condition.values, CANDIDATES)).fetchall())


def _conversations(db: sqlite3.Connection, words: Sequence[Word], sessions: set[int]) -> dict[int, float]:
    """Return the BM25 of the conversation rows of these sessions, by session number."""
    # The plus sign as in `_heads`; rows are long, so only those that can matter are scored.
    sql = (
        f"SELECT c.rowid, -bm25(conversations_fts, {CONVERSATION_WEIGHTS}) FROM conversations_fts AS c "
        "WHERE conversations_fts MATCH ? AND +c.rowid IN (SELECT value FROM json_each(?))"
    )
    return dict(db.execute(sql, (fts.any_of(words), json.dumps(sorted(sessions)))).fetchall())


def _left_out(db: sqlite3.Connection, words: Sequence[Word], narrow: Condition) -> dict[str, int]:
    """Count the headless sessions that match."""
    condition = narrow.and_(HEADLESS)
    sql = (
        f"SELECT count(DISTINCT f.rowid >> {SESSION_SHIFT}) FROM chunks_fts AS f "
        f"WHERE chunks_fts MATCH ?{condition.where('AND')}"
    )
    (count,) = db.execute(sql, (fts.any_of(words), *condition.values)).fetchone()
    return {"headless": count} if count else {}
