"""Lists the metadata files of a directory: all that a search needs to know of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SUFFIX = ".meta.json"
#: Version of the content that is indexed from a file, like the version of a parser.
VERSION = 1


def scan(directory: Path) -> dict[str, int] | None:
    """Return the modification times, in nanoseconds, of all metadata files, by path; None without a directory.

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
    """Return the id of the session that a file describes, from the file's name."""
    from urllib.parse import unquote

    return unquote(os.path.basename(path).removesuffix(SUFFIX))
