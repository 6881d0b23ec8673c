"""What the owner of sessions shares with others, put into effect and told beforehand.

`SharingPolicy` belongs to an index that others can read, and to one set of rules.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from ..config import identity
from ..dataclass import replace
from ..indexing import discovery
from ..indexing.indexer import Indexer
from ..indexing.sources import OpenSource
from ..plugin.backend import IndexReader, IndexWriter, Positions
from ..plugin.paging import all_chunks, all_sessions
from ..privacy.redacting_writer import redacting_writer
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
    """The rules of one workstation, and what it keeps to itself.

    :param audience: who can read the index.
    :param metadata: where what was written about sessions is.
    """

    def __init__(self, sharing: Sharing, reader: IndexReader, audience: str, metadata: MetadataFiles) -> None:
        self._metadata = metadata
        self.sharing = sharing
        self.private_files = this_machines()
        self._reader = reader
        self._digest = sharing.digest(audience)

    def sessions(self) -> Iterator[StoredSession]:
        """Return this workstation's sessions that others can see."""
        mine = Filters(workstation=identity.workstation_id(), all_kinds=True)
        return all_sessions(self._reader, mine)

    # -- putting it into effect ---------------------------------------------------------------------------

    def writer(self, writer: IndexWriter) -> VisibilityWriter:
        """Return a writer that lets pass what the rules allow."""
        kin = VisibilityResolver(self.sharing, self._known, self.sessions)
        return visibility_writer(writer, kin, self.private_files)

    def is_due(self) -> bool:
        """Tell that these rules are not in effect yet."""
        return self.private_files.applied != self._digest

    def apply(self, writer: VisibilityWriter) -> None:
        """Let the rules hold for what is stored already, unless they were applied before.

        A file whose sessions change is taken back at once, and read again by the run that follows; of one that is gone,
        what others may still see is written from the index.
        """
        if not self.is_due():
            return
        before = list(self.sessions())
        changed = list(changes(before, self.private_files, self._kin(before)))
        for path in dict.fromkeys(change.path for change in changed):
            known = writer.file(path)
            if known is not None and not os.path.exists(path):
                stored = [one for one in self.sessions() if one.path == path]
                writer.replace(replace(known, checkpoint=None), self._content(stored))
            else:
                writer.delete_file(path)
        if not self.sharing.is_open:
            for path in [path for path, known in writer.files().items() if known.parser == NOTES]:
                writer.delete_file(path)
        self.private_files.applied = self._digest

    def _known(self, session_id: str) -> list[Session]:
        """Return this workstation's sessions of an id, as earlier runs left them."""
        mine = identity.workstation_id()
        stored = (one.session for one in self._reader.find_by_id([session_id]))
        return [*self._private.get(session_id, ()), *(one for one in stored if one.workstation == mine)]

    @cached_property
    def _private(self) -> dict[str, list[Session]]:
        return _by_id(session for _, session in self.private_files.sessions())

    def _kin(self, stored: Sequence[StoredSession]) -> VisibilityResolver:
        """Return what knows all sessions, and need not ask for each.

        :param stored: those that others can see.
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

    # -- telling it beforehand ----------------------------------------------------------------------------

    def plan(self, sources: Sequence[OpenSource], redactor: Redactor | None) -> list[Change]:
        """Return what the next run would send, take back or show less or more of; nothing is written."""
        stored = list(self.sessions())
        kin = self._kin(stored)
        known = {one.path for one in stored} | self.private_files.files.keys()
        stored_name = redactor.text if redactor else str
        new = [
            found.path
            for source in sources
            for found in discovery.scan(source.root, lambda path: stored_name(path) not in known)
        ]
        if not new:
            return list(changes(stored, self.private_files, kin))
        rehearsal, kept = Rehearsal(), PrivateFiles(None)
        writer: IndexWriter = visibility_writer(rehearsal, kin, kept)
        guarded = redacting_writer(writer, redactor) if redactor else writer
        Indexer(guarded, self._metadata, is_rebuild=True).run(sources, new)
        # Now, since a new session may show less than a subagent of it that is stored.
        told = list(changes(stored, self.private_files, kin))
        told += (
            Change(session=session, path=path, before=None, after=session.visibility)
            for path, sessions in rehearsal.sessions.items()
            for session in sessions.values()
        )
        told += (Change(session=session, path=path, before=None, after="private") for path, session in kept.sessions())
        return told


def _by_id(sessions: Iterable[Session]) -> dict[str, list[Session]]:
    found: dict[str, list[Session]] = {}
    for session in sessions:
        found.setdefault(session.id, []).append(session)
    return found


class Rehearsal:
    """A writer that stores nothing and remembers which sessions it was given."""

    def __init__(self) -> None:
        #: Those of each file, by its path and by id.
        self.sessions: dict[str, dict[str, Session]] = {}
        self._files: dict[str, IndexedFile] = {}

    def files(self) -> dict[str, IndexedFile]:
        """Return nothing: no file is known beforehand."""
        return {}

    def file(self, path: str) -> IndexedFile | None:
        """Return a file that was given."""
        return self._files.get(path)

    def file_sessions(self, path: str) -> list[Session]:
        """Return the sessions of a file that was given."""
        return [*self.sessions.get(path, {}).values()]

    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Remember the sessions."""
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
