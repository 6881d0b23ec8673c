"""What a scan could not read or recognise, worded for a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..types.report import FileProblem

if TYPE_CHECKING:
    from ..types.report import IndexReport
    from .changes import Changes


def report_problems(report: IndexReport, changes: Changes) -> None:
    """Add the directories, links and files that could not be read, and the files that no parser recognises."""
    report.errors += [FileProblem.of(*problem) for problem in (*changes.unlisted, *changes.problems)]
    report.unrecognised += [
        FileProblem.of(path, "", OSError(0, f"not a session: {reason}"))
        for path, reason in changes.unrecognised.items()
    ]
