"""BM25 as SQL.

It needs three numbers of a document and a word: in how many documents the word occurs, how often in this one, and how
long this one is.  The second is what `ts_rank_cd` returns when every weight is 1: it counts the places where a query
is met, of words, prefixes and phrases alike; other weights make it the weighted number that FTS5 takes for columns.
So the scores are those of FTS5 to the last digits.

Every expression runs for each candidate: numbers are `float8`, since PostgreSQL reads `0.9` as a `numeric`, which costs
as much again, and what words share is worked out once.
"""

from __future__ import annotations

#: BM25's constants and the least a word counts, as FTS5 has them.
K1, B, FLOOR = 1.2, 0.75, 1e-6


def idf(total: str, count: str) -> str:
    """Return how much a word tells that is in `count` of `total` documents."""
    return f"greatest({FLOOR}, ln(greatest({FLOOR}, ({total} - {count} + 0.5) / ({count} + 0.5))))"


def damping(length: str) -> str:
    """Return what the frequency of a word is set against in a document of a length, relative to the mean: `k`."""
    return f"{K1 * (1 - B):.4g}::float8 + {K1 * B:.4g}::float8 * {length}"


def bm25(idf: str, frequency: str) -> str:
    """Return a phrase's part of a score, with the column `k`.

    frequency · (K1 + 1) / (frequency + k), written so that the frequency is worked out once.
    """
    return f"{idf} * {K1 + 1}::float8 * (1 - k / ({frequency} + k))"


#: How often a phrase (column `q`) occurs in the column `words`, whatever the weights.  Of one whole word (`is_single`)
#: in half of `ts_rank_cd`'s time: `ts_rank` is (1 + 1/4 + … + 1/n²) · 6/π² of a word that occurs n times, which is
#: 1 - 6/π² / (n + ½), nearly.
FREQUENCY = (
    "CASE WHEN is_single THEN round(1 / (1.6449340668 * (1 - ts_rank('{1, 1, 1, 1}', words, q))) - 0.5) "
    "ELSE ts_rank_cd('{1, 1, 1, 1}', words, q) END"
)


def at_hand(words: str) -> str:
    """Return a word list that lies in its row, or is fetched once: each use would fetch a long one anew.

    Setting the weight of no word changes nothing.
    """
    return f"CASE WHEN {is_in_row(words)} THEN {words} ELSE setweight({words}, 'D', '{{}}') END"


def is_in_row(words: str) -> str:
    """Return the condition that a word list lies in its row, and is not fetched from elsewhere."""
    return f"pg_column_size({words}) <= 8000"
