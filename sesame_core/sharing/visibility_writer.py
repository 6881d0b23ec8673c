"""Keeps from an index that others can read what its owner does not share with them.

`VisibilityWriter` is a writer around a backend's.  Private sessions do not pass it, and neither does a file that has no
others; of sessions that show only metadata, no text does.  `changes` tells what rules mean for sessions that are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain

from ..config.model import LEVELS
from ..dataclass import dataclass, replace
from ..indexing.file_reader import Replayed
from ..plugin.backend import Annotating, IndexWriter, Positions
from ..types.index import NOTES, Chunk, IndexedFile, StoredSession
from ..types.transcript import Notes, Session
from .inheritance import VisibilityResolver
from .private_files import PrivateFiles
from .rules import strictest

#: What is stored of a session that shows only metadata.
_SHOWN = (
    *("id", "agent", "kind", "parent_id", "cwd", "repository", "model", "created", "abandoned", "modified"),
    *("message_count", "exchange_count", "tool_counts", "first_origin", "key", "host", "owner"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What becomes of a session."""

    session: Session
    #: The file it was read from.
    path: str
    #: What others see now, one of `config.LEVELS`; None when they never saw it.
    before: str | None
    after: str


def changes(stored: Iterable[StoredSession], withheld: PrivateFiles, kin: VisibilityResolver) -> Iterator[Change]:
    """Yield the known sessions of which others see what the rules do not say."""
    for one in stored:
        level = kin.level(one.session)
        # What has been taken back comes again with its file only.
        is_lost = one.missing_since is not None and LEVELS.index(level) < LEVELS.index(one.session.visibility)
        if level != one.session.visibility and not is_lost:
            yield Change(session=one.session, path=one.path, before=one.session.visibility, after=level)
    for path, session in withheld.sessions():
        level = kin.level(session)
        if level != "private":
            yield Change(session=session, path=path, before="private", after=level)


def visibility_writer(writer: IndexWriter, kin: VisibilityResolver, withheld: PrivateFiles) -> VisibilityWriter:
    """Return a writer that lets pass what the rules allow, and that has the abilities of the one that it passes to.

    :param writer: the backend's.
    :param kin: the rules, applied to sessions and those that work for them.
    :param withheld: what is known of files that do not pass.
    """
    if isinstance(writer, Annotating):
        return AnnotatingVisibilityWriter(writer, writer, kin, withheld)
    return VisibilityWriter(writer, kin, withheld)


