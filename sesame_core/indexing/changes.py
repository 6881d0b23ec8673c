"""Tells what has changed since the last run, from the names and times of files alone.

Nearly every search finds that nothing has, or that sessions have grown.  It is told here without a parser's reading
half, a formatter, or the right to write; whatever else may call for a run is left to the indexer, whose rules decide
what becomes of it.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..dataclass import dataclass
from ..metadata import files as metadata
from ..plugin.backend import TracksFiles
from ..types.index import NOTES, UNREAD
from ..types.report import IndexReport, SourceReport
from . import scan_cache
from .discovery import belongs, is_below, scan
from .scan_cache import ScanCache

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ..config.model import Source
    from ..plugin.backend import IndexReader
    from ..plugin.parser import Parser
    from ..types.index import KnownFile

#: Changed files that a run looks for by themselves: it holds each one that is known against each of these, and finds
#: more of them sooner by looking at all.
FEW = 8


@dataclass(slots=True, kw_only=True)
class Look:
    """What a look at the files found, without reading one."""

    #: What a run would report that had nothing to do.
    report: IndexReport
    #: Files the index knows that have another time now: all that there is for a run.
    changed: list[str]
    #: What spares the next looks most of their work, and where that is kept.
    last: ScanCache | None = None
    place: str | None = None

    def completed(self, run: IndexReport) -> IndexReport:
        """Return the report of a run over the changed files, with what was found of the others."""
        told = self.report
        run.unchanged += told.unchanged
        run.missing += told.missing
        run.absent_roots = told.absent_roots
        run.not_scanned, run.scanned_at = told.not_scanned, told.scanned_at
        self.report = run
        return run

    def keep(self) -> None:
        """Spare the next looks most of their work, unless a run has left something to do."""
        if self.last and self.place and not self.report.errors and not self.report.pending:
            self.last.keep(self.place)


class Looker:
    """Looks at the files of some sources.

    :param sources: with their real paths and parsers.
    :param descriptions: directory of the files of metadata.
    """

    def __init__(self, sources: Sequence[tuple[Source, str, Parser]], descriptions: Path) -> None:
        self._sources = sources
        self._descriptions = descriptions
        read = [(root, s.parser.name, s.reading_version(parser.version), s.exclude) for s, root, parser in sources]
        self._wanted = repr((os.fspath(descriptions), read))

    def recent(self, reader: IndexReader) -> Look | None:
        """Look at directories and at the files that changed lately; None when that does not tell what has changed."""
        started = time.monotonic()
        if not isinstance(reader, TracksFiles):
            return None
        place = reader.scan_cache_path()
        last = scan_cache.kept(place) if place else None
        if last is None or not last.is_good(self._wanted):
            return None
        changed, looked_at = [], 0
        for path, (mtime_ns, parser, _, was_missing) in reader.known_files(first_ns=last.recent_ns).items():
            try:
                found = os.stat(path).st_mtime_ns
            except OSError:
                found = UNREAD
            is_gone = found == UNREAD
            if mtime_ns == UNREAD or is_gone != was_missing:
                return None
            looked_at += not is_gone
            if is_gone or found == mtime_ns:
                continue
            if parser == NOTES:
                return None
            if self._has(path):
                changed.append(path)
        if len(changed) > FEW:
            return None
        report = self._report(last.unchanged - len(changed), last.missing, last.absent_roots, started)
        report.not_scanned = max(0, last.unchanged - looked_at)
        report.scanned_at = datetime.fromtimestamp(last.at, UTC)
        return Look(report=report, changed=changed)

    def all(
        self, known: Mapping[str, KnownFile], place: str | None, stored_path: Callable[[str], str] = str
    ) -> Look | None:
        """Look at all files; None when a run may change something other than files that have another time.

        :param known: what the index knows of files, by path.
        :param place: where what was found is kept.
        :param stored_path: returns the path by which the index knows a file, by its real one.
        """
        at, started = time.time(), time.monotonic()
        if not metadata.is_unchanged(self._descriptions, known):
            return None
        directories: dict[str, int] = {}
        if os.path.isdir(self._descriptions):
            directories[os.fspath(self._descriptions)] = os.stat(self._descriptions).st_mtime_ns
        seen: set[str] = set()
        changed: list[str] = []
        absent: list[str] = []
        missing = 0
        for source, root, parser in self._sources:
            is_wanted = _Wanted(source, parser, known, seen, stored_path)
            name, version = source.parser.name, source.reading_version(parser.version)
            for found in scan(root, is_wanted, directories):
                path = stored_path(found.path)
                then = known.get(path)
                if then != (found.mtime_ns, name, version, False):
                    if then is None or then[0] == UNREAD or then[1:] != (name, version, False):
                        return None
                    changed.append(found.path)
                seen.add(path)
            if not os.path.exists(root):
                absent.append(root)
                continue
            for path in known.keys() - seen:
                mtime_ns, of, _, was_missing = known[path]
                if of != name or not is_below(path, root):
                    continue
                if os.path.exists(path):
                    if source.exclude and mtime_ns != UNREAD:
                        return None
                elif was_missing:
                    missing += 1
                else:
                    return None
        if len(changed) > FEW:
            return None
        report = self._report(len(seen) - len(changed), missing, absent, started)
        if place is None or len(seen) < scan_cache.LEAST:
            return Look(report=report, changed=changed)
        last = ScanCache(
            at=at,
            wanted=self._wanted,
            directories=directories,
            absent_roots=absent,
            unchanged=len(seen),
            missing=missing,
        )
        return Look(report=report, changed=changed, last=last, place=place)

    def _has(self, path: str) -> bool:
        return any(is_below(path, root) for _, root, _ in self._sources)

    def _report(self, unchanged: int, missing: int, absent: list[str], started: float) -> IndexReport:
        sources = [SourceReport(path=root, parser=s.parser.name, changed=0, pending=0) for s, root, _ in self._sources]
        return IndexReport(
            unchanged=unchanged,
            missing=missing,
            absent_roots=absent,
            sources=sources,
            seconds=time.monotonic() - started,
        )


class _Wanted:
    """Whether the indexer would look at a file for a source."""

    def __init__(
        self,
        source: Source,
        parser: Parser,
        known: Mapping[str, KnownFile],
        seen: set[str],
        stored_path: Callable[[str], str],
    ) -> None:
        self._name, self._exclude = source.parser.name, source.exclude
        self._parser = parser
        self._known = known
        self._seen = seen
        self._stored_path = stored_path

    def __call__(self, path: str) -> bool:
        stored = self._stored_path(path)
        if stored in self._seen:
            return False
        known = self._known.get(stored)
        return belongs(path, self._name, self._exclude, known[1] if known else None, self._matches)

    def _matches(self, path: str) -> bool:
        from pathlib import Path

        try:
            return self._parser.matches(Path(path))
        except FileNotFoundError:
            return False  # gone since it was found, or a link to nothing
        except Exception:  # noqa: BLE001 - the indexer will meet it again, and report it
            return True
