"""What every call of `Sesame` uses: the configuration and its index; the calls that bring the index up to date."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.file import load
from ..config.model import Config, Describing, Selection, metadata_dir
from ..dataclass import replace
from ..errors import SesameError, StoppedError
from ..indexing.sources import Sources
from ..plugin.manager import PluginManager
from .index import Index

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Self

    from ..config.model import Source
    from ..indexing.sources import OpenSource
    from ..metadata.files import MetadataFiles
    from ..metadata.own import OwnMarks
    from ..plugin.backend import IndexWriter
    from ..plugin.parser import Parser
    from ..privacy.redactor import Redactor
    from ..types.index import StoredSession
    from ..types.report import IndexReport, Progress
    from ..types.roots import Root, UnreadRoot
    from .refreshing import Refresher


class Indexing:
    """A configuration with its plugins and its index; parameters as of `Sesame`."""

    def __init__(
        self,
        config: Config | None = None,
        *,
        sources: Iterable[Source] | None = None,
        data_dir: str | os.PathLike[str] | None = None,
        plugins: PluginManager | None = None,
    ) -> None:
        if config is None:
            config = load() if sources is None else Config(sources=tuple(sources))
        if data_dir is not None:
            backend = Selection(name="sqlite", options={"directory": os.fspath(data_dir)})
            config = replace(config, backend=backend, describe=self._describing(config, Path(data_dir)))
        self.config = config
        self.plugins = plugins or PluginManager()
        self._index = Index(self.config, self.plugins)
        self._refresher: Refresher | None = None
        self._answers: Redactor | None = None
        self._own: OwnMarks | None = None

    @staticmethod
    def _describing(config: Config, data_dir: Path) -> Describing:
        if config.describe.directory != Describing().directory:
            return config.describe
        return replace(config.describe, directory=metadata_dir(data_dir))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def without_secrets(self) -> Self:
        """Return the same sessions as an agent or a language model may see them: secrets are replaced.

        They are not if the configuration says so (`redact.answers`).  Whatever is closed, closes both.
        """
        redactor = self._redactor_of_answers()
        if redactor is None or not self._index.shows_secrets:
            return self
        from copy import copy

        from .outgoing import OutgoingIndex

        shown = copy(self)
        shown._index = OutgoingIndex(self._index, redactor)
        shown._refresher = self._refreshing()
        return shown

    def mask(self, text: str) -> str:
        """Return a text as an agent or a language model may see it."""
        redactor = self._redactor_of_answers()
        return text if redactor is None else redactor.text(text)

    def _redactor_of_answers(self) -> Redactor | None:
        if self._answers is None and self.config.redaction.answers:
            from .outgoing import redactor_of_answers

            self._answers = redactor_of_answers(self.config.redaction)
        return self._answers

    def close(self) -> None:
        """Release the index; a later call opens it again."""
        self._index.close()

    def roots(self) -> list[str]:
        """Return the real paths of all sources, existing or not."""
        return self.sources().roots()

    def looked_in(self) -> list[Root]:
        """Return where session files are looked for: the sources, and agents' directories that do not exist."""
        from ..indexing.emptiness import roots

        return roots(self.config, self.plugins)

    def unread_roots(self) -> list[UnreadRoot]:
        """Return where agents keep sessions that no installed parser reads: which of the known places exist.

        None on a machine that reads no sessions (`"sources": []`).  Nothing in them is read.
        """
        from ..indexing.emptiness import unread

        return unread(self.config, self.plugins)

    def index(
        self,
        paths: Iterable[str | os.PathLike[str]] = (),
        *,
        full: bool = False,
        on_progress: Callable[[Progress], None] | None = None,
        seconds: float | None = None,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> IndexReport:
        """Bring the index up to date; what is indexed is committed, and found by searches, every second or two.

        To an index that others read it sends what the rules of `team` allow; `Team.plan` lists that beforehand.  Single
        paths are sent only once that is agreed (`Team.is_agreed`): what follows them would be everything.

        :param paths: only these files or directories; they need not belong to a source.
        :param full: build a new index and replace the current one with it.
        :param seconds: start no further file after this time.
        :param is_stopped: called for each record that is read; when it returns true, the run ends without the file that
            is being read, and the next run continues from there (`IndexReport.is_stopped`).
        :raises LockedError: another process is indexing, and was not done within the configuration's `lockSeconds`.
        :raises StoppedError: it was stopped while it waited, or a full run was: the index is as it was before.
        :raises SesameError: a path is not a session, the index cannot be written, or nothing may be sent to it yet.
        """
        from ..indexing.indexer import Indexer
        from .patience import patiently

        within = [os.path.realpath(path) for path in paths]
        if not within:
            self._index.agree()
        elif (reason := self._index.unsent()) is not None:
            raise SesameError(reason)
        sources = self.sources().holding(within)
        deadline = None if seconds is None else time.monotonic() + seconds
        if full and any(source.files.is_listed for source in sources):
            self._note_deleted(sources, is_stopped)
        opened = self._index.rebuild if full else self._index.writer
        with patiently(opened, self.config.lock_seconds, is_stopped) as writer:
            indexer = Indexer(
                writer,
                self._index.metadata(),
                is_rebuild=full,
                deadline=deadline,
                workers=self.config.index_workers,
                on_progress=on_progress,
                on_rest=self._refreshing().keep_rest,
                is_stopped=is_stopped,
                # Others must not see a subagent's session between two commits, before its private parent is read.
                commits=not full and not self._index.hides(),
            )
            report = indexer.run(sources, within)
            if full and report.is_stopped:
                raise StoppedError("stopped; the index is as it was before; start again with: sesame index --full")
        if not within:
            report.looked_in, report.unread_roots = self.looked_in(), self.unread_roots()
            if not report.pending:
                self._refreshing().keep_rest(())
        report.withheld = self._index.private_files()
        return report

    def _note_deleted(self, sources: Sequence[OpenSource], is_stopped: Callable[[], bool]) -> None:
        """Note which files are missing, for a rebuild: only their parser knows whether a unit of a database exists."""
        from ..indexing.indexer import Indexer
        from .patience import patiently

        with patiently(self._index.writer, self.config.lock_seconds, is_stopped) as writer:
            Indexer(writer, self._index.metadata()).note_deleted(sources)

    def refresh(self, seconds: float | None = None, *, is_stopped: Callable[[], bool] = lambda: False) -> IndexReport:
        """Index changes, the newest first, as far as the time allows; an error is in the report, not raised.

        At least one file is read, whatever the time is.  The next refresh continues with the others
        (`IndexReport.pending`).

        :param seconds: for reading files; default: the configuration's `refreshSeconds`; 0 does nothing.
        :param is_stopped: as for `index`.
        """
        from ..types.report import IndexReport

        seconds = self.config.refresh_seconds if seconds is None else seconds
        return self._refreshing().refresh(seconds, is_stopped) if seconds > 0 else IndexReport()

    def as_it_is(self) -> IndexReport | None:
        """Return a report of the files that the index lacks (`pending`), for an answer without a refresh.

        None when it lacks none of those that the last look at the files has found.
        """
        from ..plugin.backend import TracksFiles

        reader = self._index.reader()
        path = reader.scan_cache_path() if isinstance(reader, TracksFiles) else None
        if self._refresher is None and (path is None or not os.path.exists(path)):
            return None
        return self._refreshing().as_it_is()

    def unread(self) -> IndexReport:
        """Return what a run would find, without one: files to read, and what cannot be read or recognised."""
        return self._refreshing().unread()

    def expiring(self) -> dict[str, int]:
        """Return, by agent, the number of indexed session files that it will delete within `retention.NOTICE_DAYS`."""
        from ..indexing.retention import expiring

        return expiring(self.sources().with_parsers(), self._index.reader())

    def writer(self) -> AbstractContextManager[IndexWriter]:
        """Open the index for writing, for callers that know what changed; it commits at the end of `with`.

        :raises LockedError: another process is writing.
        """
        return self._index.writer()

    def metadata(self) -> MetadataFiles:
        """Return the metadata files whose content is indexed."""
        return self._index.metadata()

    def _marks(self, text: str | None = None) -> OwnMarks | None:
        """Return what this person marked; None if there is nothing, or if a query has no field for it.

        :param text: the query.
        """
        directory = self.config.describe.directory
        if not os.path.isdir(directory) or (text is not None and not re.search("(?i)is:|tag:", text)):
            return None
        if self._own is None:
            from ..metadata.directory import scan

            with suppress(OSError):  # a run of the indexer reports it
                if scan(directory, has_marks=True, has_metadata=False):
                    from ..metadata.own import OwnMarks

                    self._own = OwnMarks(directory)
        return self._own

    def _show_marks(self, sessions: Iterable[StoredSession]) -> None:
        """Add what this person marked to sessions, as the index returned them."""
        if (own := self._marks()) is not None:
            own.show(sessions)

    def current_sessions(self) -> tuple[str, ...]:
        """Return the ids of the sessions that this program was started from: several when agents start each other."""
        from ..integration.environment import current_sessions

        def parsers() -> list[Parser]:
            try:
                return [parser for _, _, parser in self.sources().with_parsers()]
            except SesameError:
                return []  # the refresh reports it

        return current_sessions(parsers)

    def _refreshing(self) -> Refresher:
        if self._refresher is None:
            from .refreshing import Refresher

            self._refresher = Refresher(
                self.config, self._index, self.sources(), lambda seconds: self.index(seconds=seconds)
            )
        return self._refresher

    def sources(self) -> Sources:
        """Return the sources of sessions."""
        return Sources(self.config, self.plugins, self._index.redaction, self._index.hash_key)
