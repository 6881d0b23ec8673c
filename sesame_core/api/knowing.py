"""The calls of `Sesame` about people and periods: who worked on something, and what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol

    from ..plugin.backend import IndexReader
    from ..privacy.redactor import Redactor
    from ..types.answer import Answer
    from ..types.knowing import Digest, DigestBy, Who
    from ..types.query import Filters

    class _Index(Protocol):
        shows_secrets: bool

        def reader(self) -> IndexReader: ...

    class _Searching(Protocol):
        """What these calls need of `Sesame`."""

        @property
        def _index(self) -> _Index: ...

        def _checked(self, filters: Filters | None) -> Filters: ...

        def search(self, text: str = "", filters: Filters | None = None, *, limit: int = 10) -> Answer: ...

        def _emptiness(self) -> str | None: ...

        def _without_results(self, hints: tuple[str, ...]) -> tuple[str, ...]: ...

        def _redactor_of_answers(self) -> Redactor | None: ...


#: Most bytes of the texts of a digest.
DIGEST_BYTES = 12_000


class Knowing:
    """Who worked on something, and what happened in a period."""

    def who(
        self: _Searching,
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
        from ..text.tokens import clean

        def searched(text: str, filters: Filters, limit: int) -> Answer:
            return self.search(text, filters, limit=limit)

        found = who(self._index.reader(), clean(about), self._checked(filters), searched, is_topic=is_topic)
        if not found.people and not found.hints:
            reason = self._emptiness()
            found.hints = self._without_results((reason,) if reason else ())
        found.total, found.offset = len(found.people), offset
        found.people = found.people[offset:][:limit]
        return found

    def digest(
        self: _Searching, filters: Filters | None = None, *, by: DigestBy = "project", max_bytes: int = DIGEST_BYTES
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
