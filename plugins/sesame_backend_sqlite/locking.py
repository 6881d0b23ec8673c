"""The lock that allows one writer per index, and the note next to it that says who holds it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from sesame_core.errors import BackendError, LockedError


class WriteLock:
    """The write lock of the index in a directory.

    :param directory: created when the lock is first taken.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock: BaseFileLock | None = None
        self._note = directory / "index.holder"
        #: The stamp of the note as this process wrote it.
        self._written: tuple[int, int] | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock; the operating system releases it when the process dies.

        :raises LockedError: another process holds it.
        :raises BackendError: the directory cannot be written.
        """
        try:
            # Transcripts are private, whatever the umask.
            if not self._directory.is_dir():
                self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._lock is None:
                self._lock = FileLock(self._directory / "index.lock", timeout=0, is_singleton=False)
            self._lock.acquire()
        except Timeout:
            raise LockedError(f"the index is being written by {self._holder()}; try again when it is done") from None
        except OSError as error:
            raise BackendError(f"cannot write to {self._directory}: {error.strerror or error}") from error
        try:
            self._leave_note()
            yield
        finally:
            self._lock.release()

    def close(self) -> None:
        """Remove the note, if it is this process's."""
        with suppress(OSError):
            if self._written is not None and self._written == _stamp(self._note):
                self._note.unlink()
        self._written = None

    def _leave_note(self) -> None:
        """Write who holds the lock, for the error of another writer; a note that is unchanged is not written again."""
        # Only for the message; on a full disk the lock alone suffices.
        with suppress(OSError):
            if self._written is not None and self._written == _stamp(self._note):
                return
            program = " ".join(sys.argv)[:200]
            self._note.write_text(f"{program} (process {os.getpid()}, since {datetime.now():%H:%M:%S})")
            self._written = _stamp(self._note)

    def _holder(self) -> str:
        try:
            return self._note.read_text() or "another process"
        except OSError:
            return "another process"


def _stamp(note: Path) -> tuple[int, int] | None:
    """Return values that change when another process writes a note; None when there is none."""
    try:
        stat = note.stat()
    except FileNotFoundError:
        return None
    return stat.st_ino, stat.st_mtime_ns
