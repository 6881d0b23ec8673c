"""Finds and scores the chunks that match a query, within a budget.

FTS5 has no early exit: it walks the postings of every word that is scored (0.045 µs each), steps through the matches
(0.1 µs each) and scores those that pass the filters (1.1 µs each).  So every statement reads the newest matches first
and stops at a limit, and the words are used rarest first: chunks with one of the rarest words are candidates, within
the budget; when even the rarest word is too common, chunks that have other words too are preferred.  The budget only
selects candidates; each candidate's score counts all words of the query.
"""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter

from sesame_core.dataclass import dataclass
from sesame_core.types.index import Candidates, ScoredChunk
from sesame_core.types.query import Condition, Filters, Query, Word

from . import fts
from .filters import TRUE, Where
from .schema import SESSION_SHIFT
from .scope import Scope, hiding
from .scores import ByRow, best, bm25
from .view import View

#: Most chunks that one query scores, so that 100,000 chunks answer within 50 ms.  From 11,000 on, the labelled queries
#: (`benchmarks/quality.py`, 125,495 chunks) get the same ranks as without a budget.
BUDGET = 12_000
#: Chunks up to which those with one word are counted.
PROBED = BUDGET
#: Chunks up to which each of many words is counted: 400 words of a stack trace take 0.1 to 0.25 s in 125,000 chunks.
COUNTED_EACH = 1_000
#: Words that are not many: a search for them counts them up to `PROBED` anyway.
QUERIED = 32
#: When even the rarest word has more chunks than that, this number of its newest.
NEWEST = 4_000
#: Of chunks that were selected by some words only, the number of the best whose score then counts all words.
RESCORED = 600
#: Divisor of a limit: when matches left out by default take a larger part of it, the others are queried alone.
FEW = 8
#: Candidates for the ranking; more change nothing [facts: 500 as good as all].
CANDIDATES = 500
#: Newest head rows with one of the selecting words that are scored in addition to those of the chunks' sessions.
HEADS = 1_000
#: Weights of title, summary and prompts in the head row.
HEAD_WEIGHTS = "2.0, 1.0, 2.0"
#: Weights of the title, of the text of people and of the text of agents in the conversation row.
CONVERSATION_WEIGHTS = "4.0, 1.5, 1.0"


@dataclass(frozen=True, slots=True)
class _Frequency:
    word: Word
    count: int


def candidates(view: View, query: Query, filters: Filters) -> Candidates:
    """Return the scored chunks and heads for a query."""
    db, total = view.db, view.chunks()
    found = Candidates(chunks=[], heads={}, document_frequencies=[], chunk_total=total, session_total=0, left_out={})
    if not query.words:
        return found
    frequencies = [_Frequency(word, view.frequency(word, PROBED)) for word in query.words]
    found.document_frequencies = [f.count for f in frequencies]
    matches = _Matches(view, view.scope(query.condition, filters))
    selected, scores = _score(matches, frequencies, found)
    if not found.is_truncated:
        view.keep(fts.any_of(query.words), query.condition, filters, scores)
    found.scanned = len(scores)
    found.chunks = [_chunk(row, -score) for row, score in best(scores, CANDIDATES)]
    found.session_total = len({row >> SESSION_SHIFT for row in scores})
    sessions = {chunk.session for chunk in found.chunks}
    heads = matches.scope.heads
    if heads is not None:
        near = sessions - matches.scope.beyond
        found.heads = _heads(db, query.words, near | _newest_heads(db, selected, heads))
    if found.heads:
        found.conversations = _conversations(db, query.words, sessions | found.heads.keys())
    if left_out := matches.left_out(selected, min(scores, default=0) if found.is_truncated else 0):
        found.left_out = {"headless": left_out}
    return found


def phrase(
    view: View, word: Word, filters: Filters, condition: Condition | None, limit: int, beside: Sequence[Word]
) -> list[ScoredChunk]:
    """Return the newest chunks with a phrase, and with one of other words if there are any, without scores."""
    match = fts.any_of([word]) + (f" AND {fts.any_of(beside)}" if beside else "")
    known = view.kept(match, condition, filters)
    if known is not None:
        return [_chunk(row) for row in sorted(known, reverse=True)[:limit]]
    shown = view.scope(condition, filters).shown
    sql = (
        f"SELECT f.rowid FROM chunks_fts AS f WHERE chunks_fts MATCH ?{shown.where('AND')} "
        "ORDER BY f.rowid DESC LIMIT ?"
    )
    return [_chunk(row) for (row,) in view.db.execute(sql, (match, *shown.values, limit))]


def _chunk(row: int, score: float = 0.0) -> ScoredChunk:
    return ScoredChunk(session=row >> SESSION_SHIFT, seq=row >> 2 & 0x3FFFFF, weight_class=row & 3, score=score)


