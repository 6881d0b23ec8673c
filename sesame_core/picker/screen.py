"""The terminal that the picker is drawn on: opened, drawn on, lent to another program, and left as it was."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any

from ..errors import SesameError

#: Alternate screen, pasted text in brackets, clicks and the wheel of a mouse; rows do not wrap.
_USE = "\x1b[?2004h\x1b[?1000h\x1b[?1006h\x1b[?7l\x1b[2J"
_ENTER = "\x1b[?1049h" + _USE
#: The same for who may be on the alternate screen already: the saved cursor stays that of the shell.
_ENTER_AGAIN = "\x1b[?47h" + _USE
_LEAVE = "\x1b[?7h\x1b[?1006l\x1b[?1000l\x1b[?2004l\x1b[0m\x1b[?25h\x1b[?1049l"
#: Terminals that cannot move their cursor.
DUMB = ("", "dumb", "unknown")
#: Signals that end a program, and would leave the terminal as the picker uses it.
_ENDING = ("SIGTERM", "SIGHUP")


def unusable(environ: dict[str, str] | os._Environ[str]) -> str | None:
    """Return why no picker can be drawn for a terminal of this environment; None when it can."""
    if sys.platform == "win32":
        return "the picker needs a terminal of Linux or macOS (WSL has one)"
    if environ.get("TERM", "") in DUMB:
        return f"the picker needs a terminal that can move its cursor, and TERM is {environ.get('TERM', '')!r}"
    return None


class Screen:
    """The terminal of this process, as a context.

    :raises SesameError: there is none.
    """

    def __init__(self) -> None:
        reason = unusable(os.environ)
        try:
            if reason:
                raise SesameError(f"{reason}; to search without it: sesame search QUERY")
            self._fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        except OSError:
            raise SesameError("the picker needs a terminal; to search without one: sesame search QUERY") from None
        self._wake_read, self._wake_write = os.pipe()
        for end in (self._wake_read, self._wake_write):
            os.set_blocking(end, False)
        self._drawn: list[str] = []
        self._cursor = ""
        self._size: tuple[int, int] = (0, 0)
        self._before: Any = None
        self._is_continued = False
        self._handlers: dict[int, Any] = {}
        self._wakeup = -1

    def __enter__(self) -> Screen:
        self._wakeup = signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        self._handlers[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, lambda *_: None)
        self._handlers[signal.SIGCONT] = signal.signal(signal.SIGCONT, self._continue)
        for name in _ENDING:
            number = getattr(signal, name)
            if signal.getsignal(number) is signal.SIG_DFL:
                self._handlers[number] = signal.signal(number, _end)
        self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # the terminal may have been closed
            self._end()
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        for end in (self._fd, self._wake_read, self._wake_write):
            os.close(end)

    # -- output -------------------------------------------------------------------------------------------

    @property
    def size(self) -> tuple[int, int]:
        """The columns and rows of the terminal."""
        columns, rows = os.get_terminal_size(self._fd)
        return columns or 80, rows or 24

    def draw(self, rows: Sequence[str], cursor: tuple[int, int]) -> None:
        """Show these rows from the top, and the cursor at a row and a column; what has not changed is not sent."""
        if self._is_continued:
            self._is_continued = False
            self._take_over(_ENTER_AGAIN)
            self.redraw()
        if self.size != self._size:
            self._size, self._drawn = self.size, []
            self.write("\x1b[2J")
        place = f"\x1b[{cursor[0] + 1};{cursor[1] + 1}H"
        changed = [
            f"\x1b[{number + 1};1H{row}"
            for number, row in enumerate(rows)
            if number >= len(self._drawn) or self._drawn[number] != row
        ]
        if changed or place != self._cursor:
            self.write("\x1b[?25l" + "".join(changed) + place + "\x1b[?25h")
        self._drawn, self._cursor = list(rows), place

    def redraw(self) -> None:
        """Send everything with the next drawing."""
        self._drawn, self._size = [], (0, 0)

    def write(self, text: str) -> None:
        """Send text to the terminal as it is."""
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(self._fd, data) :]

    # -- input --------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Let `read` return; from any thread."""
        with suppress(OSError):  # full: it is awake already, or closed: it has ended
            os.write(self._wake_write, b"\0")

    def read(self, seconds: float | None) -> bytes | None:
        """Return what was typed; empty after this time, a signal or `wake`; None when the terminal is closed."""
        ready, _, _ = select.select([self._fd, self._wake_read], [], [], seconds)
        if self._wake_read in ready:
            with suppress(BlockingIOError):
                os.read(self._wake_read, 4096)
        if self._fd not in ready:
            return b""
        try:
            return os.read(self._fd, 65536) or None
        except OSError:
            return None

    # -- another program ----------------------------------------------------------------------------------

    @contextmanager
    def lent(self) -> Iterator[int]:
        """Give the terminal to another program, as it was before; yield its descriptor."""
        self._end()
        # Ctrl-C is for the program; a handler, since the program would inherit that it is ignored.
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            yield self._fd
        finally:
            signal.signal(signal.SIGINT, before)
            self._begin()
            self.redraw()

    def suspend(self) -> None:
        """Stop this process and those that the shell has started with it, until the shell continues them."""
        with self.lent():
            os.killpg(0, signal.SIGTSTP)

    def _begin(self) -> None:
        import termios

        self._before = termios.tcgetattr(self._fd)
        self._take_over(_ENTER)

    def _take_over(self, enter: str) -> None:
        """Use the terminal as the picker needs it."""
        import termios
        import tty

        tty.setraw(self._fd, termios.TCSANOW)
        self.write(enter)

    def _continue(self, number: int, frame: FrameType | None) -> None:
        """Take over the terminal with the next drawing: whoever stopped this process has used it meanwhile."""
        self._is_continued = True

    def _end(self) -> None:
        import termios

        try:
            self.write(_LEAVE)
        finally:
            # What was typed too late for the picker is not for the shell.
            termios.tcsetattr(self._fd, termios.TCSAFLUSH, self._before)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


#: Called to wake the loop from another thread.
Wake = Callable[[], None]
