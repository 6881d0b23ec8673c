"""What a parser lists whose sessions are not files of their own (`sesame_core.plugin.parser.Listing`)."""

from __future__ import annotations

from ..dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A file or a directory with sessions: a database, a tree of small files."""

    #: Its real path; the path of each of its units is this one, or below it.
    path: str
    #: The files and directories whose modification times tell whether anything in it may have changed; they need not
    #: exist.  Of a database: its file, and its write-ahead log.
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What is read, replaced and deleted as a whole, as a file is: a session in a container."""

    #: `<container>/<id>` for a row, the path of its main file for a session in many; need not exist in the file system.
    path: str
    #: Time of its last change, in nanoseconds since 1970.
    mtime_ns: int
    #: About its bytes.  It is read again when this or the time differs, so it contains the number of records, which
    #: tells of deleted ones.
    size: int
