"""What the pages of a server share: the sessions, the threads that read them, and the index that is kept up to date."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ..dataclass import replace
from ..errors import told
from ..rendering.freshness import state_line
from ..runtime.background import BackgroundIndexer
from ..types.report import IndexReport

if TYPE_CHECKING:
    from ..api.sesame import Sesame

#: Most concurrent calls; more wait.  Each of these threads keeps a connection to the index.
THREADS = 8
#: Least seconds between two refreshes that pages begin.
INTERVAL = 2.0
#: Seconds for which what is known of the index is shown again: counting it takes milliseconds, on a server more.
KNOWN_SECONDS = 5.0
#: Seconds for which what failed is counted by the same list: of a million chunks, listing it takes 30 ms.
FAILED_SECONDS = 60.0

_LOG = logging.getLogger(__name__)
_Value = TypeVar("_Value")


class Desk:
    """The sessions of one configuration, for the pages of one server.

    :param shown: the sessions as the visitors see them.
    :param is_read_only: no page indexes or marks anything.
    """

    def __init__(self, sesame: Sesame, shown: Sesame, *, is_read_only: bool = False) -> None:
        self.sesame = shown
        self.is_read_only = is_read_only
        indexes = not is_read_only and sesame.config.refresh_seconds > 0
        self._indexer = BackgroundIndexer(sesame) if indexes else None
        self._pool = ThreadPoolExecutor(THREADS, "sesame-page")
        self._behind = ThreadPoolExecutor(1, "sesame-refresh")
        self._lock = threading.Lock()
        self._began = float("-inf")
        self._report: IndexReport | None = None
        self._state: tuple[float, dict[str, Any]] = (float("-inf"), {})
        self._failing: tuple[float, Collection[int] | None] = (float("-inf"), None)

    async def call(self, function: Callable[..., _Value], *arguments: Any, **named: Any) -> _Value:
        """Call a function in a thread."""
        bound = partial(function, *arguments, **named)
        return await asyncio.get_running_loop().run_in_executor(self._pool, bound)

    def refreshed(self) -> IndexReport | None:
        """Index changes, and return what the index lacks; for a read-only page what is known of that."""
        if self._indexer is None:
            return self.sesame.as_it_is()
        self._report = self._indexer.refresh()
        if self._report.changed:
            self._state = float("-inf"), {}
        return self._report

    def follow(self) -> None:
        """Index changes in the thread that does so for pages, and wait until that is done."""
        with suppress(RuntimeError, CancelledError):  # the server ends
            self._behind.submit(self._refresh_behind).result()

    def refreshing(self) -> IndexReport | None:
        """Begin to index changes, without waiting; return what is known of the index."""
        with self._lock:
            is_due = self._indexer is not None and time.monotonic() - self._began > INTERVAL
            if is_due:
                self._began = time.monotonic()
        if is_due:
            self._behind.submit(self._refresh_behind)
        return self._report if self._report is not None else self.sesame.as_it_is()

    def _refresh_behind(self) -> None:
        try:
            self.refreshed()
        except Exception as error:  # noqa: BLE001 - nobody waits for it; the next pages say it
            _LOG.exception("indexing behind the page failed")
            self._report = replace(self._report or IndexReport(), reason=told(error))

    def state(self) -> dict[str, Any]:
        """Return what every page says of the index."""
        at, state = self._state
        if not state or time.monotonic() - at > KNOWN_SECONDS:
            counted = self.sesame.status()
            state = {"sessions": counted.sessions, "synced": counted.last_sync}
            self._state = time.monotonic(), state
        pending = self._indexer.pending if self._indexer else 0
        return {
            **state,
            "pending": pending,
            "text": state_line(**state, pending=pending),
            "is_read_only": self.is_read_only,
        }

    def failing(self) -> Collection[int] | None:
        """Return the numbers of the sessions in which something failed; None if the index does not count them."""
        at, failing = self._failing
        if time.monotonic() - at > FAILED_SECONDS:
            failing = self.sesame.failures()
            self._failing = time.monotonic(), failing
        return failing

    def close(self) -> None:
        """Stop indexing, and release the index."""
        self._behind.shutdown(cancel_futures=True)
        if self._indexer is not None:
            self._indexer.close()
        self._pool.shutdown()
        self.sesame.close()
