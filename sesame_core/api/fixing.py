"""The calls of `Sesame` about what was done: how an error was fixed, how something is run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..text.tokens import clean
from .one_session import OneSession

if TYPE_CHECKING:
    from ..types.fixes import Fixes, Known, Ways
    from ..types.index import StoredSession
    from ..types.query import Filters

#: Default number of fixes and of ways, the ones that are read.
ANSWERS = 5


class Fixing(OneSession):
    """Questions about errors and commands."""

    if TYPE_CHECKING:

        def _checked(self, filters: Filters | None) -> Filters: ...

        def _without_results(self, hints: tuple[str, ...]) -> tuple[str, ...]: ...

        def _emptiness(self) -> str | None: ...

    def fix(self, error: str, filters: Filters | None = None, *, limit: int = ANSWERS, offset: int = 0) -> Fixes:
        """Return what was done after an error, or one like it, and whether it held.

        :param error: as it was printed, of any number of lines; those that say most are looked for.
        :param limit: most fixes; occurrences of one error with one remedy are one.
        :param offset: fixes to skip.
        :raises QueryError: no session and no installed parser has one of the agents of `filters`.
        :raises BackendError: the index cannot be read.
        """
        from ..questions.fixes import find

        found = find(self._index.reader(), clean(error), self._checked(filters), limit=limit, offset=offset)
        self._complete(found.basis, (fix.seen.stored for fix in found.fixes), is_empty=not found.occurrences)
        return found

    def how(self, command: str, filters: Filters | None = None, *, limit: int = ANSWERS, offset: int = 0) -> Ways:
        """Return how something was run: commands that succeeded, and apart those that failed.

        Those of the repository around the present directory come first.

        :param command: a command or the beginning of one, or words for a task: `cargo test`, `run the tests`.
        :param limit: most commands; their variants are counted.
        :param offset: commands to skip.
        :raises QueryError: no session and no installed parser has one of the agents of `filters`.
        :raises BackendError: the index cannot be read.
        """
        from ..query.here import here
        from ..questions.howto import find
        from ..search.places import Places
        from ..types.query import Filters, names_of

        reader = self._index.reader()
        places = Places(reader).resolved(Filters(places=here())).places
        names = [name for place in places for name in names_of(place)]
        found = find(reader, clean(command), self._checked(filters), here=names, limit=limit, offset=offset)
        self._complete(found.basis, (way.last.stored for way in found.ways if way.last), is_empty=not found.runs)
        return found

    def _complete(self, basis: Known, shown: Iterable[StoredSession], *, is_empty: bool) -> None:
        """Add what only the configuration knows: marks of the sessions, and why an answer is empty."""
        self._show_marks(shown)
        if not is_empty:
            return
        if reason := self._emptiness():
            basis.hints, basis.left_out = (*basis.hints, reason), {}
        elif self._index.audience():
            from ..search.values import KNOWN
            from ..types.query import Filters

            listed, _ = self._index.reader().list_sessions(Filters(), limit=KNOWN)
            basis.withheld = sum(stored.session.visibility == "metadata" for stored in listed)
        basis.hints = self._without_results(basis.hints)
