r"""Directories as people and systems write them: made absolute, and recognised under other names.

One directory has many names: through links, as `C:\Users\ann` and `/mnt/c/Users/ann`, in another case where case does
not count, with composed or decomposed characters.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import unicodedata
from collections.abc import Iterable, Iterator

from ..types.query import is_within

_DRIVE = re.compile(r"([A-Za-z]):(?=[\\/]|$)")
_SHARE = re.compile(r"[\\/]{2}(?=[^\\/])")
#: A directory of Linux as Windows sees it: `\\\\wsl$\\Ubuntu\\home\\ann`.
_LINUX = re.compile(r"[\\/]{2}wsl(?:\$|\.localhost)[\\/][^\\/]+", re.IGNORECASE)
#: A drive of Windows as WSL and Cygwin see it, and as the shells of MSYS do.
_MOUNTED = re.compile(r"/(?:mnt|cygdrive)/([A-Za-z])(?=/|$)")
_MSYS = re.compile(r"/([A-Za-z])(?=/|$)")


def is_of_windows(directory: str) -> bool:
    """Return whether a directory is written as Windows writes them, with a drive or as a share."""
    return bool(_DRIVE.match(directory) or directory.startswith("\\\\"))


def absolute(directory: str) -> str:
    """Return the absolute path of a directory; one of Windows is one wherever it is written."""
    if os.sep == "/" and is_of_windows(directory):
        import ntpath

        return ntpath.normpath(directory)
    return os.path.abspath(os.path.expanduser(directory))


class Names:
    """The names of directories, by which one is compared with others.

    It looks at the files of this machine, and at each directory once.
    """

    def __init__(self) -> None:
        self._real: dict[str, str] = {}
        self._missing: set[str] = set()

    def others(self, directory: str, known: Iterable[str]) -> tuple[str, ...]:
        """Return other names of a directory: its own path, those in the repository's other checkouts, and known ones.

        :param directory: an absolute path.
        :param known: directories that may have one of the names, or be below it.
        """
        from .here import elsewhere

        own = [directory]
        if (here := _on_this_machine(directory)) and "\0" not in here:
            own += [here, os.path.realpath(here)]
            own += elsewhere(own[-1])
        found = dict.fromkeys(own)
        wanted = tuple(dict.fromkeys(key for name in own for key in _keys(name)))
        for one in known:
            if not is_within(one, tuple(found)) and (name := self._topmost(one, directory, wanted)):
                found[name] = None
        del found[directory]
        return tuple(found)

    def _topmost(self, known: str, directory: str, wanted: tuple[str, ...]) -> str | None:
        """Return the highest part of a known directory that is, or is below, the wanted one; None if none is."""
        found = None
        for part in _upwards(known):
            if not self._has(part, wanted):
                break
            found = part
        return found or _in_other_case(known, directory)

    def _has(self, part: str, wanted: tuple[str, ...]) -> bool:
        if any(is_within(key, wanted) for key in _keys(part)):
            return True
        return part.startswith("/") and (real := self.real(part)) != part and is_within(real, wanted)

    def real(self, path: str) -> str:
        """Return a path without links; that of a missing file as it would be."""
        if (known := self._real.get(path)) is not None:
            return known
        parent, name = os.path.split(path)
        found = path
        if parent != path and name:
            above = self.real(parent)
            found = os.path.join(above, name)
            if above in self._missing:
                self._missing.add(found)
            else:
                try:
                    if stat.S_ISLNK(os.lstat(found).st_mode):
                        found = os.path.realpath(found)
                except (OSError, ValueError):
                    self._missing.add(found)
        self._real[path] = found
        return found


def _keys(directory: str) -> Iterator[str]:
    """Yield what is equal for all names of a directory that can be told from the names alone."""
    if linux := _LINUX.match(directory):
        yield from _keys(directory[linux.end() :].replace("\\", "/") or "/")
        return
    if not directory.isascii():
        directory = unicodedata.normalize("NFC", directory)
    drive = _DRIVE.match(directory) or _MOUNTED.match(directory)
    if drive:
        yield _of_windows(drive, directory)
    elif _SHARE.match(directory) and directory.startswith("\\"):
        yield directory.replace("\\", "/").casefold().rstrip("/")
    else:
        yield directory.rstrip("/") or "/"
        if drive := _MSYS.match(directory):
            yield _of_windows(drive, directory)


def _on_this_machine(directory: str) -> str | None:
    """Return the path by which a directory is found here; None for one of Windows elsewhere."""
    if os.sep != "/" or not is_of_windows(directory):
        return directory
    if linux := _LINUX.match(directory):
        return directory[linux.end() :].replace("\\", "/") or "/"
    drive = _DRIVE.match(directory)
    mounted = f"/mnt/{drive[1].lower()}{directory[drive.end() :]}".replace("\\", "/") if drive else ""
    return mounted if os.path.isdir(mounted) else None


def _of_windows(drive: re.Match[str], directory: str) -> str:
    return f"{drive[1]}:{directory[drive.end() :]}".replace("\\", "/").casefold().rstrip("/")


def _in_other_case(known: str, directory: str) -> str | None:
    """Return the part of a known directory that differs from one in case alone, and is one to the file system."""
    part = known[: len(directory)]
    if part.casefold() != directory.casefold() or known[len(directory) :][:1] not in ("", "/", "\\"):
        return None
    try:
        is_same = os.path.samefile(part, directory)
    except (OSError, ValueError):
        is_same = sys.platform in ("darwin", "win32")
    return part if is_same else None


def _upwards(directory: str) -> Iterator[str]:
    """Yield a directory and those above it."""
    while directory:
        yield directory
        cut = max(directory.rfind("/"), directory.rfind("\\"))
        if cut < 1:
            return
        directory = directory[:cut]
