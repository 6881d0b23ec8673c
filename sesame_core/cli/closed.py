"""Standard streams that were closed when the program started: Python sets them to None."""

from __future__ import annotations

import errno
import io
import os
import sys


class _Closed(io.TextIOBase):
    """An output stream to which nothing can be written."""

    @property
    def buffer(self) -> _ClosedBytes:
        """The stream of bytes below it."""
        return _ClosedBytes()

    def write(self, text: str) -> int:
        """Raise the error that a write to a closed descriptor is."""
        raise _error()


class _ClosedBytes(io.RawIOBase):
    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        raise _error()


def _error() -> OSError:
    return OSError(errno.EBADF, "standard output is closed")


def replace_closed() -> None:
    """Replace the closed ones: a write to standard output is an error, one to standard error is discarded."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # Takes the free number, so that no file of the index gets it.
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 - open until the program ends
    sys.stdout = sys.stdout or _Closed()
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
