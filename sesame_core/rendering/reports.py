"""The report of an indexing run, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .text import SCHEMA_VERSION, count, one_line, size

if TYPE_CHECKING:
    from ..types.report import FileProblem, IndexReport
    from .schemas.reports import FileProblemJson, ReportJson


def report_json(report: IndexReport) -> ReportJson:
    """Return an index report's JSON value."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "added": report.added,
        "updated": report.updated,
        "appended": report.appended,
        "unchanged": report.unchanged,
        "missing": report.missing,
        "pending": report.pending,
        "described": report.described,
        "withheld": report.withheld,
        "absentRoots": report.absent_roots,
        "skipped": report.skipped,
        "losses": [_problem_json(problem) for problem in report.losses],
        "errors": [_problem_json(problem) for problem in report.errors],
        "chunks": report.chunks,
        "bytes": report.bytes,
        "seconds": round(report.seconds, 3),
        "stopped": report.is_stopped,
    }


def _problem_json(problem: FileProblem) -> FileProblemJson:
    return {"path": problem.path, "line": problem.line, "message": problem.message}


def report_text(report: IndexReport) -> str:
    """Return an index report as text."""
    counts = [
        (report.added, "added"),
        (report.updated, "updated"),
        (report.appended, "appended"),
        (report.unchanged, "unchanged"),
        (report.missing, "missing (kept)"),
        (report.pending, "pending"),
        (report.described, "described"),
        (report.withheld, "withheld (private)"),
    ]
    files = ", ".join(f"{number} {what}" for number, what in counts if number) or "no session files found"
    lines = [f"{files}; {count(report.chunks, 'chunk')} from {size(report.bytes)} in {report.seconds:.1f} s"]
    lines += [f"no such directory: {one_line(root)}" for root in report.absent_roots]
    if report.skipped:
        skipped = ", ".join(f"{number} {reason}" for reason, number in sorted(report.skipped.items()))
        lines.append(f"skipped records: {skipped}")
    lines += [f"  {_place(problem)}: {one_line(problem.message)}" for problem in report.losses[:10]]
    if len(report.losses) > 10:
        lines.append("  … (all with --json)")
    lines += [f"error: {_place(problem)}: {one_line(problem.message)}" for problem in report.errors]
    return "\n".join(lines)


def _place(problem: FileProblem) -> str:
    return one_line(problem.path) + (f":{problem.line}" if problem.line else "")
