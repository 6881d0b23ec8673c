"""Whether something was said in the period of filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..types.index import Chunk
    from ..types.query import Filters


def is_within_period(chunk: Chunk, filters: Filters) -> bool:
    """Return whether a chunk was said between `after` and `before`; one without a time was said at all times."""
    time = chunk.timestamp
    return time is None or (
        (filters.after is None or time >= filters.after) and (filters.before is None or time <= filters.before)
    )
