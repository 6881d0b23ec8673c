"""A writer that stores nothing: what a run would store, for a dry run."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ..plugin.backend import Positions
from ..types.index import Chunk, IndexedFile
from ..types.transcript import Notes, Session


class Rehearsal:
    """A writer that stores nothing and records the sessions passed to it."""

    def __init__(self) -> None:
        #: The sessions of each file, by path and id.
        self.sessions: dict[str, dict[str, Session]] = {}
        self._files: dict[str, IndexedFile] = {}

    def files(self) -> dict[str, IndexedFile]:
        """Return no files."""
        return {}

    def file(self, path: str) -> IndexedFile | None:
        """Return a recorded file."""
        return self._files.get(path)

    def file_sessions(self, path: str) -> list[Session]:
        """Return the recorded sessions of a file."""
        return [*self.sessions.get(path, {}).values()]

    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Record the sessions."""
        found = {item.id: item for item in content if isinstance(item, Session)}
        self._files[file.path], self.sessions[file.path] = file, found
        return {}

    append = replace

    def update_files(self, files: Iterable[IndexedFile]) -> None:
        """Do nothing."""

    def forget(self, number: int) -> int:
        """Do nothing."""
        return 0

    def delete_file(self, path: str) -> int:
        """Forget the sessions of a file."""
        self._files.pop(path, None)
        self.sessions.pop(path, None)
        return 0

    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Do nothing."""
        return 0

    def finish(self, *, synced_at: datetime | None) -> None:
        """Do nothing."""
