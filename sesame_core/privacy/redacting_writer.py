"""Replaces each secret with a stable placeholder before a backend stores it.

Equal secrets get equal placeholders, so that they stay recognisable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TypeVar

from ..config.model import MARK
from ..dataclass import replace
from ..plugin.backend import Annotating, IndexWriter, Positions
from ..text.tokens import subwords
from ..types.index import Chunk, IndexedFile
from ..types.transcript import Checkpoint, Event, Notes, Session
from .redactor import Redactor

T = TypeVar("T")


class KnownFiles(dict[str, T]):
    """What an index knows of files, by their real paths: a path with a secret in it is stored with a mark.

    Only who knows the real path can tell, so such an entry gets it when it is first asked for.
    """

    def __init__(self, known: dict[str, T], redactor: Redactor) -> None:
        super().__init__(known)
        self._redactor = redactor
        self._has_marks = any(MARK in path for path in known)

    def get(self, path: str, default: T | None = None) -> T | None:  # type: ignore[override]
        """Return what is known of the file with this path."""
        if path not in self and self._has_marks and (stored := self._redactor.text(path)) in self:
            self[path] = self.pop(stored)
        return super().get(path, default)


class RedactingWriter:
    """A writer that takes secrets out of what it is given, before another writer sees it.

    :param writer: the backend's.
    """

    def __init__(self, writer: IndexWriter, redactor: Redactor) -> None:
        self._writer = writer
        self._redactor = redactor
        #: The file whose chunks are made of messages that have lost their secrets: once is enough.
        self._read_by_us: IndexedFile | None = None

    # -- before anything is cut ---------------------------------------------------------------------------

    def redacted(self, file: IndexedFile, events: Iterable[Event]) -> Iterator[Event]:
        """Take the secrets out of what a parser says: half a secret would not be known as one later."""
        self._read_by_us = file
        for event in events:
            if not isinstance(event, Checkpoint):
                self._redactor.take_out(event)
            elif not self._is_fit(event):
                continue
            yield event

    # -- the writer's calls -------------------------------------------------------------------------------

    def files(self) -> dict[str, IndexedFile]:
        """Return every known file by path."""
        return KnownFiles(self._writer.files(), self._redactor)

    def file(self, path: str) -> IndexedFile | None:
        """Return one file with its checkpoint."""
        return self._writer.file(self._redactor.text(path))

    def file_sessions(self, path: str) -> list[Session]:
        """Return the sessions read from a file."""
        return self._writer.file_sessions(self._redactor.text(path))

    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Store what a file says now."""
        stored, given = self._stored(file), dict[str, str]()
        return _by_id(self._writer.replace(stored, self._passed(file, stored, content, given)), given)

    def append(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Add what a grown file says."""
        stored, given = self._stored(file), dict[str, str]()
        return _by_id(self._writer.append(stored, self._passed(file, stored, content, given)), given)

    def update_files(self, files: Iterable[IndexedFile]) -> None:
        """Remember files whose content did not change."""
        self._writer.update_files(map(self._stored, files))

    def delete_file(self, path: str) -> int:
        """Delete a file and its sessions."""
        return self._writer.delete_file(self._redactor.text(path))

    def forget(self, number: int) -> int:
        """Delete a session for good."""
        return self._writer.forget(number)

    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Let sessions have notes, where the backend keeps any."""
        if not isinstance(self._writer, Annotating):
            return 0
        return self._writer.annotate(self._redactor.text(session_id), self._redactor.value(notes))

    def finish(self, *, synced_at: datetime | None) -> None:
        """End a run."""
        self._writer.finish(synced_at=synced_at)

    # -- how ----------------------------------------------------------------------------------------------

    def _stored(self, file: IndexedFile) -> IndexedFile:
        """Return what is stored of a file; the file itself keeps its path, by which it is read."""
        stored = replace(file, checkpoint=None)
        self._redactor.take_out(stored)
        if file.checkpoint and (file is self._read_by_us or self._is_fit(file.checkpoint)):
            stored.checkpoint = file.checkpoint
        return stored

    def _is_fit(self, checkpoint: Checkpoint) -> bool:
        """Tell that no secret is in a checkpoint.

        A parser could not go on from a mark; without a checkpoint it reads the file whole the next time.
        """
        return not self._redactor.findings(repr(checkpoint.state))

    def _passed(
        self, file: IndexedFile, stored: IndexedFile, content: Iterable[Session | Chunk], given: dict[str, str]
    ) -> Iterator[Session | Chunk]:
        """Yield content without secrets, and complete what is stored of its file.

        :param given: gets the id of each session whose id has a secret in it, by the id that is stored.
        """
        for item in content:
            if isinstance(item, Session):
                session_id = item.id
                self._redactor.take_out(item)
                if item.id is not session_id:
                    given[item.id] = session_id
            elif file is not self._read_by_us:
                text = item.text
                self._redactor.take_out(item)
                if item.text is not text:
                    item.subwords = subwords(item.text)
            yield item
        # What is known of a file is complete when its content has ended.
        complete = self._stored(file)
        for name in IndexedFile.__slots__:
            setattr(stored, name, getattr(complete, name))


def _by_id(positions: Positions, given: dict[str, str]) -> Positions:
    """Return positions by the ids that a caller has given, in place of those that are stored."""
    return {given.get(stored, stored): places for stored, places in positions.items()} if given else positions
