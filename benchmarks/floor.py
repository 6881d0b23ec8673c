"""The least CPU that indexing can cost with this database: read, decode, insert, and nothing else.

What the indexer does beyond it (understanding the records, forming chunks, identities, bookkeeping, the table
of the texts themselves) is what its ratio to the floor shows.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import orjson

#: The full-text table of the sqlite backend (`sesame_backend_sqlite/schema.py`); tests compare the two.
FTS_TABLE = """CREATE VIRTUAL TABLE chunks_fts USING fts5 (
  content, subwords, content = 'chunks', content_rowid = 'id', tokenize = 'porter unicode61'
)"""
PRAGMAS = ("page_size = 8192", "journal_mode = WAL", "synchronous = NORMAL", "cache_size = -32768")
#: FTS5's settings, as the backend has them (`sesame_backend_sqlite/backend.py`); tests compare the two.
SETTINGS = {"hashsize": 4 << 20, "automerge": 8}
BLOCK = 1 << 20
BATCH = 5_000


@dataclass(frozen=True, slots=True)
class Floor:
    """CPU seconds of each part, and what went through it."""

    read: float
    decode: float
    insert: float
    bytes: int
    lines: int
    chunks: int

    @property
    def cpu(self) -> float:
        """CPU seconds of the whole."""
        return self.read + self.decode + self.insert


def measure(files: Iterable[Path], rows: Iterable[tuple[str, str]], database: Path) -> Floor:
    """Read and decode the files, then insert (content, subwords) rows into an empty full-text table.

    The rows are made by the real parser and formatter while the clock stands still.

    :param database: a new file; an existing one is an error.
    """
    read = decode = 0.0
    size = lines = 0
    for path in files:
        start = time.process_time()
        with path.open("rb", buffering=0) as file:
            data = b"".join(iter(lambda: file.read(BLOCK), b""))
        middle = time.process_time()
        for line in data.split(b"\n"):
            if line:
                orjson.loads(line)
                lines += 1
        decode += time.process_time() - middle
        read += middle - start
        size += len(data)
    insert, chunks = _insert(rows, database)
    return Floor(read, decode, insert, size, lines, chunks)


def _insert(rows: Iterable[tuple[str, str]], database: Path) -> tuple[float, int]:
    """Insert all rows in one transaction; return CPU seconds and the number of rows."""
    if database.exists():
        raise FileExistsError(database)
    db = sqlite3.connect(database, isolation_level=None)
    for pragma in PRAGMAS:
        db.execute(f"PRAGMA {pragma}")
    db.execute(FTS_TABLE)
    for setting in SETTINGS.items():
        db.execute("INSERT INTO chunks_fts (chunks_fts, rank) VALUES (?, ?)", setting)
    insert, count = 0.0, 0
    remaining = iter(rows)
    db.execute("BEGIN")
    while batch := list(islice(remaining, BATCH)):
        numbered = [(number, *row) for number, row in enumerate(batch, count + 1)]
        start = time.process_time()
        db.executemany("INSERT INTO chunks_fts (rowid, content, subwords) VALUES (?, ?, ?)", numbered)
        insert += time.process_time() - start
        count += len(batch)
    start = time.process_time()
    db.execute("COMMIT")
    db.close()
    return insert + time.process_time() - start, count
