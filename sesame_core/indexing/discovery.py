"""Finds session files under a root: one pass of `scandir`, links followed once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence


class FoundFile:
    """A file that may be a session, by its real path.  There may be many, so it is as plain as can be."""

    __slots__ = ("mtime_ns", "path", "size")

    def __init__(self, path: str, mtime_ns: int, size: int) -> None:
        self.path = path
        self.mtime_ns = mtime_ns
        self.size = size


def scan(root: str, is_wanted: Callable[[str], bool], directories: dict[str, int] | None = None) -> Iterator[FoundFile]:
    """Yield the wanted files below a root (or the root itself when it is a file), each once, by its real path.

    Only regular files count.  Directories that cannot be read and files that vanish meanwhile are passed over, as
    are loops of links.

    :param is_wanted: asked with each file's real path before the file is looked at.
    :param directories: takes the modification time of each directory, in nanoseconds, before what is in it is looked
        at; that of the root when it is a file.
    """
    real = os.path.realpath(root)
    if os.path.isfile(real):
        for found in _found(real, is_wanted):
            if directories is not None:
                directories[real] = found.mtime_ns
            yield found
        return
    seen_directories = {real}
    seen_files: set[str] = set()
    waiting = [real]
    while waiting:
        directory = waiting.pop()
        try:
            if directories is not None:
                directories[directory] = os.stat(directory).st_mtime_ns
            entries = os.scandir(directory)
        except OSError:
            continue
        with entries:
            for entry in entries:
                path = entry.path
                if entry.is_symlink():
                    path = os.path.realpath(path)
                    if os.path.isdir(path):
                        if path not in seen_directories:
                            seen_directories.add(path)
                            waiting.append(path)
                    elif path not in seen_files:
                        seen_files.add(path)
                        yield from _found(path, is_wanted)
                elif entry.is_dir(follow_symlinks=False):
                    if path not in seen_directories:
                        seen_directories.add(path)
                        waiting.append(path)
                elif entry.is_file(follow_symlinks=False) and path not in seen_files and is_wanted(path):
                    seen_files.add(path)
                    try:
                        stat = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue
                    yield FoundFile(path, stat.st_mtime_ns, stat.st_size)


def belongs(path: str, parser: str, exclude: Sequence[str], known: str | None, matches: Callable[[str], bool]) -> bool:
    """Tell whether a file is one of a source's.

    :param parser: name of the source's parser, and `exclude` the patterns of what it leaves out.
    :param known: name of the parser by which the index knows the file; None when it does not.
    :param matches: asks the parser about a file that the index does not know.
    """
    if exclude:
        from ..config.patterns import is_excluded

        if is_excluded(exclude, path, None):
            return False
    return matches(path) if known is None else known == parser


def is_below(path: str, root: str) -> bool:
    """Tell whether a real path is a root or lies in the tree below it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _found(path: str, is_wanted: Callable[[str], bool]) -> Iterator[FoundFile]:
    if not os.path.isfile(path) or not is_wanted(path):
        return
    try:
        stat = os.stat(path)
    except OSError:
        return
    yield FoundFile(path, stat.st_mtime_ns, stat.st_size)
