"""Brings the notes in an index in step with the files of metadata, whether the sessions have changed or not."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ParseError
from ..plugin.backend import Annotating
from ..types.index import NOTES, IndexedFile
from ..types.report import FileProblem
from . import files as metadata

if TYPE_CHECKING:
    from ..plugin.backend import IndexWriter
    from ..types.report import IndexReport


def enrich(
    writer: IndexWriter,
    directory: Path,
    known: Mapping[str, IndexedFile],
    stored_path: Callable[[str], str],
    report: IndexReport,
    deadline: float | None = None,
) -> None:
    """Take in the files that changed, and take back what those said that are gone.

    A file that cannot be understood counts as gone, and as an error in the report.

    :param directory: of the files of metadata.
    :param known: what the index knew of files before the run, by stored path.
    :param stored_path: returns the stored path of a real one.
    :param deadline: `time.monotonic()` after which the rest is left to the next run.
    """
    try:
        found = metadata.scan(directory)
    except OSError as error:
        report.errors.append(FileProblem(path=str(directory), message=error.strerror or str(error)))
        return
    if found is None or not isinstance(writer, Annotating):
        return
    changed = [path for path, mtime_ns in found.items() if _is_changed(known.get(stored_path(path)), mtime_ns)]
    there = set(map(stored_path, found))
    gone = [p for p, file in known.items() if file.parser == NOTES and p not in there and file.missing_since is None]
    for number, path in enumerate([*changed, *gone]):
        if deadline is not None and time.monotonic() >= deadline:
            report.pending += len(changed) + len(gone) - number
            return
        take_in(writer, path, found.get(path), report)


def _is_changed(known: IndexedFile | None, mtime_ns: int) -> bool:
    return (
        known is None
        or known.error is not None
        or known.missing_since is not None
        or (known.mtime_ns, known.parser_version) != (mtime_ns, metadata.VERSION)
    )


def take_in(writer: IndexWriter, path: str, mtime_ns: int | None, report: IndexReport) -> None:
    """Let the index have what one file says.

    :param mtime_ns: None when the file is gone.
    """
    assert isinstance(writer, Annotating)
    file = IndexedFile(path=path, parser=NOTES, parser_version=metadata.VERSION, mtime_ns=mtime_ns or 0, size=0)
    session_id, notes = metadata.id_of(path), None
    if mtime_ns is None:
        file.missing_since = datetime.now(UTC)
    else:
        try:
            found = metadata.read(Path(path))
            notes = found.notes if found else None
        except ParseError as error:
            file.error = error.message
            report.errors.append(FileProblem(path=path, message=error.message))
    if writer.annotate(session_id, notes):
        report.described += 1
    writer.update_files([file])
