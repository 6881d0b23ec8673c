"""Keeps sessions that their owner does not share out of an index that others can read.

`VisibilityWriter` wraps a backend's writer.  It does not pass on private sessions, files with only private sessions,
and the text of sessions of which only metadata is visible.  `changes` compares known sessions with the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain

from ..config.model import LEVELS
from ..dataclass import dataclass, replace
from ..indexing.file_reader import Replayed
from ..plugin.backend import Annotating, Dated, IndexWriter, Positions
from ..types.index import NOTES, UNREAD, Chunk, IndexedFile, StoredSession
from ..types.transcript import Notes, Session
from .inheritance import VisibilityResolver
from .private_files import PrivateFiles
from .rules import strictest

#: Fields that are stored of a session of which only metadata is visible.
_SHOWN = (
    *("id", "agent", "kind", "parent_id", "cwd", "directories", "repository", "model", "created", "modified"),
    *("abandoned", "message_count", "exchange_count", "tool_counts", "first_origin", "key", "host", "owner"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of a session's visibility."""

    session: Session
    #: The file that it was read from.
    path: str
    #: The current visibility, one of `config.LEVELS`; None when the session was never visible.
    before: str | None
    after: str


def changes(
    stored: Iterable[StoredSession], private_files: PrivateFiles, resolver: VisibilityResolver
) -> Iterator[Change]:
    """Yield the known sessions whose current visibility differs from the rules."""
    for one in stored:
        level = resolver.level(one.session)
        # A session that was removed is only added again when its file is read.
        is_lost = one.missing_since is not None and LEVELS.index(level) < LEVELS.index(one.session.visibility)
        if level != one.session.visibility and not is_lost:
            yield Change(session=one.session, path=one.path, before=one.session.visibility, after=level)
    for path, session in private_files.sessions():
        level = resolver.level(session)
        if level != "private":
            yield Change(session=session, path=path, before="private", after=level)


def visibility_writer(
    writer: IndexWriter, resolver: VisibilityResolver, private_files: PrivateFiles
) -> VisibilityWriter:
    """Return a writer that passes on only what the rules allow, with the abilities of the writer that it wraps.

    :param writer: the backend's writer.
    :param resolver: the rules, applied to sessions and their subagents.
    :param private_files: the list of files with private sessions.
    """
    if isinstance(writer, Annotating):
        return AnnotatingVisibilityWriter(writer, writer, resolver, private_files)
    return VisibilityWriter(writer, resolver, private_files)


