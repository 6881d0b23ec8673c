"""The refresh before an answer: each makes progress, however many files there are and however slow they are."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ..config.model import MARK, Config
from ..errors import BackendError, LockedError, SesameError
from ..indexing.sources import Sources
from ..types.index import NOTES
from ..types.report import IndexReport
from .index import Index

if TYPE_CHECKING:
    from ..indexing.discovery import FoundFile
    from ..indexing.refresh import Refresh
    from ..indexing.scan_cache import ScanCache
    from ..indexing.scan_root import ScanRoot
    from ..types.index import KnownFile

#: Why an answer that lacks files was given without a refresh.
UNREFRESHED = "it was read as it is"


class Refresher:
    """Detects changes and indexes the newest of them; the rest waits for the next refresh.

    :param index_all: indexes all changes within a number of seconds, for an index that does not track its files.
    """

    def __init__(
        self, config: Config, index: Index, sources: Sources, index_all: Callable[[float], IndexReport]
    ) -> None:
        self._config = config
        self._index = index
        self._sources = sources
        self._index_all = index_all
        #: The last scan, while files are waiting: for an index whose cache is not stored, and to spare a server
        #: reading the file that it has written; the file's state then.
        self._kept: ScanCache | None = None
        self._kept_as: tuple[int, int] | None = None

    def refresh(self, seconds: float, is_stopped: Callable[[], bool] = lambda: False) -> IndexReport:
        """Index changes; an error is in the report, not raised.

        :param seconds: time for reading files; at least one is read.
        :param is_stopped: returns whether to stop.
        """
        found: Refresh | None = None
        try:
            # First, since rules also remove what is stored of an owner who has not agreed, or whose record is damaged.
            if self._index.has_new_rules() and (self._index.has_sent() or self._index.is_agreed()):
                self._apply_rules(seconds, is_stopped)
            if (reason := self._index.unsent()) is not None:
                return IndexReport(reason=reason if self._sources.roots() else None)  # a machine that only searches
            if (scanned := self._scan(seconds)) is None:
                return self._index_all(seconds)
            found, path = scanned
            if not found.is_done:
                self._take(found, seconds, is_stopped)
                path = self._scan_cache_path()
            self._keep(found.cache, path)
            return found.told()
        except LockedError as error:
            report = found.unreached() if found else IndexReport()
            report.reason, report.is_locked = str(error), True
            return report
        except SesameError as error:
            return IndexReport(reason=str(error))

    def as_it_is(self) -> IndexReport | None:
        """Return a report of what the index lacks, as far as the last scan told; None when it lacks nothing.

        It scans nothing, and indexes nothing.
        """
        from ..plugin.backend import TracksFiles

        reader = self._index.reader()
        if not isinstance(reader, TracksFiles):
            return None
        cache = self._cache(reader.scan_cache_path())
        if cache is None or not cache.waiting:
            return None
        known = self._index.known_files(reader)
        stored = self._stored_path(known) or str
        pending = sum(stored(file.path) not in known for _, file in cache.waiting)
        unchanged = sum(parser != NOTES and not is_missing for _, parser, _, is_missing, *_ in known.values())
        return IndexReport(pending=pending, unchanged=unchanged, reason=UNREFRESHED) if pending else None

    def unread(self) -> IndexReport:
        """Return what a run would find, without one: files to read, and what cannot be read or recognised."""
        from ..indexing.changes import detect
        from ..indexing.problems import report_problems
        from ..indexing.scan_root import OPENING_SECONDS
        from ..plugin.backend import TracksFiles

        reader = self._index.reader()
        if not isinstance(reader, TracksFiles):
            return IndexReport()
        try:
            known = self._index.known_files(reader)
        except BackendError:
            return IndexReport()  # the search gets the same error, and reports it
        until = time.monotonic() + OPENING_SECONDS
        scan_roots = [scan_root.by_name(opening_until=until) for scan_root in self._scan_roots()]
        changes = detect(scan_roots, known, self._stored_path(known))
        report = IndexReport(unchanged=changes.unchanged, absent_roots=changes.absent_roots, pending=len(changes.read))
        report_problems(report, changes)
        return report

    def keep_rest(self, rest: Sequence[FoundFile]) -> None:
        """Store the files that a run over everything has not reached yet; the next refresh scans all the same."""
        from ..indexing.scan_cache import ScanCache

        waiting = [(0, file) for file in rest]
        cache = ScanCache(at=0.0, wanted="", directories={}, absent_roots=[], unchanged=0, missing=0, waiting=waiting)
        self._keep(cache, self._scan_cache_path())

    # -- implementation -----------------------------------------------------------------------------------

    def _scan(self, seconds: float) -> tuple[Refresh, str | None] | None:
        """Return the changes, and where their scan cache may be stored; None when only a run can detect them.

        :param seconds: time for checking files that may be no sessions.
        """
        from ..indexing.scanning import scan_all, scan_recent
        from ..plugin.backend import TracksFiles

        reader = self._index.reader()
        if not isinstance(reader, TracksFiles):
            return None
        scan_roots = self._scan_roots()
        notes, redaction = self._config.describe.directory, self._index.redaction()
        try:
            path = reader.scan_cache_path()  # a question to a server
            cache = self._cache(path)
            if found := scan_recent(scan_roots, notes, cache, reader, redaction):
                return found, path
            known = self._index.known_files(reader)
        except BackendError:
            return None  # opening for writing may fix it: it upgrades an index of an older schema
        stored = self._stored_path(known)
        found = scan_all(scan_roots, notes, known, stored, cache, redaction, has_marks=self._index.has_marks())
        found.sift(lambda path: (stored(path) if stored else path) in known, time.monotonic() + seconds)
        return found, path

    def _apply_rules(self, seconds: float, is_stopped: Callable[[], bool]) -> None:
        """Apply rules for what others see that could not be applied when they were made: a writer does, once open."""
        from .patience import patiently

        with patiently(self._index.writer, min(seconds, self._config.lock_seconds), is_stopped) as writer:
            writer.finish(synced_at=None)

    def _take(self, found: Refresh, seconds: float, is_stopped: Callable[[], bool]) -> None:
        """Index what was found, and note in it what is left."""
        from ..indexing.indexer import Indexer
        from .patience import patiently

        read = found.changes.read
        # Another search's refresh is soon done; a run over everything is not, and the answer says who is writing.
        with patiently(self._index.writer, min(seconds, self._config.lock_seconds), is_stopped) as writer:
            indexer = Indexer(writer, self._index.metadata(), is_stopped=is_stopped)
            report = indexer.take(
                self._sources.opened(),
                found.changes,
                seconds=seconds,
                has_notes=found.has_notes,
                are_few=not self._index.hides(),
            )
        report.withheld = self._index.private_files()
        reached = len(read) - report.pending
        rest = [waiting for waiting in read[reached:] if waiting[1].path not in found.retried]
        again = indexer.failed | {file.path for _, file in read[reached:]} & found.retried
        report.pending = len(rest)
        for number, file in read:
            if file.path in indexer.rejected:
                found.reject(found.scan_roots[number], file.path)
        found.completed(report, rest, [waiting for waiting in read if waiting[1].path in again])

    def _scan_cache_path(self) -> str | None:
        from ..plugin.backend import TracksFiles

        reader = self._index.reader()
        return reader.scan_cache_path() if isinstance(reader, TracksFiles) else None

    def _keep(self, cache: ScanCache, path: str | None) -> None:
        """Store the cache for the next searches, if it helps them.

        :param path: where the index says.
        """
        self._kept = cache if cache.waiting else None
        if path is None:
            return
        if cache.is_needed:
            cache.save(path)
            self._kept_as = _state(path)
        else:
            with suppress(OSError):  # there is none
                os.unlink(path)

    def _cache(self, path: str | None) -> ScanCache | None:
        if path is None or (self._kept is not None and _state(path) == self._kept_as):
            return self._kept
        from ..indexing import scan_cache

        return scan_cache.load(path)

    def _scan_roots(self) -> list[ScanRoot]:
        from ..indexing.scan_root import ScanRoot

        return [ScanRoot.of(*source) for source in self._sources.with_parsers()]

    def _stored_path(self, known: Mapping[str, KnownFile]) -> Callable[[str], str] | None:
        """Return a function from a real path to the stored one; None when no stored path is redacted."""
        if any(MARK in path for path in known) and (redactor := self._index.redactor()):
            from ..privacy.redacting_writer import StoredPaths

            return StoredPaths(known, redactor)
        return None


def _state(path: str) -> tuple[int, int] | None:
    """Return values that change when a file is replaced; None when there is none."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns
