"""Fixtures and helpers that the parts of the backend's conformance suite share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from sesame_core.plugin.backend import Positions, StorageBackend
from sesame_core.plugin.shared import SharedBackend
from sesame_core.types.index import Chunk, IndexedFile, StoredSession
from sesame_core.types.query import Filters, Query
from sesame_core.types.transcript import Session

from ..builders import a_chunk, a_query
from ..plugins import PluginConformance

EVERYTHING = Filters(all_kinds=True)


class BackendBase(PluginConformance):
    """Fixtures: override `options`; `backend` and `other` open the same, empty index."""

    kind = "backend"

    @pytest.fixture
    def options(self) -> dict[str, Any]:
        """Options of an empty index for this test alone; override it."""
        raise NotImplementedError("return the options of a new, empty index")

    @pytest.fixture
    def backend(self, create: Callable[..., Any]) -> Iterator[StorageBackend]:
        """The backend under test; one that is shared is prepared, as its owner does it."""
        made: StorageBackend = create()
        if isinstance(made, SharedBackend):
            made.prepare()
        yield made
        made.close()

    @pytest.fixture
    def other(self, create: Callable[..., Any]) -> Iterator[StorageBackend]:
        """Another backend object on the same index, like that of another process."""
        made: StorageBackend = create()
        yield made
        made.close()


class ParserDiedError(Exception):
    """Raised in the middle of a file's content."""


def broken(*items: Session | Chunk, padding: int = 0) -> Iterator[Session | Chunk]:
    """Yield some content, then fail."""
    yield from items
    for number in range(padding):
        yield a_chunk(f"padding {number}", session_id=items[0].id if isinstance(items[0], Session) else "")
    raise ParserDiedError


def store(backend: StorageBackend, file: IndexedFile, *sessions: Iterable[Session | Chunk]) -> Positions:
    """Replace a file's content in a run of its own."""
    with backend.writer() as writer:
        return writer.replace(file, [item for session in sessions for item in session])


def chunks(backend: StorageBackend, session_id: str, first: int = 0, count: int | None = None) -> list[Chunk]:
    """Return a session's chunks from a position."""
    (found,) = backend.reader().chunks([(the(backend, session_id).number, first, count)])
    return found


def found(backend: StorageBackend, query: str | Query, filters: Filters = EVERYTHING) -> set[str]:
    """Return the ids of the sessions in which a chunk or the head matches."""
    reader = backend.reader()
    candidates = reader.candidates(a_query(query) if isinstance(query, str) else query, filters)
    numbers = {chunk.session for chunk in candidates.chunks} | set(candidates.heads)
    return {stored.session.id for stored in reader.sessions(numbers)}


def the(backend: StorageBackend, session_id: str) -> StoredSession:
    """Return the one stored session of this id."""
    (stored,) = [s for s in backend.reader().find_sessions(session_id) if s.session.id == session_id]
    return stored


def texts(backend: StorageBackend, session_id: str) -> list[str]:
    """Return the texts of a session's chunks in order."""
    return [chunk.text for chunk in chunks(backend, session_id)]
