"""The calls that a question reads: each name is looked for, and each call is read, once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..tool_calls.call_files import files_of
from .finding import Found, Place, chunks_at, chunks_with, word_of

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..tool_calls.call_files import Named
    from ..types.index import Chunk, StoredSession
    from ..types.query import Filters
    from .named_file import NamedFile


class CallsRead:
    """What one question has read of an index in a snapshot.

    A name may be that of a file, and of a directory; its last component, and its last two, may be the same.
    """

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader
        self._found: dict[tuple[str, Filters, int], Found] = {}
        self._calls: dict[Place, Chunk] = {}
        self._files: dict[Place, list[Named]] = {}
        self._sessions: dict[int, StoredSession] = {}

    def with_name(self, name: str, filters: Filters, limit: int) -> Found:
        """Return chunks with a name as a phrase, those of the newest sessions, as `finding.chunks_with` does."""
        asked = name, filters, limit
        if asked not in self._found:
            self._found[asked] = chunks_with(self._reader, word_of(name), filters, limit)
        return self._found[asked]

    def sessions(self, numbers: Iterable[int]) -> dict[int, StoredSession]:
        """Return sessions by number."""
        wanted = set(numbers)
        if missing := wanted - self._sessions.keys():
            self._sessions |= {one.number: one for one in self._reader.sessions(missing)}
        return {number: self._sessions[number] for number in wanted if number in self._sessions}

    def naming(self, file: NamedFile, places: Iterable[Place]) -> Iterator[tuple[Place, Chunk, list[Named]]]:
        """Yield those calls at some places that may name a file, with the files that they name."""
        wanted = list(places)
        missing = [place for place in wanted if place not in self._calls]
        self._calls |= chunks_at(self._reader, missing)
        sessions = self.sessions(number for number, _ in wanted)
        for place in wanted:
            chunk, stored = self._calls.get(place), sessions.get(place[0])
            if chunk is not None and chunk.kind == "tool_call":
                directory = (stored.session.cwd if stored else None) or ""
                if place not in self._files and file.may_be_in(chunk.text, directory):
                    self._files[place] = files_of(chunk.text, directory)
                if place in self._files:
                    yield place, chunk, self._files[place]
