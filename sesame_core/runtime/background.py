"""Indexes in the background what the refreshes before answers have left, for a program that outlives its answers.

with Sesame() as sesame, BackgroundIndexer(sesame) as indexer:
report = indexer.refresh()          # in place of sesame.refresh(), from any thread
answer = sesame.search("fox")       # report.pending: the files that it lacks
"""

from __future__ import annotations

import logging
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

from ..dataclass import replace
from ..indexing.scan_cache import LASTING, LEAST
from ..types.report import IndexReport

if TYPE_CHECKING:
    from ..api.sesame import Sesame

#: Seconds of reading between two pauses in which a call can refresh, and other processes can write.  What is read is
#: found after each.
BATCH = 0.5
#: Seconds of a pause: longer than the time between two attempts to lock the index (`api.patience.RETRY`).
PAUSE = 0.1
#: Seconds until the next attempt while another process is writing.
LOCKED = 0.2
#: Seconds until the next attempt after an error, doubled with each further one, up to the second number.
RETRY, LONGEST = 1.0, 60.0
#: Seconds after the last call in which a large history is still scanned for the next one.
AWAKE = 900.0
#: Why the files may have changed since.
BUSY = "files are being indexed in the background"

_LOG = logging.getLogger(__name__)


class BackgroundIndexer:
    """Refreshes the index for the threads of a program, and reads in a thread of its own what they leave.

    The thread runs only while files are left.  Of a large history, another one scans all files as often as a refresh
    has to, so that no call waits for that, until `AWAKE` after the last call.  Only one thread writes at a time;
    `refreshSeconds` 0 turns all of it off.  Errors are logged, each once, and are in the reports.
    """

    def __init__(self, sesame: Sesame) -> None:
        self._sesame = sesame
        self._writing = threading.Lock()
        self._starting = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._scanner: threading.Thread | None = None
        #: When the last call came.
        self._called = 0.0
        #: The last refresh: when it began, and its report.
        self._last: tuple[float, IndexReport] | None = None
        self._logged: set[str] = set()

    def __enter__(self) -> BackgroundIndexer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def refresh(self) -> IndexReport:
        """Index changes, as `Sesame.refresh` does; calls that wait for each other share one that began after them.

        While the thread is reading, it waits no longer than a refresh may take, and then reports what is left.
        """
        came = self._called = time.monotonic()
        # Another call's refresh is waited for; the thread may be reading one very large file.
        patience = self._sesame.config.refresh_seconds if self.is_running else -1
        if not self._writing.acquire(timeout=patience):
            assert self._last is not None, "the thread runs because of a refresh"
            last = self._last[1]
            return replace(self._sesame.as_it_is() or last, sources=last.sources, reason=last.reason or BUSY)
        try:
            if self._last is None or self._last[0] < came:
                self._refresh(None)
            assert self._last is not None
            report = self._last[1]
        finally:
            self._writing.release()
        if report.pending:
            self._start()
        if report.unchanged >= LEAST:
            self._start_scanning()
        return report

    @property
    def is_running(self) -> bool:
        """Whether files are being indexed in the background."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def pending(self) -> int:
        """Number of files that the last refresh has left."""
        return self._last[1].pending if self._last else 0

    def close(self) -> None:
        """Stop indexing; a file that is being read is left to the next run."""
        self._stop.set()
        for thread in (self._thread, self._scanner):
            if thread is not None:
                thread.join()

    # -- the threads --------------------------------------------------------------------------------------

    def _start(self) -> None:
        with self._starting:
            if not self.is_running and not self._stop.is_set():
                self._thread = threading.Thread(target=self._run, name="sesame-indexing", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        wait = RETRY
        while not self._stop.is_set():
            report = self._refreshed(BATCH)
            if report is None:
                return
            if report.is_locked:
                self._stop.wait(LOCKED)
            elif report.reason:
                self._stop.wait(wait)
                wait = min(2 * wait, LONGEST)
            elif not report.pending:
                return
            else:
                wait = RETRY
                self._stop.wait(PAUSE)

    def _start_scanning(self) -> None:
        with self._starting:
            is_running = self._scanner is not None and self._scanner.is_alive()
            if not is_running and not self._stop.is_set():
                self._scanner = threading.Thread(target=self._scan, name="sesame-scanning", daemon=True)
                self._scanner.start()

    def _scan(self) -> None:
        """Refresh whenever a call would have to scan all files: then it finds that done."""
        while not self._stop.wait(self._until_scan()):
            if time.monotonic() - self._called >= AWAKE:
                return
            report = self._refreshed(None)
            if report is None:
                return
            if report.pending:
                self._start()

    def _until_scan(self) -> float:
        """Return the seconds until the last scan of all files is too old for a call."""
        assert self._last is not None, "the thread runs because of a refresh"
        began, report = self._last
        at = report.scanned_at
        age = time.monotonic() - began if at is None else time.time() - at.timestamp()
        # Not at once in any case: a scan that cannot be kept would never end.
        return max(LASTING - age, LASTING / 10)

    def _refreshed(self, seconds: float | None) -> IndexReport | None:
        """Refresh in a thread that nobody waits for; None after an error that nobody expected: the thread then ends."""
        try:
            with self._writing:
                return self._refresh(seconds)
        except Exception:  # noqa: BLE001 - a bug (errors are in the report): the refresh of the next call meets it, too
            _LOG.exception("indexing in the background failed")
            return None

    def _refresh(self, seconds: float | None) -> IndexReport:
        """Refresh, and log new errors; the caller has the lock."""
        began = time.monotonic()
        report = self._sesame.refresh(seconds, is_stopped=self._stop.is_set)
        self._last = began, report
        problems = [f"{problem.path}: {problem.message}" for problem in report.errors]
        # Another process that writes is no error, and soon done.
        for text in [*problems, *([report.reason] if report.reason and not report.is_locked else [])]:
            if text not in self._logged:
                self._logged.add(text)
                _LOG.warning("%s", text)
        return report
