"""Ctrl-C and SIGTERM while indexing: the run ends after what it has read, and says where it stopped."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    from ..types.report import IndexReport

#: The signals that stop a run.
SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: The exit code of a command that was stopped.
STOPPED = 130


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether a signal asked to stop; a second one interrupts at once.

    A signal that this process ignores stays ignored.
    """
    asked = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = {number: signal.getsignal(number) for number in SIGNALS}
    caught = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in caught:
        signal.signal(number, ask)
    try:
        yield asked.is_set
    finally:
        for number in caught:
            signal.signal(number, before[number])


def where(report: IndexReport, command: str) -> str:
    """Return the line that says where a run stopped.

    :param command: the command that continues.
    """
    from ..rendering.text import count

    read = report.unchanged + report.changed + len(report.errors)
    total = read + report.pending
    if not total:
        return f"stopped before the first file; go on with: {command}"
    return f"stopped; {read} of {count(total, 'file')} indexed; go on with: {command}"
