"""Keeps sessions that their owner does not share out of an index that others can read.

`VisibilityWriter` wraps a backend's writer.  It does not pass on private sessions, files with only private sessions,
and the text of sessions of which only metadata is visible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import chain

from ..dataclass import replace
from ..errors import BackendError
from ..indexing.content import Replayed
from ..plugin.backend import Annotating, IndexWriter, Positions
from ..types.index import NOTES, Chunk, IndexedFile
from ..types.transcript import Notes, Session
from .inheritance import VisibilityResolver
from .private_files import PrivateFiles
from .rules import strictest

#: Fields that are stored of a session of which only metadata is visible.
_SHOWN = (
    *("id", "agent", "kind", "parent_id", "cwd", "directories", "repository", "model", "created", "modified"),
    *("abandoned", "message_count", "exchange_count", "tool_counts", "first_origin", "key", "host", "owner"),
)


def visibility_writer(
    writer: IndexWriter,
    resolver: VisibilityResolver,
    private_files: PrivateFiles,
    is_current: Callable[[], bool] = lambda: True,
) -> VisibilityWriter:
    """Return a writer that passes on only what the rules allow, with the abilities of the writer that it wraps.

    :param writer: the backend's writer.
    :param resolver: the rules, applied to sessions and their subagents.
    :param private_files: the list of files with private sessions.
    :param is_current: returns whether the rules are still those that the owner has made.
    """
    made = (
        AnnotatingVisibilityWriter(writer, writer, resolver, private_files)
        if isinstance(writer, Annotating)
        else VisibilityWriter(writer, resolver, private_files)
    )
    made.is_current = is_current
    return made


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
        #: Returns whether the rules are still those that the owner has made.
        self.is_current: Callable[[], bool] = lambda: True
        #: The strictest level found for a session, by file and id; its file was read again because of it.
        self._levels: dict[tuple[str, str], str] = {}
        #: Files with subagents or forks that are more visible than their parent, which is being read.
        self._exposed: set[str] = set()
        #: Deleted files from which a session that is being read has moved, and of which others may not see as much.
        self._left: set[str] = set()

    def files(self) -> dict[str, IndexedFile]:
        """Return every known file by path, including those that are not shared."""
        return {**self._writer.files(), **self._private_files.whole()}

    def file(self, path: str) -> IndexedFile | None:
        """Return one file with its checkpoint."""
        return self._writer.file(path)

    def file_sessions(self, path: str) -> list[Session]:
        """Return the sessions of a file that others can see."""
        return self._writer.file_sessions(path)

    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Store what others may see of a file.

        :raises BackendError: the owner has made other rules since the writer was opened.
        """
        self._check()
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
        """Add the new content of a grown file; only a file whose sessions are all shared may grow.

        :raises BackendError: as for `replace`.
        """
        self._check()
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
        """End a run."""
        self._writer.finish(synced_at=synced_at)
        self._private_files.save()

    # -- how ----------------------------------------------------------------------------------------------

    def _check(self) -> None:
        if not self.is_current():
            raise BackendError("rules for what others see have changed during this run; go on with: sesame index")

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
        checked: set[str] = set()
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
            if item.id not in checked:
                checked.add(item.id)
                if left := self._resolver.moved_from(item, file.path, level) - self._left:
                    self._left |= left
                    raise Replayed
            if level == "private" and private is not None:
                if not self._resolver.is_forgotten(item):
                    private[item.id] = item
            else:
                # A removed session is added again from its file only, never by a rebuild's carry-over.
                shown = strictest([level, item.visibility])
                yield self._shown(item) if shown == "metadata" else replace(item, visibility="shared")
        if any(level != "shared" for level in levels.values()):
            file.drop_content()

    def _narrow(self) -> None:
        """Remove what others may not see because of sessions that are about to be stored.

        They are subagents and forks that are more visible than their parents, and what is left of moved files.
        """
        for path in self._left:
            self._writer.delete_file(path)
        while self._exposed:
            path = self._exposed.pop()
            file, sessions = self._writer.file(path), self._writer.file_sessions(path)
            if file is None:
                self._writer.delete_file(path)  # it may be stored under a former id of this workstation
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
    told = replace(file, error="it could not be read")
    told.drop_content()
    return told


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