class VisibilityWriter:
    """A writer that lets pass what the rules allow; `visibility_writer` makes it.

    :param writer: the backend's.
    :param kin: the rules, applied to sessions and those that work for them.
    :param withheld: what is known of files that do not pass.
    """

    def __init__(self, writer: IndexWriter, kin: VisibilityResolver, withheld: PrivateFiles) -> None:
        self._writer = writer
        self._kin = kin
        self._withheld = withheld
        #: The strictest level that was found for a session, by its file and id, once reading has begun anew for it.
        self._levels: dict[tuple[str, str], str] = {}
        #: Files with subagents that show more than the session they work for, which is read.
        self._exposed: set[str] = set()

    def files(self) -> dict[str, IndexedFile]:
        """Return every known file by path, those that are not shared included."""
        return {**self._writer.files(), **self._withheld.whole()}

    def file(self, path: str) -> IndexedFile | None:
        """Return one file with its checkpoint."""
        return self._writer.file(path)

    def file_sessions(self, path: str) -> list[Session]:
        """Return the sessions of a file that others can see."""
        return self._writer.file_sessions(path)

    def replace(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Store what others may see of a file."""
        self._narrow()
        private: dict[str, Session] = {}
        passed = self._passed(file, content, {}, private)
        first = next(passed, None)
        if first is None and private:
            self._withheld.put(file, [*private.values()], is_whole=True)
            self._writer.delete_file(file.path)
            return {}
        stored = self._writer.replace(file, passed if first is None else chain([first], passed))
        if private:
            self._withheld.put(file, [*private.values()], is_whole=False)
        elif file.missing_since is None and file.error is None:  # what cannot be read has the private ones it had
            self._withheld.files.pop(file.path, None)
        return stored

    def append(self, file: IndexedFile, content: Iterable[Session | Chunk]) -> Positions:
        """Add what a grown file says; only a file whose sessions are all shared may grow."""
        levels = {session.id: session.visibility for session in self._writer.file_sessions(file.path)}
        return self._writer.append(file, self._passed(file, content, levels, None))

    def update_files(self, files: Iterable[IndexedFile]) -> None:
        """Remember files; one that others do not know of stays unknown to them, unless everything is shared."""
        files = list(files)
        known = self._writer.files() if files else {}
        told = []
        for file in files:
            if file.path in known or self._kin.sharing.is_open:
                told.append(self._told(file))
                continue
            self._withheld.files.pop(file.path, None)
            if file.parser == NOTES and not file.error and file.missing_since is None:
                # Its name is the session's id, and whose that is it does not tell.
                self._withheld.put(file, [], is_whole=True)
        self._writer.update_files(told)

    def delete_file(self, path: str) -> int:
        """Delete a file and its sessions, private ones too."""
        self._withheld.files.pop(path, None)
        return self._writer.delete_file(path)

    def forget(self, number: int) -> int:
        """Delete a session for good."""
        return self._writer.forget(number)

    def finish(self, *, synced_at: datetime | None) -> None:
        """End a run."""
        self._writer.finish(synced_at=synced_at)
        self._withheld.save()

    # -- how ----------------------------------------------------------------------------------------------

    def _passed(
        self,
        file: IndexedFile,
        content: Iterable[Session | Chunk],
        levels: dict[str, str],
        private: dict[str, Session] | None,
    ) -> Iterator[Session | Chunk]:
        """Yield what others may see.

        :param levels: of sessions that are stored, by id.
        :param private: gets the sessions that do not pass; None when none may turn up.
        :raises Replayed: what has passed is more than others may see, of this file or of others.
        """
        for item in content:
            if isinstance(item, Chunk):
                if levels[item.session_id] == "shared":
                    yield item
                continue
            key = (file.path, item.id)
            level = strictest([self._kin.level(item), self._levels.get(key, "shared")])
            known = levels.setdefault(item.id, level)
            if level != known or (private is None and level != "shared"):
                self._levels[key] = strictest([level, known])
                raise Replayed
            if exposed := {*self._kin.learn(item, file.path, level)} - {file.path}:
                self._exposed |= exposed
                raise Replayed
            if level == "private" and private is not None:
                private[item.id] = item
            else:
                # What has been taken back comes again with its file only, not with what a rebuild takes over.
                shown = strictest([level, item.visibility])
                yield self._shown(item) if shown == "metadata" else replace(item, visibility="shared")
        if any(level != "shared" for level in levels.values()):
            # It holds what a parser must remember, texts among it; the file is read whole when it grows.
            file.checkpoint = None

    def _narrow(self) -> None:
        """Let others see no more of subagents than of the sessions they work for, before these are stored."""
        while self._exposed:
            path = self._exposed.pop()
            file, sessions = self._writer.file(path), self._writer.file_sessions(path)
            if file is None:
                continue
            if any(self._kin.level(session) == "shared" for session in sessions):
                self._writer.delete_file(path)  # its texts are read again by the next run
                continue
            try:
                self.replace(file, sessions)
            except Replayed:
                self._exposed.add(path)  # once those that work for it show no more than it

    def _shown(self, session: Session) -> Session:
        shown = {name: getattr(session, name) for name in _SHOWN}
        return Session(visibility="metadata", **shown)

    def _told(self, file: IndexedFile) -> IndexedFile:
        """Return what others may know of a file: why it could not be read may quote it."""
        if file.error and any(one.visibility != "shared" for one in self._writer.file_sessions(file.path)):
            return replace(file, error="it could not be read", checkpoint=None)
        return file


class AnnotatingVisibilityWriter(VisibilityWriter):
    """One around a writer that stores notes."""

    def __init__(
        self, writer: IndexWriter, annotating: Annotating, kin: VisibilityResolver, withheld: PrivateFiles
    ) -> None:
        super().__init__(writer, kin, withheld)
        self._annotating = annotating

    def annotate(self, session_id: str, notes: Notes | None) -> int:
        """Give sessions their notes; of those that others do not see, or see no text of, the backend stores none."""
        return self._annotating.annotate(session_id, notes)
