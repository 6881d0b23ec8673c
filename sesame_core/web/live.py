"""What changes while a page is open, as server-sent events: how far a session goes, and what is known of the index.

An event has numbers and a time, no text of a session: the page then asks for what is new, as for any other page.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse

from ..errors import UnknownSessionError
from ..rendering.text import as_json, iso
from ..runtime.watcher import notices

if TYPE_CHECKING:
    from .desk import Desk

#: Most streams at once: one of each visible page.
STREAMS = 24
#: Seconds between two looks at the index without a notice: other processes write it, a team's other machines too.
LOOK = 2.0
#: Least seconds between two refreshes that notices begin: an agent writes a line at a time.
PAUSE = 0.25
#: Seconds of silence after which a comment is sent: a proxy, or a client that is gone, is noticed by it.
HEARTBEAT = 15.0
#: Milliseconds until a browser that lost the stream asks for it again.
AGAIN_MS = 2_000


class Live:
    """The streams of one server, and the thread that indexes what has changed while there are any.

    :param desk: what the pages share.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._streams = 0
        self._changed = asyncio.Event()
        #: Ends the thread, of which each time that there are streams has one of its own; None while there are none.
        self._stop: threading.Event | None = None
        self._is_over = False

    def stream(self, session_id: str | None, known: str, is_in: Callable[[], bool]) -> StreamingResponse:
        """Return the answer that never ends by itself.

        :param session_id: the session of the page; None for a page without one.
        :param known: the id of the last event that the page has had (`Last-Event-ID`): what has not changed since is
            not sent again.
        :param is_in: returns whether the visitor is still let in.
        :raises HTTPException: there are too many streams.
        """
        if self._streams >= STREAMS:
            raise HTTPException(503, "too many pages are open: close some", {"Retry-After": "30"})
        return StreamingResponse(self._sent(session_id, known, is_in), media_type="text/event-stream")

    def end(self) -> None:
        """End all streams: the server ends."""
        self._is_over = True
        self.wake()

    def wake(self) -> None:
        """Make all streams look for changes, of the index and of who is let in."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def _sent(self, session_id: str | None, known: str, is_in: Callable[[], bool]) -> AsyncIterator[str]:
        """Yield what is sent, until the visitor has left or the server ends."""
        self._streams += 1
        try:
            if self._streams > STREAMS:  # several were let in at once, before any of them was counted
                return
            self._begin()
            yield f"retry: {AGAIN_MS}\n\n"
            told, heard = dict.fromkeys(known.split(".")), time.monotonic()
            while not self._is_over and is_in():
                changed = self._changed
                events = await self._desk.call(self._events, session_id)
                digests = [sha256(data.encode()).hexdigest()[:16] for _, data in events]
                for (name, data), digest in zip(events, digests, strict=True):
                    if digest not in told:
                        yield f"event: {name}\nid: {'.'.join(digests)}\ndata: {data}\n\n"
                        heard = time.monotonic()
                told = dict.fromkeys(digests)
                if time.monotonic() - heard >= HEARTBEAT:
                    yield ": still here\n\n"
                    heard = time.monotonic()
                try:
                    await asyncio.wait_for(changed.wait(), LOOK)
                except TimeoutError:
                    continue
        finally:
            self._streams -= 1
            if not self._streams and self._stop is not None:
                self._stop.set()
                self._stop = None

    def _events(self, session_id: str | None) -> list[tuple[str, str]]:
        """Return the events that tell all that a page may not know, with their data."""
        state = self._desk.state()
        known: dict[str, Any] = {
            "sessions": state["sessions"],
            "lastSync": iso(state["synced"]),
            "pending": state["pending"],
            "text": state["text"],
        }
        events = [("index", known)]
        if session_id is not None:
            try:
                count = self._desk.sesame.get_session(session_id, is_certain=True).chunk_count
            except UnknownSessionError:
                count = 0
            events.append(("session", {"sessionId": session_id, "chunkCount": count}))
        return [(name, " ".join(as_json(data).split("\n"))) for name, data in events]

    def _begin(self) -> None:
        """Start the thread, unless it runs."""
        if self._stop is None:
            self._stop = threading.Event()
            arguments = (self._stop, asyncio.get_running_loop())
            threading.Thread(target=self._follow, args=arguments, name="sesame-live", daemon=True).start()

    def _follow(self, stop: threading.Event, loop: asyncio.AbstractEventLoop) -> None:
        """Index what has changed whenever files have, and wake the streams."""
        for _ in notices(self._desk.sesame, stop, seconds=LOOK):
            self._desk.follow()
            if stop.is_set():
                return
            loop.call_soon_threadsafe(self.wake)
            stop.wait(PAUSE)
