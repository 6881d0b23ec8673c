"""The file or directory that a question is about, under all its names, and whether a call means it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from ..dataclass import dataclass
from ..query.directories import absolute, is_of_windows
from ..query.here import elsewhere, root_of

if TYPE_CHECKING:
    from .same_file import SameFile

#: Most characters of a path that is looked for.
LONGEST = 1_000
#: A line and a column after a path, as compilers and searches write them.
_PLACE = re.compile(r"(?<=[\w)\]}])(?::\d+){1,2}:?$|(?<=\w)#L\d+(?:-L?\d+)?$")
_PLAIN = re.compile(r"[\w.@+-]+")
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

    def may_be_in(self, text: str, directory: str) -> bool:
        """Return whether a call may name the file: a look at its text, in less time than to read its files.

        :param directory: where the call was made, of which a path in it has the beginning.
        """
        plain, above = _compared(text), directory.casefold()
        return any(all(_has(plain, part) or _has(above, part) for part in _plain(name)) for name in self.names)

    def ends(self, path: str) -> Iterator[str]:
        """Yield the beginnings of a path that may be the file's: itself; of a directory those with its name."""
        if not self.is_directory:
            yield path
            return
        written = path.replace("\\", "/").rstrip("/").split("/")
        for end in range(len(written), 0, -1):
            start = _parts("/".join(written[:end]))
            if any(start[-len(own) :] == own for own in map(_parts, self.names)):
                yield "/".join(written[:end])

    def same_file(self) -> SameFile:
        """Return what tells the file of its repository from others of its name."""
        from .same_file import Name, SameFile
        from .target import remote_of

        path = os.path.join(self.checkouts[0], self.name)
        return SameFile(path, self.checkouts, remote_of(self.checkouts[0]), [Name(name) for name in self.names])


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
    if not exists:
        if not _parts(name):
            return None
        if ".." in name.split("/") or name.startswith("~"):
            name = place
        if root is None or not place.startswith(root + os.sep):
            return NamedFile(name, is_directory=is_directory)
    if root is None:
        return NamedFile(place, is_directory=is_directory, exists=exists)
    inside = os.path.relpath(place, root).replace(os.sep, "/")
    others: tuple[str, ...] = ()
    if not is_directory and inside != ".":
        from .git import other_names

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


def _plain(path: str) -> Iterator[str]:
    """Yield the components of a path that nobody has to escape in a command."""
    return (part for part in _parts(path) if _PLAIN.fullmatch(part))


def _compared(text: str) -> str:
    """Return a text in one case, without the quotes that a shell takes out of a path."""
    return text.casefold().replace('"', "").replace("'", "")


def _has(text: str, part: str) -> bool:
    """Return whether a text has a component of a path, and not only as a part of a word."""
    place = text.find(part)
    while place >= 0:
        end = place + len(part)
        is_escape = text[place - 2 : place - 1] == "\\"  # `\n` in code
        if is_escape or not (_goes_on(text, place) or _goes_on(text, end)):
            return True
        place = text.find(part, end)
    return False


def _goes_on(text: str, place: int) -> bool:
    """Return whether the characters before and at a place are of one word."""
    return 0 < place < len(text) and _is_of_word(text[place - 1]) and _is_of_word(text[place])


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _last(path: str) -> str:
    return next(iter(_parts(path)[-1:]), "")


def last_parts(names: Iterable[str], number: int) -> list[str]:
    """Return the ends of paths with this number of components, each once."""
    ends = ("/".join(name.replace("\\", "/").strip("/").split("/")[-number:]) for name in names)
    return [end for end in dict.fromkeys(ends) if end]
