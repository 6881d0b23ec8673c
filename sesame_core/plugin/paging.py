"""Reads all sessions of an index, and all chunks of a session, page by page in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..types.index import Chunk, StoredSession
    from ..types.query import Filters
    from .backend import IndexReader

#: Sessions, and chunks of one session, that are in memory at once, so that any number takes the same memory.
PAGE = 256


def all_sessions(reader: IndexReader, filters: Filters, page: int = PAGE) -> Iterator[StoredSession]:
    """Yield the sessions that match filters, the last active first.

    :param page: sessions in memory at once; each page is a question that finds all of them.
    """
    offset = 0
    while True:
        found, _ = reader.list_sessions(filters, limit=page, offset=offset)
        yield from found
        if len(found) < page:
            return
        offset += page


def all_chunks(reader: IndexReader, number: int) -> Iterator[Chunk]:
    """Yield a session's chunks by position; none when there is no session with this number."""
    first = 0
    while True:
        (page,) = reader.chunks([(number, first, PAGE)])
        yield from page
        if len(page) < PAGE:
            return
        first = page[-1].seq + 1
