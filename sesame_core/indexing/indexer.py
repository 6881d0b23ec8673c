"""Files in, backend filled: what changed, and what became of it."""

from __future__ import annotations

import errno
import gc
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ..config import identity
from ..config.patterns import is_excluded
from ..errors import BackendError
from ..metadata.files import MetadataFiles
from ..metadata.sync import enrich
from ..plugin.backend import IndexWriter
from ..text.tokens import clean
from ..types.index import UNREAD, IndexedFile
from ..types.report import FileProblem, IndexReport, Progress, SourceReport
from . import discovery
from .discovery import FoundFile, belongs, is_below
from .file_reader import Redacting
from .sources import OpenSource

#: Losses listed one by one in a report; all are counted.
LISTED_LOSSES = 100


class Indexer:
    """Brings an index up to date with its sources.

    :param writer: the index.
    :param metadata: what was written about sessions.
    :param is_rebuild: nothing is known beforehand, and nothing is missing.
    :param deadline: `time.monotonic()` after which no further file is begun.
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
        self._known = {} if is_rebuild else writer.files()
        self._stored_path: Callable[[str], str] = writer.stored_path if isinstance(writer, Redacting) else str
        self._deadline = deadline
        self._on_progress = on_progress
        self._workstation = identity.workstation_id()
        self._claimed: set[str] = set()

    def run(self, sources: Iterable[OpenSource], within: Sequence[str] = ()) -> IndexReport:
        """Index what changed in the sources.

        :param within: real paths of files or directories to look at; empty: everything.
        """
        started = time.monotonic()
        changed: list[tuple[OpenSource, FoundFile]] = []
        returned: list[IndexedFile] = []
        sources = list(sources)
        for source in sources:
            changed += self._look(source, within, returned)
        # Older files first, so that session numbers grow with time; the newest first when not all may be read.
        changed.sort(key=lambda pair: pair[1].mtime_ns, reverse=self._deadline is not None)
        self._writer.update_files(returned)
        with _without_cycle_collection():
            self._index_all(changed)
        enrich(self._writer, self._metadata.directory, self._known, self._stored_path, self.report, self._deadline)
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

    # -- what changed -------------------------------------------------------------------------------------

    def _look(
        self, source: OpenSource, within: Sequence[str], returned: list[IndexedFile]
    ) -> list[tuple[OpenSource, FoundFile]]:
        """Return a source's changed files; note those that are missing and those that are back."""
        name, version, exclude = source.source.parser.name, source.version, source.source.exclude
        changed: list[tuple[OpenSource, FoundFile]] = []
        seen: set[str] = set()

        def matches(path: str) -> bool:
            return self._matches(source, path)

        def is_wanted(path: str) -> bool:
            stored = self._stored_path(path)
            if stored in self._claimed:
                return False
            known = self._known.get(stored)
            return belongs(path, name, exclude, known.parser if known else None, matches)

        roots = _shared(within, source.root) if within else [source.root]
        if not roots:
            return changed
        for root in roots:
            for found in discovery.scan(root, is_wanted):
                stored = self._stored_path(found.path)
                seen.add(stored)
                known = self._known.get(stored)
                # INV-004: the modification time decides whether a file is read.
                if known is None or known.error or (known.mtime_ns, known.parser_version) != (found.mtime_ns, version):
                    changed.append((source, found))
                    continue
                self.report.unchanged += 1
                if known.missing_since is not None:
                    known.missing_since = None
                    returned.append(known)
        self._claimed |= seen
        if not os.path.exists(source.root):
            self.report.absent_roots.append(source.root)
            return changed
        now = datetime.now(UTC)
        for path, known in self._known.items():
            if known.parser != name or path in seen or not any(is_below(path, root) for root in roots):
                continue
            if os.path.exists(path):
                if exclude and is_excluded(exclude, path, None):
                    self._writer.delete_file(path)
                continue
            self.report.missing += 1
            if known.missing_since is None:
                known.missing_since, known.error = now, None
                returned.append(known)
        return changed

    def _matches(self, source: OpenSource, path: str) -> bool:
        """Ask a parser about a file that the index does not know; when it cannot tell, that is an error."""
        try:
            if not source.parser.matches(Path(path)):
                return False
            _check_name(path)
        except FileNotFoundError:
            return False  # gone since it was found, or a link to nothing
        except Exception as error:  # noqa: BLE001 - one odd file, or one faulty plugin, must not lose the run
            self.report.errors.append(FileProblem.of(path, source.source.parser.name, error))
            if isinstance(error, OSError):
                self._claimed.add(self._stored_path(path))  # no other parser could look at it either
            return False
        return True

    # -- what becomes of it -------------------------------------------------------------------------------

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
        """Index one file; whatever is wrong with it is reported, and what the index held of it stays."""
        known = self._known.get(self._stored_path(found.path))
        reading = source.reading(found, self._writer, self._workstation, self._metadata.notes)
        try:
            self.report.chunks += sum(map(len, reading.bring_in(known).values()))
        except BackendError:
            raise
        except Exception as error:  # noqa: BLE001 - one odd file, or one faulty plugin, must not lose the run
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
    """Turn the search for reference cycles off: indexing makes none, and looking costs a tenth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _check_name(path: str) -> None:
    """Raise `OSError` for a name that no database takes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise OSError(errno.EILSEQ, "its name, or a directory's above it, is not UTF-8") from None


def _shared(paths: Iterable[str], root: str) -> list[str]:
    """Return what the trees below the paths have in common with the tree below a root."""
    inside = [path for path in paths if is_below(path, root)]
    return inside + [root for path in paths if path != root and is_below(root, path)][:1]
