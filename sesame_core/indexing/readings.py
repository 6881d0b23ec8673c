"""The readings of a run's files, by the number of the file in the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..plugin.backend import IndexWriter
    from ..types.transcript import Notes
    from .discovery import FoundFile
    from .elsewhere import ReadElsewhere
    from .file_reader import FileReader
    from .sources import OpenSource


class Readings:
    """The readings of a run in its own process; a context, as are those with workers (`workers.ReadAhead`).

    :param files: the files of the run, in its order.
    :param notes: returns the notes of a session, by its id.
    """

    def __init__(
        self,
        files: Sequence[tuple[OpenSource, FoundFile]],
        writer: IndexWriter,
        workstation: str,
        notes: Callable[[str], Notes | None],
    ) -> None:
        self._files = files
        self._writer = writer
        self._workstation = workstation
        self._notes = notes

    def __enter__(self) -> Readings:
        return self

    def __exit__(self, *_: object) -> None:
        """End what the readings have started."""

    def reading(self, number: int) -> FileReader | ReadElsewhere:
        """Return the reading of a file; the numbers rise from call to call."""
        return self.here(number)

    def here(self, number: int) -> FileReader:
        """Return the reading of a file in this process."""
        source, found = self._files[number]
        return source.reading(found, self._writer, self._workstation, self._notes)
