"""The file or directory that a question is about, under all its names, and whether a call means it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from ..dataclass import dataclass
from ..query.directories import absolute, is_of_windows
from ..query.here import elsewhere, root_of

if TYPE_CHECKING:
    from ..types.transcript import Session

#: Most characters of a path that is looked for.
LONGEST = 1_000
#: A line and a column after a path, as compilers and searches write them.
_PLACE = re.compile(r"(?<=[\w)\]}])(?::\d+){1,2}:?$|(?<=\w)#L\d+(?:-L?\d+)?$")
#: A name with an extension, or a path.
_NAME = re.compile(r"(?:[^\s/\\]*[\w\])}]\.[A-Za-z][\w-]{0,11}|\.[A-Za-z][\w.-]+|[^\s]*[/\\][^\s]*)")


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file or directory, as calls may name it."""

    #: Below its repository, if it is in one; otherwise as it was asked for.
    name: str
    other_names: tuple[str, ...] = ()
    is_directory: bool = False
    #: Whether it is on this machine.
    exists: bool = False
    #: The directories in which its repository is checked out, if it is in one on this machine.
    checkouts: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names."""
        return (self.name, *self.other_names)

    @property
    def is_word(self) -> bool:
        """Whether it may as well be a word: it has no slash and no extension, and no such file is here."""
        return not self.exists and not _NAME.fullmatch(self.name)

    def is_meant(self, path: str) -> bool:
        """Return whether a path in a call is the file's, or of a file in the directory, in whatever checkout."""
        parts = _parts(path)
        for name in self.names:
            own = _parts(name)
            if self.is_directory:
                if any(parts[at : at + len(own)] == own for at in range(len(parts) - len(own) + 1)):
                    return True
            elif parts[-len(own) :] == own:
                return True
        return False

    def is_same(self, session: Session, path: str) -> bool:
        """Return whether a path that may be meant is the file's in a session of its repository.

        `packages/a/src/index.ts` ends like `src/index.ts`, and is another file.
        """
        parts = _parts(path)
        checkouts = [root for place in self.checkouts if parts[: len(root := _parts(place))] == root]
        if checkouts:
            inside = parts[len(max(checkouts, key=len)) :]
            ends = [len(own) if self.is_directory else None for own in map(_parts, self.names)]
            return any(inside[:end] == _parts(name) for name, end in zip(self.names, ends, strict=True))
        places = {_parts(place) for place in session.places}
        known = {_last(place) for place in self.checkouts}
        for name in self.names:
            own = _parts(name)
            for at in range(len(parts) - len(own) + 1) if self.is_directory else [len(parts) - len(own)]:
                above = parts[: max(at, 0)]
                if parts[at : at + len(own)] != own or at < 0:
                    continue
                is_below = any(above[: len(place)] == place and above != place for place in places)
                if not is_below or above[-1] in known or any("worktree" in part for part in above):
                    return True
        return False

    def is_here(self, session: Session) -> bool:
        """Return whether a session was in the file's repository: in one of its checkouts, or in one of its name."""
        known = {_last(place) for place in self.checkouts}
        if session.repository and _last(session.repository) in known:
            return True
        return any(known & set(_parts(place)) for place in session.places)


def named_file(about: str) -> NamedFile | None:
    """Return the file that a question may be about; None if its text cannot be one."""
    text = about.strip().removeprefix("file://").removeprefix("@")
    if not text or "\n" in text or "\0" in text or len(text) > LONGEST:
        return None
    if not os.path.lexists(absolute(text)):
        text = _PLACE.sub("", text)
    place = absolute(text)
    if not _parts(place):
        return None
    exists = os.path.lexists(place)
    is_prose = re.search(r"\s", text) and not re.search(r"[/\\]|\.\w+$", text)
    if not exists and (is_prose or ":" in text[2:]):
        return None
    is_directory = os.path.isdir(place) if exists else text.endswith(("/", "\\"))
    above = place if exists and is_directory else os.path.dirname(place)
    root = root_of(above) if exists or not is_of_windows(text) else None
    name = text.replace("\\", "/")
    name = re.sub(r"/{2,}|/(?:\./)+", "/", name.removeprefix("./")).rstrip("/") or name
    if not _parts(name):
        return None
    if not exists:
        if ".." in name.split("/") or name.startswith("~"):
            name = place
        if root is None or not place.startswith(root + os.sep):
            return NamedFile(name, is_directory=is_directory)
    if root is None:
        return NamedFile(place, is_directory=is_directory, exists=exists)
    inside = os.path.relpath(place, root).replace(os.sep, "/")
    others: tuple[str, ...] = ()
    if not is_directory and inside != ".":
        from .renames import other_names

        others = other_names(root, inside)
    if not exists and not others:
        # It need not be of this repository.
        return NamedFile(name, is_directory=is_directory)
    checkouts = tuple(dict.fromkeys((root, os.path.realpath(root), *elsewhere(root))))
    return NamedFile(inside if inside != "." else root, others, is_directory, exists, checkouts)


@lru_cache(maxsize=4_096)
def _parts(path: str) -> tuple[str, ...]:
    """Return the components of a path, in one case."""
    parts: list[str] = []
    for part in path.replace("\\", "/").casefold().split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return tuple(parts)


def _last(path: str) -> str:
    return next(iter(_parts(path)[-1:]), "")


def last_parts(names: Iterable[str], number: int) -> list[str]:
    """Return the ends of paths with this number of components, each once."""
    ends = ("/".join(name.replace("\\", "/").strip("/").split("/")[-number:]) for name in names)
    return [end for end in dict.fromkeys(ends) if end]
