"""Worker processes that read a run's files while the run writes those before them.

Reading, formatting and splitting into words takes as long as writing the index, so with two cores a first index takes
little more than half the time.  The run consumes the files in its own order, so that the index is the same as without
workers; what waits for it is bounded.  It reads a file itself when no worker has begun it, when only the file's new
end is needed, and when a worker cannot.

The processes run this interpreter, not a copy of this process and not its main module: nothing is required of a
program that uses the library, and threads of it are no danger.
"""

from __future__ import annotations

import pickle
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from threading import Condition
from typing import TYPE_CHECKING

from ..plugin.backend import IndexWriter
from .content import Stopped
from .discovery import FoundFile
from .elsewhere import Died, ReadElsewhere
from .file_reader import FileReader
from .readings import Readings
from .redacting import Redacting
from .sources import OpenSource
from .worker import END, FAILED, READY, UNUSABLE, Setting, Task
from .worker_process import WorkerProcess

if TYPE_CHECKING:
    from ..types.transcript import Notes

#: Bytes of new files from which on workers pay: a process costs 0.2 s of CPU, and a second reads 20 MB.
WORTHWHILE = 16 << 20
#: Bytes of a first file for which the run waits until a worker is there, which takes 0.1 s.
LARGE = 4 << 20
#: Bytes that wait for the writer, of all workers together.
HELD = 16 << 20
#: Bytes that a frame counts in addition to its content.
FRAME = 1_000
#: Files given to a worker at once, so that it never waits for the next one.
GIVEN = 2
#: Seconds that the run waits for its workers before it starts another one.
PATIENCE = 0.25
#: Seconds after which a run that waits notices that it was stopped.
STOP_SECONDS = 0.1


