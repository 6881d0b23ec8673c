"""The report of an indexing run."""

from __future__ import annotations

import os
from datetime import datetime
from typing import TYPE_CHECKING

from ..dataclass import dataclass, field
from ..errors import ParseError, SesameError

if TYPE_CHECKING:
    from .roots import Root, UnreadRoot

#: Most unreadable files and directories that an answer names.
NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProblem:
    """A problem with one file, worded for a person."""

    path: str
    message: str
    line: int | None = None

    @classmethod
    def of(cls, path: str, parser: str, error: Exception) -> FileProblem:
        """Return an error as a problem of a file; bytes of the path that are not UTF-8 are escaped.

        :param parser: name of the parser that raised it.
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
    """The result of a run for one source's root."""

    path: str
    parser: str
    #: Files that differed from the index and were read.
    changed: int
    #: Files that differed but were not reached in time.
    pending: int


@dataclass(slots=True, kw_only=True)
class IndexReport:
    """The result of a run; counts are files unless stated otherwise."""

    added: int = 0
    updated: int = 0
    appended: int = 0
    unchanged: int = 0
    #: Deleted since they were indexed; their sessions are kept.
    missing: int = 0
    #: Changed, but not read before the deadline.
    pending: int = 0
    #: Sessions whose metadata changed.
    described: int = 0
    #: Kept out of the index by this run or an earlier one, because all their sessions are private.
    withheld: int = 0
    #: Sessions in the files that were read in which nobody has said anything; they are not stored.
    silent: int = 0
    #: Files assumed unchanged since the last full scan, and the time of that scan; None when this run scanned all.
    not_scanned: int = 0
    scanned_at: datetime | None = None
    #: Sources whose root does not exist.
    absent_roots: list[str] = field(default_factory=list)
    #: Files that may be sessions and that no parser recognises; one that was named is an error, too.
    unrecognised: list[FileProblem] = field(default_factory=list)
    sources: list[SourceReport] = field(default_factory=list)
    #: Where session files were looked for, and agents' files that no installed parser reads; None for a run of single
    #: paths, and for a refresh.
    looked_in: list[Root] | None = None
    unread_roots: list[UnreadRoot] | None = None
    #: Records skipped in the files that were read, by reason.
    skipped: dict[str, int] = field(default_factory=dict)
    #: The first records with content that were skipped.
    losses: list[FileProblem] = field(default_factory=list)
    errors: list[FileProblem] = field(default_factory=list)
    chunks: int = 0
    #: Bytes read: whole files, and only the tails of files that have grown.
    bytes: int = 0
    seconds: float = 0.0
    #: The run was stopped by a person or by the system; what it had indexed is kept.
    is_stopped: bool = False
    #: Why the run could not do anything; a search continues without it.
    reason: str | None = None
    #: The reason is that another process was writing to the index.
    is_locked: bool = False

    @property
    def not_searched(self) -> list[FileProblem]:
        """The first files, directories and links that could not be read, and the sources that do not exist."""
        absent = [FileProblem(path=root, message="no such directory") for root in self.absent_roots]
        return [*self.errors[:NAMED], *absent]

    @property
    def changed(self) -> int:
        """Number of files whose content in the index changed."""
        return self.added + self.updated + self.appended


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a run."""

    files_done: int
    files_total: int
    bytes_done: int
    bytes_total: int
    chunks: int
    path: str
