"""The files that an index knows, for a run: all of them at once, or each when it is asked for."""

from __future__ import annotations

from ..plugin.backend import IndexWriter
from ..types.index import UNREAD, IndexedFile, KnownFile


class KnownFiles:
    """The files that an index knows.

    :param writer: the index.
    :param is_empty: the index is being built, and none of the files that it had is known.
    :param are_few: only few files will be asked for, so that all others need not be read.
    """

    def __init__(self, writer: IndexWriter, *, is_empty: bool = False, are_few: bool = False) -> None:
        self._writer = writer
        self._all: dict[str, IndexedFile] | None = {} if is_empty else None
        self._are_few = are_few
        self._for_detection: dict[str, KnownFile] | None = None

    def get(self, path: str) -> IndexedFile | None:
        """Return the file with a stored path; None when the index does not know it."""
        if self._all is None and self._are_few:
            return self._writer.file(path)
        return self.all().get(path)

    def all(self) -> dict[str, IndexedFile]:
        """Return all files by stored path."""
        if self._all is None:
            self._all = self._writer.files()
        return self._all

    def for_detection(self) -> dict[str, KnownFile]:
        """Return all files as a reader's `known_files` does, as they were when this was first called."""
        if self._for_detection is None:
            self._for_detection = {path: _known(file) for path, file in self.all().items()}
        return self._for_detection


def _known(file: IndexedFile) -> KnownFile:
    mtime_ns = UNREAD if file.error else file.mtime_ns
    return mtime_ns, file.parser, file.parser_version, file.missing_since is not None, file.size
