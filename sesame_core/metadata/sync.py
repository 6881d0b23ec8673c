"""Updates the notes in an index from the metadata files, whether the sessions have changed or not."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ParseError
from ..plugin.backend import Annotating
from ..types.index import NOTES, IndexedFile
from ..types.report import FileProblem
from .directory import MARKS_SUFFIX, VERSION, id_of

if TYPE_CHECKING:
    from ..plugin.backend import IndexWriter
    from ..types.report import IndexReport
    from .files import MetadataFiles


def enrich(
    writer: IndexWriter,
    files: MetadataFiles,
    changed: Mapping[str, int],
    gone: Sequence[str],
    report: IndexReport,
    deadline: float | None = None,
) -> None:
    """Index the files that changed, and remove the notes of deleted ones.

    An invalid file counts as deleted, and as an error in the report.

    :param files: the directory.
    :param changed: modification times of files, in nanoseconds, by path.
    :param gone: paths.
    :param deadline: `time.monotonic()` after which the rest is left to the next run.
    """
    for number, path in enumerate([*changed, *gone]):
        if deadline is not None and time.monotonic() >= deadline:
            report.pending += len(changed) + len(gone) - number
            return
        take_in(writer, files, path, changed.get(path), report)


def take_in(writer: IndexWriter, files: MetadataFiles, path: str, mtime_ns: int | None, report: IndexReport) -> None:
    """Update the index from one file, and what else is known of its session.

    :param files: the directory.
    :param mtime_ns: None when the file is deleted.
    """
    assert isinstance(writer, Annotating)
    # A writer that redacts says how, so that its next version redacts the notes anew.
    version = VERSION + getattr(writer, "redaction", 0)
    file = IndexedFile(path=path, parser=NOTES, parser_version=version, mtime_ns=mtime_ns or 0, size=0)
    session_id = id_of(path)
    notes = files.notes(session_id)
    if mtime_ns is None:
        file.missing_since = datetime.now(UTC)
    else:
        try:
            files.check(Path(path))
        except ParseError as error:
            file.error = error.message
            report.errors.append(FileProblem(path=path, message=error.message))
    if writer.annotate(session_id, notes):
        report.described += 1
    if mtime_ns is None and path.endswith(MARKS_SUFFIX):
        writer.delete_file(path)  # its name says which session was marked
        return
    writer.update_files([file])
