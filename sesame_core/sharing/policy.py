"""Applies and previews what the owner of sessions shares with others.

A `SharingPolicy` belongs to an index that others can read, and to one set of rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from ..config import identity
from ..errors import UnpreparedError
from ..indexing.content import Replayed
from ..indexing.indexer import Indexer
from ..indexing.sources import OpenSource
from ..plugin.backend import IndexReader, IndexWriter
from ..plugin.paging import all_chunks, all_sessions
from ..plugin.shared import Belongings, Fingerprinted
from ..privacy.redacting_writer import redacting_writer
from ..sdk.ingest import is_deleted
from ..text.tokens import subwords
from ..types.index import NOTES, Chunk, IndexedFile, StoredSession
from ..types.query import Filters
from ..types.transcript import Session
from . import rules
from .changes import Change, changes
from .inheritance import VisibilityResolver
from .private_files import PrivateFiles, this_machines
from .rehearsal import Rehearsal
from .rules import Sharing
from .visibility_writer import VisibilityWriter, visibility_writer

if TYPE_CHECKING:
    from ..metadata.files import MetadataFiles
    from ..privacy.redactor import Redactor


class SharingPolicy:
    """The rules of one workstation, and its list of private files.

    :param audience: who can read the index.
    :param metadata: the metadata files of sessions.
    :param written: as `rules.written` was before the rules were loaded: when they are others, a writer stops.
    """

    def __init__(
        self,
        sharing: Sharing,
        reader: IndexReader,
        audience: str,
        metadata: MetadataFiles,
        written: tuple[int, int] | None,
    ) -> None:
        self._metadata = metadata
        self._written = written
        self.sharing = sharing
        self.private_files = this_machines()
        self._reader = reader
        self._digest = sharing.digest(audience)
        self._workstation = identity.workstation_id()

    def sessions(self) -> Iterator[StoredSession]:
        """Yield the sessions of this workstation that others can see, under each id that it had."""
        with suppress(UnpreparedError):  # nothing was sent yet
            for name in self._ids:
                yield from all_sessions(self._reader, Filters(workstation=name, all_kinds=True))

    @cached_property
    def _ids(self) -> tuple[str, ...]:
        former = self._reader.former_ids() if isinstance(self._reader, Belongings) else ()
        return (self._workstation, *former)

    # -- applying -----------------------------------------------------------------------------------------

    def writer(self, writer: IndexWriter) -> VisibilityWriter:
        """Return a writer that passes on only what the rules allow."""
        resolver = VisibilityResolver(
            self.sharing, self._known, self.sessions, self.private_files.forgotten, self._private
        )
        return visibility_writer(writer, resolver, self.private_files, lambda: rules.written() == self._written)

    def apply(self, stored: IndexWriter) -> None:
        """Apply the rules to the stored sessions, unless they are applied already.

        A file whose sessions change is removed at once, and the run that follows reads it again; for a deleted file,
        what others may still see is rewritten from the index.

        :param stored: the backend's writer.
        """
        self.private_files.has_rules = bool(self.sharing.rules)
        is_as_left = not isinstance(stored, Fingerprinted) or self.private_files.fingerprint == stored.fingerprint()
        if self.private_files.applied == self._digest and is_as_left:
            return
        writer = self.writer(stored)
        before = list(self.sessions())
        changed = list(changes(before, self.private_files, self._resolver(before)))
        for path in dict.fromkeys(change.path for change in changed):
            known = writer.file(path)
            if known is not None and is_deleted(path, known.missing_since is not None):
                self._rewrite(known, writer)
            else:
                writer.delete_file(path)
        shown = {one.path for one in before}
        # What a restored backup shows of a file that has become private since by its content, and not by a rule.
        for path in shown & self.private_files.whole().keys():
            stored.delete_file(path)
        if not self.sharing.is_open:
            self._withhold(shown, writer, stored)
        self.private_files.applied = self._digest

    def _rewrite(self, file: IndexedFile, writer: VisibilityWriter) -> None:
        """Rewrite a deleted file from the index, without what others may not see any more."""
        kept = [one for one in self.sessions() if one.path == file.path]
        file.drop_content()
        with suppress(Replayed):  # subagents and forks are narrowed first
            writer.replace(file, self._content(kept))
            return
        self._rewrite(file, writer)

    def _withhold(self, shown: Set[str], writer: VisibilityWriter, stored: IndexWriter) -> None:
        """Remove the files without sessions: their paths and errors say where someone works, and no rule allows that.

        :param shown: the files with sessions.
        """
        for path, known in stored.files().items():
            if known.parser == NOTES or (path not in shown and (known.error or known.missing_since)):
                writer.delete_file(path)
            elif path not in shown:
                # Known here from now on: its sessions were forgotten, or deleted by the owner of the tables.
                stored.delete_file(path)
                self.private_files.put(known, [], is_whole=True)

    def settle(self, stored: IndexWriter) -> None:
        """Record what a run has stored, by which the next one detects that someone else has changed it.

        :param stored: the backend's writer.
        """
        if not isinstance(stored, Fingerprinted) or (now := stored.fingerprint()) == self.private_files.fingerprint:
            return
        self.private_files.fingerprint = now
        self.private_files.forgotten |= stored.forgotten()
        self.private_files.save()

    def _known(self, session_id: str) -> list[tuple[str, Session]]:
        """Return the sessions of this workstation with an id, as earlier runs stored them, each with its file."""
        stored = ((one.path, one.session) for one in self._reader.find_by_id([session_id]))
        mine = (one for one in stored if one[1].workstation in self._ids)
        return [*self._private.get(session_id, ()), *mine]

    @cached_property
    def _private(self) -> dict[str, list[tuple[str, Session]]]:
        return _by_id(self.private_files.sessions())

    def _resolver(self, stored: Sequence[StoredSession]) -> VisibilityResolver:
        """Return a resolver that has all sessions loaded, so that it does not query for each.

        :param stored: the sessions that others can see.
        """
        by_id = _by_id(chain(((one.path, one.session) for one in stored), self.private_files.sessions()))
        forgotten = self.private_files.forgotten | self._forgotten()
        return VisibilityResolver(self.sharing, lambda id: by_id.get(id, ()), lambda: stored, forgotten, self._private)

    def _forgotten(self) -> set[tuple[str, str]]:
        with suppress(UnpreparedError):  # nothing was sent yet
            return self._reader.forgotten() if isinstance(self._reader, Belongings) else set()
        return set()

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
            return _distinct(changes(stored, self.private_files, resolver))
        rehearsal, kept = Rehearsal(), PrivateFiles(None)
        writer: IndexWriter = visibility_writer(rehearsal, resolver, kept)
        guarded = redacting_writer(writer, redactor) if redactor else writer
        Indexer(guarded, self._metadata, is_rebuild=True).run(sources, new)
        # Only now, since a new session may be less visible than a stored subagent of it.
        planned = _distinct(changes(stored, self.private_files, resolver))
        planned += (
            Change(session=session, path=path, before=None, after=session.visibility)
            for path, sessions in rehearsal.sessions.items()
            for session in sessions.values()
        )
        planned += (
            Change(session=session, path=path, before=None, after="private") for path, session in kept.sessions()
        )
        return planned


def _by_id(sessions: Iterable[tuple[str, Session]]) -> dict[str, list[tuple[str, Session]]]:
    found: dict[str, list[tuple[str, Session]]] = {}
    for path, session in sessions:
        found.setdefault(session.id, []).append((path, session))
    return found


def _distinct(changed: Iterable[Change]) -> list[Change]:
    """Return changes without those of a session that is also stored under a former id of the workstation."""
    return [*{(change.path, change.session.id): change for change in changed}.values()]
