"""What the program `git` says of a file, in bounded time: the names that it had before, and has now."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime

from ..errors import SesameError
from .same_file import Name

#: Seconds that git may take: it reads the whole history, of a large one only the latest part in this time.
SECONDS = 1.0
#: Most former names.
MOST = 8
#: Settings under which git runs no program of a repository's configuration.
_PLAIN = ("-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c", "core.quotePath=false", "--no-pager")


class Git:
    """The repository around a file; every question has an answer, without git and outside of one an empty one."""

    def __init__(self, root: str | None) -> None:
        self._root = root
        self._log: subprocess.Popen[bytes] | None = None

    def begin(self, name: str) -> None:
        """Start reading the history of a file, while something else is done."""
        command = ("log", "--follow", "--diff-filter=R", "--format=%x01%at", "--name-status", "-z", "--no-ext-diff")
        self._log = self._start(*command, "--", name)

    def former(self) -> list[Name]:
        """Return the former names of the file that `begin` was called with, the latest first."""
        return _names(self._output(self._log)) if self._log else []

    def renamed_to(self, name: str) -> str | None:
        """Return the name that the last commit with a file gave it; None if that deleted it."""
        commit = self.output("log", "-1", "--format=%H", "--", name).strip()
        if not commit:
            return None
        options = ("-M", "--name-status", "--diff-filter=R", "--format=", "-z", "--no-ext-diff")
        fields = self.output("show", *options, commit).split("\0")
        places = (n for n, field in enumerate(fields) if field == name and fields[n - 1].strip()[:1] == "R")
        return next((fields[n + 1] for n in places if n + 1 < len(fields)), None)

    def output(self, *arguments: str) -> str:
        """Return what git prints; "" if it fails."""
        return self._output(started).decode("utf-8", "replace") if (started := self._start(*arguments)) else ""

    def _start(self, *arguments: str) -> subprocess.Popen[bytes] | None:
        if self._root is None:
            return None
        environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
        try:
            return subprocess.Popen(
                ["git", "-C", self._root, *_PLAIN, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return None  # a machine without git
        except OSError as error:
            raise SesameError(f"cannot start git: {error.strerror or error}") from error

    @staticmethod
    def _output(started: subprocess.Popen[bytes]) -> bytes:
        """Return what a process prints until its time is over."""
        with started:
            try:
                return started.communicate(timeout=SECONDS)[0]
            except subprocess.TimeoutExpired:
                started.kill()
                return started.communicate()[0]


def other_names(root: str, name: str) -> tuple[str, ...]:
    """Return other names of a file, relative to the root of its repository; none without git.

    :param name: relative to the root; the file may have been renamed since.
    """
    git = Git(root)
    git.begin(name)
    found = [former.path for former in git.former()]
    now: str | None = name
    later: list[str] = []
    while now and len(later) < MOST and not os.path.lexists(os.path.join(root, now)):
        now = git.renamed_to(now)
        if now is None or now in later:
            break
        later.append(now)
    found = [*reversed(later), *found]
    return tuple(other for other in dict.fromkeys(found) if other != name)[:MOST]


def _names(output: bytes) -> list[Name]:
    """Return the former names in the output of `git log --follow`: of each commit the time, `R100`, from, to."""
    found: list[Name] = []
    for commit in output.decode("utf-8", "surrogateescape").split("\x01")[1:]:
        time, *parts = commit.strip("\n").split("\0")
        parts = [part.strip("\n") for part in parts if part.strip("\n")]
        if len(parts) >= 3 and parts[0].startswith("R") and time.strip().isdigit():
            found.append(Name(parts[1], datetime.fromtimestamp(int(time), UTC)))
    return found[:MOST]
