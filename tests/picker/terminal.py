"""A terminal with a program on it: what it shows, and keys for it."""

from __future__ import annotations

import copy
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyte

SESAME = (sys.executable, "-m", "sesame_core")
#: Seconds that anything may take on a machine that is busy with other tests.
PATIENCE = 60.0


class Screen(pyte.Screen):
    """A screen with a second one, which programs use that leave the first as it was."""

    _first: tuple[Any, int, int] | None = None

    def set_mode(self, *modes: int, **more: Any) -> None:
        super().set_mode(*modes, **more)
        if 1049 in modes and more.get("private"):
            self._first = copy.deepcopy(self.buffer), self.cursor.x, self.cursor.y

    def reset_mode(self, *modes: int, **more: Any) -> None:
        super().reset_mode(*modes, **more)
        if 1049 in modes and more.get("private") and self._first is not None:
            self.buffer, self.cursor.x, self.cursor.y = self._first
            self._first = None


class Terminal:
    """A program on a pseudo-terminal of its own, as a context; it is killed at the end."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int = 80,
        rows: int = 24,
        env: Mapping[str, str] | None = None,
        screen: type[Screen] = Screen,
    ) -> None:
        self.screen = screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        #: All that the program has written.
        self.written = b""
        self._fd, slave = pty.openpty()
        self._set_size(slave, columns, rows)
        # What runs the tests may ignore it (nohup), and programs inherit that.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        # Not forked: a process with threads must not.  The shell's terminal is the one that it opens first.
        self._process = subprocess.Popen(
            ["sh", "-c", 'exec "$@" <>"$0" >&0 2>&1', os.ttyname(slave), *command],
            env={**os.environ, "TERM": "xterm-256color", **(env or {})},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.pid = self._process.pid
        self._slave = slave

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for end in (self._slave, self._fd):
            os.close(end)

    @property
    def rows(self) -> list[str]:
        """The rows of the screen, without spaces at their ends."""
        # Not `display`, which fails on half of a wide character.
        buffer, columns = self.screen.buffer, range(self.screen.columns)
        return ["".join(buffer[row][column].data for column in columns).rstrip() for row in range(self.screen.lines)]

    @property
    def text(self) -> str:
        """The screen as one text."""
        return "\n".join(self.rows)

    def send(self, keys: str | bytes) -> None:
        """Press keys, in the bytes of a terminal."""
        os.write(self._fd, keys.encode() if isinstance(keys, str) else keys)

    def signal(self, number: int) -> None:
        """Send the program a signal."""
        os.kill(self.pid, number)

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal, which tells the program."""
        self.screen.resize(rows, columns)
        self._set_size(self._fd, columns, rows)

    def wait(self, wanted: str | Callable[[], bool]) -> None:
        """Wait until the screen has a text, or until something is true."""
        is_there = (lambda: wanted in self.text) if isinstance(wanted, str) else wanted
        until = time.monotonic() + PATIENCE
        while not is_there():
            assert time.monotonic() < until, f"not on the screen: {wanted}\n{self.text}"
            if not self.read(0.2) and self._process.poll() is not None:
                while self.read(0):
                    pass
                assert is_there(), f"ended with {self._process.returncode} without: {wanted}\n{self.text}"

    def end(self) -> int:
        """Wait until the program ends; return its exit code, negative after a signal."""
        until = time.monotonic() + PATIENCE
        while self._process.poll() is None:
            assert time.monotonic() < until, f"still running\n{self.text}"
            self.read(0.1)
        while self.read(0):
            pass
        return self._process.returncode

    def is_echoing(self) -> bool:
        """Return whether the terminal is as a shell needs it: lines with an echo, and Ctrl-C a signal."""
        flags = termios.tcgetattr(self._fd)[3]
        return all(flags & wanted for wanted in (termios.ECHO, termios.ICANON, termios.ISIG))

    def read(self, seconds: float) -> bool:
        """Show what the program writes within this time; return whether it has written anything."""
        piece = self.receive(seconds)
        self.show(piece)
        return bool(piece)

    def receive(self, seconds: float) -> bytes:
        """Return what the program writes within this time, without showing it."""
        ready, _, _ = select.select([self._fd], [], [], seconds)
        if not ready:
            return b""
        try:
            return os.read(self._fd, 65536)
        except OSError:  # Linux's way to say that the other end is closed
            return b""

    def show(self, piece: bytes) -> None:
        """Show what the program has written."""
        self.written += piece
        self._stream.feed(piece)

    @staticmethod
    def _set_size(fd: int, columns: int, rows: int) -> None:
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
