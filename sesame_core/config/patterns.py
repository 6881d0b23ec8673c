"""Matches patterns of `exclude` and `share` against the project's directory and the file's path."""

from __future__ import annotations

import fnmatch
import functools
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import PurePath


def is_excluded(patterns: Sequence[str], path: str | PurePath | None, cwd: str | None) -> bool:
    """Return whether a pattern matches a session's file or its project directory.

    A pattern matches a path when it matches the whole path, a directory above it, or any single name in it.  In a
    pattern `*` stands for any characters, including `/`, `?` and `[…]` for one character, and `~` at the beginning for
    the home directory; a name that has these characters itself matches as it is.

    :param path: the session's file; None to ignore it.
    :param cwd: the session's working directory; None or "" when unknown.
    """
    return fits(patterns, (path, cwd))


def fits(patterns: Sequence[str], places: Sequence[str | PurePath | None]) -> bool:
    """Return whether a pattern matches one of several paths, as in `is_excluded`; None and "" match none."""
    if not patterns:
        return False
    matches = _compiled(tuple(patterns)).match
    return any(matches(text) for place in places if place for text in _texts(PurePath(place)))


def can_match(pattern: str) -> bool:
    """Return whether a pattern can match anything: one of several names must start like an absolute path."""
    pattern = _expanded(pattern)
    return bool(pattern) and ("/" not in pattern or os.path.isabs(pattern) or pattern[0] in "*?[")


def _texts(path: PurePath) -> Iterator[str]:
    for text in (path, *path.parents, *path.parts):
        yield _normal(str(text))


def _normal(text: str) -> str:
    # macOS may return names in decomposed form, while people type composed ones.
    return os.path.normcase(unicodedata.normalize("NFC", text))


@functools.lru_cache(maxsize=64)
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    expanded = [_normal(_expanded(pattern)) for pattern in patterns]
    # Literally, too: directories of routes are called `[id]`.
    literal = (rf"(?:{re.escape(pattern)})\Z" for pattern in expanded if "[" in pattern)
    return re.compile("|".join((*map(fnmatch.translate, expanded), *literal)))


def _expanded(pattern: str) -> str:
    return os.path.expanduser(pattern.rstrip("/") or pattern[:1])
