"""Runs of the indexer: detects changed files, indexes them, and reports the result."""

from __future__ import annotations

import gc
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
from ..types.index import UNREAD, IndexedFile, KnownFile
from ..types.report import FileProblem, IndexReport, Progress, SourceReport
from .changes import Changes, ScanRoot, detect, detect_notes
from .discovery import FoundFile
from .file_reader import Redacting
from .sources import OpenSource

#: Most losses listed in a report; all are counted.
LISTED_LOSSES = 100


class Indexer:
    """Updates an index from its sources.

    :param writer: the index.
    :param metadata: the metadata files of sessions.
    :param is_rebuild: the index starts empty, and no file counts as missing.
    :param deadline: `time.monotonic()` after which no further file is started.
    """

    def __init__(
        self,
        writer: IndexWriter,
        metadata: MetadataFiles,
        *,
        is_rebuild: bool = False,
        deadline: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.report = IndexReport()
        self._writer = writer
        self._metadata = metadata
        self._files = {} if is_rebuild else writer.files()
        self._known = {path: _known(file) for path, file in self._files.items()}
        self._stored_path = writer.stored_path if isinstance(writer, Redacting) else None
        self._redaction = writer.redaction if isinstance(writer, Redacting) else 0
        self._deadline = deadline
        self._on_progress = on_progress
        self._workstation = identity.workstation_id()

    def run(self, sources: Iterable[OpenSource], within: Sequence[str] = ()) -> IndexReport:
        """Index the changes in the sources.

        :param within: real paths of files or directories to scan; empty: everything.
        """
        started = time.monotonic()
        sources = list(sources)
        changes = detect(
            [ScanRoot.of(s.source, s.root, s.parser, within) for s in sources], self._known, self._stored_path
        )
        self._note(changes)
        changed = [(sources[number], file) for number, file in changes.read]
        # Older files first, so that session numbers grow with time; newest first when time may run out.
        changed.sort(key=lambda pair: pair[1].mtime_ns, reverse=self._deadline is not None)
        with _without_cycle_collection():
            self._index_all(changed)
        self._enrich()
        reached = len(changed) - self.report.pending
        self.report.sources = [
            SourceReport(
                path=source.root,
                parser=source.source.parser.name,
                changed=sum(of is source for of, _ in changed[:reached]),
                pending=sum(of is source for of, _ in changed[reached:]),
            )
            for source in sources
        ]
        is_clean = not self.report.errors and self.report.changed > 0
        self._writer.finish(synced_at=datetime.now(UTC) if is_clean else None)
        self.report.seconds = time.monotonic() - started
        return self.report

    # -- changes ------------------------------------------------------------------------------------------

    def _note(self, changes: Changes) -> None:
        """Update the rows of files that need not be read."""
        now = datetime.now(UTC)
        for path in changes.returned:
            self._files[path].missing_since = None
        for path in changes.gone:
            self._files[path].missing_since, self._files[path].error = now, None
        self._writer.update_files([self._files[path] for path in (*changes.returned, *changes.gone)])
        for path in changes.excluded:
            self._writer.delete_file(path)
        self.report.unchanged, self.report.missing = changes.unchanged, changes.missing
        self.report.absent_roots = changes.absent_roots
        self.report.errors += [FileProblem.of(*problem) for problem in changes.problems]

    def _enrich(self) -> None:
        """Update the notes from the metadata files, if the index stores notes."""
        directory = self._metadata.directory
        try:
            found = scan(directory)
        except OSError as error:
            self.report.errors.append(FileProblem(path=str(directory), message=error.strerror or str(error)))
            return
        if not isinstance(self._writer, Annotating):
            return
        changes = detect_notes(directory, found, self._known, self._stored_path, self._redaction)
        changed = {file.path: file.mtime_ns for _, file in changes.read}
        if found and changes.returned:  # the notes of such a file were removed
            changed |= {path: time for path, time in found.items() if self._stored(path) in changes.returned}
        self.report.errors += [FileProblem.of(*problem) for problem in changes.problems]
        enrich(self._writer, changed, changes.gone, self.report, self._deadline)

    # -- indexing -----------------------------------------------------------------------------------------

    def _index_all(self, changed: Sequence[tuple[OpenSource, FoundFile]]) -> None:
        total = sum(found.size for _, found in changed)
        done = 0
        for number, (source, found) in enumerate(changed):
            if self._deadline is not None and time.monotonic() >= self._deadline:
                self.report.pending = len(changed) - number
                return
            self._index(source, found)
            done += found.size
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

    def _index(self, source: OpenSource, found: FoundFile) -> None:
        """Index one file; any error is reported, and then the indexed content of the file stays."""
        known = self._files.get(self._stored(found.path))
        reading = source.reading(found, self._writer, self._workstation, self._metadata.notes)
        try:
            self.report.chunks += sum(map(len, reading.bring_in(known).values()))
        except BackendError:
            raise
        except Exception as error:  # noqa: BLE001 - one bad file, or one faulty plugin, must not lose the run
            self._fail(reading.file, known, error)
            return
        self.report.bytes += reading.file.size - reading.start
        if reading.is_tail:
            self.report.appended += 1
        elif known is None or known.mtime_ns == UNREAD:
            self.report.added += 1
        else:
            self.report.updated += 1
        for reason, count in reading.skipped.items():
            self.report.skipped[reason] = self.report.skipped.get(reason, 0) + count
        for line, reason in reading.losses[: LISTED_LOSSES - len(self.report.losses)]:
            self.report.losses.append(FileProblem(path=found.path, message=reason, line=line))

    def _stored(self, path: str) -> str:
        """Return the path that the index stores for a file."""
        return self._stored_path(path) if self._stored_path else path

    def _fail(self, file: IndexedFile, known: IndexedFile | None, error: Exception) -> None:
        problem = FileProblem.of(file.path, file.parser, error)
        self.report.errors.append(problem)
        if known is None:
            known, file.mtime_ns = file, UNREAD
        known.error = clean(problem.message)
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


def _known(file: IndexedFile) -> KnownFile:
    """Return a file as a reader's `known_files` does."""
    mtime_ns = UNREAD if file.error else file.mtime_ns
    return mtime_ns, file.parser, file.parser_version, file.missing_since is not None
