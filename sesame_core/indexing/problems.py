"""What a scan could not read or recognise, worded for a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..types.report import FileProblem
from .scan_root import is_suspect

if TYPE_CHECKING:
    from ..types.report import IndexReport
    from .changes import Changes
    from .scan_root import ScanRoot


def report_problems(report: IndexReport, changes: Changes) -> None:
    """Add the directories, links and files that could not be read, and the files that no parser recognises."""
    report.errors += [FileProblem.of(*problem) for problem in (*changes.unlisted, *changes.problems)]
    for path, scan_root in changes.strange.items():
        try:
            reason = why_unrecognised(scan_root, path)
        except Exception as error:  # noqa: BLE001 - one faulty plugin must not lose the others
            report.errors.append(FileProblem.of(path, scan_root.parser, error))
            continue
        if reason:
            report.unrecognised.append(unrecognised(path, reason))


def unrecognised(path: str, reason: str) -> FileProblem:
    """Return the problem that no parser recognises a file."""
    return FileProblem.of(path, "", OSError(0, f"not a session: {reason}"))


def why_unrecognised(scan_root: ScanRoot, path: str) -> str | None:
    """Return why no parser recognises a file; None when it is nothing that looks like a session, or is deleted.

    :raises Exception: whatever a faulty parser raises.
    """
    from ..sdk.oddities import oddity

    is_named = path in scan_root.parts
    if not is_named and not is_suspect(path):
        return None
    if is_named and scan_root.exclude and scan_root.excludes(path):
        return "excluded by the configuration"
    try:
        reason = scan_root.why_not(path) if scan_root.why_not else oddity(path)
        return reason or (oddity(path) or "no session of an installed parser" if is_named else None)
    except OSError:
        return None  # deleted, or reported when it was checked
