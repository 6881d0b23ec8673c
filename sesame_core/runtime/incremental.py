"""Indexes single files as they grow, without scanning any other, so that an append stays cheap."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import identity
from ..config.model import Selection, Source
from ..config.patterns import is_excluded
from ..dataclass import dataclass, replace
from ..errors import LockedError, SesameError
from ..indexing.discovery import is_below

if TYPE_CHECKING:
    from ..api.sesame import Sesame
    from ..plugin.backend import IndexWriter

#: Seconds between two attempts to lock the index while another process writes; an append holds the lock for about one
#: millisecond.
RETRY = 0.002


@dataclass(slots=True, kw_only=True)
class Followed:
    """The result of indexing one file."""

    #: Chunks stored.
    chunks: int = 0
    #: Position of the first chunk of the requested record; None when no chunk of it was stored.
    position: int | None = None
    #: Why the file is not indexed up to its end; None when it is.
    reason: str | None = None


class FileIndexer:
    """Indexes files of one directory as they grow.

    They use the settings of the configured source of the directory; without one, the defaults.

    :param parser: name of the parser that reads them.
    :param directory: real path.
    :param patience: seconds to wait for another process that is writing to the index.
    """

    def __init__(self, sesame: Sesame, parser: str, directory: Path, *, patience: float) -> None:
        self._sesame = sesame
        self._patience = patience
        self._workstation = identity.workstation_id()
        self._source = sesame.sources().open(_source_for(sesame, parser, directory))
        self.parser = self._source.parser
        self._metadata = sesame.metadata()

    def follow(self, path: Path, record: str | None = None) -> Followed:
        """Index the new content of a file; return an error as the reason, since the record itself is written.

        :param path: real path.
        :param record: id of the record whose position is returned.
        """
        deadline = time.monotonic() + self._patience
        while True:
            try:
                if (reason := self._sesame.team.unsent()) is not None:
                    return Followed(reason=reason)
                with self._sesame.writer() as writer:
                    return self._take_in(writer, path, record)
            except LockedError as error:
                if time.monotonic() >= deadline:
                    return Followed(reason=str(error))
            except (SesameError, OSError) as error:
                return Followed(reason=str(error))
            time.sleep(RETRY)

    def _take_in(self, writer: IndexWriter, path: Path, record: str | None) -> Followed:
        found = self._source.files.found(str(path))
        if is_excluded(self._source.source.exclude, str(path), None):
            return Followed()
        reading = self._source.reading(found, writer, self._workstation, self._metadata.notes)
        positions = reading.bring_in(writer.file(str(path)), entry_id=record)
        writer.finish(synced_at=None)
        position = None
        if reading.located is not None:
            session_id, number = reading.located
            # Nothing of a forgotten session is stored, so its chunks have no position.
            given = positions.get(session_id, range(0))
            position = given[number] if number < len(given) else None
        reason = None
        if record is not None and reading.located is None:
            if reading.skipped:
                reason = f"skipped: {', '.join(reading.skipped)}"
            elif reading.silent:
                reason = "searchable once something is said in the session"
        return Followed(chunks=sum(map(len, positions.values())), position=position, reason=reason)


def _source_for(sesame: Sesame, parser: str, directory: Path) -> Source:
    for source in sesame.config.sources:
        if source.parser.name == parser and (
            source.path is None or is_below(str(directory), os.path.realpath(source.path))
        ):
            return replace(source, path=directory)
    return Source(parser=Selection(name=parser), path=directory)
