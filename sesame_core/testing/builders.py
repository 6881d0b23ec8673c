"""Small made-up sessions, chunks, files and queries, like those of the indexer and the query parser."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from sesame_core.text import tokens
from sesame_core.text.words import word_of
from sesame_core.types.index import Chunk, IndexedFile
from sesame_core.types.query import AllOf, Condition, Has, Not, Query, Word
from sesame_core.types.transcript import Session

#: The content for a backend's `replace`.
Content: TypeAlias = list[Session | Chunk]

#: When made-up sessions were last modified.
NOON = datetime(2026, 5, 8, 12, 0, tzinfo=UTC)


def a_file(path: str = "/sessions/1.jsonl", *, version: int = 1, **fields: Any) -> IndexedFile:
    """Return a file; `version` becomes its mtime and size."""
    values: dict[str, Any] = {
        "parser": "test",
        "parser_version": 1,
        "mtime_ns": version * 10**9,
        "size": version,
    }
    return IndexedFile(path=path, **{**values, **fields})


def a_chunk(text: str, **fields: Any) -> Chunk:
    """Return a chunk with its subwords; a human prompt unless the fields say otherwise."""
    values: dict[str, Any] = {"kind": "message", "role": "user", "subwords": tokens.subwords(text)}
    return Chunk(text=text, **{**values, **fields})


def a_call(text: str, *, tool: str = "bash", paths: tuple[str, ...] = ()) -> Chunk:
    """Return the chunk of a tool call."""
    return a_chunk(text, kind="tool_call", role="assistant", tool_name=tool, paths=paths)


def a_session(*chunks: str | Chunk, id: str = "s1", **fields: Any) -> Content:
    """Return a session and its chunks, given as texts or as chunks, in the order a backend receives them."""
    values: dict[str, Any] = {
        "agent": "test",
        "kind": "interactive",
        "cwd": "/w/app",
        "created": NOON,
        "modified": NOON,
        "message_count": len(chunks),
        "key": f"host:project:{id}",
    }
    made = [a_chunk(chunk) if isinstance(chunk, str) else chunk for chunk in chunks]
    for chunk in made:
        chunk.session_id = id
    return [Session(id=id, **{**values, **fields}), *made]


def a_word(text: str) -> Has:
    """Return the condition that a session has a word or a phrase."""
    return Has(word_of(text))


def a_query(
    text: str = "",
    *,
    required: Sequence[str] = (),
    excluded: Sequence[str] = (),
    condition: Condition | None = None,
) -> Query:
    """Return a query for the words of a text; each of `required` and `excluded` is a word or a phrase."""
    words = [made for word in text.split() for made in _words(word)]
    words += map(word_of, required)
    parts = [*map(a_word, required), *(Not(a_word(phrase)) for phrase in excluded), *([condition] if condition else [])]
    return Query(text=text, words=tuple(words), condition=AllOf(tuple(parts)) if parts else None)


def _words(word: str) -> list[Word]:
    return [word_of(word)] if word.endswith("*") else [word_of(piece) for piece in tokens.pieces(word)]
