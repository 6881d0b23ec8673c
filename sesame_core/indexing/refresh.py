"""The work that a scan before a search has found, and the report of all other files.

Whether a new file is a session is decided when it is its turn to be read: the newest come first, and those that the
time does not suffice for wait in the scan cache.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from ..dataclass import dataclass, field, replace
from ..types.report import FileProblem, IndexReport
from .changes import Changes
from .discovery import is_below
from .scan_cache import ScanCache

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .scan_cache import Waiting
    from .scan_root import ScanRoot


@dataclass(slots=True, kw_only=True)
class Refresh:
    """The work for a run, and the report of all other files."""

    #: The report of a run that has nothing to do.
    report: IndexReport
    #: What was scanned; the numbers in `changes.read` are theirs.
    scan_roots: Sequence[ScanRoot]
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

    def sift(self, known: Callable[[str], bool], until: float) -> None:
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
            if known(file.path) or time.monotonic() >= until or _is_recognised(self.scan_roots[first:], file.path):
                del read[:number]
                return
            self.reject(self.scan_roots[first], file.path)
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
