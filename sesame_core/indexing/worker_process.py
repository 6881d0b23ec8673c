"""A worker process, as the run that started it sees it; what runs in it is `worker`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO

from .worker import HEADER

#: Most workers that are started on their own: one writer is not fast enough for more.
MOST = 3
#: Size of the pipe from a worker, in bytes, where it can be set: a sixteenth as many changes between processes.
PIPE = 1 << 20
#: `CREATE_NEW_PROCESS_GROUP` of Windows.
_NEW_GROUP = 0x200
_MAIN = "import sys; sys.path[:] = {path!r}; from sesame_core.indexing.worker import main; main()"


class WorkerProcess:
    """A worker process.

    :raises OSError: it cannot be started.
    """

    def __init__(self) -> None:
        flags = ["-I", "-X", f"utf8={sys.flags.utf8_mode}", *(["-B"] if sys.dont_write_bytecode else [])]
        flags += [f"-W{option}" for option in sys.warnoptions]
        is_windows = sys.platform == "win32"
        # Ctrl-C of a terminal reaches a whole group of processes; the run ends its workers itself.
        self._process = subprocess.Popen(
            [sys.executable, *flags, "-c", _MAIN.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            creationflags=_NEW_GROUP if is_windows else 0,
            process_group=None if is_windows else 0,
        )
        self._thread: Thread | None = None
        assert self._process.stdout is not None
        _enlarge(self._process.stdout)
        #: Frames that the run has not consumed, and their bytes.
        self.waiting: deque[tuple[int, int, bytes]] = deque()
        self.held = 0
        #: Files that were given to it, and whose end it has not sent.
        self.outstanding: deque[int] = deque()
        self.is_ready = False
        self.has_ended = False

    def send(self, data: bytes) -> None:
        """Send it a pickled object."""
        assert self._process.stdin is not None
        with suppress(OSError):  # it has ended, which `frames` notices
            self._process.stdin.write(data)
            self._process.stdin.flush()

    def serve(self, serve: Callable[[], None]) -> None:
        """Call a function in a thread that `end` waits for."""
        self._thread = Thread(target=serve, daemon=True)
        self._thread.start()

    def frames(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield what it sends, up to its end; the beginning of a frame is dropped."""
        assert self._process.stdout is not None
        read = self._process.stdout.read
        while len(header := read(HEADER.size)) == HEADER.size:
            type, number, size = HEADER.unpack(header)
            data = read(size)
            if len(data) < size:
                return
            yield type, number, data

    def code(self) -> int:
        """Return its exit code, once it has ended."""
        code: int = self._process.wait()
        return code

    def end(self) -> None:
        """End it; it has nothing to lose."""
        self._process.kill()
        if self._thread is not None:
            self._thread.join()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # closing writes what it did not take
                    pipe.close()


def _enlarge(pipe: IO[bytes]) -> None:
    """Enlarge a pipe, where that is possible."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # over the limit of this user, it stays as it is
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)


def workers(most: int | None) -> int:
    """Return the most worker processes of a run.

    :param most: as configured; None: as many as pay here.
    """
    name = Path(sys.executable or "").name.lower()
    if getattr(sys, "frozen", False) or not name.startswith(("python", "pypy")):
        return 0  # a program that contains Python: started again, it would not be an interpreter
    if most is not None:
        return most
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST) if cores > 1 else 0
