"""A subagent or a fork inherits the visibility of its parent session: it is never more visible than its parent.

A subagent gets its parent's words as its task, and a fork begins with a copy of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from types import MappingProxyType

from ..config.model import LEVELS
from ..sdk.ingest import lineage
from ..types.index import StoredSession
from ..types.transcript import Session
from .rules import Sharing, strictest


class VisibilityResolver:
    """The visibility of sessions, including what they inherit from their parents.

    :param forgotten: agent and id of the sessions of which nothing may be stored.
    :param known: returns the sessions with an id that earlier runs read, including private ones, each with its file.
    :param stored: returns the sessions that others can see since earlier runs; called at most twice.
    :param private: the private sessions of earlier runs by id, with all names that their directories had.
    """

    def __init__(
        self,
        sharing: Sharing,
        known: Callable[[str], Iterable[tuple[str, Session]]],
        stored: Callable[[], Iterable[StoredSession]],
        forgotten: Set[tuple[str, str]] = frozenset(),
        private: Mapping[str, Iterable[tuple[str, Session]]] = MappingProxyType({}),
    ) -> None:
        self._private = private
        self.sharing = sharing
        self._forgotten = forgotten
        self._known = known
        self._stored = stored
        #: By id; "shared" for unknown sessions.
        self._levels: dict[str, str] = {}
        #: By id: the level that no stored child exceeds.
        self._settled: dict[str, str] = {}
        #: Files with subagents and forks, by the id of their parent.
        self._files: dict[str, set[str]] = {}
        self._has_stored = False
        #: The files of stored sessions that others may see; None until it is needed.
        self._visible_files: set[str] | None = None

    def level(self, session: Session) -> str:
        """Return the visibility of a session, one of `config.LEVELS`."""
        if self.is_forgotten(session):
            return "private"
        level = strictest([self.sharing.level(session), *map(self.sharing.level, self._earlier(session))])
        parent = None if self.sharing.is_open else session.parent_id
        return level if parent is None else strictest([level, self._of(parent)])

    def _earlier(self, session: Session) -> Iterator[Session]:
        """Yield a session as it was when it was private, with the names that its directories had then."""
        places = {*session.places}
        for _, one in self._private.get(session.id, ()):
            if one is not session and one.agent == session.agent and not places.isdisjoint(one.places):
                yield one

    def is_forgotten(self, session: Session) -> bool:
        """Return whether a session, or one that it is a subagent of, was forgotten."""
        return bool(self._forgotten) and any((session.agent, id) in self._forgotten for id in lineage(session.id))

    def is_visible(self, path: str) -> bool:
        """Return whether others can see a session of a file since earlier runs, and still may."""
        if self._visible_files is None:
            self._visible_files = {one.path for one in self._stored() if self.level(one.session) != "private"}
        return path in self._visible_files

    def learn(self, session: Session, path: str, level: str) -> Iterator[str]:
        """Record a session that is read, and yield the files of its children that may be more visible than it.

        :param path: its file.
        """
        if self.sharing.is_open:
            return
        self._note(session, path)
        if level == "shared":
            return
        self._levels[session.id] = strictest([level, self._levels.get(session.id, level)])
        # As it is stored, not as it would be now: its own parent may have been learnt since its children were stored.
        if session.id not in self._settled:
            stored = (one.visibility for _, one in self._known(session.id))
            self._settled[session.id] = strictest(["shared", *stored])
        if LEVELS.index(self._settled[session.id]) >= LEVELS.index(level):
            return
        self._settled[session.id] = level
        if not self._has_stored:
            self._has_stored = True
            for one in self._stored():
                self._note(one.session, one.path)
        yield from self._files.get(session.id, ())

    def moved_from(self, session: Session, path: str, level: str) -> set[str]:
        """Return the deleted files of which others see more of a session than they may: its file was one of them.

        :param path: its file now.
        """
        if level == "shared" or self.sharing.is_open:
            return set()
        more = {of for of, one in self._known(session.id) if LEVELS.index(one.visibility) < LEVELS.index(level)}
        return {of for of in more - {path} if not os.path.exists(of)}

    def _note(self, session: Session, path: str) -> None:
        if session.parent_id is not None:
            self._files.setdefault(session.parent_id, set()).add(path)

    def _of(self, session_id: str) -> str:
        """Return the visibility of the sessions with an id."""
        if session_id not in self._levels:
            self._levels[session_id] = "shared"  # ends the recursion for a session that is its own ancestor
            levels = [self.level(one) for _, one in self._known(session_id)]
            self._levels[session_id] = strictest(["shared", *levels])
        return self._levels[session_id]
