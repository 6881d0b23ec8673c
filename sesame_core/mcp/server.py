"""The server on the SDK: over HTTP, and for clients whose version of the protocol has no handshake."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from itertools import chain
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from .. import version
from ..errors import OutputError, SesameError
from .calls import PROGRESS, Calls
from .instructions import INSTRUCTIONS
from .messages import ProtocolError, decoded

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from .wire import Wire


class SesameServer:
    """Answers requests of the protocol with calls of tools."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.protocol: Server[Any] = Server(
            "sesame",
            title="Sesame",
            version=version(),
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    def serve(self, wire: Wire, opening: bytes, lines: Iterator[bytes]) -> None:
        """Serve the client that started this process, until it closes standard input.

        :param opening: its first request, already read.
        :raises BrokenPipeError: the client has closed standard output.
        :raises OutputError: an answer cannot be written.
        """

        async def serve() -> None:
            reading = cast("anyio.AsyncFile[str]", _Input(wire, opening, lines))
            writing = cast("anyio.AsyncFile[str]", _Output(wire))
            async with stdio_server(reading, writing) as (incoming, outgoing):
                await self.protocol.run(incoming, outgoing, self.protocol.create_initialization_options())

        try:
            anyio.run(serve)
        except ExceptionGroup as group:
            expected, others = group.split((OSError, SesameError))
            if expected is None or others is not None:
                raise
            raise _of_output(expected) from group

    async def _list(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate(await asyncio.wrap_future(self._calls.list()))

    async def _call(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        began = monotonic()
        call = asyncio.wrap_future(self._calls.call(params.name, params.arguments or {}, params.meta))
        while not (await asyncio.wait([call], timeout=PROGRESS))[0]:
            await context.session.report_progress(
                round(monotonic() - began, 1), message=self._calls.progress(params.name)
            )
        return types.CallToolResult.model_validate(call.result())


class _Input:
    """The lines of a client, for the SDK's transport."""

    def __init__(self, wire: Wire, opening: bytes, lines: Iterator[bytes]) -> None:
        self._wire = wire
        self._lines: asyncio.Queue[str | Exception | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def read() -> None:
            last: Exception | None = None
            try:
                for line in chain([opening], lines):
                    if (text := self._checked(line)) is not None:
                        loop.call_soon_threadsafe(self._lines.put_nowait, text)
            except (OSError, SesameError) as error:
                last = error
            loop.call_soon_threadsafe(self._lines.put_nowait, last)

        threading.Thread(target=read, name="sesame-lines", daemon=True).start()

    def __aiter__(self) -> _Input:
        return self

    async def __anext__(self) -> str:
        line = await self._lines.get()
        if line is None:
            raise StopAsyncIteration
        if isinstance(line, Exception):
            raise line
        return line

    def _checked(self, line: bytes) -> str | None:
        """Return a message that the SDK can decode: it drops what is not JSON, and lone surrogates, without a word."""
        message = decoded(line)
        if isinstance(message, ProtocolError):
            self._wire.send({"jsonrpc": "2.0", "id": None, "error": message.error})
            return None
        return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace").decode()


class _Output:
    """The writing end, for the SDK's transport."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def write(self, text: str) -> None:
        """Write a line."""
        self._wire.write(text.encode())

    async def flush(self) -> None:
        """Do nothing: nothing is buffered."""


def _of_output(errors: BaseExceptionGroup[Exception]) -> Exception:
    """Return the error that the first of those is for a caller."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, Exception)
    if isinstance(error, BrokenPipeError | SesameError):
        return error
    return OutputError(f"cannot write the answer: {getattr(error, 'strerror', None) or error}")
