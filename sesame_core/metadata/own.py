"""The marks of this person on all sessions: what filters mean by them, and sessions that show them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ..dataclass import replace
from ..errors import SesameError
from ..query.boolean import with_filters
from ..types.index import StoredSession
from ..types.query import Filters, Mark, Query
from .directory import MARKS_SUFFIX, id_of, scan
from .marks import Marks, added, read
from .storage import named

#: Most sessions whose files are looked for one by one: of a page.
FEW = 100


class OwnMarks:
    """The files with marks in a directory; a file that changes is read again.

    :param directory: that of `MetadataFiles`.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._read: dict[str, tuple[int, Marks | None]] = {}

    def all(self) -> dict[str, Marks]:
        """Return all marks by session; files that are not valid are left out, and a run of the indexer reports them.

        :raises SesameError: the directory cannot be read.
        """
        try:
            found = scan(self._directory, has_marks=True, has_metadata=False) or {}
        except OSError as error:
            raise SesameError(f"{self._directory}: cannot be read: {error.strerror or error}") from error
        self._read = {path: self._known(path, time) for path, time in found.items()}
        return {id_of(path): marks for path, (_, marks) in self._read.items() if marks is not None}

    def show(self, sessions: Iterable[StoredSession]) -> None:
        """Add the marks to sessions, as an index returned them."""
        shown = list(sessions)
        find = self.all().get if len(shown) > FEW else self._of
        for stored in shown:
            if marks := find(stored.session.id):
                stored.session.notes = added(stored.session.notes, marks)

    def resolved(self, filters: Filters) -> Filters:
        """Return filters whose marks name the sessions that have them."""
        if not (filters.starred or filters.tags):
            return filters
        marks = self.all()
        starred = tuple(session for session, one in marks.items() if one.is_starred)
        return replace(
            filters,
            starred=filters.starred and Mark("starred", starred),
            tags=tuple(_tag(tag, marks) for tag in filters.tags),
        )

    def in_query(self, query: Query) -> Query:
        """Return a query whose marks name the sessions that have them."""
        condition = query.condition and with_filters(query.condition, self.resolved)
        return replace(query, filters=self.resolved(query.filters), condition=condition)

    def tags(self) -> list[str]:
        """Return all tags that were given."""
        return list(dict.fromkeys(tag for one in self.all().values() for tag in one.tags))

    def _of(self, session_id: str) -> Marks | None:
        """Return the marks of one session."""
        with suppress(SesameError, OSError):  # it has none: no file, or an id that cannot name one
            path = named(self._directory, session_id, MARKS_SUFFIX)
            self._read[str(path)] = found = self._known(str(path), path.stat().st_mtime_ns)
            return found[1]
        return None

    def _known(self, path: str, time: int) -> tuple[int, Marks | None]:
        known = self._read.get(path)
        if known is not None and known[0] == time:
            return known
        try:
            return time, read(Path(path))
        except SesameError:
            return time, None


def _tag(tag: str, marks: dict[str, Marks]) -> Mark:
    """Return a tag with the sessions that it was given to, and those that it was taken from."""
    small = tag.casefold()
    given = (session for session, one in marks.items() if small in map(str.casefold, one.tags))
    taken = (session for session, one in marks.items() if small in map(str.casefold, one.without))
    return Mark(tag, tuple(given), tuple(taken))
