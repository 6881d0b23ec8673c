"""What the owner of sessions shares with others, put into effect and told beforehand.

`Outgoing` belongs to an index that others can read, and to one set of rules.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from . import discovery, identity, withheld
from .dataclass import replace
from .gathering import all_chunks, all_sessions
from .guard import Guard
from .indexer import Indexer
from .protocols import IndexReader, IndexWriter, StoredSession
from .query import Filters
from .sharing import Sharing
from .sources import OpenSource
from .tokens import subwords
from .types import NOTES, Chunk, IndexedFile, Notes, Session
from .withheld import Withheld
from .withholding import Change, Withholding, changes

if TYPE_CHECKING:
    from .metadata import MetadataFiles
    from .redaction import Redactor


class Outgoing:
    """The rules of one workstation, and what it keeps to itself.

    :param audience: who can read the index.
    :param metadata: where what was written about sessions is.
    """

    def __init__(self, sharing: Sharing, reader: IndexReader, audience: str, metadata: MetadataFiles) -> None:
        self._metadata = metadata
        self.sharing = sharing
        self.withheld = withheld.this_machines()
        self._reader = reader
        self._digest = sharing.digest(audience)

    def sessions(self) -> Iterator[StoredSession]:
        """Return this workstation's sessions that others can see."""
        mine = Filters(workstation=identity.workstation_id(), all_kinds=True)
        return all_sessions(self._reader, mine)

    # -- putting it into effect ---------------------------------------------------------------------------

    def writer(self, writer: IndexWriter) -> Withholding:
        """Return a writer that lets pass what the rules allow."""
        return Withholding(writer, self.sharing, self.withheld)

    def is_due(self) -> bool:
        """Tell that these rules are not in effect yet."""
        return self.withheld.applied != self._digest

    def apply(self, writer: Withholding) -> None:
        """Let the rules hold for what is stored already, unless they were applied before.

        A file whose sessions change is taken back at once, and read again by the run that follows; of one that is gone,
        what others may still see is written from the index.
        """
        if not self.is_due():
            return
        changed = changes(list(self.sessions()), self.withheld, self.sharing)
        for path in dict.fromkeys(change.path for change in changed):
            known = writer.file(path)
            if known is not None and not os.path.exists(path):
                stored = [one for one in self.sessions() if one.path == path]
                writer.replace(replace(known, checkpoint=None), self._content(stored))
            else:
                writer.withdraw(path)
                self.withheld.files.pop(path, None)
        if not self.sharing.is_open:
            for path in [path for path, known in writer.files().items() if known.parser == NOTES]:
                writer.withdraw(path)
        self.withheld.applied = self._digest

    def _content(self, stored: Iterable[StoredSession]) -> Iterator[Session | Chunk]:
        for one in stored:
            yield one.session
            for chunk in all_chunks(self._reader, one):
                chunk.subwords = subwords(chunk.text)
                yield chunk

    # -- telling it beforehand ----------------------------------------------------------------------------

    def plan(self, sources: Sequence[OpenSource], redactor: Redactor | None) -> list[Change]:
        """Return what the next run would send, take back or show less or more of; nothing is written."""
        stored = list(self.sessions())
        told = list(changes(stored, self.withheld, self.sharing))
        known = {one.path for one in stored} | self.withheld.files.keys()
        stored_name = redactor.text if redactor else str
        new = [
            found.path
            for source in sources
            for found in discovery.scan(source.root, lambda path: stored_name(path) not in known)
        ]
        if not new:
            return told
        rehearsal, kept = Rehearsal(), Withheld(None)
        writer: IndexWriter = Withholding(rehearsal, self.sharing, kept)
        guarded = Guard(writer, redactor) if redactor else writer
        Indexer(guarded, self._metadata, is_rebuild=True).run(sources, new)
        told += (
            Change(session=session, path=path, before=None, after=session.visibility)
            for path, session in rehearsal.sessions.values()
        )
        told += (Change(session=session, path=path, before=None, after="private") for path, session in kept.sessions())
        return told


class Rehearsal:
    """A writer that stores nothing and remembers which sessions it was given."""

    def __init__(self) -> None:
        #: Each with its file, by file and id.
        self.sessions: dict[tuple[str, str], tuple[str, Session]] = {}

    def files(self) -> dict[str, IndexedFile]:
        """Return nothing: no file is known."""
        return {}

    def file(self, path: str) -> IndexedFile | None:
        """Return None."""
        return None

    def file_sessions(self, path: str) -> list[Session]:
        """Return nothing."""
        return []

    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> int:
        """Remember the sessions."""
        found = [item for item in content if isinstance(item, Session)]
        self.sessions.update({(file.path, session.id): (file.path, session) for session in found})
        return 0

    append = replace

    def update_files(self, files: Iterable[IndexedFile]) -> None:
        """Do nothing."""

    def forget(self, number: int) -> int:
        """Do nothing."""
        return 0

    def withdraw(self, path: str) -> int:
        """Do nothing."""
        return 0

    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Do nothing."""
        return 0

    def finish(self, *, synced_at: datetime | None) -> None:
        """Do nothing."""
