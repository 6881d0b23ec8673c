"""Shows an index without secrets: what is stored stays as it is, and what is read has placeholders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from .leaving import Leaving

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.index import Chunk, ChunkRange, StoredSession
    from ..types.query import Condition, Filters
    from .redactor import Redactor

#: Characters from which on a term with letters and digits is not named as another spelling of a word.
TERM = 8


def redacting_reader(reader: IndexReader, redactor: Redactor) -> IndexReader:
    """Return a reader that shows no secrets and has the abilities of the given one."""
    return cast("IndexReader", _class_for(type(reader))(reader, redactor))


class RedactingReader:
    """A reader around another one; `redacting_reader` makes it."""

    def __init__(self, reader: IndexReader, redactor: Redactor) -> None:
        self._reader = reader
        self._leaving = Leaving(redactor)

    def sessions(self, numbers: Iterable[int]) -> list[StoredSession]:
        """Return the sessions with these numbers."""
        return list(map(self._leaving.session, self._reader.sessions(numbers)))

    def find_sessions(self, prefix: str) -> list[StoredSession]:
        """Return the sessions with this id, or whose ids begin with it."""
        return list(map(self._leaving.session, self._reader.find_sessions(prefix)))

    def find_by_id(self, ids: Iterable[str]) -> list[StoredSession]:
        """Return the sessions with these ids."""
        return list(map(self._leaving.session, self._reader.find_by_id(ids)))

    def list_sessions(
        self, filters: Filters, *, limit: int, offset: int = 0, condition: Condition | None = None
    ) -> tuple[list[StoredSession], int]:
        """Return sessions, newest first, and their total."""
        found, total = self._reader.list_sessions(filters, limit=limit, offset=offset, condition=condition)
        return list(map(self._leaving.session, found)), total

    def chunks(self, ranges: Sequence[ChunkRange]) -> list[list[Chunk]]:
        """Return the chunks of each range."""
        return [list(map(self._leaving.chunk, found)) for found in self._reader.chunks(ranges)]


def _terms(self: RedactingReader, prefix: str, limit: int) -> list[tuple[str, int]]:
    """Return the terms with a prefix."""
    return _harmless(cast("Any", self._reader).terms(prefix, limit))


def _terms_with(self: RedactingReader, part: str, limit: int) -> list[tuple[str, int]]:
    """Return the terms that contain a string."""
    return _harmless(cast("Any", self._reader).terms_with(part, limit))


def _harmless(terms: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Drop the terms that may be secrets: without what stood before them, only their characters can tell."""
    return [(term, count) for term, count in terms if len(term) < TERM or term.isalpha() or term.isdigit()]


#: The methods of abilities whose results are redacted; those of all others are passed on.
_REDACTED = {"terms": _terms, "terms_with": _terms_with}


@cache
def _class_for(kind: type) -> type[RedactingReader]:
    """Return a class with the abilities of a reader's class, as `isinstance` finds them."""
    names = [name for name in dir(kind) if not name.startswith("_") and name not in vars(RedactingReader)]
    content = {name: _REDACTED.get(name) or _passed_on(name) for name in names}
    return type("RedactingReader", (RedactingReader,), content)


def _passed_on(name: str) -> property:
    return property(lambda self: getattr(self._reader, name))
