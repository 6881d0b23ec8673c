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

from . import discovery, enriching, identity
from .config import Source
from .dataclass import dataclass
from .discovery import FoundFile, is_below
from .errors import BackendError, ParseError, SesameError
from .exclusion import is_excluded
from .metadata import MetadataFiles
from .protocols import ChunkFormatter, IndexWriter, Parser
from .reading import FileReading, Replayed
from .report import FileProblem, IndexReport, Progress, SourceReport
from .tokens import clean
from .types import UNREAD, IndexedFile

#: Losses listed one by one in a report; all are counted.
LISTED_LOSSES = 100


@dataclass(slots=True, kw_only=True)
class OpenSource:
    """A source with its plugins made."""

    source: Source
    root: str
    parser: Parser
    formatter: ChunkFormatter

    @property
    def version(self) -> int:
        """A number that changes with the parser's output and with the source's settings."""
        return self.source.reading_version(self.parser.version)


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
        enriching.enrich(self._writer, self._metadata.directory, self._known, self.report, self._deadline)
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

        def is_wanted(path: str) -> bool:
            if path in self._claimed or (exclude and is_excluded(exclude, path, None)):
                return False
            known = self._known.get(path)
            return known.parser == name if known else self._matches(source, path)

        roots = _shared(within, source.root) if within else [source.root]
        if not roots:
            return changed
        for root in roots:
            for found in discovery.scan(root, is_wanted):
                seen.add(found.path)
                known = self._known.get(found.path)
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
                if exclude and known.mtime_ns != UNREAD and is_excluded(exclude, path, None):
                    self._writer.replace(_emptied(known), [])
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
            self.report.errors.append(_problem(path, source.source.parser.name, error))
            if isinstance(error, OSError):
                self._claimed.add(path)  # no other parser could look at it either
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
        known = self._known.get(found.path)
        file = IndexedFile(
            path=found.path,
            parser=source.source.parser.name,
            parser_version=source.version,
            mtime_ns=found.mtime_ns,
            size=found.size,
        )
        reading = self._reading(source, file)
        try:
            if not self._append(reading, known):
                self.report.chunks += self._replace(reading)
                self.report.bytes += found.size
                if known is None or known.mtime_ns == UNREAD:
                    self.report.added += 1
                else:
                    self.report.updated += 1
        except BackendError:
            raise
        except Exception as error:  # noqa: BLE001 - one odd file, or one faulty plugin, must not lose the run
            self._fail(file, known, error)
            return
        for reason, count in reading.skipped.items():
            self.report.skipped[reason] = self.report.skipped.get(reason, 0) + count
        for line, reason in reading.losses[: LISTED_LOSSES - len(self.report.losses)]:
            self.report.losses.append(FileProblem(path=file.path, message=reason, line=line))

    def _append(self, reading: FileReading, known: IndexedFile | None) -> bool:
        """Index what a file has grown by; return False when it must be read whole."""
        try:
            tail = reading.tail(known)
            if tail is None:
                return False
            self.report.chunks += self._writer.append(reading.file, tail)
        except Replayed:
            return False
        self.report.appended += 1
        self.report.bytes += reading.file.size - reading.start
        return True

    def _replace(self, reading: FileReading) -> int:
        """Index a whole file, again whenever one more of its sessions turns out to be excluded."""
        while True:
            try:
                return self._writer.replace(reading.file, reading.whole())
            except Replayed:
                continue

    def _reading(self, source: OpenSource, file: IndexedFile) -> FileReading:
        exclude = source.source.exclude
        return FileReading(
            file,
            source.parser,
            source.formatter,
            self._writer,
            workstation=self._workstation,
            is_excluded=lambda cwd: bool(exclude) and is_excluded(exclude, None, cwd),
            notes=self._metadata.notes,
        )

    def _fail(self, file: IndexedFile, known: IndexedFile | None, error: Exception) -> None:
        problem = _problem(file.path, file.parser, error)
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


def _problem(path: str, parser: str, error: Exception) -> FileProblem:
    """Return what a person should know of an error; a path that is no Unicode is written with escapes."""
    path = os.fsencode(path).decode("utf-8", "backslashreplace")
    if isinstance(error, ParseError):
        return FileProblem(path=path, message=error.message, line=error.line)
    if isinstance(error, OSError):
        return FileProblem(path=path, message=error.strerror or str(error))
    if isinstance(error, SesameError):
        return FileProblem(path=path, message=str(error))
    return FileProblem(path=path, message=f"the parser {parser!r} failed: {error!r}")


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


def _emptied(file: IndexedFile) -> IndexedFile:
    """Return what is remembered of a file that is excluded now: nothing, but that it may be read again."""
    return IndexedFile(path=file.path, parser=file.parser, parser_version=file.parser_version, mtime_ns=UNREAD, size=0)
