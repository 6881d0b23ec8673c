"""What a person had asked for before something happened in a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import Chunk

#: Chunks that are read backwards, more each time: an agent may work for long on one prompt.
STEPS = (24, 96, 384, 1_536)


def prompts_before(reader: IndexReader, places: Sequence[tuple[int, int]]) -> list[Chunk | None]:
    """Return the last prompt before each place, a session's number and a position; None where none is near."""
    found: list[Chunk | None] = [None] * len(places)
    ends = [position for _, position in places]
    for step in STEPS:
        open_ = [n for n, chunk in enumerate(found) if chunk is None and ends[n] > 0]
        if not open_:
            break
        ranges = [(places[n][0], max(0, ends[n] - step), min(step, ends[n])) for n in open_]
        for n, chunks in zip(open_, reader.chunks(ranges), strict=True):
            ends[n] = max(0, ends[n] - step)
            found[n] = next((c for c in reversed(chunks) if c.kind == "message" and c.role == "user"), None)
    return found
