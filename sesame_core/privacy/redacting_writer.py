"""Replaces each secret with a stable placeholder before a backend stores it.

Equal secrets get equal placeholders, so that they stay recognisable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from ..config.model import MARK
from ..dataclass import replace
from ..plugin.backend import Annotating, IndexWriter, Positions
from ..text.tokens import subwords
from ..types.index import Chunk, IndexedFile
from ..types.transcript import Checkpoint, Event, Notes, Session
from .redactor import Redactor


class StoredPaths:
    """Maps real paths to stored paths, in which secrets are replaced with their placeholders.

    :param known: the paths that the index knows.
    """

    def __init__(self, known: Iterable[str], redactor: Redactor) -> None:
        self._redactor = redactor
        self._has_marks = any(MARK in path for path in known)
        self._stored: dict[str, str] = {}

    def __call__(self, path: str) -> str:
        """Return the stored path of a real path; the path itself when no known file has a placeholder in its path."""
        if not self._has_marks:
            return path
        stored = self._stored.get(path)
        if stored is None:
            stored = self._stored[path] = self._redactor.text(path)
        return stored


def redacting_writer(writer: IndexWriter, redactor: Redactor) -> RedactingWriter:
    """Return a writer that redacts secrets before another one gets them, and that has the abilities of that one.

    :param writer: the backend's writer, or one around it.
    """
    if isinstance(writer, Annotating):
        return AnnotatingRedactingWriter(writer, writer, redactor)
    return RedactingWriter(writer, redactor)


class EventRedactor:
    """Redacts the events of a parser; it can be sent to another process."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def redacted(self, file: IndexedFile, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events of a file without secrets."""
        for event in events:
            if not isinstance(event, Checkpoint):
                self._redactor.redact(event)
            elif not self.is_fit(event):
                continue
            yield event

    def is_fit(self, checkpoint: Checkpoint) -> bool:
        """Return whether a checkpoint contains no secret.

        A parser could not resume from a placeholder; without a checkpoint it reads the whole file the next time.
        """
        return not self._redactor.findings(repr(checkpoint.state))


class RedactingWriter:
    """A writer that redacts secrets before another one gets them; `redacting_writer` makes it."""

    def __init__(self, writer: IndexWriter, redactor: Redactor) -> None:
        self._writer = writer
        self._redactor = redactor
        self._events = EventRedactor(redactor)
        #: As `Source.redaction`.
        self.redaction = redactor.version
        self._stored_paths = StoredPaths((), redactor)
        #: The file whose chunks come from redacted messages, so that they need not be redacted again.
        self._read_by_us: IndexedFile | None = None

    # -- before messages are cut into chunks --------------------------------------------------------------

    def redacted(self, file: IndexedFile, events: Iterable[Event]) -> Iterator[Event]:
        """Redact the events of a parser: a secret cut in two by chunks would not be detected."""
        self._read_by_us = file
        return self._events.redacted(file, events)

    def elsewhere(self) -> EventRedactor:
        """Return what redacts events in another process."""
        return self._events

    def was_redacted(self, file: IndexedFile) -> None:
        """Take the content of a file, which the next call passes, as redacted: its events were."""
        self._read_by_us = file

    # -- the writer's calls -------------------------------------------------------------------------------

    def files(self) -> dict[str, IndexedFile]:
        """Return every known file by its stored path."""
        known = self._writer.files()
        self._stored_paths = StoredPaths(known, self._redactor)
        return known

    def stored_path(self, path: str) -> str:
        """Return a file's path as in `files`."""
        return self._stored_paths(path)

    def file(self, path: str) -> IndexedFile | None:
        """Return one file with its checkpoint."""
        return self._writer.file(self._redactor.text(path))

    def file_sessions(self, path: str) -> list[Session]:
        """Return the sessions read from a file."""
        return self._writer.file_sessions(self._redactor.text(path))

    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Store the present content of a file."""
        stored, given = self._stored(file), dict[str, str]()
        if stored.path != file.path:
            # Stored before its path was redacted.
            self._writer.delete_file(file.path)
        return _by_id(self._writer.replace(stored, self._passed(file, stored, content, given)), given)

    def append(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Add the new content of a grown file."""
        stored, given = self._stored(file), dict[str, str]()
        return _by_id(self._writer.append(stored, self._passed(file, stored, content, given)), given)

    def update_files(self, files: Iterable[IndexedFile]) -> None:
        """Update files whose content did not change."""
        self._writer.update_files(map(self._stored, files))

    def delete_file(self, path: str) -> int:
        """Delete a file and its sessions."""
        return self._writer.delete_file(self._redactor.text(path))

    def forget(self, number: int) -> int:
        """Delete a session for good."""
        return self._writer.forget(number)

    def finish(self, *, synced_at: datetime | None) -> None:
        """End a run."""
        self._writer.finish(synced_at=synced_at)

    # -- redacting ----------------------------------------------------------------------------------------

    def _stored(self, file: IndexedFile) -> IndexedFile:
        """Return a redacted copy of a file; the original keeps its path, which is needed to read it."""
        stored = replace(file, checkpoint=None)
        self._redactor.redact(stored)
        if file.checkpoint and (file is self._read_by_us or self._events.is_fit(file.checkpoint)):
            stored.checkpoint = file.checkpoint
        return stored

    def _passed(
        self, file: IndexedFile, stored: IndexedFile, content: Iterable[Session | Chunk], given: dict[str, str]
    ) -> Iterator[Session | Chunk]:
        """Yield content without secrets, and complete the stored copy of its file.

        :param given: collects the original ids of sessions whose id contains a secret, by stored id.
        """
        for item in content:
            if isinstance(item, Session):
                session_id = item.id
                self._redactor.redact(item)
                if item.id is not session_id:
                    given[item.id] = session_id
            elif file is not self._read_by_us:
                text = item.text
                self._redactor.redact(item)
                if item.text is not text:
                    item.subwords = subwords(item.text)
            yield item
        # The file's fields are complete only when its content has ended.
        complete = self._stored(file)
        for name in IndexedFile.__dataclass_fields__:
            setattr(stored, name, getattr(complete, name))


class AnnotatingRedactingWriter(RedactingWriter):
    """A redacting writer around a writer that stores notes."""

    def __init__(self, writer: IndexWriter, annotating: Annotating, redactor: Redactor) -> None:
        super().__init__(writer, redactor)
        self._annotating = annotating

    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Set the notes of sessions, without the secrets in them."""
        return self._annotating.annotate(self._redactor.text(session_id), self._redactor.value(notes))


def _by_id(positions: Positions, given: dict[str, str]) -> Positions:
    """Return positions by the ids that a caller passed, in place of the stored ones."""
    return {given.get(stored, stored): places for stored, places in positions.items()} if given else positions
