"""Calls of tools, the same over every transport: each has an answer, which may be an error that says what to do.

Nothing is loaded and opened before the first call or `warm_up`, so that a server answers its client's first messages at
once.  One whose configuration is broken says so, call by call, until the file is mended; a change takes effect at once.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import SesameError, UnknownSessionError, told

if TYPE_CHECKING:
    from .tools import Tools

#: A result as it is sent.
Result: TypeAlias = dict[str, Any]

#: Most concurrent calls; more wait.  Each of these threads keeps a connection to the index.
THREADS = 8
#: Seconds between two notifications of the progress of a call.
PROGRESS = 1.0

_LOG = logging.getLogger(__name__)


class Calls:
    """The calls of one server.

    :param opened: opens the tools; raises a `SesameError` while that is not possible.
    """

    def __init__(self, opened: Callable[[], Tools]) -> None:
        self._opened = opened
        self._opening = threading.Lock()
        self._tools: Tools | None = None
        self._configured: object = None
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="sesame-call")
        self._running: set[object] = set()

    def warm_up(self) -> None:
        """Load what the first call needs, and index what has changed, while the client is thinking."""
        self._pool.submit(self._warm_up)

    def tools(self) -> Tools:
        """Return the tools of the configuration as it is now.

        :raises SesameError: they cannot be opened, since the configuration is broken.
        """
        with self._opening:
            configured = _configured()
            if self._tools is not None and configured != self._configured:
                self._tools.close()
                self._tools = None  # calls that use it go on, and the last one's end closes its index
            if self._tools is None:
                self._tools, self._configured = self._opened(), configured
            return self._tools

    def call(self, name: str, arguments: dict[str, Any], meta: Mapping[str, object] | None = None) -> Future[Result]:
        """Begin a call in a thread; the result is what `answered` returns.

        :param meta: the `_meta` of the call.
        """
        return self._pool.submit(self._call, name, arguments, meta)

    def list(self) -> Future[Result]:
        """Begin to list the tools."""
        return self._pool.submit(lambda: {"tools": described()})

    def progress(self, name: str) -> str:
        """Return what a call that takes long is doing, for people."""
        tools = self._tools
        return "opening the index" if tools is None else tools.progress(name)

    def close(self, code: int = 0, told: str = "") -> None:
        """Accept no more calls; when some are running, end the process.

        A call may be waiting for a model, and the interpreter would wait for it at exit, without any client.

        :param code: exit code of the process then.
        :param told: what it prints on standard error then; "" for nothing.
        """
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._running:
            if told:
                os.write(2, f"{told}\n".encode("utf-8", "replace"))
            os._exit(code)
        if self._tools is not None:
            self._tools.close()

    def _call(self, name: str, arguments: dict[str, Any], meta: Mapping[str, object] | None) -> Result:
        with self._run():
            return answered(self.tools, name, arguments, meta)

    def _warm_up(self) -> None:
        with self._run():
            try:
                self.tools().warm_up()
            except SesameError as error:  # each call has it as its answer
                _LOG.warning("%s", error)
            except Exception:  # noqa: BLE001 - a bug, which nobody waits for here: each call meets it, and says so
                _LOG.exception("the server cannot prepare for calls")

    @contextmanager
    def _run(self) -> Iterator[None]:
        call = object()
        self._running.add(call)
        try:
            yield
        finally:
            self._running.discard(call)


def _configured() -> object:
    """Return a value that changes with the file of the configuration."""
    from ..config.paths import config_file

    try:
        stat = os.stat(config_file())
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


@cache
def described() -> list[dict[str, Any]]:
    """Return the tools as clients see them; cached, since deriving the schemas takes 0.1 s."""
    from .tools import TOOLS

    return [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.takes.model_json_schema(),
            "annotations": {
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": tool.is_open_world,
            },
        }
        for tool in TOOLS.values()
    ]


def answered(
    tools: Callable[[], Tools], name: str, arguments: dict[str, Any], meta: Mapping[str, object] | None = None
) -> Result:
    """Return a tool's answer; an error is an answer, too, which says what to do.

    :param tools: returns the tools, or raises why there are none.
    :param meta: the `_meta` of the call.
    """
    from ..rendering.budget import sent

    try:
        value = tools().call(name, arguments, meta)
    except UnknownSessionError as error:
        between = "\n" if "\n" in error.message else "; "
        return _failed(f"{error.message}{between}find ids with search_sessions or list_sessions")
    except SesameError as error:
        return _failed(told(error))
    except Exception as error:  # noqa: BLE001 - the protocol cannot carry a traceback; the log has it
        _LOG.exception("the tool %s failed", name)
        return _failed(told(error))
    # A question may contain lone surrogates, which no transport can encode.
    return {"content": [{"type": "text", "text": sent(value).decode()}], "isError": False}


def _failed(message: str) -> Result:
    from ..rendering.text import printable
    from .bounds import message as in_bounds

    return {"content": [{"type": "text", "text": in_bounds(printable(message))}], "isError": True}