class ReadAhead(Readings):
    """The readings of a run's files, some by workers; at the end of the context no process is left.

    :param is_new: returns whether a file is read whole.
    :param most: most worker processes.
    """

    def __init__(
        self,
        files: Sequence[tuple[OpenSource, FoundFile]],
        writer: IndexWriter,
        workstation: str,
        notes: Callable[[str], Notes | None],
        *,
        is_new: Callable[[FoundFile], bool],
        most: int,
    ) -> None:
        super().__init__(files, writer, workstation, notes)
        self._is_new = is_new
        self._most = most
        #: Guards everything below, and is notified of each change.
        self._changed = Condition()
        self._processes: list[WorkerProcess] = []
        #: The process of each file that was given to one.
        self._given: dict[int, WorkerProcess] = {}
        #: Numbers of the files that a process may read and none has yet.
        self._left: deque[int] = deque()
        #: Sources by `id`, with their number; None for one that no worker can load.
        self._sources: dict[int, int | None] = {}
        self._setting = b""
        self._waited = 0.0
        self._is_over = False

    def __enter__(self) -> ReadAhead:
        if self._most:
            self._prepare()
            news = (number for number, (_, found) in enumerate(self._files) if self._is_new(found))
            self._left.extend(filter(self._can_be_sent, news))
            sizes = [self._files[number][1].size for number in self._left]
            if sizes and sum(sizes) >= WORTHWHILE:
                # The run does not wait for its first worker, but for one that reads a large file.
                self._start(self._left.popleft() if sizes[0] >= LARGE else None)
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        for process in self._processes:
            process.end()

    def reading(self, number: int) -> FileReader | ReadElsewhere:
        """Return the reading of a file, by a worker that has begun it, or else in this process."""
        source, found = self._files[number]
        with self._changed:
            if number in self._given:
                return ReadElsewhere(self, number, source.row(found), self._writer)
            while self._left and self._left[0] <= number:
                self._left.popleft()
        return self.here(number)

    def frames(self, number: int, is_stopped: Callable[[], bool]) -> Iterator[tuple[int, bytes]]:
        """Yield what the process of a file sends about it.

        :raises Died: the process has ended.
        :raises Stopped: the run was stopped.
        """
        process = self._given[number]
        while True:
            type, of, data = self._frame(process, is_stopped)
            if of == number:  # else the rest of a file that could not be written
                yield type, data

    def again(self, number: int) -> bool:
        """Give a file, whose process has ended, to a new one; return whether there is one."""
        if self._given[number].is_ready:
            self._start(number)
        else:  # this machine, or this program, starts none
            del self._given[number]
        return number in self._given

    def give_up(self, number: int) -> None:
        """Read all further files of a file's source in this process."""
        with self._changed:
            self._sources[id(self._files[number][0])] = None

    def ended(self, number: int) -> str:
        """Return how the process of a file has ended."""
        code = self._given[number].code()
        return f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"

    # -- processes ----------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Collect what every worker has to know."""
        pickled: dict[int, bytes] = {}
        for source, _ in self._files:
            if id(source) in self._sources:
                continue
            number = len(self._sources)
            self._sources[id(source)] = number
            try:
                pickled[number] = pickle.dumps(source, pickle.HIGHEST_PROTOCOL)
            except Exception:  # noqa: BLE001 - whatever a plugin raises: its files are read in this process
                self._sources[id(source)] = None
        redacting = self._writer.elsewhere() if isinstance(self._writer, Redacting) else None
        setting = Setting(pickled, self._workstation, self._notes, redacting)
        self._setting = pickle.dumps(setting, pickle.HIGHEST_PROTOCOL)

    def _start(self, first: int | None = None) -> None:
        """Start a process; without one the run reads the files itself.

        :param first: the file to begin with.
        """
        try:
            process = WorkerProcess()
        except OSError:
            self._most = 0
            if first is not None:
                self._given.pop(first, None)
            return
        self._processes.append(process)
        if first is not None:
            self._given[first] = process
        process.serve(lambda: self._serve(process, first))

    def _serve(self, process: WorkerProcess, first: int | None) -> None:
        """Give files to a process and collect what it sends, in a thread of its own."""
        try:
            process.send(self._setting)
            for type, number, data in process.frames():
                self._take(process, first, type, number, data)
        finally:
            with self._changed:
                process.has_ended = True
                # The first one may be the reason; the run reads the others, unless it asks for the first one again.
                for number in list(process.outstanding)[1:]:
                    del self._given[number]
                self._changed.notify_all()

    def _take(self, process: WorkerProcess, first: int | None, type: int, number: int, data: bytes) -> None:
        """Take a frame of a process, after giving it more files when it waits for them."""
        tasks = []
        with self._changed:
            if type == READY:
                process.is_ready = True
                if first is not None:
                    tasks.append(self._give(process, first))
            elif type in (END, FAILED, UNUSABLE):
                process.outstanding.popleft()
            while len(process.outstanding) < GIVEN and (chosen := self._choose()) is not None:
                tasks.append(self._give(process, chosen))
        for task in tasks:
            process.send(pickle.dumps(task, pickle.HIGHEST_PROTOCOL))
        with self._changed:
            process.waiting.append((type, number, data))
            process.held += FRAME + len(data)
            self._changed.notify_all()
            while process.held >= HELD // max(self._most, 1) and not self._is_over:
                self._changed.wait()

    def _choose(self) -> int | None:
        """Return the next file for a worker."""
        while self._left and not self._is_over:
            number = self._left.popleft()
            if self._can_be_sent(number):
                return number
        return None

    def _can_be_sent(self, number: int) -> bool:
        """Return whether the source of a file can be sent to a process."""
        return self._sources[id(self._files[number][0])] is not None

    def _give(self, process: WorkerProcess, number: int) -> Task:
        source, found = self._files[number]
        process.outstanding.append(number)
        self._given[number] = process
        return Task(number, self._sources[id(source)] or 0, found)

    def _frame(self, process: WorkerProcess, is_stopped: Callable[[], bool]) -> tuple[int, int, bytes]:
        """Return the next frame of a process; start another process when the run waits for too long."""
        with self._changed:
            started = time.monotonic()
            while not process.waiting:
                if is_stopped():
                    raise Stopped
                if process.has_ended:
                    raise Died
                self._changed.wait(STOP_SECONDS)
            self._waited += time.monotonic() - started
            type, number, data = process.waiting.popleft()
            process.held -= FRAME + len(data)
            self._changed.notify_all()
            is_slow = bool(self._left) and self._waited >= PATIENCE * len(self._processes)
        if is_slow and len(self._processes) < self._most:
            self._start()
        return type, number, data
