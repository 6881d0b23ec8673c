"""Finds session files that their agent will soon delete by itself, such as Claude Code after its clean-up period."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..config.patterns import is_excluded
from ..plugin.backend import TracksFiles
from .discovery import is_below
from .scan_root import files_of

if TYPE_CHECKING:
    from ..config.model import Source
    from ..plugin.backend import IndexReader
    from ..plugin.parser import Parser
    from .discovery import Files

#: Days before its deletion in which a session file is reported.
NOTICE_DAYS = 7


def expiring(sources: Iterable[tuple[Source, str, Parser]], reader: IndexReader) -> dict[str, int]:
    """Return, by agent, the number of indexed session files that it will delete within `NOTICE_DAYS`.

    :param sources: with their real paths and parsers.
    """
    counts: dict[str, int] = {}
    for source, root, parser in sources:
        # Not isinstance: from Python 3.12 on it loads `inspect` to find that a method of a Protocol (`Expiring`) is
        # missing, and of most parsers it is.
        expires_after_days: Callable[[], int | None] | None = getattr(parser, "expires_after_days", None)
        days = expires_after_days() if expires_after_days else None
        if days is None:
            continue
        name, files = source.parser.name, files_of(parser)
        oldest = int((time.time() - (days - NOTICE_DAYS) * 86_400) * 1e9)
        known = reader.known_files(last_ns=oldest) if isinstance(reader, TracksFiles) else {}
        for path, (mtime_ns, of, _, is_missing, *_) in known.items():
            is_one = of == name and mtime_ns < oldest and not is_missing and is_below(path, root)
            if is_one and _is_older(files, path, oldest):
                counts[name] = counts.get(name, 0) + (not is_excluded(source.exclude, path, None))
    return {name: count for name, count in counts.items() if count}


def _is_older(files: Files, path: str, mtime_ns: float) -> bool:
    """Return whether a file exists and has not changed since a time; one that cannot be checked counts as missing."""
    try:
        return files.found(path).mtime_ns < mtime_ns
    except OSError:
        return False
