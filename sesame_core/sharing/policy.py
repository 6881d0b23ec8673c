"""Applies and previews what the owner of sessions shares with others.

A `SharingPolicy` belongs to an index that others can read, and to one set of rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from ..config import identity
from ..dataclass import replace
from ..errors import UnpreparedError
from ..indexing.indexer import Indexer
from ..indexing.sources import OpenSource
from ..plugin.backend import IndexReader, IndexWriter, Positions
from ..plugin.paging import all_chunks, all_sessions
from ..privacy.redacting_writer import redacting_writer
from ..sdk.ingest import is_deleted
from ..text.tokens import subwords
from ..types.index import NOTES, Chunk, IndexedFile, StoredSession
from ..types.query import Filters
from ..types.transcript import Notes, Session
from .inheritance import VisibilityResolver
from .private_files import PrivateFiles, this_machines
from .rules import Sharing
from .visibility_writer import Change, VisibilityWriter, changes, visibility_writer

if TYPE_CHECKING:
    from ..metadata.files import MetadataFiles
    from ..privacy.redactor import Redactor


class SharingPolicy:
    """The rules of one workstation, and its list of private files.

    :param audience: who can read the index.
    :param metadata: the metadata files of sessions.
    """

    def __init__(self, sharing: Sharing, reader: IndexReader, audience: str, metadata: MetadataFiles) -> None:
        self._metadata = metadata
        self.sharing = sharing
        self.private_files = this_machines()
        self._reader = reader
        self._digest = sharing.digest(audience)
        self._workstation = identity.workstation_id()

    def sessions(self) -> Iterator[StoredSession]:
        """Yield the sessions of this workstation that others can see."""
        mine = Filters(workstation=self._workstation, all_kinds=True)
        with suppress(UnpreparedError):  # nothing was sent yet
            yield from all_sessions(self._reader, mine)

    # -- applying -----------------------------------------------------------------------------------------

    def writer(self, writer: IndexWriter) -> VisibilityWriter:
        """Return a writer that passes on only what the rules allow."""
        resolver = VisibilityResolver(self.sharing, self._known, self.sessions)
        return visibility_writer(writer, resolver, self.private_files)

    def is_due(self) -> bool:
        """Return whether these rules must still be applied."""
        return self.private_files.applied != self._digest

    def apply(self, writer: VisibilityWriter) -> None:
        """Apply the rules to the stored sessions, unless they are applied already.

        A file whose sessions change is removed at once, and the run that follows reads it again; for a deleted file,
        what others may still see is rewritten from the index.
        """
        if not self.is_due():
            return
        before = list(self.sessions())
        changed = list(changes(before, self.private_files, self._resolver(before)))
        for path in dict.fromkeys(change.path for change in changed):
            known = writer.file(path)
            if known is not None and is_deleted(path, known.missing_since is not None):
                stored = [one for one in self.sessions() if one.path == path]
                writer.replace(replace(known, checkpoint=None), self._content(stored))
            else:
                writer.delete_file(path)
        if not self.sharing.is_open:
            for path in [path for path, known in writer.files().items() if known.parser == NOTES]:
                writer.delete_file(path)
        self.private_files.applied = self._digest

    def _known(self, session_id: str) -> list[Session]:
        """Return the sessions of this workstation with an id, as earlier runs stored them."""
        stored = (one.session for one in self._reader.find_by_id([session_id]))
        mine = (one for one in stored if one.workstation == self._workstation)
        return [*self._private.get(session_id, ()), *mine]

    @cached_property
    def _private(self) -> dict[str, list[Session]]:
        return _by_id(session for _, session in self.private_files.sessions())

    def _resolver(self, stored: Sequence[StoredSession]) -> VisibilityResolver:
        """Return a resolver that has all sessions loaded, so that it does not query for each.

        :param stored: the sessions that others can see.
        """
        private = (session for _, session in self.private_files.sessions())
        by_id = _by_id(chain((one.session for one in stored), private))
        return VisibilityResolver(self.sharing, lambda session_id: by_id.get(session_id, ()), lambda: stored)

    def _content(self, stored: Iterable[StoredSession]) -> Iterator[Session | Chunk]:
        for one in stored:
            yield one.session
            for chunk in all_chunks(self._reader, one.number):
                chunk.subwords = subwords(chunk.text)
                yield chunk

    # -- previewing ---------------------------------------------------------------------------------------

    def plan(self, sources: Sequence[OpenSource], redactor: Redactor | None) -> list[Change]:
        """Return the sessions that the next run would add, remove, or make more or less visible; writes nothing."""
        stored = list(self.sessions())
        resolver = self._resolver(stored)
        known = {one.path for one in stored} | self.private_files.files.keys()
        stored_name = redactor.text if redactor else str
        new = [
            found.path
            for source in sources
            for found in source.files.scan(source.root, lambda path: stored_name(path) not in known)
        ]
        if not new:
            return list(changes(stored, self.private_files, resolver))
        rehearsal, kept = Rehearsal(), PrivateFiles(None)
        writer: IndexWriter = visibility_writer(rehearsal, resolver, kept)
        guarded = redacting_writer(writer, redactor) if redactor else writer
        Indexer(guarded, self._metadata, is_rebuild=True).run(sources, new)
        # Only now, since a new session may be less visible than a stored subagent of it.
        planned = list(changes(stored, self.private_files, resolver))
        planned += (
            Change(session=session, path=path, before=None, after=session.visibility)
            for path, sessions in rehearsal.sessions.items()
            for session in sessions.values()
        )
        planned += (
            Change(session=session, path=path, before=None, after="private") for path, session in kept.sessions()
        )
        return planned


def _by_id(sessions: Iterable[Session]) -> dict[str, list[Session]]:
    found: dict[str, list[Session]] = {}
    for session in sessions:
        found.setdefault(session.id, []).append(session)
    return found


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
