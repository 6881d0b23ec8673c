"""What a run has read, counted in its report: by file, and by source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..types.report import FileProblem, SourceReport

if TYPE_CHECKING:
    from ..types.report import IndexReport
    from .elsewhere import ReadElsewhere
    from .file_reader import FileReader
    from .sources import OpenSource

#: Most losses listed in a report; all are counted.
LISTED_LOSSES = 100


def count_file(report: IndexReport, path: str, reading: FileReader | ReadElsewhere, *, was_known: bool) -> None:
    """Add a file that was read; the chunks are counted as they are stored.

    :param was_known: an earlier run has read it.
    """
    report.bytes += reading.file.size - reading.start
    if reading.is_tail:
        report.appended += 1
    elif was_known:
        report.updated += 1
    else:
        report.added += 1
    report.silent += reading.silent
    for reason, count in reading.skipped.items():
        report.skipped[reason] = report.skipped.get(reason, 0) + count
    for line, reason in reading.losses[: LISTED_LOSSES - len(report.losses)]:
        report.losses.append(FileProblem(path=path, message=reason, line=line))


def count_sources(report: IndexReport, sources: Sequence[OpenSource], changed: Sequence[OpenSource]) -> None:
    """Set how many changed files each source has, and how many of them are left.

    :param changed: the source of each file, in the order in which they are read; the last ones are `report.pending`.
    """
    reached = len(changed) - report.pending
    report.sources = [
        SourceReport(
            path=source.root,
            parser=source.source.parser.name,
            changed=sum(of is source for of in changed[:reached]),
            pending=sum(of is source for of in changed[reached:]),
        )
        for source in sources
    ]
