"""The result of the last full scan, stored next to the index: it spares the next scans most of their work.

A full scan gets the modification time of every file, which takes longer than a search when there are many.  A file
that is created, deleted or renamed changes its directory's time, and a session that is resumed was mostly written to
recently.  So as long as the last full scan is fresh, only directories and recently changed files are checked, all
others count as unchanged, and the report has their number and the time of the full scan.

It also has the files that no run has reached yet: a first index of thousands of files takes many searches, each of
which continues where the last one stopped.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..config.paths import write_private
from ..dataclass import dataclass, field
from .discovery import FoundFile, is_empty, is_readable

if TYPE_CHECKING:
    from collections.abc import Mapping

    #: A file that is to be read, and the number of its scan root.
    Waiting: TypeAlias = tuple[int, FoundFile]
    #: The modification time of a file that no parser recognises, and why not, if it looks like a session.
    Rejected: TypeAlias = tuple[int, str | None]

#: Seconds between two full scans: the longest delay until a session is found that is resumed after a long pause.
LASTING = 60
#: At most one part of this many of the time is spent on full scans, however slow the disk is.
SHARE = 20
#: Days since its last change in which a file is checked each time.
RECENT_DAYS = 14
#: Fewer files than this are all checked each time: that takes less than 10 ms.
LEAST = 1_000
#: Seconds in which a directory may change twice and show one time: FAT's clock is the slowest in use.
TICK = 2
#: In place of the time of a directory that may have changed since unnoticed.
UNSURE = -1


@dataclass(slots=True, kw_only=True)
class ScanCache:
    """A full scan, and what is left to do of what it has found."""

    #: Its start, in seconds since 1970, and the seconds that it took.
    at: float
    seconds: float = 0.0
    #: Identifies the configuration: another one scans other files.
    wanted: str
    #: The modification time of each scanned directory, in nanoseconds, and of roots that are files.
    directories: Mapping[str, int]
    absent_roots: list[str]
    #: Number of files that are as the index knows them, and of those that are missing.
    unchanged: int
    missing: int
    #: The times of the files that tell of changes in a container (`types.listing.Container.files`), by its path.
    containers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: Files that no run has reached, in the order in which they will be read.
    waiting: list[Waiting] = field(default_factory=list)
    #: Files that could not be read; each run tries them again, after all others.
    failed: list[Waiting] = field(default_factory=list)
    #: Files that no parser recognises although their name may be a session's.
    rejected: dict[str, Rejected] = field(default_factory=dict)
    #: Directories and links that could not be read, and other files that could not be checked: path and message.
    unlisted: list[tuple[str, str]] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)

    @property
    def recent_ns(self) -> int:
        """The modification time from which a file is checked each time, in nanoseconds since 1970."""
        return int((self.at - RECENT_DAYS * 86_400) * 1e9)

    @property
    def is_needed(self) -> bool:
        """Whether the next scan is much faster with it."""
        return bool(self.unchanged >= LEAST or self.waiting or self.failed or self.rejected)

    def is_good(self, wanted: str) -> bool:
        """Return whether it is fresh, and no file was created, deleted or renamed since."""
        if (
            self.wanted != wanted
            or not 0 <= time.time() - self.at < max(LASTING, SHARE * self.seconds)
            or any(map(os.path.exists, self.absent_roots))
            or any(is_readable(path) and not is_empty(path) for path, _ in self.unlisted)
        ):
            return False
        try:
            return all(os.stat(path).st_mtime_ns == mtime_ns for path, mtime_ns in self.directories.items())
        except OSError:
            return False

    def settle(self) -> None:
        """Mark the directories and files that may have changed again since, at the same time by their clock."""
        latest = (self.at - TICK) * 1e9
        self.directories = _settled(self.directories, latest)
        self.containers = {path: _settled(times, latest) for path, times in self.containers.items()}

    def save(self, path: str) -> None:
        """Write it to a file that its owner alone can read; if that fails, the next scan is a full one."""
        values = {name: getattr(self, name) for name in self.__slots__}
        for name in ("waiting", "failed"):
            values[name] = [(number, file.path, file.mtime_ns, file.size) for number, file in values[name]]
        with suppress(OSError):
            write_private(Path(path), json.dumps(values))


def _settled(times: Mapping[str, int], latest: float) -> dict[str, int]:
    return {path: UNSURE if time > latest else time for path, time in times.items()}


def load(path: str) -> ScanCache | None:
    """Return the scan cache in a file; None when there is no valid one."""
    try:
        with open(path, encoding="ascii") as file:
            values: dict[str, Any] = json.load(file)
        for name in ("waiting", "failed"):
            values[name] = [(number, FoundFile(path, time, size)) for number, path, time, size in values[name]]
        values["rejected"] = {path: (time, reason) for path, (time, reason) in values["rejected"].items()}
        return ScanCache(**values)
    except (OSError, ValueError, TypeError, KeyError):
        return None  # missing, damaged, or of an older version: a full scan follows
