"""The server of a page: on which address, for whom, and until when."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..config import paths
from ..runtime.listening import Place, listen
from .app import application
from .doors import Doors
from .live import Live

if TYPE_CHECKING:
    from .desk import Desk

#: Seconds in which the head of a request must have come, and in which a client must have taken what was sent.
HEAD_SECONDS, TAKE_SECONDS = 10.0, 60.0
#: Seconds for which a connection without a request is kept.
KEEP_SECONDS = 5
#: Most connections; a request on a further one is refused.  Most bytes of the head of a request.
CONNECTIONS, HEAD_BYTES = 100, 16_384


class Patience(H11Protocol):
    """A connection that ends when its client sends or takes nothing for long."""

    _waiting: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing."""
        for timer in (self._waiting, self._taking):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; the next head must not take long."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            if self._waiting is not None:
                self._waiting.cancel()
            self._waiting = None
        elif self._waiting is None:
            self._wait()

    def pause_writing(self) -> None:
        """Wait until the client has taken what was sent."""
        super().pause_writing()
        self._taking = self.loop.call_later(TAKE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Send more."""
        if self._taking is not None:
            self._taking.cancel()
        super().resume_writing()

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(HEAD_SECONDS, self.transport.abort)


class Server(uvicorn.Server):
    """A server that ends the streams before it waits for the answers that are not sent yet."""

    def __init__(self, config: uvicorn.Config, live: Live) -> None:
        super().__init__(config)
        self._live = live

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End."""
        self._live.end()
        await super().shutdown(sockets)


class Opened:
    """A file that leads the owner's browser in: the command line of a browser, with the token, is for all to read."""

    def __init__(self, place: Place) -> None:
        self._path = paths.data_dir() / f"web-{place.port}.html"

    def show(self, link: str) -> None:
        """Write the file, and open a browser with it in a thread: some browsers run in the terminal."""
        self.remove()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w", encoding="utf-8") as out:
                out.write(f'<!DOCTYPE html><meta http-equiv="refresh" content="0;url={escape(link)}">\n')
        except OSError as error:
            _print(f"open the link yourself: {self._path} cannot be written: {error.strerror or error}")
            return
        threading.Thread(target=webbrowser.open, args=(self._path.as_uri(),), daemon=True).start()

    def remove(self) -> None:
        """Remove the file: the token is used, or the server ends."""
        with suppress(FileNotFoundError):
            self._path.unlink()


def serve(
    desk: Desk,
    place: Place,
    *,
    password: str | None = None,
    behind: str | None = None,
    further: Sequence[str] = (),
    opens: bool = True,
    said: Sequence[str] = (),
) -> None:
    """Serve until the process is stopped.

    :param password: what lets visitors in, in place of a token.
    :param behind: the name of the proxy in front, which lets visitors in.
    :param further: other names by which visitors reach this server.
    :param opens: open a browser.
    :param said: lines to print at the start.
    :raises SesameError: the address is in use, or does not belong to this machine.
    """
    listening, place = listen(place)
    doors = Doors(password=password, is_open=behind is not None)
    opened = Opened(place)
    names = place.names([*further, *([behind] if behind else [])])
    live = Live(desk)
    app = application(desk, doors, live, names=names, cookie=f"sesame-{place.port}", entered=opened.remove)
    # Requests are not logged: they contain session text, too.
    config = uvicorn.Config(
        app,
        http=Patience,
        ws="none",
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        h11_max_incomplete_event_size=HEAD_BYTES,
        timeout_keep_alive=KEEP_SECONDS,
        timeout_graceful_shutdown=1,
    )
    link = f"{place.url}/"
    if password is None and behind is None:
        link += f"#{doors.token()}"
        _print(f"Sesame on {link}", "The link opens one browser; without script, paste there what follows the #.")
        threading.Thread(target=_more, args=(doors, place), daemon=True).start()
    else:
        _print(f"Sesame on {link}")
    _print(*said)
    try:
        with listening:
            if opens:
                opened.show(link)
            Server(config, live).run(sockets=[listening])
    finally:
        opened.remove()


def _more(doors: Doors, place: Place) -> None:
    """Print a link for another browser whenever Enter is pressed."""
    if sys.stdin is not None and sys.stdin.isatty():
        for _ in sys.stdin:
            _print(f"Another browser: {place.url}/#{doors.token()}")


def _print(*lines: Any) -> None:
    sys.stderr.writelines(f"{line}\n" for line in lines)
    sys.stderr.flush()
