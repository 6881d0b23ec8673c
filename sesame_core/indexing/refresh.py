"""The check for changed files before a search; it reads none of them.

In nearly every search nothing has changed, or sessions have grown.  Detecting that takes neither the part of a parser
that reads files, nor a formatter, nor the write lock; all other changes are left to a run of the indexer.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..dataclass import dataclass, replace
from ..types.index import NOTES
from ..types.report import IndexReport, SourceReport
from . import scan_cache
from .changes import Changes, detect, detect_notes
from .discovery import FoundFile, is_below, scan
from .scan_cache import ScanCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ..plugin.backend import TracksFiles
    from ..types.index import KnownFile
    from .changes import ScanRoot

#: Most changed files that a run is limited to: it compares each known file with each of these, so that a scan of all
#: files is faster for more of them.
FEW = 8


@dataclass(slots=True, kw_only=True)
class Refresh:
    """The work for a run over a few files, and the report of all other files."""

    #: The report of a run that has nothing to do.
    report: IndexReport
    #: Known files that have another time now: the whole work for a run.
    changed: list[str]
    #: The cache that spares the next searches most of the work, and its path.
    cache: ScanCache | None = None
    cache_path: str | None = None

    def completed(self, run: IndexReport) -> IndexReport:
        """Return the report of a run over the changed files, completed with the counts of all others."""
        found = self.report
        run.unchanged += found.unchanged
        run.missing += found.missing
        run.absent_roots = found.absent_roots
        run.not_scanned, run.scanned_at = found.not_scanned, found.scanned_at
        self.report = run
        return run

    def save_cache(self) -> None:
        """Save the scan cache for the next searches, unless a run has left something to do."""
        if self.cache and self.cache_path and not self.report.errors and not self.report.pending:
            self.cache.save(self.cache_path)


def scan_recent(
    scan_roots: Sequence[ScanRoot],
    notes: Path,
    cache_path: str | None,
    reader: TracksFiles,
    redaction: int = 0,
) -> Refresh | None:
    """Check directories and recently changed files; return None when that is not enough to detect all changes.

    :param notes: directory of the metadata files.
    :param cache_path: path of the scan cache; None when it is not stored.
    :param redaction: as `Source.redaction`.
    """
    started = time.monotonic()
    cache = scan_cache.load(cache_path) if cache_path else None
    if cache is None or not cache.is_good(_wanted(scan_roots, notes)):
        return None
    known = reader.known_files(first_ns=cache.recent_ns)
    # Files that a pattern excludes were unknown to the index at the last full scan.
    changes = detect(
        [replace(scan_root, exclude=()) for scan_root in scan_roots],
        known,
        scan=lambda root, is_wanted: _found(root, is_wanted, known),
        growth_only=True,
    )
    if not _is_for_few(changes):
        return None
    if os.path.isdir(notes) and not _is_nothing(detect_notes(notes, _times(notes, known), known, None, redaction)):
        return None
    report = _report(scan_roots, started)
    report.unchanged = cache.unchanged - changes.grown
    report.missing, report.absent_roots = cache.missing, cache.absent_roots
    report.not_scanned = max(0, cache.unchanged - changes.unchanged - changes.grown)
    report.scanned_at = datetime.fromtimestamp(cache.at, UTC)
    return Refresh(report=report, changed=[file.path for _, file in changes.read])


def scan_all(
    scan_roots: Sequence[ScanRoot],
    notes: Path,
    cache_path: str | None,
    known: Mapping[str, KnownFile],
    stored_path: Callable[[str], str] | None = None,
    redaction: int = 0,
) -> Refresh | None:
    """Check all files; return None when there are other changes than known files that have another time.

    :param known: the files that the index knows, by stored path.
    :param stored_path: returns the stored path of a real path; None when they are the same.
    :param redaction: as `Source.redaction`.
    """
    at, started = time.time(), time.monotonic()
    directories: dict[str, int] = {}
    if os.path.isdir(notes):
        from ..metadata.directory import scan as scan_notes

        directories[os.fspath(notes)] = os.stat(notes).st_mtime_ns
        try:
            times = scan_notes(notes)
        except OSError:
            return None  # the run gets the same error, and reports it
        if not _is_nothing(detect_notes(notes, times, known, stored_path, redaction)):
            return None
    changes = detect(
        scan_roots,
        known,
        stored_path,
        scan=lambda root, is_wanted: scan(root, is_wanted, directories),
        growth_only=True,
    )
    if not _is_for_few(changes):
        return None
    report = _report(scan_roots, started)
    report.unchanged, report.missing, report.absent_roots = changes.unchanged, changes.missing, changes.absent_roots
    found = Refresh(report=report, changed=[file.path for _, file in changes.read])
    present = changes.unchanged + changes.grown
    if cache_path is not None and present >= scan_cache.LEAST:
        found.cache_path = cache_path
        found.cache = ScanCache(
            at=at,
            wanted=_wanted(scan_roots, notes),
            directories=directories,
            absent_roots=changes.absent_roots,
            unchanged=present,
            missing=changes.missing,
        )
    return found


def unread(
    scan_roots: Sequence[ScanRoot],
    known: Mapping[str, KnownFile],
    stored_path: Callable[[str], str] | None = None,
) -> IndexReport:
    """Return the report of a run that could do nothing: the number of files that it would have read.

    :param known: the files that the index knows, by stored path.
    :param stored_path: as in `detect`.
    """
    started = time.monotonic()
    changes = detect(scan_roots, known, stored_path)
    pending = Counter(number for number, _ in changes.read)
    return IndexReport(
        unchanged=changes.unchanged,
        pending=len(changes.read),
        sources=[
            SourceReport(path=scan_root.root, parser=scan_root.parser, changed=0, pending=pending[number])
            for number, scan_root in enumerate(scan_roots)
        ],
        seconds=time.monotonic() - started,
    )


def _is_for_few(changes: Changes) -> bool:
    return changes.is_growth and changes.grown <= FEW


def _is_nothing(changes: Changes) -> bool:
    return changes.is_growth and not changes.read


def _found(root: str, is_wanted: Callable[[str], bool], known: Mapping[str, KnownFile]) -> Iterator[FoundFile]:
    """Yield the known files below a root that exist."""
    for path in known:
        if is_wanted(path) and is_below(path, root):
            try:
                stat = os.stat(path)
            except OSError:
                continue
            yield FoundFile(path, stat.st_mtime_ns, stat.st_size)


def _times(notes: Path, known: Mapping[str, KnownFile]) -> dict[str, int]:
    """Return the modification times of the known metadata files that exist."""
    paths = {path: then for path, then in known.items() if then[1] == NOTES}
    return {file.path: file.mtime_ns for file in _found(os.fspath(notes), lambda _: True, paths)}


def _report(scan_roots: Sequence[ScanRoot], started: float) -> IndexReport:
    sources = [
        SourceReport(path=scan_root.root, parser=scan_root.parser, changed=0, pending=0) for scan_root in scan_roots
    ]
    return IndexReport(sources=sources, seconds=time.monotonic() - started)


def _wanted(scan_roots: Sequence[ScanRoot], notes: Path) -> str:
    """Return a string that differs between configurations that scan different files."""
    return repr((os.fspath(notes), [(p.root, p.parser, p.version, p.exclude) for p in scan_roots]))
