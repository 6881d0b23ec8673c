"""Whether the path in a call means the file that is asked about: on this machine, on others, in other checkouts."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from datetime import datetime
from enum import IntEnum
from typing import NamedTuple

from ..types.query import Filters, is_within, names_of
from ..types.transcript import Session


class Level(IntEnum):
    """How certain it is that a path means the file."""

    OTHER = 0
    #: Only its last part is the same.
    ALIKE = 1
    #: The same path in a directory of which nothing tells that it is the same repository.
    LIKELY = 2
    SAME = 3


class Name(NamedTuple):
    """A name that the file has or had, relative to its repository."""

    path: str
    #: When it was renamed; None for the present name.
    until: datetime | None = None


class SameFile:
    """The names of one file, in all checkouts of its repository.

    :param path: its absolute path.
    :param roots: directories in which the repository is checked out, under all their names.
    :param repository: its remote, "" if it is not known.
    :param names: the present name, then former ones.
    """

    def __init__(self, path: str, roots: Sequence[str], repository: str, names: Sequence[Name]) -> None:
        self._path = _key(path)
        self._roots = tuple(root.replace("\\", "/").rstrip("/") for root in roots)
        self._keys = tuple(map(_key, self._roots))
        self._called = {root.rsplit("/", 1)[-1] for root in self._keys} - {""}
        self._repository = repository
        self.names = list(names)
        self._belongs: dict[str, int] = {}

    def level(self, path: str, session: Session, at: datetime | None) -> Level:
        """Return how certain it is that a path, in a call of a session at this time, means the file."""
        path = _key(path)
        found = Level.OTHER
        for name in self.names:
            if name.until is not None and at is not None and at > name.until:
                continue
            own = _key(name.path)
            if path.rsplit("/", 1)[-1] == own.rsplit("/", 1)[-1]:
                found = max(found, self._level(path, own, session))
        return found

    def relative(self, path: str, session: Session) -> str:
        """Return a path as it is in the repository, as far as the session's directories tell."""
        path = _plain(path)
        for root in (*self._roots, *(place.replace("\\", "/").rstrip("/") for place in session.places)):
            if path.startswith(root + "/"):
                return path[len(root) + 1 :]
        return path

    def beside(self, path: str, other: str) -> str | None:
        """Return another path as it is in the repository, if it is in the directory of one that means the file."""
        above, _, last = path.replace("\\", "/").rpartition("/")
        beside, _, name = other.replace("\\", "/").rpartition("/")
        if above != beside:
            return None
        own = next((one.path for one in self.names if one.path.rsplit("/", 1)[-1] == last), "")
        return f"{own.rpartition('/')[0]}/{name}".lstrip("/") if own else None

    def belongs(self, session: Session) -> int:
        """Return 2 for a session in the repository, 1 for one in a directory of its name, -1 for one in another."""
        found = self._belongs.get(session.key or session.id)
        if found is None:
            found = self._belongs[session.key or session.id] = self._compared(session)
        return found

    def _compared(self, session: Session) -> int:
        places = list(map(_key, session.places))
        theirs = (session.repository or "").lower()
        if theirs and theirs == self._repository:
            return 2
        if theirs and theirs.rpartition("/")[2] in self._called:
            return 1  # a fork, or a repository without a remote here
        if theirs and self._repository:
            return -1
        if any(is_within(place, self._keys) for place in places):
            return 2
        return int(any(self._called.intersection(place.split("/")) for place in places))

    def _level(self, path: str, name: str, session: Session) -> Level:
        places = list(map(_key, session.places))
        is_absolute = path.startswith("/") or path[1:2] == ":"
        full = [path] if is_absolute else [_plain(f"{place}/{path}") for place in places]
        if path.startswith("../") and full:
            return max(self._level(one, name, session) for one in full)
        if any(one == self._path or any(one == f"{root}/{name}" for root in self._keys) for one in full):
            return Level.SAME
        if (
            is_absolute
            and is_within(path, self._keys)
            and not any(f"/{w}/" in path for w in (".worktrees", "worktrees"))
        ):
            return Level.OTHER
        belongs = self.belongs(session)
        if belongs < 0:
            return Level.ALIKE
        if path == name or path.endswith("/" + name):
            above = path[: -len(name) - 1]
            is_root = above in places or not above or self._is_called(above)
            if belongs and is_root:
                return Level.SAME
            return Level.LIKELY if "/" in name or self._is_called(above) else Level.ALIKE
        if not is_absolute and name.endswith("/" + path):
            missing = name[: -len(path) - 1]
            is_below = any(place == missing or place.endswith("/" + missing) for place in places)
            if is_below and belongs:
                return Level.SAME
            return Level.LIKELY if belongs or is_below else Level.ALIKE
        return Level.ALIKE

    def _is_called(self, directory: str) -> bool:
        """Return whether a directory has the name of the repository, or is a worktree in one that has it."""
        parts = directory.rsplit("/", 3)
        return parts[-1] in self._called or (
            bool(self._called.intersection(directory.split("/"))) and any("worktrees" in part for part in parts)
        )


def _plain(path: str) -> str:
    """Return a path with slashes, without `.` and `..` inside."""
    path = path.replace("\\", "/")
    return posixpath.normpath(path) if "./" in path else path


def _key(path: str) -> str:
    """Return a path as it is compared: some file systems take either case."""
    return _plain(path).rstrip("/").casefold()


def roots_of(directory: str | None, resolved: Filters) -> tuple[str, ...]:
    """Return the directories in which a repository is checked out.

    :param resolved: filters whose places are the directory, with its other names.
    """
    if directory is None:
        return ()
    return tuple(dict.fromkeys(name for place in resolved.places for name in names_of(place)))
