"""Asks a reader many small questions at once, if it can answer them so."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from .abilities import has_ability
from .protocols import Gathering, Naming

if TYPE_CHECKING:
    from .protocols import IndexReader, StoredSession, Stretch
    from .types import Chunk


def stretches(reader: IndexReader, wanted: Sequence[Stretch]) -> list[list[Chunk]]:
    """Return the chunks of stretches of sessions, in the order of the stretches."""
    if not wanted:
        return []
    if has_ability(reader, Gathering):
        return reader.stretches(wanted)
    return [reader.chunks(number, first, count) for number, first, count in wanted]


def named(reader: IndexReader, ids: Collection[str]) -> list[StoredSession]:
    """Return the sessions that have one of these ids."""
    if not ids:
        return []
    if has_ability(reader, Naming):
        return reader.named(ids)
    return [stored for id in ids for stored in reader.find_sessions(id) if stored.session.id == id]
