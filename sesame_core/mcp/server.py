"""The server of the protocol, over standard input and output or over HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from .. import version
from ..errors import OutputError, SesameError, UnknownSessionError
from ..rendering.text import printable
from .bounds import message as in_bounds
from .outputs import schema_of
from .tools import INSTRUCTIONS, TOOLS, Tools

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

#: Most concurrent calls; more wait.  Each of these threads keeps a connection to the index.
THREADS = 8

_LOG = logging.getLogger(__name__)


class SesameServer:
    """Answers requests of the protocol with `Tools`."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="sesame-call")
        self._running: set[object] = set()
        self.protocol: Server[Any] = Server(
            "sesame",
            title="Sesame",
            version=version(),
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    def serve_stdio(self) -> None:
        """Serve the client that started this process, until it closes standard input.

        :raises BrokenPipeError: the client has closed standard output.
        :raises OutputError: an answer cannot be written.
        """

        async def serve() -> None:
            async with stdio_server() as (reading, writing):
                await self.protocol.run(reading, writing, self.protocol.create_initialization_options())

        try:
            anyio.run(serve)
        except ExceptionGroup as group:
            errors, others = group.split(OSError)
            if errors is None or others is not None:
                raise
            raise _of_output(errors) from group

    def close(self) -> None:
        """Accept no more calls; when some are running, end the process.

        A call may be waiting for a model, and the interpreter would wait for it at exit, without any client.
        """
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._tools.close()
        if self._running:
            os._exit(0)

    async def _list(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=described())

    async def _call(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._answered, params.name, params.arguments or {})

    def _answered(self, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        call = object()
        self._running.add(call)
        try:
            return _answered(self._tools, name, arguments)
        finally:
            self._running.discard(call)


@cache
def described() -> list[types.Tool]:
    """Return the tools as clients see them; cached, since deriving the schemas takes 0.1 s."""
    return [
        types.Tool(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            input_schema=tool.takes.model_json_schema(),
            output_schema=schema_of(tool.answers),
            annotations=types.ToolAnnotations(
                read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=tool.is_open_world
            ),
        )
        for tool in TOOLS.values()
    ]


def _of_output(errors: BaseExceptionGroup[OSError]) -> OSError | SesameError:
    """Return the error that the first of those is for a caller."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, BrokenPipeError):
        return error
    assert isinstance(error, OSError)
    return OutputError(f"cannot write the answer: {error.strerror or error}")


def _answered(tools: Tools, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    """Return a tool's answer; an error is an answer, too, which says what to do."""
    try:
        value = tools.call(name, arguments)
    except UnknownSessionError as error:
        between = "\n" if "\n" in error.message else "; "
        return _failed(f"{error.message}{between}find ids with search_sessions or list_sessions")
    except SesameError as error:
        return _failed(str(error))
    except Exception as error:  # noqa: BLE001 - the protocol cannot carry a traceback; the log has it
        _LOG.exception("the tool %s failed", name)
        return _failed(f"internal error ({type(error).__name__}); the server's log has the details")
    encoded = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # A path may contain lone surrogates, which no transport can encode.
    text = encoded.encode("utf-8", "replace").decode()
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=dict(value) if text == encoded else json.loads(text),
    )


def _failed(message: str) -> types.CallToolResult:
    text = in_bounds(printable(message))
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)
