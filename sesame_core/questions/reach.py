"""How far a question reaches: the filters of what it reads, and what an answer says of the sessions that it has not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dataclass import replace
from ..plugin.backend import IndexReader, TracksFiles
from ..plugin.shared import Withholding
from ..types.query import Filters

if TYPE_CHECKING:
    from ..types.fixes import Known
    from ..types.index import Chunk
    from ..types.transcript import Role


def of_role(filters: Filters, role: Role) -> Filters:
    """Return filters for chunks of one role, unless they name one."""
    return filters if filters.role else replace(filters, role=role)


def of_calls(filters: Filters) -> Filters:
    """Return filters for calls of tools, without their results."""
    return replace(filters, role="assistant", tools_only=True)


def is_within_period(chunk: Chunk, filters: Filters) -> bool:
    """Return whether a chunk was said between `after` and `before`; one without a time was said at all times."""
    time = chunk.timestamp
    return time is None or (
        (filters.after is None or time >= filters.after) and (filters.before is None or time <= filters.before)
    )


def withheld(reader: IndexReader, filters: Filters) -> int:
    """Return the number of sessions that filters select and of which only metadata is visible, since others hide it."""
    return reader.withheld(filters) if isinstance(reader, Withholding) else 0


def tell(basis: Known, reader: IndexReader, filters: Filters, *, is_empty: bool) -> None:
    """Say on what an answer is based: how fresh the index is, and how many sessions were searched for nothing."""
    if is_empty:
        _, basis.searched = reader.list_sessions(filters, limit=1)
    if isinstance(reader, TracksFiles):
        basis.freshness = reader.freshness()
