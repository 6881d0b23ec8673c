"""The report of an indexing run, as text and as JSON."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .text import SCHEMA_VERSION, count, one_line, size, skipped_lines

if TYPE_CHECKING:
    from ..types.report import FileProblem, IndexReport
    from ..types.roots import Root, UnreadRoot
    from .schemas.reports import FileProblemJson, ReportJson, RootJson, UnreadRootJson


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
        "silent": report.silent,
        "absentRoots": report.absent_roots,
        "skipped": report.skipped,
        "losses": [problem_json(problem) for problem in report.losses],
        "errors": [problem_json(problem) for problem in report.errors],
        "unrecognised": [problem_json(problem) for problem in report.unrecognised],
        "lookedIn": None if report.looked_in is None else [root_json(root) for root in report.looked_in],
        "unreadAgents": None if report.unread_roots is None else [unread_json(root) for root in report.unread_roots],
        "chunks": report.chunks,
        "bytes": report.bytes,
        "seconds": round(report.seconds, 3),
        "stopped": report.is_stopped,
    }


def problem_json(problem: FileProblem) -> FileProblemJson:
    """Return the JSON value of a problem with a file."""
    return {"path": problem.path, "line": problem.line, "message": problem.message}


def root_json(root: Root) -> RootJson:
    """Return the JSON value of a place in which session files are looked for."""
    return {"parser": root.parser, "path": root.path, "exists": root.exists}


def unread_json(root: UnreadRoot) -> UnreadRootJson:
    """Return the JSON value of a place of sessions that nothing reads."""
    return {"agent": root.agent, "path": root.path}


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
    files = ", ".join(f"{number} {what}" for number, what in counts if number)
    read = f"{count(report.chunks, 'chunk')} from {size(report.bytes)} in {report.seconds:.1f} s"
    lines = [f"{files or 'no session files found'}; {read}", *([] if files else _where(report))]
    lines += [f"no such directory: {one_line(root)}" for root in report.absent_roots]
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


def _where(report: IndexReport) -> list[str]:
    """Return where a run that found nothing has looked, and whose files it does not read."""
    if report.looked_in is None:
        return []
    from ..indexing.emptiness import unread_sentence, where

    # Those of sources that do not exist have a line of their own.
    looked = [root for root in report.looked_in if os.path.realpath(root.path) not in report.absent_roots]
    said = where(looked) if looked or not report.looked_in else None
    return [one_line(line) for line in (said, unread_sentence(report.unread_roots or ())) if line]


def _place(problem: FileProblem) -> str:
    return one_line(problem.path) + (f":{problem.line}" if problem.line else "")
