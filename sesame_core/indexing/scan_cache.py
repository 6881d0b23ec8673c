"""What the last look at all files found, kept beside the index: for a minute it spares most of the next ones.

A look at all files asks the system for each one's time, which takes longer than a search when there are many.  A file
that comes, goes or gets another name changes its directory's time, and a session that goes on was mostly written to
lately.  So as long as the last look is fresh, directories and the files that changed lately are looked at, the others
are taken to be as they were, and the report says how many those are and since when.
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

#: Seconds until all files are looked at again: so late may a session be found that goes on after a long pause.
LASTING = 60
#: Days since its last change in which a file is looked at each time.
RECENT_DAYS = 14
#: Fewer files are looked at all of them each time: that takes less than 10 ms.
LEAST = 1_000
#: Seconds in which a directory may change twice and show one time: FAT's clock is the slowest in use.
TICK = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanCache:
    """One look at all files that found nothing a run would have to do, or whose findings a run has put right."""

    #: When it began, in seconds since 1970.
    at: float
    #: What was looked for: another configuration looks for something else.
    wanted: str
    #: The time of each directory that was seen, in nanoseconds, and of roots that are files.
    directories: Mapping[str, int]
    absent_roots: list[str]
    #: Files that were as the index knew them, and those that were gone already.
    unchanged: int
    missing: int

    @property
    def recent_ns(self) -> int:
        """The time since which a file must have changed to be looked at each time, in nanoseconds since 1970."""
        return int((self.at - RECENT_DAYS * 86_400) * 1e9)

    def is_good(self, wanted: str) -> bool:
        """Tell whether it is fresh, and no file has come, gone or got another name since."""
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

    def keep(self, path: str) -> None:
        """Write it to a file that its owner alone can read; the next look does without when that fails."""
        if any(mtime_ns > (self.at - TICK) * 1e9 for mtime_ns in self.directories.values()):
            return
        with suppress(OSError):
            write_private(Path(path), json.dumps({name: getattr(self, name) for name in self.__slots__}))


def kept(path: str) -> ScanCache | None:
    """Return the look that a file holds; None when there is none."""
    try:
        with open(path, encoding="ascii") as file:
            return ScanCache(**json.load(file))
    except (OSError, ValueError, TypeError):
        return None  # absent, damaged, or an older Sesame's: then all files are looked at
