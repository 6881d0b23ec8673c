"""BM25 of matches, kept phrase by phrase for the next query that has the phrase; and the best of many scores.

BM25 is a sum over the phrases of an expression, which FTS5 adds in their order, so the sum of what each phrase scores
alone is the same number to the last bit.  Who types a query searches for its first words with every key.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import TypeAlias

from . import fts
from .filters import TRUE, Where

#: Scores that are kept, 100 bytes each: those of five common words.
KEPT = 60_000
#: Most phrases of an expression that are scored one by one, and most that are known to have been asked for.
SINGLE, ASKED = 32, 4_000

#: Of many scores, one of this number is sampled to estimate the worst of the best.
SAMPLED = 16
#: How many times as many as are wanted are compared, so that the estimate is seldom too strict.
MARGIN = 1.5
#: Least sampled scores among the best, below which an estimate would be a guess.
LEAST = 12

#: BM25 by row id, newest first (FTS5's sign: lower is better).
ByRow: TypeAlias = Mapping[int, float]
_SCORE = itemgetter(1)
#: A phrase, and the condition on its chunks.
_Key: TypeAlias = tuple[str, Where]


class Scores:
    """The scores of matches in one state of the index."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        #: Scores of the newest matches of each phrase, those that were used last at the end, and how many were read.
        self._kept: dict[_Key, tuple[int, ByRow]] = {}
        self._asked: set[_Key] = set()

    def newest(self, phrases: Sequence[str], condition: Where, limit: int) -> ByRow:
        """Return the BM25 of the newest matches that have one of some phrases."""
        keys = [(phrase, condition) for phrase in phrases]
        # One by one, phrases take up to a third longer than together: only what is asked for again is worth keeping.
        is_new = self._asked.isdisjoint(keys)
        if len(self._asked) > ASKED:
            self._asked.clear()
        self._asked.update(keys)
        if len(keys) > SINGLE or (is_new and len(keys) > 1):
            return bm25(self._db, fts.either(phrases), condition, limit)
        parts = [self._of_phrase(key, limit) for key in keys]
        return parts[0] if len(parts) == 1 else _sum(parts, limit)

    def _of_phrase(self, key: _Key, limit: int) -> ByRow:
        read, scores = self._kept.pop(key, (0, {}))
        if read < limit and len(scores) == read:
            phrase, condition = key
            read, scores = limit, bm25(self._db, phrase, condition, limit)
        self._kept[key] = read, scores
        self._make_room()
        return scores if len(scores) <= limit else dict(islice(scores.items(), limit))

    def _make_room(self) -> None:
        size = sum(len(scores) for _, scores in self._kept.values())
        while size > KEPT:
            _, scores = self._kept.pop(next(iter(self._kept)))
            size -= len(scores)


def bm25(db: sqlite3.Connection, match: str, condition: Where = TRUE, limit: int = -1) -> dict[int, float]:
    """Return the BM25 of the newest matches of an expression, in a condition on `chunks_fts AS f`."""
    sql = (
        f"SELECT f.rowid, bm25(chunks_fts) FROM chunks_fts AS f WHERE chunks_fts MATCH ?{condition.where('AND')} "
        "ORDER BY f.rowid DESC LIMIT ?"
    )
    return dict(db.execute(sql, (match, *condition.values, limit)))


def _sum(parts: Sequence[ByRow], limit: int) -> ByRow:
    """Return the sums of scores, added in their order, for the newest rows."""
    first, *others = parts
    sums = dict(first)
    get = sums.get
    for part in others:
        for row, score in part.items():
            sums[row] = get(row, 0.0) + score
    return {row: sums[row] for row in sorted(sums, reverse=True)[:limit]}


def best(scores: Mapping[int, float], count: int) -> list[tuple[int, float]]:
    """Return the entries with the lowest scores, best first, and of equal ones the first ones first.

    As `sorted` does, in a third of the time: of 12,000 scores most are only compared with an estimate of the worst one
    that is wanted.
    """
    sample = sorted(list(scores.values())[::SAMPLED])
    place = int(count / SAMPLED * MARGIN) + LEAST
    if place < len(sample):
        worst = sample[place]
        few = [entry for entry in scores.items() if entry[1] <= worst]
        if len(few) >= count:
            return sorted(few, key=_SCORE)[:count]
    return sorted(scores.items(), key=_SCORE)[:count]
