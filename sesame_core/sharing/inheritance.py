"""A subagent inherits the visibility of its parent session: no subagent is more visible than what started it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ..config.model import LEVELS
from ..types.index import StoredSession
from ..types.transcript import Session
from .rules import Sharing, strictest


def parent_of(session: Session) -> str | None:
    """Return the id of the session that a subagent works for; None when it is no subagent."""
    return session.parent_id if session.kind == "subagent" else None


class VisibilityResolver:
    """What others may see of sessions, those they work for considered.

    :param known: returns the sessions of an id that were read in earlier runs, private ones among them.
    :param stored: returns the sessions that others see since earlier runs; asked at most once.
    """

    def __init__(
        self,
        sharing: Sharing,
        known: Callable[[str], Iterable[Session]],
        stored: Callable[[], Iterable[StoredSession]],
    ) -> None:
        self.sharing = sharing
        self._known = known
        self._stored = stored
        #: By id; "shared" of sessions that nothing is known of.
        self._levels: dict[str, str] = {}
        #: Files with subagents, by the id of the session that these work for.
        self._files: dict[str, set[str]] = {}
        self._has_stored = False

    def level(self, session: Session) -> str:
        """Return what others may see of a session, one of `config.LEVELS`."""
        level = self.sharing.level(session)
        parent = None if self.sharing.is_open else parent_of(session)
        return level if parent is None else strictest([level, self._of(parent)])

    def learn(self, session: Session, path: str, level: str) -> Iterator[str]:
        """Take in a session that is read, and yield the files of subagents that may show more than it.

        :param path: its file.
        """
        if self.sharing.is_open:
            return
        self._note(session, path)
        if level == "shared" or LEVELS.index(self._of(session.id)) >= LEVELS.index(level):
            self._levels.setdefault(session.id, level)
            return
        self._levels[session.id] = level
        if not self._has_stored:
            self._has_stored = True
            for one in self._stored():
                self._note(one.session, one.path)
        yield from self._files.get(session.id, ())

    def _note(self, session: Session, path: str) -> None:
        if (parent := parent_of(session)) is not None:
            self._files.setdefault(parent, set()).add(path)

    def _of(self, session_id: str) -> str:
        """Return what others may see of the sessions of an id."""
        if session_id not in self._levels:
            self._levels[session_id] = "shared"  # also for a session that works for itself, in the end
            levels = [self.level(one) for one in self._known(session_id)]
            self._levels[session_id] = strictest(["shared", *levels])
        return self._levels[session_id]
