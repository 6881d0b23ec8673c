"""How many sessions an answer could not look into, since others show only their metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..plugin.withholding import Withholding

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.query import Filters


def withheld(reader: IndexReader, filters: Filters) -> int:
    """Return the number of sessions that filters select and of which only metadata is visible."""
    return reader.withheld(filters) if isinstance(reader, Withholding) else 0