class VisibilityWriter:
    """A writer that passes on only what the rules allow; `visibility_writer` makes it.

    :param writer: the backend's writer.
    :param resolver: the rules, applied to sessions and their subagents.
    :param private_files: the list of files with private sessions.
    """

    def __init__(self, writer: IndexWriter, resolver: VisibilityResolver, private_files: PrivateFiles) -> None:
        self._writer = writer
        self._resolver = resolver
        self._private_files = private_files
        #: The strictest level found for a session, by file and id; its file was read again because of it.
        self._levels: dict[tuple[str, str], str] = {}
        #: Files with subagents or forks that are more visible than their parent, which is being read.
        self._exposed: set[str] = set()

    def files(self) -> dict[str, IndexedFile]:
        """Return every known file by path, including those that are not shared."""
        stored, private = self._writer.files(), self._private_files.whole()
        for path in stored.keys() & private.keys():
            private[path].mtime_ns = UNREAD  # the index was restored from a backup: reading the file removes it again
        return {**stored, **private}

    def file(self, path: str) -> IndexedFile | None:
        """Return one file with its checkpoint."""
        return self._writer.file(path)

    def file_sessions(self, path: str) -> list[Session]:
        """Return the sessions of a file that others can see."""
        return self._writer.file_sessions(path)

    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Store what others may see of a file."""
        self._narrow()
        if any(path == file.path for path, _ in self._levels):
            self._writer.delete_file(file.path)  # and with it the words that only it has, before less of it is stored
        private: dict[str, Session] = {}
        passed = self._passed(file, content, {}, private)
        first = next(passed, None)
        # The path of a file without sessions says where someone works, and no rule is known to allow that.
        if first is None and (private or not self._resolver.sharing.is_open):
            self._private_files.put(file, [*private.values()], is_whole=True)
            self._writer.delete_file(file.path)
            return {}
        stored = self._writer.replace(file, passed if first is None else chain([first], passed))
        if private:
            self._private_files.put(file, [*private.values()], is_whole=False)
        elif file.missing_since is None and file.error is None:  # a file that cannot be read keeps its private sessions
            self._private_files.files.pop(file.path, None)
        return stored

    def append(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Add the new content of a grown file; only a file whose sessions are all shared may grow."""
        levels = {session.id: session.visibility for session in self._writer.file_sessions(file.path)}
        return self._writer.append(file, self._passed(file, content, levels, None))

    def update_files(self, files: Iterable[IndexedFile]) -> None:
        """Update files; one that is not in the index is added only if everything is shared.

        The private sessions of one that is missing or failed stay private, and so do their subagents.
        """
        files = list(files)
        known = self._writer.files() if files else {}
        visible = []
        for file in files:
            if file.path in known or self._resolver.sharing.is_open:
                visible.append(self._visible(file))
                continue
            if file.error and self._resolver.is_visible(file.path):
                # A rebuild takes over what it could not read, if it finds the error.
                visible.append(_without_message(file))
            if file.parser == NOTES and not file.error and file.missing_since is None:
                # Its name is the session's id, which does not say whose session it is.
                self._private_files.put(file, [], is_whole=True)
            else:
                self._private_files.keep_sessions(file.path)
        self._writer.update_files(visible)

    def delete_file(self, path: str) -> int:
        """Delete a file and its sessions, private ones too."""
        self._private_files.files.pop(path, None)
        return self._writer.delete_file(path)

    def forget(self, number: int) -> int:
        """Delete a session for good."""
        return self._writer.forget(number)

    def finish(self, *, synced_at: datetime | None) -> None:
        """End a run.

        A change of what is private moves the time of the last sync, if only by a microsecond: a backup of before has
        an earlier one.
        """
        if synced_at is None and isinstance(self._writer, Dated) and self._private_files.has_changed():
            last = self.last_sync()
            synced_at = last + timedelta(microseconds=1) if last else datetime.now(UTC)
        self._writer.finish(synced_at=synced_at)
        self._private_files.synced_at = self.last_sync()
        self._private_files.save()

    def last_sync(self) -> datetime | None:
        """Return the time of the last sync; None if there was none, or the backend does not tell."""
        return self._writer.last_sync() if isinstance(self._writer, Dated) else None

    # -- how ----------------------------------------------------------------------------------------------

    def _passed(
        self,
        file: IndexedFile,
        content: Iterable[Session | Chunk],
        levels: dict[str, str],
        private: dict[str, Session] | None,
    ) -> Iterator[Session | Chunk]:
        """Yield the content that others may see.

        :param levels: visibility of the stored sessions, by id.
        :param private: collects the private sessions; None when there may be none.
        :raises Replayed: content of this file or of others was passed on that others may not see.
        """
        for item in content:
            if isinstance(item, Chunk):
                if levels[item.session_id] == "shared":
                    yield item
                continue
            key = (file.path, item.id)
            level = strictest([self._resolver.level(item), self._levels.get(key, "shared")])
            known = levels.setdefault(item.id, level)
            if level != known or (private is None and level != "shared"):
                self._levels[key] = strictest([level, known])
                raise Replayed
            if exposed := {*self._resolver.learn(item, file.path, level)} - {file.path}:
                self._exposed |= exposed
                raise Replayed
            if level == "private" and private is not None:
                private[item.id] = item
            else:
                # A removed session is added again from its file only, never by a rebuild's carry-over.
                shown = strictest([level, item.visibility])
                yield self._shown(item) if shown == "metadata" else replace(item, visibility="shared")
        if any(level != "shared" for level in levels.values()):
            # It contains the state of a parser, including text; the file is read whole when it grows.
            file.checkpoint = None

    def _narrow(self) -> None:
        """Remove subagents and forks that are more visible than their parents before the parents are stored."""
        while self._exposed:
            path = self._exposed.pop()
            file, sessions = self._writer.file(path), self._writer.file_sessions(path)
            if file is None:
                continue
            if any(self._resolver.level(session) == "shared" for session in sessions):
                self._writer.delete_file(path)  # the next run reads its texts again
                continue
            try:
                self.replace(file, sessions)
            except Replayed:
                self._exposed.add(path)  # try again, after its own subagents

    def _shown(self, session: Session) -> Session:
        shown = {name: getattr(session, name) for name in _SHOWN}
        return Session(visibility="metadata", **shown)

    def _visible(self, file: IndexedFile) -> IndexedFile:
        """Return a file without what others may not see: the message of a read error may quote its text."""
        if file.error and any(one.visibility != "shared" for one in self._writer.file_sessions(file.path)):
            return _without_message(file)
        return file


def _without_message(file: IndexedFile) -> IndexedFile:
    return replace(file, error="it could not be read", checkpoint=None)


class AnnotatingVisibilityWriter(VisibilityWriter):
    """A visibility writer around a writer that stores notes."""

    def __init__(
        self, writer: IndexWriter, annotating: Annotating, resolver: VisibilityResolver, private_files: PrivateFiles
    ) -> None:
        super().__init__(writer, resolver, private_files)
        self._annotating = annotating

    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Set the notes of sessions; the backend stores none of sessions that others do not see, or see no text of."""
        return self._annotating.annotate(session_id, notes)
