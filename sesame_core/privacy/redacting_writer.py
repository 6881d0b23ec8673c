"""Replaces each secret with a stable placeholder before a backend stores it.

Equal secrets get equal placeholders, so that they stay recognisable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TypeVar

from ..config.model import MARK
from ..dataclass import replace
from ..plugin.backend import Annotating, IndexWriter, Reticent
from ..text.tokens import subwords
from ..types.index import Chunk, IndexedFile
from ..types.transcript import Checkpoint, Event, Notes, Session
from .redactor import Redactor

T = TypeVar("T")


class KnownFiles(dict[str, T]):
    """The files in an index, by their real paths: a path that contains a secret is stored with a placeholder.

    The real path cannot be computed from the placeholder, so such an entry gets its real path at the first lookup.
    """

    def __init__(self, known: dict[str, T], redactor: Redactor) -> None:
        super().__init__(known)
        self._redactor = redactor
        self._has_marks = any(MARK in path for path in known)

    def get(self, path: str, default: T | None = None) -> T | None:  # type: ignore[override]
        """Return the entry of the file with this path."""
        if path not in self and self._has_marks and (stored := self._redactor.text(path)) in self:
            self[path] = self.pop(stored)
        return super().get(path, default)


class RedactingWriter:
    """A writer that redacts everything before it passes it on to another writer.

    :param writer: the backend's writer.
    """

    def __init__(self, writer: IndexWriter, redactor: Redactor) -> None:
        self._writer = writer
        self._redactor = redactor
        #: The file whose chunks are made of redacted messages, so that they are not redacted twice.
        self._read_by_us: IndexedFile | None = None

    # -- before messages are cut into chunks --------------------------------------------------------------

    def redacted(self, file: IndexedFile, events: Iterable[Event]) -> Iterator[Event]:
        """Redact the events of a parser: a secret cut in two by chunks would not be detected."""
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

    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> int:
        """Replace the content of a file."""
        stored = self._stored(file)
        return self._writer.replace(stored, self._passed(file, stored, content))

    def append(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> int:
        """Store the new content of a file that has grown."""
        stored = self._stored(file)
        return self._writer.append(stored, self._passed(file, stored, content))

    def update_files(self, files: Iterable[IndexedFile]) -> None:
        """Update files whose content did not change."""
        self._writer.update_files(map(self._stored, files))

    def forget(self, number: int) -> int:
        """Delete a session for good."""
        return self._writer.forget(number)

    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Set the notes of sessions, if the backend stores notes."""
        if not isinstance(self._writer, Annotating):
            return 0
        return self._writer.annotate(self._redactor.text(session_id), self._redactor.value(notes))

    def withheld(self) -> int:
        """Return the number of files skipped because all their sessions are private."""
        return self._writer.withheld() if isinstance(self._writer, Reticent) else 0

    def finish(self, *, synced_at: datetime | None) -> None:
        """End a run."""
        self._writer.finish(synced_at=synced_at)

    # -- redacting ----------------------------------------------------------------------------------------

    def _stored(self, file: IndexedFile) -> IndexedFile:
        """Return a file as it is stored; the original keeps its path, which is needed to read it."""
        stored = replace(file, checkpoint=None)
        self._redactor.take_out(stored)
        if file.checkpoint and (file is self._read_by_us or self._is_fit(file.checkpoint)):
            stored.checkpoint = file.checkpoint
        return stored

    def _is_fit(self, checkpoint: Checkpoint) -> bool:
        """Return whether a checkpoint contains no secret.

        A parser could not resume from a placeholder; without a checkpoint it reads the whole file the next time.
        """
        return not self._redactor.findings(repr(checkpoint.state))

    def _passed(
        self, file: IndexedFile, stored: IndexedFile, content: Iterable[Session | Chunk]
    ) -> Iterator[Session | Chunk]:
        for item in content:
            if isinstance(item, Session) or file is not self._read_by_us:
                text = item.text if isinstance(item, Chunk) else ""
                self._redactor.take_out(item)
                if isinstance(item, Chunk) and item.text is not text:
                    item.subwords = subwords(item.text)
            yield item
        # The record of a file is complete when its content has ended.
        complete = self._stored(file)
        for name in IndexedFile.__slots__:
            setattr(stored, name, getattr(complete, name))
