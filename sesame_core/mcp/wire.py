"""Standard input and output as the wire of a protocol: a message a line.

What else reads or writes these streams, such as a `print` of a plugin, reads nothing and writes to standard error.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from ..errors import OutputError

#: Most bytes that one system call reads.
BLOCK = 1 << 16


class Wire:
    """The two streams of this process, taken over for good."""

    def __init__(self) -> None:
        self._in, self._out = _taken(0, os.O_RDONLY), _taken(1, os.O_WRONLY)
        self._writing = threading.Lock()
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        # Another thread reads, so that the main thread hears at once of Ctrl-C, and of a client that reads no more.
        self._failed: OSError | None = None
        threading.Thread(target=self._read, name="sesame-input", daemon=True).start()

    def lines(self) -> Iterator[bytes]:
        """Yield each line until the client closes its end.

        :raises BrokenPipeError: the client does not read any more.
        :raises OutputError: a message cannot be written.
        """
        while isinstance(line := self._lines.get(), bytes):
            if line.strip():
                yield line
        self.check()

    def check(self) -> None:
        """Raise the error with which a message could not be written, if one could not.

        :raises BrokenPipeError: the client does not read any more.
        :raises OutputError: it cannot be written.
        """
        error = self._failed
        if isinstance(error, BrokenPipeError):
            raise error
        if error is not None:
            raise OutputError(f"cannot write the answer: {error.strerror or error}") from error

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message, from any thread; an error ends `lines`."""
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        try:
            line = text.encode()
        except UnicodeEncodeError:  # a lone surrogate, in an id perhaps: JSON has an escape for it
            line = json.dumps(message, separators=(",", ":")).encode()
        self.write(line + b"\n")

    def write(self, line: bytes) -> None:
        """Send a line, likewise."""
        try:
            with self._writing:
                while line:
                    line = line[os.write(self._out, line) :]
        except OSError as error:
            self._failed = error
            self._lines.put(None)

    def _read(self) -> None:
        parts: list[bytes] = []
        with suppress(OSError):  # as good as its end
            while block := os.read(self._in, BLOCK):
                *lines, rest = block.split(b"\n")
                if lines:
                    self._lines.put(b"".join([*parts, lines[0]]))
                    for line in lines[1:]:
                        self._lines.put(line)
                    parts = []
                parts.append(rest)
        self._lines.put(b"".join(parts))
        self._lines.put(None)


def _taken(stream: int, mode: int) -> int:
    """Return a new descriptor of a standard stream, which itself then reads nothing, or writes to standard error."""
    own = os.dup(stream)
    if hasattr(os, "set_blocking"):
        os.set_blocking(own, True)
    if mode == os.O_RDONLY:
        other = os.open(os.devnull, mode)
        os.dup2(other, stream)
        os.close(other)
    else:
        os.dup2(2, stream)
    return own
