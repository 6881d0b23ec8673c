"""A worker process: reads session files for the run that started it (`workers`), which alone writes the index.

It gets its tasks through standard input, and returns what it read through standard output, in frames: `HEADER`, then
the frame's bytes.  It ends when its input ends, which it does at the latest when the process that started it ends.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import struct
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO

from ..dataclass import dataclass
from .packing import packed

if TYPE_CHECKING:
    from ..types.index import IndexedFile
    from ..types.transcript import Notes
    from .discovery import FoundFile
    from .redacting import RedactingEvents
    from .sources import OpenSource

#: Added to the niceness of a worker: the run is what all wait for, and workers must not take its core.
NICENESS = 5
#: A frame's type, the number of its file, and its size in bytes.
HEADER = struct.Struct("<BQQ")
#: The types of frames: the worker is ready; a block of a file's content; the file's end, with a `Result`; the file
#: could not be read here; the file's source could not be loaded here.
READY, BLOCK, END, FAILED, UNUSABLE = range(5)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a worker has to know besides its files; as of `FileReader`."""

    #: The sources by number, each pickled: one that cannot be loaded here does not affect the others.
    sources: dict[int, bytes]
    workstation: str
    notes: Callable[[str], Notes | None]
    redacting: RedactingEvents | None


@dataclass(frozen=True, slots=True)
class Task:
    """A file to read: its number in the run, and that of its source."""

    number: int
    source: int
    found: FoundFile


@dataclass(frozen=True, slots=True)
class Result:
    """What is known of a file at its end."""

    file: IndexedFile
    #: As of `FileReader`.
    skipped: dict[str, int]
    losses: list[tuple[int, str]]
    silent: int


class Worker:
    """Reads the files of tasks and sends what it read.

    :param setting: what the tasks have in common.
    :param send: sends a frame.
    """

    def __init__(self, setting: Setting, send: Callable[[int, int, bytes], None]) -> None:
        self._setting = setting
        self._send = send
        self._sources: dict[int, OpenSource | None] = {}

    def read(self, task: Task) -> None:
        """Read a file; one that fails is left to the run's own process, which reports it as it does without workers."""
        source = self._source(task.source)
        if source is None:
            self._send(UNUSABLE, task.number, b"")
            return
        setting = self._setting
        reading = source.reading(task.found, None, setting.workstation, setting.notes, setting.redacting)
        try:
            for block in packed(reading.whole()):
                self._send(BLOCK, task.number, block)
            result = pickle.dumps(
                Result(reading.file, reading.skipped, reading.losses, reading.silent), pickle.HIGHEST_PROTOCOL
            )
        except BrokenPipeError:
            raise  # the run has ended
        except Exception:  # noqa: BLE001 - the run's own process meets it again, and reports it
            self._send(FAILED, task.number, b"")
        else:
            self._send(END, task.number, result)

    def _source(self, number: int) -> OpenSource | None:
        """Return a source; None when it cannot be loaded here, such as one whose parser is a class of a script."""
        if number not in self._sources:
            try:
                self._sources[number] = pickle.loads(self._setting.sources[number])
            except Exception:  # noqa: BLE001 - whatever a plugin raises: the run's own process reads its files
                self._sources[number] = None
        return self._sources[number]


def main() -> None:
    """Serve the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run; it ends its workers
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    with _apart(0) as tasks, _apart(1) as frames:

        def send(type: int, number: int, data: bytes) -> None:
            frames.write(HEADER.pack(type, number, len(data)))
            frames.write(data)
            frames.flush()

        waiting: SimpleQueue[Any] = SimpleQueue()
        Thread(target=_receive, args=(tasks, waiting), daemon=True).start()
        try:
            worker = Worker(waiting.get(), send)
            gc.disable()  # as in the run's own process
            send(READY, 0, b"")
            while True:
                worker.read(waiting.get())
        except BrokenPipeError:
            os._exit(0)


def _receive(tasks: BinaryIO, waiting: SimpleQueue[Any]) -> None:
    """Pass on what the run sends.  At its end the run is over, and nobody waits for this process any more."""
    try:
        while True:
            waiting.put(pickle.load(tasks))
    finally:  # without a traceback: the run reads itself what a worker does not read
        os._exit(0)


def _apart(standard: int) -> BinaryIO:
    """Return a standard stream under another number, so that what a plugin prints does not get between the frames."""
    stream = os.fdopen(os.dup(standard), "wb" if standard else "rb")
    replacement = os.dup(2) if standard else os.open(os.devnull, os.O_RDONLY)
    os.dup2(replacement, standard)
    os.close(replacement)
    return stream
