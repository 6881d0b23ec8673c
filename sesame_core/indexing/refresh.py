"""What a search does before it answers: it looks for changed files, and reads none of them.

Nearly every search finds that nothing has changed, or that sessions have grown.  It finds that out without a parser's
reading half, a formatter, or the right to write; all other changes are left to a run of the indexer.
"""

from __future__ import annotations

import os
import time
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
    from .changes import Place

#: Changed files that a run looks for by themselves: it holds each one that is known against each of these, and finds
#: more of them sooner by looking at all.
FEW = 8


@dataclass(slots=True, kw_only=True)
class Refresh:
    """What a run over a few files has to do, and what it would report of all others."""

    #: What a run would report that had nothing to do.
    report: IndexReport
    #: Files that the index knows and that have another time now: all that there is for a run.
    changed: list[str]
    #: What spares the next searches most of the work, and where that is kept.
    cache: ScanCache | None = None
    cache_path: str | None = None

    def completed(self, run: IndexReport) -> IndexReport:
        """Return the report of a run over the changed files, with what was found of the others."""
        found = self.report
        run.unchanged += found.unchanged
        run.missing += found.missing
        run.absent_roots = found.absent_roots
        run.not_scanned, run.scanned_at = found.not_scanned, found.scanned_at
        self.report = run
        return run

    def keep(self) -> None:
        """Spare the next searches most of the work, unless a run has left something to do."""
        if self.cache and self.cache_path and not self.report.errors and not self.report.pending:
            self.cache.keep(self.cache_path)


def look_at_recent(
    places: Sequence[Place],
    notes: Path,
    cache_path: str | None,
    reader: TracksFiles,
) -> Refresh | None:
    """Look at directories and at the files that changed lately; return None when that does not show what has changed.

    :param notes: directory of the files of metadata.
    :param cache_path: where the last look at all files is kept; None: nowhere.
    """
    started = time.monotonic()
    cache = scan_cache.kept(cache_path) if cache_path else None
    if cache is None or not cache.is_good(_wanted(places, notes)):
        return None
    known = reader.known_files(first_ns=cache.recent_ns)
    # What a pattern leaves out was not known when all files were looked at.
    changes = detect(
        [replace(place, exclude=()) for place in places],
        known,
        scan=lambda root, is_wanted: _found(root, is_wanted, known),
        growth_only=True,
    )
    if not _is_for_few(changes):
        return None
    if os.path.isdir(notes) and not _is_nothing(detect_notes(notes, _times(notes, known), known)):
        return None
    report = _report(places, started)
    report.unchanged = cache.unchanged - changes.grown
    report.missing, report.absent_roots = cache.missing, cache.absent_roots
    report.not_scanned = max(0, cache.unchanged - changes.unchanged - changes.grown)
    report.scanned_at = datetime.fromtimestamp(cache.at, UTC)
    return Refresh(report=report, changed=[file.path for _, file in changes.read])


def look_at_all(
    places: Sequence[Place],
    notes: Path,
    cache_path: str | None,
    known: Mapping[str, KnownFile],
    stored_path: Callable[[str], str] | None = None,
) -> Refresh | None:
    """Look at all files; return None when a run may change something other than files that have another time.

    :param known: what the index knows of files, by stored path.
    :param stored_path: returns the stored path of a real one; None: they are the same.
    """
    at, started = time.time(), time.monotonic()
    directories: dict[str, int] = {}
    if os.path.isdir(notes):
        from ..metadata.directory import scan as scan_notes

        directories[os.fspath(notes)] = os.stat(notes).st_mtime_ns
        try:
            times = scan_notes(notes)
        except OSError:
            return None  # a run meets it again, and reports it
        if not _is_nothing(detect_notes(notes, times, known, stored_path)):
            return None
    changes = detect(
        places,
        known,
        stored_path,
        scan=lambda root, is_wanted: scan(root, is_wanted, directories),
        growth_only=True,
    )
    if not _is_for_few(changes):
        return None
    report = _report(places, started)
    report.unchanged, report.missing, report.absent_roots = changes.unchanged, changes.missing, changes.absent_roots
    found = Refresh(report=report, changed=[file.path for _, file in changes.read])
    present = changes.unchanged + changes.grown
    if cache_path is not None and present >= scan_cache.LEAST:
        found.cache_path = cache_path
        found.cache = ScanCache(
            at=at,
            wanted=_wanted(places, notes),
            directories=directories,
            absent_roots=changes.absent_roots,
            unchanged=present,
            missing=changes.missing,
        )
    return found


def _is_for_few(changes: Changes) -> bool:
    return changes.is_growth and changes.grown <= FEW


def _is_nothing(changes: Changes) -> bool:
    return changes.is_growth and not changes.read


def _found(root: str, is_wanted: Callable[[str], bool], known: Mapping[str, KnownFile]) -> Iterator[FoundFile]:
    """Yield the known files below a root that are there."""
    for path in known:
        if is_wanted(path) and is_below(path, root):
            try:
                stat = os.stat(path)
            except OSError:
                continue
            yield FoundFile(path, stat.st_mtime_ns, stat.st_size)


def _times(notes: Path, known: Mapping[str, KnownFile]) -> dict[str, int]:
    """Return the modification times of the known files of metadata that are there."""
    paths = {path: then for path, then in known.items() if then[1] == NOTES}
    return {file.path: file.mtime_ns for file in _found(os.fspath(notes), lambda _: True, paths)}


def _report(places: Sequence[Place], started: float) -> IndexReport:
    sources = [SourceReport(path=place.root, parser=place.parser, changed=0, pending=0) for place in places]
    return IndexReport(sources=sources, seconds=time.monotonic() - started)


def _wanted(places: Sequence[Place], notes: Path) -> str:
    """Return what tells one configuration's files from another's."""
    return repr((os.fspath(notes), [(p.root, p.parser, p.version, p.exclude) for p in places]))
