"""How a session leaves the index: whole, or as a note for another agent; with or without secrets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..privacy.leaving import Leaving
from ..search.family import family
from ..search.handoff import handoff
from ..types.export import Export

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..privacy.redactor import Redactor
    from ..types.export import Handoff
    from ..types.index import StoredSession


def export_of(reader: IndexReader, found: Callable[[], StoredSession], redactor: Redactor | None) -> Export:
    """Return a session with its subagents, read at once.

    :param found: returns the session.
    :param redactor: replaces secrets; None leaves them.
    """
    with reader.snapshot():
        parts = family(reader, found())
    if redactor is not None:
        leaving = Leaving(redactor)
        parts = [
            replace(part, stored=leaving.session(part.stored), chunks=tuple(map(leaving.chunk, part.chunks)))
            for part in parts
        ]
    return Export(parts=tuple(parts), is_redacted=redactor is not None)


def handoff_of(
    reader: IndexReader, found: Callable[[], StoredSession], redactor: Redactor | None, *, max_bytes: int
) -> Handoff:
    """Return what another agent must know to go on with a session.  The parameters are those of `export_of`.

    :param max_bytes: most bytes of all passages, with their places and headings.
    """
    with reader.snapshot():
        stored = found()
        chunks = reader.chunks([(stored.number, 0, None)])[0]
    if redactor is not None:
        leaving = Leaving(redactor)
        stored, chunks = leaving.session(stored), list(map(leaving.chunk, chunks))
    return replace(handoff(stored, chunks, budget=max_bytes), is_redacted=redactor is not None)
