"""The cached result of the last full scan, stored next to the index: it spares most of the next scans for a minute.

A full scan gets the modification time of every file, which takes longer than a search when there are many.  A file
that is created, deleted or renamed changes its directory's time, and a session that is resumed was mostly written to
recently.  So as long as the last full scan is fresh, only directories and recently changed files are checked, all
others count as unchanged, and the report has their number and the time of the full scan.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..config.paths import write_private
from ..dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Seconds between two full scans: the longest delay until a session is found that is resumed after a long pause.
LASTING = 60
#: Days since its last change in which a file is checked each time.
RECENT_DAYS = 14
#: Fewer files than this are all checked each time: that takes less than 10 ms.
LEAST = 1_000
#: Seconds in which a directory may change twice and show one time: FAT's clock is the slowest in use.
TICK = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanCache:
    """A full scan that left no work for a run, or whose changes a run has indexed."""

    #: Its start, in seconds since 1970.
    at: float
    #: Identifies the configuration: another one scans other files.
    wanted: str
    #: The modification time of each scanned directory, in nanoseconds, and of roots that are files.
    directories: Mapping[str, int]
    absent_roots: list[str]
    #: Number of files that were as the index knew them, and of those already missing.
    unchanged: int
    missing: int

    @property
    def recent_ns(self) -> int:
        """The modification time from which a file is checked each time, in nanoseconds since 1970."""
        return int((self.at - RECENT_DAYS * 86_400) * 1e9)

    def is_good(self, wanted: str) -> bool:
        """Return whether it is fresh, and no file was created, deleted or renamed since."""
        if (
            self.wanted != wanted
            or not 0 <= time.time() - self.at < LASTING
            or any(map(os.path.exists, self.absent_roots))
        ):
            return False
        try:
            return all(os.stat(path).st_mtime_ns == mtime_ns for path, mtime_ns in self.directories.items())
        except OSError:
            return False

    def save(self, path: str) -> None:
        """Write it to a file that its owner alone can read; if that fails, the next scan is a full one."""
        if any(mtime_ns > (self.at - TICK) * 1e9 for mtime_ns in self.directories.values()):
            return
        with suppress(OSError):
            write_private(Path(path), json.dumps({name: getattr(self, name) for name in self.__slots__}))


def load(path: str) -> ScanCache | None:
    """Return the scan cache in a file; None when there is no valid one."""
    try:
        with open(path, encoding="ascii") as file:
            return ScanCache(**json.load(file))
    except (OSError, ValueError, TypeError):
        return None  # missing, damaged, or of an older version: a full scan follows
