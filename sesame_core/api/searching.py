"""The calls of `Sesame` that find sessions, with what every question to the index has: checked filters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..errors import SesameError
from ..query.filters import cleaned
from ..search.engine import kept_out_of_list, search
from ..text.tokens import clean
from ..types.answer import LIMIT, Answer, KeptOut, Page
from ..types.index import StoredSession
from ..types.query import Filters
from .one_session import OneSession

#: Default number of listed sessions.
LISTED = 50

if TYPE_CHECKING:
    from ..search.agents import Agents
    from ..search.places import Places


class Searching(OneSession):
    """Sessions found by a query, or listed."""

    def search(
        self,
        text: str = "",
        filters: Filters | None = None,
        *,
        limit: int = LIMIT,
        offset: int = 0,
        passages: int = 1,
        passage_bytes: int | None = None,
        context: tuple[int, int] | None = None,
        explain: bool = False,
        found: int = 0,
    ) -> Answer:
        """Find the sessions that match a query; without words, list the newest.

        :param offset: results to skip; pages of one index have one order and one total.
        :param passages: most passages of each hit: the best one, the best of the other side (an answer to a prompt),
            then the rest, best first.
        :param passage_bytes: bytes of UTF-8 of each at most; a snippet of about 240 characters when None, and none
            for 0, which is quicker.
        :param context: items of the window before and after each hit's best passage; None for no windows.
            With windows an answer has at most `types.answer.MAX_HITS` hits.
        :param explain: explain how the query was read and how each score was computed.
        :param found: most sessions of `Answer.found`, all that match, to be counted.
        :raises QueryError: no session and no installed parser has one of the agents of `filters`.
        :raises BackendError: the index cannot be read.
        """
        page = Page(
            limit=limit,
            offset=offset,
            passages=passages,
            passage_bytes=passage_bytes,
            context=context,
            explain=explain,
            found=found,
        )
        filters = self._checked(filters)
        agents, places, own = self._agents(text), self._places(text), self._marks(text)
        answer = search(self._index.reader(), text, filters, page, agents=agents, within=places, own=own)
        self._show_marks(hit.stored for hit in answer.hits)
        if not answer.total:
            # A list of sessions does not count chunks.
            if not answer.chunk_total and (reason := self._emptiness()):
                answer.hints, answer.words_not_found, answer.left_out = (*answer.query.hints, reason), [], {}
            answer.hints = self._without_results(answer.hints)
        return answer

    def list_sessions(
        self, filters: Filters | None = None, *, limit: int = LISTED, offset: int = 0
    ) -> tuple[list[StoredSession], int]:
        """Return sessions, last active first, and their total number.

        :raises QueryError: no session and no installed parser has one of the agents.
        """
        found, total = self._index.reader().list_sessions(self._checked(filters), limit=limit, offset=offset)
        self._show_marks(found)
        return found, total

    def kept_out(self, filters: Filters | None, total: int) -> KeptOut:
        """Return why a list of sessions is empty: what each filter kept out, or why the index is empty.

        :param total: as `list_sessions` returned it with these filters.
        """
        if not total and (reason := self._emptiness()):
            found = KeptOut(hints=(reason,))
        else:
            found = kept_out_of_list(self._index.reader(), self._checked(filters), total)
        return found if total else replace(found, hints=self._without_results(found.hints))

    def excluding(self, filters: Filters, sessions: Iterable[str]) -> Filters:
        """Return filters that also exclude these sessions; ids may be abbreviated, unknown ones are ignored."""
        ids = {stored.session.id for name in sessions for stored in self._index.reader().find_sessions(clean(name))}
        return replace(filters, exclude=(*filters.exclude, *sorted(ids))) if ids else filters

    def _checked(self, filters: Filters | None) -> Filters:
        """Return filters that every database accepts, with the agents that their names mean."""
        filters = cleaned(filters or Filters())
        agents = self._agents() if filters.agents else None
        filters = agents.checked(filters) if agents else filters
        places = self._places() if filters.cwd or filters.places else None
        filters = places.resolved(filters) if places else filters
        own = self._marks() if filters.starred or filters.tags else None
        return own.resolved(filters) if own else filters

    def _agents(self, text: str | None = None) -> Agents | None:
        """Return the agents that names can mean; None if a query has no name of one."""
        if text is not None and "agent:" not in text.lower():
            return None
        from ..config.sources import installed_parsers
        from ..search.agents import Agents

        return Agents(self._index.reader(), lambda: installed_parsers(self.plugins))

    def _places(self, text: str | None = None) -> Places | None:
        """Return the directories that names can mean; None if a query has none."""
        if text is not None and not any(name in text.lower() for name in ("cwd:", "in:", "is:here")):
            return None
        from ..search.places import Places

        return Places(self._index.reader())

    def _without_results(self, hints: tuple[str, ...]) -> tuple[str, ...]:
        """Return the hints of an answer without results: where sessions are read from, and whose are not.

        :param hints: those that it has; if they explain it, the first of these two is left out.
        """
        from ..indexing.emptiness import unread_sentence, where

        try:
            there = [] if hints else [root for root in self.looked_in() if root.exists]
            unread = unread_sentence(self.unread_roots())
        except SesameError:
            return hints  # the refresh reports it
        looked = [where(there) + (", and in what others share" if self._index.audience() else "")] if there else []
        return (*hints, *looked, *([unread] if unread else []))

    def _emptiness(self) -> str | None:
        """Return why the index is empty; None if it is not."""
        if self._index.reader().statistics().sessions:
            return None
        from ..indexing.emptiness import emptiness

        return emptiness(self.config, self.plugins)
