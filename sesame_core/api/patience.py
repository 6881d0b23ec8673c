"""Waiting for another process that is writing to the index: the refresh of a search is done in a moment."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING

from ..errors import LockedError, StoppedError

if TYPE_CHECKING:
    from ..plugin.backend import IndexWriter

#: Seconds between two attempts.
RETRY = 0.05


@contextmanager
def patiently(
    opened: Callable[[], AbstractContextManager[IndexWriter]],
    seconds: float,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Iterator[IndexWriter]:
    """Open the index for writing as soon as no other process writes to it.

    :param opened: returns a context in which the index is written.
    :param seconds: to wait at most.
    :param is_stopped: returns whether to stop waiting.
    :raises LockedError: another process is still writing.
    :raises StoppedError: stopped while waiting.
    """
    deadline = time.monotonic() + seconds
    with ExitStack() as stack:
        while True:
            try:
                writer = stack.enter_context(opened())
                break
            except LockedError as error:
                if is_stopped():
                    raise StoppedError("stopped while another process was writing to the index") from error
                if time.monotonic() >= deadline:
                    raise LockedError(f"{error} (waited {seconds:g} s)" if seconds else str(error)) from error
            time.sleep(RETRY)
        yield writer
