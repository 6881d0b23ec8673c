"""The calls of `Sesame` that ask what only a history can answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..text.tokens import as_seen
from ..types.query import Filters
from .searching import Searching

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.answer import Answer
    from ..types.fixes import Fixes, Known, Ways
    from ..types.index import StoredSession
    from ..types.knowing import Digest, DigestBy, Who
    from ..types.questions import Blame

#: Default number of fixes and of ways, the ones that are read.
ANSWERS = 5
#: Most bytes of the texts of a digest.
DIGEST_BYTES = 12_000


class Questions(Searching):
    """Who wrote a line, how an error was fixed, how something is run, who worked on it, and what happened."""

    def blame(
        self, reference: str, filters: Filters | None = None, *, limit: int | None = None, offset: int = 0
    ) -> Blame:
        """Return which sessions wrote the lines of a file, by the content of their edits.

        It runs `git`, where there is one, for the former names of the file and for notes of git-ai.

        :param reference: `FILE`, `FILE:LINE` or `FILE:LINE-LINE`; the file must exist.
        :param filters: which sessions may be named.
        :param limit: most sessions of `Blame.sessions`; the runs of lines name all.
        :param offset: sessions to skip.
        :raises QueryError: the file has no such lines; or no session and no parser has one of the agents.
        :raises SesameError: there is no such file, or it is not text.
        """
        from ..questions.blame import blame
        from ..questions.same_file import roots_of
        from ..questions.target import target
        from ..search.places import Places

        asked = target(reference)
        reader = self._index.reader()
        around = Places(reader).resolved(Filters(places=(asked.root,))) if asked.root else Filters()
        checked = self._checked(filters)
        found = blame(
            reader,
            asked,
            roots_of(asked.root, around),
            checked,
            page=slice(offset, None if limit is None else offset + limit),
        )
        self._show_marks(session.stored for session in found.sessions)
        return found

    def fix(self, error: str, filters: Filters | None = None, *, limit: int = ANSWERS, offset: int = 0) -> Fixes:
        """Return what was done after an error, or one like it, and whether it held.

        Of equal ones those of the repository around the present directory come first.

        :param error: as it was printed, of any number of lines; those that say most are looked for.
        :param limit: most fixes; occurrences of one error with one remedy are one.
        :param offset: fixes to skip.
        :raises QueryError: no session and no installed parser has one of the agents of `filters`.
        :raises BackendError: the index cannot be read.
        """
        from ..questions.fixes import find

        reader = self._index.reader()
        checked = self._checked(filters)
        found = find(reader, as_seen(error), checked, here=_here(reader), limit=limit, offset=offset)
        self._complete(found.basis, filters, (fix.seen.stored for fix in found.fixes), is_empty=not found.occurrences)
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
        from ..questions.howto import find

        reader = self._index.reader()
        checked = self._checked(filters)
        found = find(reader, as_seen(command), checked, here=_here(reader), limit=limit, offset=offset)
        self._complete(
            found.basis, filters, (way.last.stored for way in found.ways if way.last), is_empty=not found.runs
        )
        return found

    def who(
        self,
        about: str,
        filters: Filters | None = None,
        *,
        is_topic: bool = False,
        limit: int | None = None,
        offset: int = 0,
    ) -> Who:
        """Return who worked on a file, a directory or a topic, and in which sessions.

        :param about: a path, or its end, of a file that is here or that sessions name; or else words to search for.
        :param is_topic: it is words, even if there is a file of this name.
        :param limit: most people; all when None.
        :param offset: people to skip.
        :raises QueryError: no session and no installed parser has one of the agents of `filters`.
        """
        from ..questions.who import who

        def searched(text: str, filters: Filters, limit: int) -> Answer:
            return self.search(text, filters, limit=limit)

        asked = as_seen(about)
        found = who(self._index.reader(), asked, self._checked(filters), searched, is_topic=is_topic)
        if not found.people and not found.hints:
            reason = self._emptiness()
            found.hints = self._without_results((reason,) if reason else ())
        found.total, found.offset = len(found.people), offset
        found.people = found.people[offset:][:limit]
        return found

    def digest(
        self, filters: Filters | None = None, *, by: DigestBy = "project", max_bytes: int = DIGEST_BYTES
    ) -> Digest:
        """Return what happened in a period: sessions with quotes of them, none written by a model, without secrets.

        :param filters: with `after`, and `before` if the period is over.
        :param by: what sessions are grouped by.
        :param max_bytes: most bytes of all quotes, with their places and headings.
        :raises QueryError: no session and no installed parser has one of the agents of `filters`.
        """
        from ..privacy.leaving import Leaving
        from ..questions.digest import digest

        redactor = self._redactor_of_answers() if self._index.shows_secrets else None
        leaving = Leaving(redactor) if redactor else None
        return digest(self._index.reader(), self._checked(filters), by, max_bytes=max_bytes, leaving=leaving)

    def _complete(
        self, basis: Known, filters: Filters | None, shown: Iterable[StoredSession], *, is_empty: bool
    ) -> None:
        """Add what only the configuration knows: marks of the sessions, and why an answer is empty."""
        self._show_marks(shown)
        if not is_empty:
            return
        from ..questions.reach import withheld

        basis.withheld = withheld(self._index.reader(), self._checked(filters))
        if basis.searched == 0:
            basis.hints = (*basis.hints, *self.kept_out(filters, 0).hints)
        else:
            basis.hints = self._without_results(basis.hints)


def _here(reader: IndexReader) -> frozenset[str]:
    """Return the directories of the repository around the present directory, under all their names."""
    from ..query.here import here
    from ..search.places import Places
    from ..types.query import names_of

    places = Places(reader).resolved(Filters(places=here())).places
    return frozenset(name for place in places for name in names_of(place))
