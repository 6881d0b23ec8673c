"""The report of an indexing run, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .text import SCHEMA_VERSION, count, iso, minute, one_line, size, skipped_lines

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
        "setBack": iso(report.set_back),
        "silent": report.silent,
        "absentRoots": report.absent_roots,
        "skipped": report.skipped,
        "losses": [problem_json(problem) for problem in report.losses],
        "errors": [problem_json(problem) for problem in report.errors],
        "unrecognised": [problem_json(problem) for problem in report.unrecognised],
        "chunks": report.chunks,
        "bytes": report.bytes,
        "seconds": round(report.seconds, 3),
        "stopped": report.is_stopped,
    }


def problem_json(problem: FileProblem) -> FileProblemJson:
    """Return the JSON value of a problem with a file."""
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
    if report.set_back:
        lines.append(
            f"the index was restored from a backup of before {minute(report.set_back)}: what it lacked is sent, and "
            "what is private is removed again; sessions forgotten since the backup are back: forget them again"
        )
    if report.silent:
        lines.append(f"left out: {count(report.silent, 'session')} in which nobody has said anything yet")
    lines += [f"{what[0].lower()}{what[1:]}" for what in skipped_lines(report.skipped)]
    lines += [f"  {_place(problem)}: {one_line(problem.message)}" for problem in report.losses[:10]]
    if len(report.losses) > 10:
        lines.append("  … (all with --json)")
    named = {problem.path for problem in report.errors}
    if strange := [problem for problem in report.unrecognised if problem.path not in named]:
        lines.append(f"not recognised: {count(len(strange), 'file')}")
        lines += [f"  {_place(problem)}: {one_line(problem.message)}" for problem in strange[:10]]
        lines += ["  … (all with --json)"] if len(strange) > 10 else []
    lines += [f"error: {_place(problem)}: {one_line(problem.message)}" for problem in report.errors]
    return "\n".join(lines)


def _place(problem: FileProblem) -> str:
    return one_line(problem.path) + (f":{problem.line}" if problem.line else "")
