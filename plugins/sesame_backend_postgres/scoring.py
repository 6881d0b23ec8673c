"""BM25 as SQL.

It needs three numbers of a document and a word: the number of documents with the word, its frequency in this one, and
the length of this one.  The second is the result of `ts_rank_cd` when every weight is 1: it counts the matches of a
query, of words, prefixes and phrases alike; other weights make it the weighted frequency that FTS5 uses for columns.
So the scores equal those of FTS5 to the last digits.

Every expression runs for each candidate: numbers are `float8`, since PostgreSQL reads `0.9` as a `numeric`, which
doubles the time, and values that words share are computed once.
"""

from __future__ import annotations

#: BM25's constants and the least idf of a word, as in FTS5.
K1, B, FLOOR = 1.2, 0.75, 1e-6


def idf(total: str, count: str) -> str:
    """Return the idf of a word that is in `count` of `total` documents."""
    return f"greatest({FLOOR}, ln(greatest({FLOOR}, ({total} - {count} + 0.5) / ({count} + 0.5))))"


def damping(length: str) -> str:
    """Return BM25's length normalisation `k` for a document's length, relative to the mean."""
    return f"{K1 * (1 - B):.4g}::float8 + {K1 * B:.4g}::float8 * {length}"


def bm25(idf: str, frequency: str) -> str:
    """Return a phrase's part of a score; it uses the column `k`.

    frequency · (K1 + 1) / (frequency + k), written so that the frequency is computed once.
    """
    return f"{idf} * {K1 + 1}::float8 * (1 - k / ({frequency} + k))"


#: The frequency of a phrase (column `q`) in the column `words`, whatever the weights.  For one whole word (`is_single`)
#: in half of `ts_rank_cd`'s time: `ts_rank` is (1 + 1/4 + … + 1/n²) · 6/π² for a word that occurs n times, which is
#: nearly 1 - 6/π² / (n + ½).
FREQUENCY = (
    "CASE WHEN is_single THEN round(1 / (1.6449340668 * (1 - ts_rank('{1, 1, 1, 1}', words, q))) - 0.5) "
    "ELSE ts_rank_cd('{1, 1, 1, 1}', words, q) END"
)


def at_hand(words: str) -> str:
    """Return a word list that is in its row, or is fetched once: each use would fetch a long one again.

    Setting the weight of no words returns the same list.
    """
    return f"CASE WHEN {is_in_row(words)} THEN {words} ELSE setweight({words}, 'D', '{{}}') END"


def is_in_row(words: str) -> str:
    """Return the condition that a word list is in its row, and not stored out of line."""
    return f"pg_column_size({words}) <= 8000"
