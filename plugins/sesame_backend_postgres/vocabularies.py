"""The words of each session, for conditions: `AND`, `OR`, `NOT`, required and excluded words.

A condition is about a session, and most sessions have a common word in many of their chunks: an index of sessions
answers with a fiftieth of the entries.  A row has the words of a range of chunks and is never changed.  An append makes
a new row, which merges rows before it as a binary counter carries: a session of n chunks has about log2(n) rows, and
each chunk is read about log2(n) times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg

#: Binary logarithm of the most chunks of a merged row, so that no append reads more than these.
LARGEST = 10

_DELETE = "SELECT drop_vocabularies(%(sessions)s::bigint[], %(starts)s::int[])"
_INSERT = """
INSERT INTO vocabularies (session, first, piece, workstation, words)
SELECT session, start, piece, %(workstation)s, words
FROM unnest(%(sessions)s::bigint[], %(starts)s::int[]) AS w (session, start), LATERAL vocabulary(session, start)
"""


def extend(db: psycopg.Connection[Any], workstation: int, stored: Mapping[int, tuple[int, int]]) -> None:
    """Add the words of newly stored chunks.

    :param stored: by session number, the position of the first of them and the one after the last.
    """
    starts = [start(first, end) for first, end in stored.values()]
    values = {"sessions": list(stored), "starts": starts, "workstation": workstation}
    db.execute(_DELETE, values)
    db.execute(_INSERT, values)


def start(first: int, end: int) -> int:
    """Return the first chunk of the row that will have the chunks from `first` up to `end`."""
    bits = min((first ^ end).bit_length(), LARGEST)
    return first >> bits << bits
