"""Asks a reader for much: many small questions at once, if it can answer them so; what is long, page by page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from .backend import Gathering, Naming

if TYPE_CHECKING:
    from ..types.index import Chunk, StoredSession, Stretch
    from ..types.query import Filters
    from .backend import IndexReader

#: Sessions, and chunks of one, that are held at once, so that any number takes the same memory.
PAGE = 256


def stretches(reader: IndexReader, wanted: Sequence[Stretch]) -> list[list[Chunk]]:
    """Return the chunks of stretches of sessions, in the order of the stretches."""
    if not wanted:
        return []
    if isinstance(reader, Gathering):
        return reader.stretches(wanted)
    return [reader.chunks(number, first, count) for number, first, count in wanted]


def named(reader: IndexReader, ids: Collection[str]) -> list[StoredSession]:
    """Return the sessions that have one of these ids."""
    if not ids:
        return []
    if isinstance(reader, Naming):
        return reader.named(ids)
    return [stored for id in ids for stored in reader.find_sessions(id) if stored.session.id == id]


def all_sessions(reader: IndexReader, filters: Filters) -> Iterator[StoredSession]:
    """Yield the sessions that filters let pass, the last active first."""
    offset = 0
    while True:
        found, _ = reader.list_sessions(filters, limit=PAGE, offset=offset)
        yield from found
        if len(found) < PAGE:
            return
        offset += PAGE


def all_chunks(reader: IndexReader, number: int) -> Iterator[Chunk]:
    """Yield a session's chunks by position; none when there is no session of this number."""
    first = 0
    while True:
        page = reader.chunks(number, first, PAGE)
        yield from page
        if len(page) < PAGE:
            return
        first = page[-1].seq + 1
