"""The calls of `Sesame` that ask what only a history can answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..types.query import Filters
from .one_session import OneSession

if TYPE_CHECKING:
    from ..types.questions import Blame


class Questions(OneSession):
    """Questions about a file."""

    if TYPE_CHECKING:

        def _checked(self, filters: Filters | None) -> Filters: ...

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
            is_shared=self._index.audience() is not None,
            page=slice(offset, None if limit is None else offset + limit),
        )
        self._show_marks(session.stored for session in found.sessions)
        return found
