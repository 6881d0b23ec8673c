"""Finds session files under a root: one pass of `scandir`, links followed once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..types.index import KnownFile


class FoundFile:
    """A file that may be a session, by its real path.  A plain class, because there may be many."""

    __slots__ = ("mtime_ns", "path", "size")

    def __init__(self, path: str, mtime_ns: int, size: int) -> None:
        self.path = path
        self.mtime_ns = mtime_ns
        self.size = size


class Files:
    """The session files of a parser, as the file system has them; `ListedFiles` are those that a parser lists.

    Whatever asks whether a session file is there, or how new it is, asks here.
    """

    #: The times of the files that tell of changes in each container that was scanned.
    containers: Mapping[str, dict[str, int]] = MappingProxyType({})
    #: Whether a parser lists them.
    is_listed = False

    def scan(
        self,
        root: str,
        is_wanted: Callable[[str], bool],
        directories: dict[str, int] | None = None,
        problems: dict[str, Exception] | None = None,
    ) -> Iterator[FoundFile]:
        """Yield the wanted files below a root, as the function `scan`."""
        return scan(root, is_wanted, directories, problems)

    def scan_again(
        self,
        root: str,
        is_wanted: Callable[[str], bool],
        known: Mapping[str, KnownFile],
        containers: Mapping[str, Mapping[str, int]],
        since_ns: int,
        problems: dict[str, Exception],
    ) -> Iterator[FoundFile]:
        """Yield the wanted ones of the known files below a root that exist.

        :param known: the files that the index knows and that changed since then, by path.
        :param containers: as they were at the last full scan.
        :param since_ns: the modification time from which a file is checked each time.
        """
        for path in known:
            if is_wanted(path) and is_below(path, root):
                try:
                    yield self.found(path)
                except OSError:
                    continue

    def found(self, path: str) -> FoundFile:
        """Return a file as it is at present.

        :raises FileNotFoundError: it does not exist.
        :raises OSError: it cannot be checked.
        """
        stat = os.stat(path)
        return FoundFile(path, stat.st_mtime_ns, stat.st_size)

    def may_exist(self, path: str) -> bool:
        """Return whether a file may exist, as the function `may_exist`."""
        return may_exist(path)


#: The files of all parsers that do not list their sessions.
FILES = Files()


def scan(
    root: str,
    is_wanted: Callable[[str], bool],
    directories: dict[str, int] | None = None,
    problems: dict[str, Exception] | None = None,
) -> Iterator[FoundFile]:
    """Yield the wanted files below a root (or the root itself when it is a file), each once, by its real path.

    Only regular files count.  Files that are deleted during the scan are skipped; what cannot be read is skipped, too,
    and collected.

    :param is_wanted: called with each file's real path before the file is checked.
    :param directories: collects the modification time of each directory, in nanoseconds, before its entries are
        scanned; that of the root when it is a file.
    :param problems: collects the directories and links that cannot be read, by path; a root that does not exist is
        none of them.
    """
    start = _Target(root)
    is_file = start.is_file()
    problems = {} if problems is None else problems
    for file in [start] if is_file else _files(start.path, directories, problems):
        if is_wanted(file.path) and (found := _found(file, problems)):
            if is_file and directories is not None:
                directories[found.path] = found.mtime_ns
            yield found


def is_below(path: str, root: str) -> bool:
    """Return whether a real path is a root or is in the tree below it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def may_exist(path: str) -> bool:
    """Return whether a file may exist: False only when its directory was searched for it, or is itself gone."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # it could not be looked for: no permission, a server that does not answer
    return True


def is_storable(path: str) -> bool:
    """Return True.

    :raises OSError: no database can store the file's name.
    """
    try:
        path.encode()
    except UnicodeEncodeError:
        import errno

        raise OSError(errno.EILSEQ, "its path is not UTF-8") from None
    return True


def is_empty(path: str) -> bool:
    """Return whether a path is a directory without entries: perhaps one to which nothing is mounted."""
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def is_readable(path: str) -> bool:
    """Return whether the entries of a directory, or the target of a link, can be read."""
    try:
        if os.path.isdir(path):
            os.scandir(path).close()
        else:
            os.stat(path)
    except OSError:
        return False
    return True


class _Target:
    """The target of a path whose links are followed, with the methods of `os.DirEntry`."""

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)

    def is_dir(self, *, follow_symlinks: bool = False) -> bool:
        return os.path.isdir(self.path)

    def is_file(self, *, follow_symlinks: bool = False) -> bool:
        return os.path.isfile(self.path)

    def stat(self, *, follow_symlinks: bool = False) -> os.stat_result:
        return os.stat(self.path)


def _files(
    root: str, directories: dict[str, int] | None, problems: dict[str, Exception]
) -> Iterator[os.DirEntry[str] | _Target]:
    """Yield the regular files below a real path, each once."""
    seen = {root}
    waiting = [root]
    while waiting:
        for entry in _entries(waiting.pop(), directories, problems):
            if entry.is_symlink():
                if (error := _link_error(entry.path)) is not None:
                    from .temporary import is_temporary

                    if not is_temporary(entry.name):  # Emacs locks a file with a link to no file
                        problems[entry.path] = error
                    continue
                file: os.DirEntry[str] | _Target = _Target(entry.path)
            else:
                file = entry
            path = file.path
            if path in seen:
                continue
            if file.is_dir(follow_symlinks=False):
                seen.add(path)
                waiting.append(path)
            elif file.is_file(follow_symlinks=False):
                seen.add(path)
                yield file


def _link_error(path: str) -> OSError | None:
    """Return why the target of a link cannot be reached; None when it can, or when the link was deleted."""
    try:
        os.stat(path)
    except FileNotFoundError as error:
        if not os.path.islink(path):
            return None
        return FileNotFoundError(error.errno, f"its target does not exist: {os.readlink(path)}")
    except OSError as error:
        return error
    return None


def _entries(
    directory: str, directories: dict[str, int] | None, problems: dict[str, Exception]
) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of a directory; none when it cannot be read."""
    try:
        if directories is not None:
            directories[directory] = os.stat(directory).st_mtime_ns
        with os.scandir(directory) as entries:
            yield from entries
    except (FileNotFoundError, NotADirectoryError):
        return  # deleted since it was found; a root that does not exist is reported as such
    except OSError as error:
        problems[directory] = error


def _found(entry: os.DirEntry[str] | _Target, problems: dict[str, Exception]) -> FoundFile | None:
    """Return a file with its time and size; None when it was deleted, or cannot be reached."""
    try:
        stat = entry.stat(follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError as error:
        problems[os.path.dirname(entry.path)] = error  # its names can be read, and nothing in it can be reached
        return None
    except OSError as error:
        problems[entry.path] = error
        return None
    return FoundFile(entry.path, stat.st_mtime_ns, stat.st_size)
