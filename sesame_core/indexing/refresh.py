"""The check for changed files before a search; it opens none of them.

In nearly every search nothing has changed, or sessions have grown.  Detecting that takes neither the part of a parser
that reads files, nor a formatter, nor the write lock.  Whether a new file is a session is decided when it is its turn
to be read: the newest come first, and those that the time does not suffice for wait in the scan cache.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..dataclass import dataclass, field, replace
from ..types.index import NOTES, UNREAD
from ..types.report import FileProblem, IndexReport, SourceReport
from .changes import Changes, detect, detect_notes
from .discovery import FoundFile, is_below, scan
from .scan_cache import ScanCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ..plugin.backend import TracksFiles
    from ..types.index import KnownFile
    from .changes import ScanRoot
    from .scan_cache import Rejected, Waiting

#: Most changed files that a check of recently changed files leaves to a run: more may be a moved directory.
FEW = 8


@dataclass(slots=True, kw_only=True)
class Refresh:
    """The work for a run, and the report of all other files."""

    #: The report of a run that has nothing to do.
    report: IndexReport
    #: The work; `changes.read` is in the order in which it is to be read.
    changes: Changes
    #: The paths of files among these that could not be read before: they come last.
    retried: set[str] = field(default_factory=set)
    #: Metadata files have changed.
    has_notes: bool = False
    #: The cache for the next searches.
    cache: ScanCache

    @property
    def is_done(self) -> bool:
        """Whether there is nothing to do for a run."""
        changes = self.changes
        return not (changes.read or changes.returned or changes.gone or changes.excluded or self.has_notes)

    def sift(self, scan_roots: Sequence[ScanRoot], known: Callable[[str], bool], until: float) -> None:
        """Drop the first files that no parser recognises, so that a run is not needed for them alone.

        :param known: returns whether the index knows a real path.
        :param until: `time.monotonic()` after which the rest is left to a run, or to the next scan.
        """
        for path, scan_root in self.changes.strange.items():
            if time.monotonic() >= until:
                break
            self.reject(scan_root, path)
        read = self.changes.read
        for number, (first, file) in enumerate(read):
            if known(file.path) or time.monotonic() >= until or _is_recognised(scan_roots[first:], file.path):
                del read[:number]
                return
            self.reject(scan_roots[first], file.path)
        read.clear()

    def reject(self, scan_root: ScanRoot, path: str) -> None:
        """Note that no parser recognises a file, and why, if it looks like a session."""
        from .problems import why_unrecognised

        try:
            self.cache.rejected[path] = (os.stat(path).st_mtime_ns, why_unrecognised(scan_root, path))
        except OSError:
            return  # deleted since it was found
        except Exception as error:  # noqa: BLE001 - one faulty plugin must not lose the others
            self.report.errors.append(FileProblem.of(path, scan_root.parser, error))

    def completed(self, run: IndexReport, rest: Sequence[Waiting], failed: Sequence[Waiting]) -> IndexReport:
        """Return the report of a run over the changes, completed with the counts of all others.

        :param rest: files that the run did not reach.
        :param failed: files that could not be read.
        """
        found, cache = self.report, self.cache
        run.unchanged += found.unchanged
        run.missing, run.absent_roots = found.missing, found.absent_roots
        run.errors = [*found.errors, *run.errors]
        run.not_scanned, run.scanned_at = found.not_scanned, found.scanned_at
        cache.waiting, cache.failed = list(rest), list(failed)
        cache.unchanged, cache.missing = run.unchanged + run.changed, run.missing
        self.report = run
        return run

    def told(self) -> IndexReport:
        """Return the report with the files that no parser recognises."""
        if reasons := {path: reason for path, (_, reason) in self.cache.rejected.items() if reason}:
            from .problems import unrecognised

            self.report.unrecognised = [unrecognised(path, reason) for path, reason in reasons.items()]
        return self.report

    def unreached(self) -> IndexReport:
        """Return the report of a run that could do nothing."""
        waiting = [(number, file) for number, file in self.changes.read if file.path not in self.retried]
        self.report.pending = len(waiting)
        for number, source in enumerate(self.report.sources):
            pending = sum(of == number for of, _ in waiting)
            self.report.sources[number] = replace(source, pending=pending)
        return self.told()


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
        scan=lambda root, is_wanted, _: _found(root, is_wanted, known),
        growth_only=True,
    )
    if not changes.is_growth or changes.grown > FEW:
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
    return Refresh(report=report, changes=changes, retried=tried, cache=cache)


def scan_all(
    scan_roots: Sequence[ScanRoot],
    notes: Path,
    known: Mapping[str, KnownFile],
    stored_path: Callable[[str], str] | None = None,
    before: ScanCache | None = None,
    redaction: int = 0,
) -> Refresh:
    """Check all files.

    :param known: the files that the index knows, by stored path.
    :param stored_path: returns the stored path of a real path; None when they are the same.
    :param before: the cache of an earlier scan.
    :param redaction: as `Source.redaction`.
    """
    at, started = time.time(), time.monotonic()
    directories: dict[str, int] = {}
    changes = detect(
        [scan_root.by_name() for scan_root in scan_roots],
        known,
        stored_path,
        scan=lambda root, is_wanted, problems: scan(root, is_wanted, directories, problems),
    )
    rejected = _still_rejected(changes, before.rejected if before else {})
    retried = _newest_first(changes, known, stored_path)
    has_notes = _has_notes(notes, directories, known, stored_path, redaction)
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
        absent_roots=changes.absent_roots,
        unchanged=changes.unchanged,
        missing=changes.missing,
        rejected=rejected,
        unlisted=[(problem.path, problem.message) for problem in unlisted],
        problems=[(problem.path, problem.message) for problem in problems],
    )
    cache.settle()
    return Refresh(report=report, changes=changes, retried=retried, has_notes=has_notes, cache=cache)


def _is_recognised(scan_roots: Sequence[ScanRoot], path: str) -> bool:
    """Return whether a file may belong to one of the scan roots; True if a parser cannot tell."""
    for number, scan_root in enumerate(scan_roots):
        # The first one has found it, perhaps by a link.
        if number and (not is_below(path, scan_root.root) or (scan_root.exclude and scan_root.excludes(path))):
            continue
        try:
            if scan_root.matches(path):
                return True
        except FileNotFoundError:
            return False  # deleted since it was found
        except Exception:  # noqa: BLE001 - the run gets the same error, and reports it
            return True
    return False


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
) -> bool:
    """Return whether metadata files have changed, or cannot be read: a run reports that."""
    if not os.path.isdir(notes):
        return False
    from ..metadata.directory import scan as scan_notes

    directories[os.fspath(notes)] = os.stat(notes).st_mtime_ns
    try:
        times = scan_notes(notes)
    except OSError:
        return True
    return not _is_nothing(detect_notes(notes, times, known, stored_path, redaction))


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
