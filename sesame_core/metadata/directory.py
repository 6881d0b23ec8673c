"""Which files of metadata a directory holds, and whose: what a search needs to know of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SUFFIX = ".meta.json"
#: Version of what is taken from a file, as a parser has one.
VERSION = 1


def scan(directory: Path) -> dict[str, int] | None:
    """Return the modification times, in nanoseconds, of all files of metadata, by path; None without a directory.

    :raises OSError: the directory cannot be read.
    """
    try:
        with os.scandir(directory) as entries:
            return {
                entry.path: entry.stat().st_mtime_ns
                for entry in entries
                if entry.name.endswith(SUFFIX) and not entry.name.startswith(".")
            }
    except (FileNotFoundError, NotADirectoryError):
        return None


def id_of(path: str) -> str:
    """Return the id of the session that a file is about, by its name."""
    from urllib.parse import unquote

    return unquote(os.path.basename(path).removesuffix(SUFFIX))
