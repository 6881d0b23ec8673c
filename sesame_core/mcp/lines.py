"""Standard input as the SDK's transport reads it: only messages; what is none is answered at once."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from . import wire


class Lines:
    """The lines of standard input that are messages.  Programs that a call starts do not inherit it."""

    def __init__(self) -> None:
        #: Sends an answer to the client; set once there is a way to it.
        self.answer: Callable[[SessionMessage], Awaitable[None]] | None = None
        # The transport does so by itself only where it opens standard input.
        descriptor = os.dup(sys.stdin.fileno())
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, sys.stdin.fileno())
        os.close(nothing)
        # A thread may be reading it when the server ends.
        self._file = anyio.wrap_file(os.fdopen(descriptor, encoding="utf-8", errors="replace", closefd=False))

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._file:
            message, answers = wire.read(line)
            for one in answers:
                assert self.answer is not None, "reading begins after the transport is open"
                await self.answer(SessionMessage(types.JSONRPCError.model_validate(one)))
            if message is not None:
                yield json.dumps(message)