def frequencies(view: View, words: Sequence[Word]) -> list[int]:
    """Return the number of chunks with each word."""
    most = PROBED if len(words) <= QUERIED else COUNTED_EACH
    return [view.frequency(word, most) for word in words]


class _Matches:
    """Scores the chunks that match in a scope, and counts matching sessions that are left out by default."""

    def __init__(self, view: View, scope: Scope) -> None:
        self._view = view
        self.scope = scope
        self._left_out: set[int] = set()
        self._are_many = False

    def newest(self, words: Sequence[Word], limit: int) -> tuple[ByRow, bool]:
        """Return the BM25 of the newest matches of one of some words, and whether these are all."""
        phrases = fts.phrases(words)
        return self._newest(lambda scope: self._view.scores.newest(phrases, scope, limit), limit)

    def newest_of(self, match: str, limit: int, chosen: Where = TRUE) -> tuple[ByRow, bool]:
        """Return the BM25 of the newest matches of an expression, and whether these are all."""
        return self._newest(lambda scope: bm25(self._view.db, match, scope.and_(chosen), limit), limit)

    def _newest(self, score: Callable[[Where], ByRow], limit: int) -> tuple[ByRow, bool]:
        # Some that are left out by default are scored with the others: distinguishing them in every match takes longer.
        scores = score(self.scope.asked)
        is_all = len(scores) < limit
        hidden = {row >> SESSION_SHIFT for row in scores} & self.scope.hidden if self.scope.hidden else None
        if not hidden:
            return scores, is_all
        shown = {row: score for row, score in scores.items() if row >> SESSION_SHIFT not in hidden}
        if is_all or len(scores) - len(shown) <= limit // FEW:
            self._left_out |= hidden
            return shown, is_all
        self._are_many = True
        scores = score(self.scope.shown)
        return scores, len(scores) < limit

    def left_out(self, words: Sequence[Word], since: int) -> int:
        """Count the sessions that match and are left out by default.

        :param words: the words that selected the candidates.
        :param since: the oldest match that was scored.
        """
        if not self._are_many:
            return len(self._left_out)
        condition = hiding(self.scope, since)
        sql = (
            f"SELECT count(DISTINCT f.rowid >> {SESSION_SHIFT}) FROM chunks_fts AS f "
            f"WHERE chunks_fts MATCH ?{condition.where('AND')}"
        )
        (count,) = self._view.db.execute(sql, (fts.any_of(words), *condition.values)).fetchone()
        return int(count)


def _score(matches: _Matches, frequencies: Sequence[_Frequency], found: Candidates) -> tuple[list[Word], ByRow]:
    """Return the words that selected the candidates, and the candidates' BM25 by row id."""
    words, share = [f.word for f in frequencies], matches.scope.share
    newest: ByRow = {}
    if sum(f.count for f in frequencies) * share <= BUDGET:
        newest, is_all = matches.newest(words, BUDGET + 1)
        if is_all:
            return words, newest
    found.is_truncated = True
    selected, others, is_within = _rarest(frequencies, share)
    if not others:
        if not newest:
            newest, is_all = matches.newest(selected, NEWEST)
            found.is_truncated = not is_all
        return selected, newest
    both = f"{fts.any_of(selected)} AND {fts.any_of(others)}"
    if is_within:
        scores, _ = matches.newest(selected, BUDGET)
        rows = [row for row, _ in best(scores, RESCORED)]
        chosen = Where("+f.rowid IN (SELECT value FROM json_each(?))", (json.dumps(rows),))
        scores = {**scores, **matches.newest_of(both, RESCORED, chosen)[0]}
    else:
        scores, is_all = matches.newest_of(both, NEWEST)
        if is_all:
            scores = {**matches.newest(selected, NEWEST)[0], **scores}
    return selected, {**scores, **newest}


def _rarest(frequencies: Sequence[_Frequency], share: float) -> tuple[list[Word], list[Word], bool]:
    """Return the rarest words that together fit into the budget, at least one; the others; and whether they fit.

    :param share: the estimated part of a word's chunks that pass the filters.
    """
    ordered = sorted((f for f in frequencies if f.count), key=lambda f: f.count)
    left = BUDGET - ordered[0].count * share
    is_within = left >= 0
    number = 1
    while number < len(ordered) and (left := left - ordered[number].count * share) >= 0:
        number += 1
    words = [f.word for f in ordered]
    return words[:number], words[number:], is_within


def _newest_heads(db: sqlite3.Connection, words: Sequence[Word], condition: Where) -> set[int]:
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
    # Without the plus sign SQLite would query the full-text table once per session.
    sql = (
        f"SELECT rowid, -bm25({table}, {weights}) FROM {table} "
        f"WHERE {table} MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"
    )
    return db.execute(sql, (fts.any_of(words), json.dumps(sorted(sessions)))).fetchall()
