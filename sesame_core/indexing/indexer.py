"""Runs of the indexer: detects changed files, indexes them, and reports the result."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from ..config import identity
from ..errors import BackendError
from ..metadata.directory import scan
from ..metadata.files import MetadataFiles
from ..metadata.sync import enrich
from ..plugin.backend import Annotating, IndexWriter
from ..text.tokens import clean
from ..types.index import UNREAD, IndexedFile
from ..types.report import FileProblem, IndexReport, Progress
from .changes import Changes, detect, detect_notes
from .content import Stopped
from .discovery import FoundFile
from .file_reader import FileReader
from .known import KnownFiles
from .problems import report_problems
from .readings import Readings
from .redacting import Redacting
from .scan_root import ScanRoot
from .sources import OpenSource, owner
from .tally import count_file, count_sources

#: Seconds after which a run commits, so that what it has indexed is found, and is kept when it is killed.  A commit
#: takes about 10 ms.
COMMIT_SECONDS = 1.5


class Indexer:
    """Updates an index from its sources.

    :param writer: the index.
    :param metadata: the metadata files of sessions.
    :param is_rebuild: the index starts empty, and no file counts as missing.
    :param deadline: `time.monotonic()` after which no further file is started.
    :param on_rest: called with the files that are left, after each commit that is not the last, and when it is stopped.
    :param workers: most processes that read files; None: as many as pay on this machine.  With a deadline there are
        none.
    :param is_stopped: returns whether to stop; the file that is being read is then left to the next run.
    :param commits: commit every `COMMIT_SECONDS`.
    """

    def __init__(
        self,
        writer: IndexWriter,
        metadata: MetadataFiles,
        *,
        is_rebuild: bool = False,
        deadline: float | None = None,
        workers: int | None = 0,
        on_progress: Callable[[Progress], None] | None = None,
        on_rest: Callable[[Sequence[FoundFile]], None] = lambda _: None,
        is_stopped: Callable[[], bool] = lambda: False,
        commits: bool = True,
    ) -> None:
        self.report = IndexReport()
        self._writer = writer
        self._metadata = metadata
        self._files = KnownFiles(writer, is_empty=is_rebuild)
        self._stored_path = writer.stored_path if isinstance(writer, Redacting) else None
        self._redaction = writer.redaction if isinstance(writer, Redacting) else 0
        self._deadline = deadline
        self._workers = workers if deadline is None else 0
        #: Number of files that are read whatever the time is.
        self._least = 0
        #: The sources to which a new file may belong instead of the one that it was found in.
        self._candidates: list[OpenSource] = []
        #: Paths of files that could not be read, and of those that no parser recognises.
        self.failed: set[str] = set()
        self.rejected: set[str] = set()
        self._on_progress = on_progress
        self._on_rest = on_rest
        self._is_stopped = is_stopped
        self._commit_seconds = COMMIT_SECONDS if commits else math.inf
        self._commit_at = time.monotonic() + self._commit_seconds
        self._workstation = identity.workstation_id()

    def run(self, sources: Iterable[OpenSource], within: Sequence[str] = ()) -> IndexReport:
        """Index the changes in the sources.

        :param within: real paths of files or directories to scan; empty: everything.
        """
        started = time.monotonic()
        sources = list(sources)
        scan_roots = [ScanRoot.of(s.source, s.root, s.parser, within) for s in sources]
        try:
            changes = detect(scan_roots, self._files.for_detection(), self._stored_path, scan=self._scan)
        except Stopped:
            self.report.is_stopped = True
            return self.report
        self._note(changes)
        report_problems(self.report, changes)
        named = {problem.path for problem in self.report.unrecognised} & {_shown(path) for path in within}
        self.report.errors += [problem for problem in self.report.unrecognised if problem.path in named]
        self.report.unchanged, self.report.missing = changes.unchanged, changes.missing
        self.report.absent_roots = changes.absent_roots
        changed = [(sources[number], file) for number, file in changes.read]
        # Older files first, so that session numbers grow with time; newest first when time may run out.
        changed.sort(key=lambda pair: pair[1].mtime_ns, reverse=self._deadline is not None)
        with self._readings(changed) as readings:
            self._index_all(changed, readings)
        if not self.report.is_stopped:
            self._enrich()
        ended = self._ended(sources, changed, started)
        if ended.is_stopped:
            self._on_rest([file for _, file in changed[len(changed) - ended.pending :]])
        return ended

    def note_deleted(self, sources: Sequence[OpenSource]) -> None:
        """Note the files that are missing, present again or excluded, and read none."""
        scan_roots = [ScanRoot.of(s.source, s.root, s.parser) for s in sources]
        self._note(detect(scan_roots, self._files.for_detection(), self._stored_path, scan=self._scan))

    def take(
        self, sources: Sequence[OpenSource], changes: Changes, *, seconds: float, has_notes: bool, are_few: bool
    ) -> IndexReport:
        """Index changes that were detected before the index was opened for writing; at least one file is read.

        A file that another process has indexed meanwhile is not read again.

        :param changes: as `detect` returned them; new files may belong to another source, or be no sessions.
        :param seconds: start no further file after this time.
        :param has_notes: metadata files have changed.
        :param are_few: the writer's `file` knows every file that its `files` does.
        """
        started = time.monotonic()
        self._files = KnownFiles(self._writer, are_few=are_few and not has_notes)
        self._candidates = [*sources]
        self._deadline, self._least, self._workers = started + seconds, 1, 0
        self._note(changes)
        changed = [(sources[number], file) for number, file in changes.read]
        self._index_all(changed, self._readings(changed))
        if has_notes and not self.report.is_stopped:
            self._enrich()
        return self._ended(sources, changed, started)

    def _ended(
        self, sources: Sequence[OpenSource], changed: Sequence[tuple[OpenSource, FoundFile]], started: float
    ) -> IndexReport:
        """End a run, and return its report."""
        count_sources(self.report, sources, [source for source, _ in changed])
        is_clean = not self.report.errors and not self.report.pending and self.report.changed > 0
        self._writer.finish(synced_at=datetime.now(UTC) if is_clean else None)
        self.report.seconds = time.monotonic() - started
        return self.report

    # -- changes ------------------------------------------------------------------------------------------

    def _note(self, changes: Changes) -> None:
        """Update the rows of files that need not be read."""
        now = datetime.now(UTC)
        rows = []
        for path in (*changes.returned, *changes.gone):
            if (file := self._files.get(path)) is not None:
                file.missing_since = now if path in changes.gone else None
                file.error = None if path in changes.gone else file.error
                rows.append(file)
        if rows:
            self._writer.update_files(rows)
        for path in changes.excluded:
            self._writer.delete_file(path)

    def _scan(
        self, scan_root: ScanRoot, root: str, is_wanted: Callable[[str], bool], problems: dict[str, Exception]
    ) -> Iterator[FoundFile]:
        """Yield the wanted files of a scan root below a path.

        :param problems: collects what cannot be read.
        :raises Stopped: the run is stopped.
        """

        def is_wanted_still(path: str) -> bool:
            if self._is_stopped():
                raise Stopped
            return is_wanted(path)

        return scan_root.files.scan(root, is_wanted_still, None, problems)

    def _enrich(self) -> None:
        """Update the notes from the metadata files, if the index stores notes."""
        directory = self._metadata.directory
        try:
            found = scan(directory, has_marks=self._metadata.has_marks)
        except OSError as error:
            self.report.errors.append(FileProblem(path=str(directory), message=error.strerror or str(error)))
            return
        if not isinstance(self._writer, Annotating):
            return
        changes = detect_notes(directory, found, self._files.for_detection(), self._stored_path, self._redaction)
        changed = {file.path: file.mtime_ns for _, file in changes.read}
        if found and changes.returned:  # the notes of such a file were removed
            changed |= {path: time for path, time in found.items() if self._stored(path) in changes.returned}
        self.report.errors += [FileProblem.of(*problem) for problem in changes.problems]
        enrich(self._writer, self._metadata, changed, changes.gone, self.report, self._deadline)

    # -- indexing -----------------------------------------------------------------------------------------

    def _readings(self, changed: Sequence[tuple[OpenSource, FoundFile]]) -> Readings:
        """Return the readings of the files, in the order in which they are indexed."""
        common = changed, self._writer, self._workstation, self._metadata.notes
        if self._workers == 0:
            return Readings(*common)
        from .worker_process import workers  # not in a search
        from .workers import ReadAhead

        return ReadAhead(*common, is_new=self._is_new, most=workers(self._workers))

    def _index_all(self, changed: Sequence[tuple[OpenSource, FoundFile]], readings: Readings) -> None:
        total = sum(found.size for _, found in changed)
        done = 0
        with _without_cycle_collection():
            for number, (source, found) in enumerate(changed):
                try:
                    if self._is_over(number):
                        self.report.pending = len(changed) - number
                        return
                    self._index(readings, number, source, found)
                except Stopped:
                    self.report.pending, self.report.is_stopped = len(changed) - number, True
                    return
                done += found.size
                self._commit_when_due(changed, number + 1)
                if self._on_progress:
                    self._on_progress(
                        Progress(
                            files_done=number + 1,
                            files_total=len(changed),
                            bytes_done=done,
                            bytes_total=total,
                            chunks=self.report.chunks,
                            path=found.path,
                        )
                    )

    def _is_over(self, number: int) -> bool:
        """Return whether no further file is started.

        :param number: of files before it.
        :raises Stopped: the run is stopped.
        """
        if self._is_stopped():
            raise Stopped
        return self._deadline is not None and number >= self._least and time.monotonic() >= self._deadline

    def _commit_when_due(self, changed: Sequence[tuple[OpenSource, FoundFile]], done: int) -> None:
        """Make what is indexed visible, every `COMMIT_SECONDS`.

        :param done: number of files that are done.
        """
        if time.monotonic() >= self._commit_at:
            self._writer.finish(synced_at=None)
            self._on_rest([file for _, file in changed[done:]])
            self._commit_at = time.monotonic() + self._commit_seconds

    def _is_new(self, found: FoundFile) -> bool:
        """Return whether a file is surely read whole."""
        known = self._files.get(self._stored(found.path))
        return known is None or known.error is not None or known.mtime_ns == UNREAD

    def _index(self, readings: Readings, number: int, source: OpenSource, found: FoundFile) -> None:
        """Index one file; any error is reported, and then the indexed content of the file stays."""
        known = self._files.get(self._stored(found.path))
        reading = self._matched(source, found, known) if self._candidates else readings.reading(number)
        if reading is None:
            return
        reading.is_stopped = self._is_stopped
        try:
            self.report.chunks += sum(map(len, reading.bring_in(known).values()))
        except (BackendError, Stopped):
            raise
        except Exception as error:  # noqa: BLE001 - one bad file, or one faulty plugin, must not lose the run
            self._fail(reading.file, known, error)
            return
        count_file(self.report, found.path, reading, was_known=known is not None and known.mtime_ns != UNREAD)

    def _matched(self, source: OpenSource, found: FoundFile, known: IndexedFile | None) -> FileReader | None:
        """Return the reading of a file, in its present state, of the source that it belongs to; None: not to be read.

        :param source: the first one that it may belong to.
        """
        try:
            found = source.files.found(found.path)
            if known is None:
                later = self._candidates[self._candidates.index(source) + 1 :]
                matching = owner(found.path, source, later)
                if matching is None:
                    self.rejected.add(found.path)
                    return None
                source = matching
        except FileNotFoundError:
            return None  # deleted since it was found
        except Exception as error:  # noqa: BLE001 - one bad file, or one faulty plugin, must not lose the others
            self.failed.add(found.path)
            self.report.errors.append(FileProblem.of(found.path, source.source.parser.name, error))
            return None
        if known is not None and source.is_current(known, found):
            self.report.unchanged += 1
            return None
        return source.reading(found, self._writer, self._workstation, self._metadata.notes)

    def _stored(self, path: str) -> str:
        """Return the path that the index stores for a file."""
        return self._stored_path(path) if self._stored_path else path

    def _fail(self, file: IndexedFile, known: IndexedFile | None, error: Exception) -> None:
        self.failed.add(file.path)
        problem = FileProblem.of(file.path, file.parser, error)
        self.report.errors.append(problem)
        if known is None:
            known, file.mtime_ns = file, UNREAD
        known.error = clean(problem.message)
        known.missing_since = None  # it was found
        known.checkpoint = None
        self._writer.update_files([known])


@contextmanager
def _without_cycle_collection() -> Iterator[None]:
    """Turn the garbage collector off: indexing makes no reference cycles, and collecting takes a tenth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _shown(path: str) -> str:
    return FileProblem.of(path, "", OSError()).path
