"""Sesame as a Python library: the API that the command line and every other caller use.

    from sesame_core import Sesame

    with Sesame() as sesame:
        sesame.index()
        for hit in sesame.search("nix infrastructure simplify").hits:
            ...

No call prints or exits; a failure is a `SesameError`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from ..config.file import load
from ..config.model import Config, Describing, Selection, metadata_dir
from ..dataclass import replace
from ..errors import LockedError, StoppedError, UnknownSessionError
from ..indexing.sources import Sources
from ..plugin.backend import IndexWriter
from ..plugin.manager import PluginManager
from ..query.filters import cleaned
from ..search.engine import kept_out_of_list, search
from ..text.tokens import clean
from ..types.answer import LIMIT, Answer, KeptOut, Page
from ..types.index import Statistics, StoredSession
from ..types.query import Filters
from .index import Index

#: Chunks shown before and after the requested one [seed 003].
AROUND = 4
#: Default number of listed sessions.
LISTED = 50
#: Lengths of an abbreviated session id, tried in turn: pi's ids start with a clock that changes once a minute.
ID_LENGTHS = (8, 13, 18, 23)

if TYPE_CHECKING:
    from ..config.model import Config, ModelChoice, Source
    from ..generation.answer import SessionAnswer
    from ..generation.describe import DescribeResult
    from ..privacy.audit import Audit, Exposure
    from ..search.agents import Agents
    from ..search.places import Places
    from ..search.resolve import Reference
    from ..types.evidence import Window
    from ..types.index import Chunk
    from ..types.report import IndexReport, Progress
    from ..types.resumption import Resumption
    from .refreshing import Refresher
    from .team import Team


class Sesame:
    """The sessions of one configuration and their index.

    :param config: the configuration; read from config.jsonc when None.
    :param data_dir: directory of a SQLite index, in place of the configured backend; also of metadata, unless the
        configuration sets a directory.
    :param plugins: for embedders that register plugins of their own.
    :raises ConfigError: config.jsonc cannot be read or has an invalid value.

    Several threads may search; only one at a time may index.
    """

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

    @staticmethod
    def _describing(config: Config, data_dir: Path) -> Describing:
        if config.describe.directory != Describing().directory:
            return config.describe
        return replace(config.describe, directory=metadata_dir(data_dir))

    def __enter__(self) -> Sesame:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the index; a later call opens it again."""
        self._index.close()

    # -- writing ------------------------------------------------------------------------------------------

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

        To an index that others read it sends what the rules of `team` allow; `Team.plan` lists that beforehand.

        :param paths: only these files or directories; they need not belong to a source.
        :param full: build a new index and replace the current one with it.
        :param seconds: start no further file after this time.
        :param is_stopped: called for each record that is read; when it returns true, the run ends without the file that
            is being read, and the next run continues from there (`IndexReport.is_stopped`).
        :raises LockedError: another process is indexing, and was not done within the configuration's `lockSeconds`.
        :raises StoppedError: it was stopped while it waited, or a full run was: the index is as it was before.
        :raises SesameError: a path is not a session, or the index cannot be written.
        """
        from ..indexing.indexer import Indexer
        from ..metadata.files import MetadataFiles
        from .patience import patiently

        within = [os.path.realpath(path) for path in paths]
        if not within:
            self._index.agree()
        sources = self.sources().holding(within)
        deadline = None if seconds is None else time.monotonic() + seconds
        opened = self._index.rebuild if full else self._index.writer
        with patiently(opened, self.config.lock_seconds, is_stopped) as writer:
            metadata = MetadataFiles(self.config.describe.directory)
            indexer = Indexer(
                writer,
                metadata,
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
        if not within and not report.pending:
            self._refreshing().keep_rest(())
        report.withheld = self._index.private_files()
        return report

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

    def forget(self, session: str) -> list[StoredSession]:
        """Delete a session, with its copies and subagents, from the index for good; its file stays unchanged.

        :param session: as of `get_session`; a name must be spelled correctly.
        :return: the sessions that were deleted.
        :raises UnknownSessionError: no session, or several, have this id.
        """
        from .patience import patiently

        chosen = self.get_session(session, is_certain=True)
        found = self._index.reader().find_sessions(chosen.session.id)
        # A session of another workstation may have the same id.
        found = [stored for stored in found if stored.session.workstation == chosen.session.workstation]
        with patiently(self._index.backend().writer, self.config.lock_seconds) as writer:
            for stored in found:
                writer.forget(stored.number)
            writer.finish(synced_at=None)
        return found

    def writer(self) -> AbstractContextManager[IndexWriter]:
        """Open the index for writing, for callers that know what changed; it commits at the end of `with`.

        :raises LockedError: another process is writing.
        """
        return self._index.writer()

    # -- reading ------------------------------------------------------------------------------------------

    def search(
        self,
        text: str = "",
        filters: Filters | None = None,
        *,
        limit: int = LIMIT,
        offset: int = 0,
        passages: int = 1,
        context: tuple[int, int] | None = None,
        explain: bool = False,
    ) -> Answer:
        """Find the sessions that match a query; without words, list the newest.

        :param offset: results to skip; pages of one index have one order and one total.
        :param passages: most passages of each hit.
        :param context: items of the window before and after each hit's best passage; None for no windows.
            With windows an answer has at most `types.answer.MAX_HITS` hits.
        :param explain: explain how the query was read and how each score was computed.
        :raises QueryError: no session and no installed parser has one of the agents of `filters`.
        :raises BackendError: the index cannot be read.
        """
        page = Page(limit=limit, offset=offset, passages=passages, context=context, explain=explain)
        filters = self._checked(filters)
        answer = search(self._index.reader(), text, filters, page, agents=self._agents(text), within=self._places(text))
        # A list of sessions does not count chunks.
        if not answer.total and not answer.chunk_total and (reason := self._emptiness()):
            answer.hints, answer.words_not_found, answer.left_out = (*answer.query.hints, reason), [], {}
        return answer

    def list_sessions(
        self, filters: Filters | None = None, *, limit: int = LISTED, offset: int = 0
    ) -> tuple[list[StoredSession], int]:
        """Return sessions, last active first, and their total number.

        :raises QueryError: no session and no installed parser has one of the agents.
        """
        return self._index.reader().list_sessions(self._checked(filters), limit=limit, offset=offset)

    def kept_out(self, filters: Filters | None, total: int) -> KeptOut:
        """Return why a list of sessions is empty: what each filter kept out, or why the index is empty.

        :param total: as `list_sessions` returned it with these filters.
        """
        if not total and (reason := self._emptiness()):
            return KeptOut(hints=(reason,))
        return kept_out_of_list(self._index.reader(), self._checked(filters), total)

    def get_session(self, session: str, *, is_certain: bool = False) -> StoredSession:
        """Return one session; if several files contain it, the copy with the most text.

        :param session: an id or a unique prefix of one, a name or words of one, `latest`: what `resolve` takes.
        :param is_certain: do not take a name that is only spelled similarly.
        :raises UnknownSessionError: it means no session, or several; or nobody has said anything in it yet.
        """
        from ..search.resolve import meant

        def current() -> Sequence[str]:
            from ..integration.environment import current_sessions

            return current_sessions()

        reader = self._index.reader()
        try:
            return meant(reader, clean(session), self.abbreviate, current=current, is_certain=is_certain)
        except UnknownSessionError as error:
            raise self._silent(clean(session)) or self._as_far_as_indexed(error) from None

    def resolve(
        self, references: Iterable[str], *, exclude: Sequence[str] = (), limit: int = 10, offset: int = 0
    ) -> list[Reference]:
        """Resolve each reference to a session: by its id, its name, or a similar name.

        The candidates of an empty reference are the latest sessions.

        :param exclude: ids of sessions to ignore.
        :param limit: most candidates of an ambiguous reference.
        :param offset: candidates to skip.
        """
        from ..search.resolve import resolve

        texts = [clean(text) for text in references]
        return resolve(
            self._index.reader(), texts, abbreviate=self.abbreviate, exclude=exclude, limit=limit, offset=offset
        )

    def list_messages(self, session: str | StoredSession, *, offset: int = 0, limit: int | None = None) -> list[Chunk]:
        """Return a session's chunks in order, from the index; its file need not exist.

        :param offset: position of the first chunk.
        :param limit: most chunks.
        :raises UnknownSessionError: the session does not exist (any more).
        """
        reader = self._index.reader()
        with reader.snapshot():
            stored = self._present(session) if isinstance(session, StoredSession) else self.get_session(session)
            return reader.chunks([(stored.number, offset, limit)])[0]

    def window(
        self, session: str | StoredSession, position: int, *, before: int = AROUND, after: int = AROUND
    ) -> Window:
        """Return the beginnings of a chunk and of those around it, at most `windows.MAX_WINDOW_ITEMS`.

        :raises UnknownSessionError: the session does not exist, or has no such position.
        """
        from ..search.windows import window

        reader = self._index.reader()
        with reader.snapshot():
            stored = self._present(session) if isinstance(session, StoredSession) else self.get_session(session)
            found = window(reader, stored.number, position, before=before, after=after)
        if found is None:
            raise UnknownSessionError(f"session {stored.session.id} has no position {position}")
        return found

    def ask(
        self,
        session: str | StoredSession,
        question: str,
        *,
        models: Sequence[ModelChoice] | None = None,
        max_bytes: int | None = None,
    ) -> SessionAnswer:
        """Answer a question about one session: with its passages, and with a model's answer if one is configured.

        :param models: tried in this order until one answers; the configured ones when None, none when empty.
        :param max_bytes: most bytes of all passages; `passages.BUDGET` when None.
        :raises UnknownSessionError: the session does not exist.
        """
        from ..generation.answer import ask
        from ..search.passages import BUDGET

        stored = self._present(session) if isinstance(session, StoredSession) else self.get_session(session)
        models = self.config.models if models is None else models
        return ask(self._index.reader(), stored, question, models, budget=BUDGET if max_bytes is None else max_bytes)

    def describe(
        self, session: str | StoredSession, *, models: Sequence[ModelChoice] | None = None, only_due: bool = False
    ) -> DescribeResult:
        """Generate a session's metadata with a model, and index it.

        :param models: tried in this order until one gives a valid answer; the configured ones when None.
        :param only_due: do nothing unless describing is automatic and the session has enough new prompts.
        :raises UnknownSessionError: the session does not exist.
        :raises ModelError: no model is configured.
        :raises SesameError: the session belongs to another workstation, or the metadata cannot be written.
        """
        from ..generation.describe import describe

        stored = self._present(session) if isinstance(session, StoredSession) else self.get_session(session)
        models = self.config.models if models is None else models
        described = describe(self._index.reader(), stored, self.config.describe, models, only_due=only_due)
        if described.path is not None:
            self._take_in(described.path)
        return described

    def undescribed(self) -> Iterator[StoredSession]:
        """Return this workstation's interactive sessions with prompts and without metadata, last active first."""
        from ..generation.describe import undescribed

        return undescribed(self._index.reader())

    def resumption(self, session: str | StoredSession) -> Resumption:
        """Return how a session is resumed: the command, its directory, and the environment it needs.

        :raises UnknownSessionError: the session does not exist.
        :raises ResumeError: its agent cannot resume it, or not here; the message says why.
        """
        from .resuming import resumption

        stored = session if isinstance(session, StoredSession) else self.get_session(session)
        return resumption(self._index.reader(), self.plugins, stored)

    def resume_command(self, session: str | StoredSession) -> tuple[list[str], str | None]:
        """Return the command that resumes a session in its agent, and the directory to run it in.

        :raises UnknownSessionError: the session does not exist.
        :raises ResumeError: as of `resumption`, which also says what the environment must be.
        """
        found = self.resumption(session)
        return list(found.command), found.directory

    def status(self) -> Statistics:
        """Return counts of the content of the index."""
        return self._index.reader().statistics()

    @property
    def team(self) -> Team:
        """The team that shares the index."""
        from .team import Team

        return Team(self.config, self._index, self.sources())

    def audit(self, seen: Audit | None = None) -> Iterator[Exposure]:
        """Yield each secret in the index: its place, its detector, and its fingerprint.

        :param seen: counts what was scanned.
        """
        from ..privacy.audit import Audit, audit

        return audit(self._index.reader(), self._index.secrets(), seen or Audit())

    def abbreviate(self, session_id: str) -> str:
        """Return the shortest unique prefix of a session's id, at least eight characters."""
        for length in ID_LENGTHS:
            short = session_id[:length]
            others = (stored.session.id for stored in self._index.reader().find_sessions(short))
            if all(other == session_id or other.startswith(session_id + "/") for other in others):
                return short
        return session_id

    def excluding(self, filters: Filters, sessions: Iterable[str]) -> Filters:
        """Return filters that also exclude these sessions; ids may be abbreviated, unknown ones are ignored."""
        ids = {stored.session.id for name in sessions for stored in self._index.reader().find_sessions(clean(name))}
        return replace(filters, exclude=(*filters.exclude, *sorted(ids))) if ids else filters

    def roots(self) -> list[str]:
        """Return the real paths of all sources, existing or not."""
        return self.sources().roots()

    def expiring(self) -> dict[str, int]:
        """Return, by agent, the number of indexed session files that it will delete within `retention.NOTICE_DAYS`."""
        from ..indexing.retention import expiring

        return expiring(self.sources().with_parsers(), self._index.reader())

    def _take_in(self, metadata: Path) -> None:
        """Index a metadata file; while another process writes, leave it to the next run."""
        from ..metadata.sync import take_in
        from ..plugin.backend import Annotating
        from ..types.report import IndexReport
        from .patience import patiently

        with suppress(LockedError), patiently(self.writer, self.config.lock_seconds) as writer:
            if not isinstance(writer, Annotating):
                return
            take_in(writer, str(metadata), metadata.stat().st_mtime_ns, IndexReport())

    # -- implementation -----------------------------------------------------------------------------------

    def _checked(self, filters: Filters | None) -> Filters:
        """Return filters that every database accepts, with the agents that their names mean."""
        filters = cleaned(filters or Filters())
        agents = self._agents() if filters.agents else None
        filters = agents.checked(filters) if agents else filters
        places = self._places() if filters.cwd or filters.places else None
        return places.resolved(filters) if places else filters

    def _agents(self, text: str | None = None) -> Agents | None:
        """Return the agents that names can mean; None if a query has no name of one."""
        if text is not None and "agent:" not in text.lower():
            return None
        from ..config.sources import installed_parsers
        from ..search.agents import Agents

        return Agents(self._index.reader(), lambda: installed_parsers(self.plugins))

    def _places(self, text: str | None = None) -> Places | None:
        """Return the directories that names can mean; None if a query has none."""
        if text is not None and not ("cwd:" in text.lower() or "is:here" in text.lower()):
            return None
        from ..search.places import Places

        return Places(self._index.reader())

    def _emptiness(self) -> str | None:
        """Return why the index is empty; None if it is not."""
        if self._index.reader().statistics().sessions:
            return None
        from ..indexing.emptiness import emptiness

        return emptiness(self.config, self.plugins)

    def _silent(self, session: str) -> UnknownSessionError | None:
        """Return the error for the id of a session in which nobody has said anything; None if there is none."""
        from ..indexing.silence import explanation
        from ..plugin.backend import TracksFiles

        reader = self._index.reader()
        if not isinstance(reader, TracksFiles):
            return None
        why = explanation(
            session, reader.known_files(), {s.parser.name: p for s, _, p in self.sources().with_parsers()}
        )
        return UnknownSessionError(why) if why else None

    def _as_far_as_indexed(self, error: UnknownSessionError) -> UnknownSessionError:
        """Return the error that a session is unknown, with the number of files that it may be in."""
        report = self.as_it_is()
        if report is None:
            return error
        are = "file is" if report.pending == 1 else "files are"
        return UnknownSessionError(f"{error}; {report.pending} {are} not indexed yet: sesame index")

    def _present(self, stored: StoredSession) -> StoredSession:
        """Return the current record of a session: a rebuild assigns new numbers."""
        for now in self._index.reader().sessions([stored.number]):
            if now.session.key == stored.session.key:
                return now
        from ..search.resolve import the_one

        return the_one(self._index.reader(), stored.session.id, stored.session.workstation)

    def sources(self) -> Sources:
        """Return the sources of sessions."""
        return Sources(self.config, self.plugins, self._index.redaction, self._index.hash_key)

    def _refreshing(self) -> Refresher:
        if self._refresher is None:
            from .refreshing import Refresher

            self._refresher = Refresher(
                self.config, self._index, self.sources(), lambda seconds: self.index(seconds=seconds)
            )
        return self._refresher
