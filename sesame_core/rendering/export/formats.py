"""The formats of an export, and the file that it is written to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...types.export import Export

#: Formats by the ends of file names, and the one of all others.
FORMATS = {".html": "html", ".htm": "html", ".json": "json"}
MARKDOWN = "md"


def written(made: Export, kind: str) -> Iterable[str]:
    """Return an export in a format, a piece at a time, each of whole lines."""
    if kind == "html":
        from .page import page

        return page(made)
    if kind == "json":
        from ..text import as_json
        from .record import export_json

        return [as_json(export_json(made)) + "\n"]
    from .markdown import markdown

    return markdown(made)


def save(file: Path, pieces: Iterable[str], sessions: Iterable[str]) -> None:
    """Write a file that only its owner can read; of one that exists the permissions stay.

    :param sessions: the files of the sessions in it.
    :raises SesameError: it is one of them.
    """
    if any(os.path.exists(file) and os.path.exists(path) and os.path.samefile(file, path) for path in sessions):
        from ...errors import SesameError

        raise SesameError(f"{file} is the file of the session, which only its agent writes: name another file")
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="replace", newline="\n") as out:
        out.writelines(pieces)


def unused(name: str, end: str) -> Path:
    """Return the path of a file in the current directory that does not exist: `35ea950f.html`, `35ea950f-2.html`."""
    stem = "".join(character if character.isalnum() or character in "-_" else "-" for character in name)
    number, file = 1, Path(f"{stem}{end}")
    while os.path.lexists(file):
        number += 1
        file = Path(f"{stem}-{number}{end}")
    return file
