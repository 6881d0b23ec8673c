"""Lists the files of a directory of metadata: all that a search needs to know of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SUFFIX = ".meta.json"
#: Ends the name of a file with what a person marked.
MARKS_SUFFIX = ".marks.json"
#: Version of the content that is indexed from a file, like the version of a parser.
VERSION = 1


def scan(directory: Path, *, has_marks: bool = False, has_metadata: bool = True) -> dict[str, int] | None:
    """Return the modification times, in nanoseconds, of all metadata files, by path; None without a directory.

    :param has_marks: whether files with marks count.
    :param has_metadata: whether the others do.
    :raises OSError: the directory cannot be read.
    """
    endings = (SUFFIX,) * has_metadata + (MARKS_SUFFIX,) * has_marks
    try:
        with os.scandir(directory) as entries:
            return {
                entry.path: entry.stat().st_mtime_ns
                for entry in entries
                if entry.name.endswith(endings) and not entry.name.startswith(".")
            }
    except (FileNotFoundError, NotADirectoryError):
        return None


def id_of(path: str) -> str:
    """Return the id of the session that a file is about, from the file's name."""
    from urllib.parse import unquote

    return unquote(os.path.basename(path).removesuffix(SUFFIX).removesuffix(MARKS_SUFFIX))
