"""How a server over HTTP waits for its clients: for a while, whatever they send or do not take."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds in which the head of a request must have come, in which its body must have come, and in which a client must
#: have taken what was sent.
HEAD_SECONDS, BODY_SECONDS, TAKE_SECONDS = 10.0, 10.0, 60.0
#: Seconds for which a connection without a request is kept.
KEEP_SECONDS = 5
#: Most bytes of the head of a request.
HEAD_BYTES = 16_384
REFUSALS = {408: "the body took too long", 413: "the body is too long"}

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


def serve(
    app: Any, accepting: socket.socket, *, ending: Callable[[], None] = lambda: None, connections: int | None = None
) -> None:
    """Serve until the process is stopped.

    :param accepting: closed at the end.
    :param ending: called before the server waits for the answers that are not sent yet.
    :param connections: most connections; a request on a further one is refused.
    """
    # Requests are not logged: they contain session text, too.
    config = uvicorn.Config(
        app,
        http=Patience,
        ws="none",
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=connections,
        h11_max_incomplete_event_size=HEAD_BYTES,
        timeout_keep_alive=KEEP_SECONDS,
        timeout_graceful_shutdown=1,
    )
    with accepting:
        _Server(config, ending).run(sockets=[accepting])


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


class Bounded:
    """Middleware that passes requests on when their body has come, and answers those that are too long or too slow.

    :param size: most bytes of a body.
    """

    def __init__(self, app: App, size: int) -> None:
        self._app = app
        self._size = size

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await self._body(receive)
        except TimeoutError:
            await _refuse(408, send)
            return
        except _LeftError:
            return
        if len(body) > self._size:
            await _refuse(413, send)
            return
        unread = [{"type": "http.request", "body": body, "more_body": False}]

        async def whole() -> Message:
            return unread.pop() if unread else await receive()

        await self._app(scope, whole, send)

    async def _body(self, receive: Receive) -> bytes:
        """Return the body; of one that is too long, the beginning."""
        body = bytearray()
        while len(body) <= self._size:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _LeftError
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        return bytes(body)


class _LeftError(Exception):
    """The client has left before its request was whole; no answer reaches it."""


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._ending = ending

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ending()
        await super().shutdown(sockets)


async def _refuse(status: int, send: Send) -> None:
    # The rest of the body would be read as the next request.
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": REFUSALS[status]}).encode() + b"\n"})
