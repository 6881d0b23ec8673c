"""The write half of the backend in memory: it changes a copy of the state and then publishes it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from copy import deepcopy
from datetime import UTC, datetime

from ...dataclass import replace
from ...plugin.backend import Positions
from ...sdk import ingest
from ...types.index import Chunk, IndexedFile
from ...types.transcript import Notes, Session
from .index import Entry, State


class MemoryWriter:
    """Changes a copy of the state, which replaces the present state when it is published.

    :param state: the content of the index.
    :param publish: makes a state visible to readers.
    """

    def __init__(self, state: State, publish: Callable[[State], None]) -> None:
        self._state = State(state)
        self._publish = publish
        self._next_number = max(state.entries, default=0) + 1

    def files(self) -> dict[str, IndexedFile]:
        """Return every known file by path."""
        return deepcopy(self._state.files)

    def file(self, path: str) -> IndexedFile | None:
        """Return one file."""
        return deepcopy(self._state.files.get(path))

    def file_sessions(self, path: str) -> list[Session]:
        """Return the sessions read from a file."""
        return [deepcopy(entry.session) for entry in self._state.entries.values() if entry.path == path]

    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Replace the content of a file."""
        items = list(content)  # if this fails, nothing has changed yet
        self._delete(n for n, entry in self._state.entries.items() if entry.path == file.path)
        return self._store(file, items)

    def append(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Add to the content of a file."""
        return self._store(file, list(content))

    def update_files(self, files: Iterable[IndexedFile]) -> None:
        """Update files whose content did not change."""
        for file in files:
            known = self._state.files.get(file.path)
            if file.checkpoint is None and known is not None:
                file = replace(file, checkpoint=known.checkpoint)
            self._store_file(file)

    def delete_file(self, path: str) -> int:
        """Delete a file and its sessions, without a tombstone."""
        self._state.files.pop(path, None)
        return self._delete(n for n, entry in self._state.entries.items() if entry.path == path)

    def forget(self, number: int) -> int:
        """Delete a session with its copies and subagents, and leave tombstones."""
        if number not in self._state.entries:
            return 0
        chosen = self._state.entries[number].session
        family = {
            n: entry.session.id
            for n, entry in self._state.entries.items()
            if entry.session.agent == chosen.agent and chosen.id in ingest.lineage(entry.session.id)
        }
        self._state.tombstones |= {(chosen.agent, id) for id in family.values()}
        for path in {self._state.entries[number].path for number in family}:
            self._drop_content(path)
        return self._delete(family)

    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Set the notes of the sessions with this id."""
        changed = 0
        for number, entry in list(self._state.entries.items()):
            session = entry.session
            if session.id == session_id and session.notes != notes and session.visibility != "metadata":
                session = replace(session, notes=deepcopy(notes))
                self._state.entries[number] = Entry(session, entry.path, entry.chunks, entry.documents)
                changed += 1
        return changed

    def finish(self, *, synced_at: datetime | None) -> None:
        """Store the time of the sync, and publish."""
        self._state.synced_at = synced_at or self._state.synced_at
        self.publish()

    def publish(self) -> None:
        """Make all changes visible to readers."""
        self._publish(self._state)
        self._state = State(self._state)

    # -- implementation -----------------------------------------------------------------------------------

    def _store(self, file: IndexedFile, items: list[Session | Chunk]) -> Positions:
        described: dict[str, Session] = {}
        added: dict[str, list[Chunk]] = {}
        for item in items:
            if isinstance(item, Session):
                described[item.id] = item
            else:
                added.setdefault(item.session_id, []).append(item)
        known = {e.session.id: n for n, e in self._state.entries.items() if e.path == file.path}
        positions: Positions = {}
        has_forgotten = False
        for id in dict.fromkeys([*described, *added]):
            if id not in known and self._is_forgotten(described[id]):
                has_forgotten = True
                continue
            former = self._state.entries.get(known.get(id, 0))
            session = _as_stored(described[id], file) if id in described else self._state.entries[known[id]].session
            before = former.chunks if former else ()
            chunks = added.get(id, [])[: ingest.MAX_CHUNKS - len(before)]
            places = range(len(before), len(before) + len(chunks))
            if chunks:
                positions[id] = places
            placed = (replace(chunk, seq=seq) for chunk, seq in zip(chunks, places, strict=True))
            entry = Entry(session, file.path, (*before, *placed), former.documents if former else ())
            self._state.entries[known.get(id) or self._number()] = entry
        self._store_file(file)
        if has_forgotten:
            self._drop_content(file.path)
        return positions

    def _number(self) -> int:
        self._next_number += 1
        return self._next_number - 1

    def _is_forgotten(self, session: Session) -> bool:
        return any((session.agent, id) in self._state.tombstones for id in ingest.lineage(session.id))

    def _store_file(self, file: IndexedFile) -> None:
        file = deepcopy(file)
        if file.checkpoint is not None:
            file.checkpoint.state = json.loads(json.dumps(file.checkpoint.state))
        self._state.files[file.path] = file

    def _drop_content(self, path: str) -> None:
        file = replace(self._state.files[path])
        file.drop_content()
        self._state.files[path] = file

    def _delete(self, numbers: Iterable[int]) -> int:
        return sum(len(self._state.entries.pop(number).chunks) for number in list(numbers))


def _as_stored(session: Session, file: IndexedFile) -> Session:
    """Return a session with defaults for its missing fields."""
    modified = session.modified
    if modified is None:
        try:
            modified = datetime.fromtimestamp(file.mtime_ns // 1_000_000 / 1000, UTC)
        except (OverflowError, ValueError, OSError):  # a time that `datetime` cannot represent
            modified = None
    return replace(
        deepcopy(session),
        kind=session.kind or "interactive",
        modified=modified,
        abandoned=tuple(session.abandoned or ()),
    )
