"""The scan for changed files before a search; it opens none of them.

In nearly every search nothing has changed, or sessions have grown.  Detecting that takes neither the part of a parser
that reads files, nor a formatter, nor the write lock.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..types.index import NOTES, UNREAD
from ..types.report import FileProblem, IndexReport, SourceReport
from .changes import Changes, detect, detect_notes
from .discovery import FILES
from .refresh import Refresh
from .scan_cache import ScanCache

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ..plugin.backend import TracksFiles
    from ..types.index import KnownFile
    from .scan_cache import Rejected
    from .scan_root import ScanRoot

#: Most changed files that a check of recently changed files leaves to a run: more may be a moved directory.
FEW = 8


def scan_recent(
    scan_roots: Sequence[ScanRoot], notes: Path, cache: ScanCache | None, reader: TracksFiles, redaction: int = 0
) -> Refresh | None:
    """Check directories and recently changed files; return None when that is not enough to detect all changes.

    :param notes: directory of the metadata files.
    :param cache: of the last full scan.
    :param redaction: as `Source.redaction`.
    """
    started = time.monotonic()
    if cache is None or not cache.is_good(_wanted(scan_roots, notes)):
        return None
    known = reader.known_files(first_ns=cache.recent_ns)
    tried = {file.path for _, file in cache.failed}
    # Files that a pattern excludes were unknown to the index at the last full scan.
    changes = detect(
        [replace(scan_root, exclude=()) for scan_root in scan_roots],
        {path: then for path, then in known.items() if path not in tried},
        scan=lambda scan_root, root, is_wanted, problems: scan_root.files.scan_again(
            root, is_wanted, known, cache.containers, cache.recent_ns, problems
        ),
        growth_only=True,
    )
    if not changes.is_growth or changes.grown > FEW or changes.unlisted:
        return None
    if os.path.isdir(notes) and not _is_nothing(detect_notes(notes, _times(notes, known), known, None, redaction)):
        return None
    grown = {file.path for _, file in changes.read}
    changes.read += [waiting for waiting in cache.waiting if waiting[1].path not in grown]
    changes.read += cache.failed
    report = _report(scan_roots, started)
    report.unchanged = cache.unchanged - changes.grown
    report.missing, report.absent_roots = cache.missing, cache.absent_roots
    report.errors = [FileProblem(path=path, message=message) for path, message in (*cache.unlisted, *cache.problems)]
    report.not_scanned = max(0, cache.unchanged - changes.unchanged - changes.grown)
    report.scanned_at = datetime.fromtimestamp(cache.at, UTC)
    return Refresh(report=report, scan_roots=scan_roots, changes=changes, retried=tried, cache=cache)


def scan_all(
    scan_roots: Sequence[ScanRoot],
    notes: Path,
    known: Mapping[str, KnownFile],
    stored_path: Callable[[str], str] | None = None,
    before: ScanCache | None = None,
    redaction: int = 0,
    *,
    has_marks: bool = False,
) -> Refresh:
    """Check all files.

    :param known: the files that the index knows, by stored path.
    :param stored_path: returns the stored path of a real path; None when they are the same.
    :param before: the cache of an earlier scan.
    :param redaction: as `Source.redaction`.
    :param has_marks: as of `MetadataFiles`.
    """
    at, started = time.time(), time.monotonic()
    directories: dict[str, int] = {}
    changes = detect(
        [scan_root.by_name() for scan_root in scan_roots],
        known,
        stored_path,
        scan=lambda scan_root, root, is_wanted, problems: scan_root.files.scan(root, is_wanted, directories, problems),
    )
    rejected = _still_rejected(changes, before.rejected if before else {})
    retried = _newest_first(changes, known, stored_path)
    has_notes = _has_notes(notes, directories, known, stored_path, redaction, has_marks=has_marks)
    report = _report(scan_roots, started)
    report.unchanged, report.missing, report.absent_roots = changes.unchanged, changes.missing, changes.absent_roots
    unlisted = [FileProblem.of(*problem) for problem in changes.unlisted]
    problems = [FileProblem.of(*problem) for problem in changes.problems]
    report.errors = [*unlisted, *problems]
    cache = ScanCache(
        at=at,
        seconds=time.monotonic() - started,
        wanted=_wanted(scan_roots, notes),
        directories=directories,
        containers={path: times for one in scan_roots for path, times in one.files.containers.items()},
        absent_roots=changes.absent_roots,
        unchanged=changes.unchanged,
        missing=changes.missing,
        rejected=rejected,
        unlisted=[(problem.path, problem.message) for problem in unlisted],
        problems=[(problem.path, problem.message) for problem in problems],
    )
    cache.settle()
    return Refresh(
        report=report, scan_roots=scan_roots, changes=changes, retried=retried, has_notes=has_notes, cache=cache
    )


def _still_rejected(changes: Changes, rejected: Mapping[str, Rejected]) -> dict[str, Rejected]:
    """Take out the files that no parser recognised before and that have not changed since; return them."""
    if not rejected:
        return {}
    same = {
        file.path: then
        for _, file in changes.read
        if (then := rejected.get(file.path)) is not None and then[0] == file.mtime_ns
    }
    changes.read = [(number, file) for number, file in changes.read if file.path not in same]
    for path in [*changes.strange]:
        if (then := rejected.get(path)) is not None and then[0] == _mtime_ns(path):
            same[path] = then
            del changes.strange[path]
    return same


def _mtime_ns(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def _newest_first(
    changes: Changes, known: Mapping[str, KnownFile], stored_path: Callable[[str], str] | None
) -> set[str]:
    """Sort the files to read: the newest first, and after all others those that could not be read before, returned."""
    retried = set()
    for _, file in changes.read:
        then = known.get(stored_path(file.path) if stored_path else file.path)
        if then is not None and then[0] == UNREAD:
            retried.add(file.path)
    changes.read.sort(key=lambda waiting: (waiting[1].path in retried, -waiting[1].mtime_ns))
    return retried


def _has_notes(
    notes: Path,
    directories: dict[str, int],
    known: Mapping[str, KnownFile],
    stored_path: Callable[[str], str] | None,
    redaction: int,
    *,
    has_marks: bool,
) -> bool:
    """Return whether metadata files have changed, or cannot be read: a run reports that."""
    if not os.path.isdir(notes):
        return False
    from ..metadata.directory import scan as scan_notes

    directories[os.fspath(notes)] = os.stat(notes).st_mtime_ns
    try:
        times = scan_notes(notes, has_marks=has_marks)
    except OSError:
        return True
    return not _is_nothing(detect_notes(notes, times, known, stored_path, redaction))


def _is_nothing(changes: Changes) -> bool:
    return changes.is_growth and not changes.read


def _times(notes: Path, known: Mapping[str, KnownFile]) -> dict[str, int]:
    """Return the modification times of the known metadata files that exist."""
    paths = {path: then for path, then in known.items() if then[1] == NOTES}
    found = FILES.scan_again(os.fspath(notes), lambda _: True, paths, {}, 0, {})
    return {file.path: file.mtime_ns for file in found}


def _report(scan_roots: Sequence[ScanRoot], started: float) -> IndexReport:
    sources = [
        SourceReport(path=scan_root.root, parser=scan_root.parser, changed=0, pending=0) for scan_root in scan_roots
    ]
    return IndexReport(sources=sources, seconds=time.monotonic() - started)


def _wanted(scan_roots: Sequence[ScanRoot], notes: Path) -> str:
    """Return a string that differs between configurations that scan different files."""
    return repr((os.fspath(notes), [(p.root, p.parser, p.version, p.exclude) for p in scan_roots]))
