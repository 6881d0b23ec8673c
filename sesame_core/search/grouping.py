"""Groups sessions into one result: copies of a session in several files, and subagents with their parent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..plugin.backend import IndexReader
    from ..types.index import Chunk, StoredSession
    from .ranking import Ranked


class Grouping:
    """Some sessions, and the sessions that represent them in an answer."""

    def __init__(self, reader: IndexReader, numbers: Iterable[int]) -> None:
        numbers = list(numbers)
        #: The sessions and their topmost parents, by number.
        self.stored = {stored.number: stored for stored in reader.sessions(numbers)}
        self._order = [number for number in numbers if number in self.stored]
        #: The session that represents each of them, by number.
        self.groups: dict[int, int] = {}
        #: By workstation and id: another one's session may have any id, and is no parent of this one's.
        self._by_id: dict[tuple[str, str], StoredSession | None] = {}
        by_key: dict[str, int] = {}
        for stored in sorted(self.stored.values(), key=copy_rank, reverse=True):
            self.groups[stored.number] = by_key.setdefault(stored.session.key, stored.number)
        self._look_up_parents(reader)
        for stored in list(self.stored.values()):
            if stored.session.kind == "subagent" and (parent := self._parent(stored)):
                self.stored.setdefault(parent.number, parent)
                self.groups[stored.number] = self.groups.get(parent.number, parent.number)
        #: Number of sessions that another one represents.
        self.united = len(self.groups) - len(set(self.groups.values()))
        #: Modified times of the representing sessions, by number.
        self.modified = {number: self.stored[number].session.modified for number in set(self.groups.values())}

    def representing(self) -> list[StoredSession]:
        """Return the representing sessions, in the order of the numbers."""
        return [self.stored[number] for number in dict.fromkeys(self.groups[n] for n in self._order)]

    def is_abandoned(self, ranked: Ranked, chunk: Chunk) -> bool:
        """Return whether a chunk of a ranked group is off the active branch of its session."""
        sources = (self.stored[scored.session].session for scored in ranked.chunks if scored.seq == chunk.seq)
        return any(s.id == chunk.session_id and chunk.segment in (s.abandoned or ()) for s in sources)

    def _look_up_parents(self, reader: IndexReader) -> None:
        """Load the ancestors of subagent sessions."""
        wanted = _parent_ids(self.stored.values())
        while wanted:
            self._by_id.update(dict.fromkeys(wanted))
            for stored in sorted(reader.find_by_id({id for _, id in wanted}), key=copy_rank):
                self._by_id[stored.session.workstation, stored.session.id] = stored
            above = (self._by_id[each] for each in wanted)
            wanted = _parent_ids(stored for stored in above if stored) - self._by_id.keys()

    def _parent(self, stored: StoredSession) -> StoredSession | None:
        """Return the topmost ancestor of a subagent, if it is indexed."""
        session, seen = stored.session, {stored.session.id}
        parent = None
        while session.kind == "subagent" and session.parent_id and session.parent_id not in seen:
            seen.add(session.parent_id)
            above = self._by_id[session.workstation, session.parent_id]
            if above is None:
                break
            parent = above
            session = parent.session
        return parent


def _parent_ids(stored: Iterable[StoredSession]) -> set[tuple[str, str]]:
    """Return workstations and ids of the parents of subagents."""
    sessions = (one.session for one in stored)
    return {(s.workstation, s.parent_id) for s in sessions if s.kind == "subagent" and s.parent_id}


def copy_rank(stored: StoredSession) -> tuple[bool, bool, int, int]:
    """Return a sort key whose greatest value is the file that represents a session: present, its own, longest, latest.

    One that another agent has imported is only what that agent keeps of it, with more or fewer texts.
    """
    return stored.missing_since is None, not stored.session.is_imported, stored.chunk_count, stored.number
