"""Sends chunks and their word lists to the server, many at once.

COPY does not support row-level security, so rows go through a temporary table.
"""

from __future__ import annotations

from typing import Any

from sesame_core.sdk.ingest import OVERHEAD
from sesame_core.text.tokens import clean
from sesame_core.types.index import Chunk
from sesame_core.types.query import SHELLS

from . import rows, vocabularies, words
from .connection import Connection

#: Characters sent at once.
BATCH = 4 << 20
#: Characters of the parts of words of a text that are indexed: a word list has at most a megabyte.
LONGEST_SUBWORDS = 150_000

_CHUNK_COLUMNS = f"session, workstation, {rows.CHUNK_COLUMNS}"
_STAGING = (
    "CREATE TEMPORARY TABLE IF NOT EXISTS staging (LIKE chunks, class smallint, tool text, tokens int, spoken int, "
    "plain text, subwords text) ON COMMIT "
)
_COPY = f"COPY staging ({_CHUNK_COLUMNS}, class, tool, tokens, spoken, plain, subwords) FROM STDIN"
_INSERT_CHUNKS = f"INSERT INTO chunks ({_CHUNK_COLUMNS}) SELECT {_CHUNK_COLUMNS} FROM staging"
_INSERT_TEXTS = (
    "INSERT INTO texts (session, seq, workstation, class, role, tool, tokens, spoken, words) "
    "SELECT session, seq, workstation, class, role, tool, tokens, spoken, "
    "beside(to_tsvector('code', plain), setweight(to_tsvector('code', subwords), 'A')) FROM staging"
)
_INSERT_COMMANDS = (
    "INSERT INTO commands (session, seq, workstation, words) SELECT t.session, t.seq, t.workstation, t.words "
    "FROM staging AS s JOIN texts AS t USING (session, seq) "
    "WHERE s.class = 2 AND replace(replace(s.tool, '_', ''), '-', '') = ANY (%s)"
)


class Staging:
    """The chunks of one workstation that are not sent yet."""

    def __init__(self, db: Connection, workstation: int) -> None:
        self._db = db
        self._workstation = workstation
        self._rows: list[tuple[Any, ...]] = []
        #: The range of positions of each session's chunks: the first, and the one after the last.
        self._places: dict[int, tuple[int, int]] = {}
        self._held = 0

    @property
    def is_full(self) -> bool:
        """Whether they should be sent."""
        return self._held >= BATCH

    def add(self, session: int, seq: int, chunk: Chunk) -> int:
        """Add the chunk at a position of a session; return its number of words."""
        text, subwords = words.plain(chunk.text), words.plain(chunk.subwords)
        said = words.count(text)
        tokens = said + words.count(subwords)
        is_speech = chunk.kind == "message" and chunk.role in ("user", "assistant")
        self._rows.append(
            (
                session,
                self._workstation,
                *rows.chunk_row(seq, chunk),
                chunk.weight_class,
                clean(chunk.tool_name).lower() if chunk.tool_name else None,
                tokens,
                said if is_speech else 0,
                cut(text, words.LONGEST_TEXT),
                cut(subwords, LONGEST_SUBWORDS),
            )
        )
        self._places[session] = (self._places.get(session, (seq, 0))[0], seq + 1)
        self._held += OVERHEAD + len(chunk.text)
        return tokens

    def send(self) -> None:
        """Send them; the rows of their sessions must be stored."""
        if not self._rows:
            return
        # Behind a pooler, the next user of the server's connection may have another version of the schema.
        self._db.execute(_STAGING + ("DROP" if self._db.is_pooled else "DELETE ROWS"))
        with self._db.cursor() as cursor, cursor.copy(_COPY) as copy:
            for row in self._rows:
                copy.write_row(row)
        self._db.execute(_INSERT_CHUNKS)
        self._db.execute(_INSERT_TEXTS)
        self._db.execute(_INSERT_COMMANDS, (list(SHELLS),))
        vocabularies.extend(self._db, self._workstation, self._places)
        self._db.execute("TRUNCATE staging")
        self.clear()

    def clear(self) -> None:
        """Drop them."""
        self._rows.clear()
        self._places.clear()
        self._held = 0


def cut(text: str, length: int) -> str:
    """Return a prefix of a plain text, shorter if it is not ASCII, which takes more bytes."""
    return text[: length if text.isascii() else length // 3]
