"""Writes words as FTS5 match expressions; the only module that knows FTS5's syntax."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable

from sesame_core.text.tokens import clean
from sesame_core.types.query import Word

#: The upper end of a range of prefixes: it sorts after every character.
LAST = "\U0010ffff"
#: Longest search for terms by a part of them, in seconds: 70,000 terms in 125,000 chunks take so long.
SECONDS = 0.2
#: Instructions of SQLite between two checks of the time.
STEPS = 1_000
#: Tables that tell how words are stemmed in a match.
_STEMMING = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.stemmed USING fts5 (text, content = '', tokenize = 'porter unicode61')",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.stems USING fts5vocab(temp, stemmed, row)",
)


def phrase(text: str) -> str:
    """Return an expression for a phrase of consecutive words; a final `*` makes the last one a prefix."""
    is_prefix = text.endswith("*")
    quoted = '"' + clean(text).rstrip("*").replace('"', '""') + '"'
    return f"{quoted}*" if is_prefix else quoted


def phrases(words: Iterable[Word]) -> list[str]:
    """Return expressions for what the words mean, each once."""
    return list(dict.fromkeys(phrase(text) for word in words for text in word.alternatives))


def either(expressions: Iterable[str]) -> str:
    """Return an expression that matches what one of some expressions matches."""
    return f"({' OR '.join(expressions)})"


def any_of(words: Iterable[Word]) -> str:
    """Return an expression that matches a chunk with at least one of the words."""
    return either(phrases(words))


def all_of(words: Iterable[Word]) -> str:
    """Return an expression that matches a chunk with every one of the words."""
    return " AND ".join(any_of([word]) for word in words)


class Vocabulary:
    """The terms of an index, folded and stemmed as they are stored.

    Looking up a prefix here takes a third of the time of matching it, which merges all of its postings.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, chunks_fts, row)")
        self._db = db
        self._can_stem = False

    def beginnings(self, word: Word) -> list[str]:
        """Return the prefixes of terms that a word means, stemmed as in a match."""
        texts = [text[:-1] for text in word.alternatives if text.endswith("*") and text[:-1].isalpha()]
        if not texts:
            return []
        if not self._can_stem:
            for statement in _STEMMING:
                self._db.execute(statement)
            self._can_stem = True
        self._db.execute("INSERT INTO temp.stemmed (stemmed) VALUES ('delete-all')")
        self._db.executemany("INSERT INTO temp.stemmed (text) VALUES (?)", [(text,) for text in texts])
        return [stem for (stem,) in self._db.execute("SELECT term FROM temp.stems")]

    def terms(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return the terms that start with a prefix, with their numbers of chunks, the commonest first."""
        sql = "SELECT term, doc FROM temp.vocabulary WHERE term >= ? AND term < ? ORDER BY doc DESC LIMIT ?"
        return self._db.execute(sql, (prefix, prefix + LAST, limit)).fetchall()

    def terms_with(self, part: str, limit: int) -> list[tuple[str, int]]:
        """Return the terms that contain a string, the commonest first; after `SECONDS` those found until then."""
        end = time.monotonic() + SECONDS
        found: list[tuple[str, int]] = []
        self._db.set_progress_handler(lambda: time.monotonic() > end, STEPS)
        try:
            found.extend(self._db.execute("SELECT term, doc FROM temp.vocabulary WHERE instr(term, ?)", (part,)))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
        finally:
            self._db.set_progress_handler(None, 0)
        return sorted(found, key=lambda each: (-each[1], each[0]))[:limit]

    def chunks(self, prefix: str) -> int:
        """Return the number of chunks with a term that starts with a prefix; one with two of them counts twice."""
        sql = "SELECT coalesce(sum(doc), 0) FROM temp.vocabulary WHERE term >= ? AND term < ?"
        (count,) = self._db.execute(sql, (prefix, prefix + LAST)).fetchone()
        return int(count)
