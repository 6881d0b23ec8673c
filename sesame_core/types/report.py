"""What a run of the indexer did."""

from __future__ import annotations

import os
from datetime import datetime

from ..dataclass import dataclass, field
from ..errors import ParseError, SesameError


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProblem:
    """Something about one file that a person should know."""

    path: str
    message: str
    line: int | None = None

    @classmethod
    def of(cls, path: str, parser: str, error: Exception) -> FileProblem:
        """Return what a person should know of an error; a path that is no Unicode is written with escapes.

        :param parser: name of the parser that met it.
        """
        path = os.fsencode(path).decode("utf-8", "backslashreplace")
        if isinstance(error, ParseError):
            return cls(path=path, message=error.message, line=error.line)
        if isinstance(error, OSError):
            return cls(path=path, message=error.strerror or str(error))
        if isinstance(error, SesameError):
            return cls(path=path, message=str(error))
        return cls(path=path, message=f"the parser {parser!r} failed: {error!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReport:
    """What a run found below one source's root."""

    path: str
    parser: str
    #: Files that differed from the index and were read …
    changed: int
    #: … and those that were not reached in time.
    pending: int


@dataclass(slots=True, kw_only=True)
class IndexReport:
    """What a run did, in files unless said otherwise."""

    added: int = 0
    updated: int = 0
    appended: int = 0
    unchanged: int = 0
    #: Gone since they were indexed; their sessions are kept.
    missing: int = 0
    #: Changed, but the time was up.
    pending: int = 0
    #: Sessions whose metadata changed.
    described: int = 0
    #: Not in the index, this run's and earlier ones', because all their sessions are private.
    withheld: int = 0
    #: Files that were taken to be as they were when all were looked at, and when that was; None when all were now.
    not_scanned: int = 0
    scanned_at: datetime | None = None
    #: Sources whose root does not exist.
    absent_roots: list[str] = field(default_factory=list)
    sources: list[SourceReport] = field(default_factory=list)
    #: Records left out in the files that were read, by reason.
    skipped: dict[str, int] = field(default_factory=dict)
    #: The first records that held something and were left out.
    losses: list[FileProblem] = field(default_factory=list)
    errors: list[FileProblem] = field(default_factory=list)
    chunks: int = 0
    #: Bytes of the files that were read (of their tails, for grown ones).
    bytes: int = 0
    seconds: float = 0.0
    #: Why the run did nothing, when it could not; a search goes on without it.
    reason: str | None = None

    @property
    def changed(self) -> int:
        """Files whose content in the index changed."""
        return self.added + self.updated + self.appended


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is."""

    files_done: int
    files_total: int
    bytes_done: int
    bytes_total: int
    chunks: int
    path: str
