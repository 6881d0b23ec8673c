"""The Protocol of a chunk formatter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ..types.index import Chunk
from ..types.transcript import Message


class ChunkFormatter(Protocol):
    """Cuts messages into the chunks that are indexed."""

    def format(self, message: Message) -> Iterable[Chunk]:
        """Return the message's chunks, in reading order; none when the message has nothing to search for."""
