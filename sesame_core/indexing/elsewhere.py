"""The reading of a file by a worker process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from ..errors import ParseError
from ..plugin.backend import IndexWriter, Positions
from ..types.index import Chunk, IndexedFile
from ..types.transcript import Session
from .content import Replayed, Stopped
from .packing import unpacked
from .redacting import Redacting
from .worker import BLOCK, END, UNUSABLE, Result

if TYPE_CHECKING:
    from .file_reader import FileReader

#: Processes that try to read a file; one that ends while it reads a file may have run out of memory.
TRIES = 2


class Died(Exception):
    """The process that read a file ended."""


class Failed(Exception):
    """A worker could not read a file."""


class Workers(Protocol):
    """The worker processes of a run, as a reading of one of its files knows them; files have numbers."""

    def frames(self, number: int, is_stopped: Callable[[], bool]) -> Iterator[tuple[int, bytes]]:
        """Yield what the process of a file sends about it.

        :raises Died: the process has ended.
        :raises Stopped: the run was stopped.
        """

    def again(self, number: int) -> bool:
        """Give a file, whose process has ended, to a new one; return whether there is one."""

    def give_up(self, number: int) -> None:
        """Read all further files of a file's source in this process."""

    def ended(self, number: int) -> str:
        """Return how the process of a file has ended."""

    def here(self, number: int) -> FileReader:
        """Return the reading of a file in this process."""


class ReadElsewhere:
    """The reading of a file by a worker, for the indexer like a `FileReader`."""

    def __init__(self, ahead: Workers, number: int, file: IndexedFile, writer: IndexWriter) -> None:
        self.file = file
        self.losses: list[tuple[int, str]] = []
        self.skipped: dict[str, int] = {}
        self.silent = 0
        self.start = 0
        self.is_tail = False
        self.is_stopped: Callable[[], bool] = lambda: False
        self._ahead = ahead
        self._number = number
        self._writer = writer

    def bring_in(self, known: IndexedFile | None) -> Positions:
        """Index the file; return the positions of the stored chunks."""
        for tries_left in reversed(range(TRIES)):
            if isinstance(self._writer, Redacting):
                self._writer.was_redacted(self.file)
            try:
                return self._writer.replace(self.file, self._content())
            except (Replayed, Failed):
                return self._here(known)
            except Died:
                if tries_left and not self._ahead.again(self._number):
                    return self._here(known)
        raise ParseError(
            self.file.path, f"the process that read it {self._ahead.ended(self._number)}; is there enough memory?"
        )

    def _content(self) -> Iterator[Session | Chunk]:
        for type, data in self._ahead.frames(self._number, self.is_stopped):
            if self.is_stopped():
                raise Stopped
            if type == BLOCK:
                yield from unpacked(data)
            elif type == END:
                result: Result = pickle.loads(data)
                for name in IndexedFile.__dataclass_fields__:
                    setattr(self.file, name, getattr(result.file, name))
                self.skipped, self.losses, self.silent = result.skipped, result.losses, result.silent
                return
            else:
                if type == UNUSABLE:
                    self._ahead.give_up(self._number)
                raise Failed

    def _here(self, known: IndexedFile | None) -> Positions:
        """Read the file in this process."""
        reading = self._ahead.here(self._number)
        reading.is_stopped = self.is_stopped
        try:
            return reading.bring_in(known)
        finally:
            self.file, self.losses, self.skipped = reading.file, reading.losses, reading.skipped
            self.silent = reading.silent
            self.start, self.is_tail = reading.start, reading.is_tail
