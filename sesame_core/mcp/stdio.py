"""The protocol over standard input and output, in the versions that begin with a handshake.

Those are the versions that agents speak.  The SDK takes 0.7 s and 40 MB to load, for clients, servers over HTTP and the
types of everything that neither has; a server of tools alone is these few methods.  `tests/mcp` compares them with the
SDK's own, method by method, and it serves clients of later versions.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from typing import Any

from .. import version
from ..errors import told
from .calls import PROGRESS, Calls, Result
from .instructions import INSTRUCTIONS
from .messages import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, ProtocolError, decoded
from .wire import Wire

#: Versions of the protocol that are served, the latest first: a client that asks for another one is offered that.
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
#: Key in `_meta` of each request of a later version, which has no handshake.
ENVELOPE = "io.modelcontextprotocol/protocolVersion"
#: Seconds that calls may still take when the client has closed its end, as a script does after its last request.
GRACE = 5.0

_LOG = logging.getLogger(__name__)


def serve(wire: Wire, calls: Calls, later: Callable[[bytes, Iterator[bytes]], None]) -> None:
    """Serve the client that started this process, until it closes standard input.

    :param later: serves a client of a version without a handshake, whose first request it is given, and further lines.
    :raises BrokenPipeError: the client has closed standard output.
    :raises OutputError: an answer cannot be written.
    """
    server = Handshake(wire, calls)
    lines = wire.lines()
    for line in lines:
        message = decoded(line)
        if server.is_first and _is_later(message):
            later(line, lines)
            return
        server.take(message)
    server.finish(GRACE)
    wire.check()


class Handshake:
    """Answers the messages of one client."""

    def __init__(self, wire: Wire, calls: Calls) -> None:
        self._wire = wire
        self._calls = calls
        #: The calls that are not answered yet, by the id of their request.
        self._pending: dict[str | int, Future[Result]] = {}
        self._answering = threading.Condition()
        #: Whether no request has come yet.
        self.is_first = True
        self._methods: dict[str, Callable[[Mapping[str, Any]], Result | Future[Result]]] = {
            "initialize": self._initialize,
            "ping": lambda _: {},
            "tools/list": lambda _: self._calls.list(),
            "tools/call": self._call,
        }

    def take(self, message: Any) -> None:
        """Answer a message, at once or from another thread; a batch is taken as its messages."""
        if isinstance(message, ProtocolError):
            self._fail(None, message)
            return
        for one in message if isinstance(message, list) and message else [message]:
            self._take(one)

    def finish(self, seconds: float) -> None:
        """Wait until the calls that have begun are answered, or the time is over."""
        with self._answering:
            self._answering.wait_for(lambda: not self._pending, seconds)

    def _take(self, message: Any) -> None:
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._fail(_id_of(message), ProtocolError(INVALID_REQUEST, 'the message must have "jsonrpc": "2.0"'))
            return
        method, params = message.get("method"), message.get("params")
        if "id" not in message:
            self._note(method, params)
            return
        number = message["id"]
        if not isinstance(number, str | int) or isinstance(number, bool):
            self._fail(_id_of(message), ProtocolError(INVALID_REQUEST, '"id" must be a string or an integer'))
        elif isinstance(method, str):
            self._request(number, method, {} if params is None else params)
        elif "result" not in message and "error" not in message:  # an answer, to a request that nobody has sent
            self._fail(number, ProtocolError(INVALID_REQUEST, '"method" must be a string'))

    def _request(self, number: str | int, method: str, params: Any) -> None:
        self.is_first = False
        try:
            if not isinstance(params, dict):
                raise ProtocolError(INVALID_PARAMS, '"params" must be an object')
            if method not in self._methods:
                raise ProtocolError(METHOD_NOT_FOUND, "Method not found", method)
            result = self._methods[method](params)
        except ProtocolError as error:
            self._fail(number, error)
            return
        if isinstance(result, dict):
            self._answer(number, result)
            return
        self._pending[number] = result
        token = params["_meta"].get("progressToken") if isinstance(params.get("_meta"), dict) else None
        if method == "tools/call" and isinstance(token, str | int):
            threading.Thread(target=self._tell, args=(token, params["name"], result), daemon=True).start()
        result.add_done_callback(lambda done: self._done(number, done))

    def _note(self, method: object, params: Any) -> None:
        """Take a notification: only that a request is cancelled means anything here."""
        if method == "notifications/cancelled" and isinstance(params, dict):
            number = params.get("requestId")
            with self._answering:
                call = self._pending.pop(number, None) if isinstance(number, str | int) else None
            if call is not None:
                call.cancel()

    # -- the methods --------------------------------------------------------------------------------------

    def _initialize(self, params: Mapping[str, Any]) -> Result:
        wanted = params.get("protocolVersion")
        if not isinstance(wanted, str):
            raise ProtocolError(INVALID_PARAMS, '"protocolVersion" must be a string')
        self._calls.warm_up()
        return {
            "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "sesame", "title": "Sesame", "version": version()},
            "instructions": INSTRUCTIONS,
        }

    def _call(self, params: Mapping[str, Any]) -> Future[Result]:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str):
            raise ProtocolError(INVALID_PARAMS, '"name" must be the name of a tool')
        if arguments is not None and not isinstance(arguments, dict):
            raise ProtocolError(INVALID_PARAMS, '"arguments" must be an object')
        meta = params.get("_meta")
        return self._calls.call(name, arguments or {}, meta if isinstance(meta, dict) else None)

    # -- answers ------------------------------------------------------------------------------------------

    def _done(self, number: str | int, call: Future[Result]) -> None:
        """Send the answer of a call, unless the client has cancelled it."""
        with self._answering:
            if call.cancelled() or self._pending.get(number) is not call:
                return
            del self._pending[number]  # first: a client may use the id again once it has the answer
            if (error := call.exception()) is None:
                self._answer(number, call.result())
            else:
                _LOG.error("a request failed", exc_info=error)
                self._fail(number, ProtocolError(INTERNAL_ERROR, told(error)))
            self._answering.notify_all()

    def _tell(self, token: str | int, name: str, call: Future[Result]) -> None:
        """Send the progress of a call until it has an answer, which nothing follows."""
        from time import monotonic

        began, done = monotonic(), threading.Event()
        call.add_done_callback(lambda _: done.set())
        while not done.wait(PROGRESS):
            with self._answering:
                if call not in self._pending.values():
                    return
                about = {"progress": round(monotonic() - began, 1), "message": self._calls.progress(name)}
                params = {"progressToken": token, **about}
                self._wire.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

    def _answer(self, number: str | int, result: Result) -> None:
        self._wire.send({"jsonrpc": "2.0", "id": number, "result": result})

    def _fail(self, number: object, error: ProtocolError) -> None:
        self._wire.send({"jsonrpc": "2.0", "id": number, "error": error.error})


def _is_later(message: Any) -> bool:
    """Return whether a message is a request of a version without a handshake."""
    if not isinstance(message, dict) or "id" not in message or message.get("method") == "initialize":
        return False
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and ENVELOPE in meta


def _id_of(message: Any) -> object:
    """Return the id with which a client recognises the answer to an invalid message."""
    number = message.get("id") if isinstance(message, dict) else None
    is_number = isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)
    return number if is_number or isinstance(number, str) else None
