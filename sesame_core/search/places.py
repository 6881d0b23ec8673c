"""The directories that filters name: each with the other names by which the sessions of an index know it."""

from __future__ import annotations

from ..dataclass import replace
from ..plugin.backend import Directories, IndexReader
from ..query.boolean import with_filters
from ..query.directories import Names
from ..types.query import Directory, Filters, Query
from . import values


class Places:
    """The directories of an index."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader
        self._names = Names()
        self._known: list[str] | None = None

    def resolved(self, filters: Filters) -> Filters:
        """Return filters whose directories have their other names."""
        if not (filters.cwd or filters.places):
            return filters
        cwd = self._named(filters.cwd) if filters.cwd else None
        return replace(filters, cwd=cwd, places=tuple(map(self._named, filters.places)))

    def in_query(self, query: Query) -> Query:
        """Return a query whose directories have their other names."""
        condition = query.condition and with_filters(query.condition, self.resolved)
        return replace(query, filters=self.resolved(query.filters), condition=condition)

    def _named(self, directory: str) -> Directory:
        if isinstance(directory, Directory):
            return directory
        if self._known is None:
            self._known = self._all()
        return Directory(directory, self._names.others(directory, self._known))

    def _all(self) -> list[str]:
        if isinstance(self._reader, Directories):
            return self._reader.directories(values.KNOWN)
        return [place for place, _ in values.known(self._reader, "cwd")]
