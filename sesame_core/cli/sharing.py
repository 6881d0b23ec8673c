"""`sesame share`."""

from __future__ import annotations

from .options import JSON, Argument, Command, Option
from .terminal import write, write_error


def share(pattern: str | None, visibility: str | None, *, dry_run: bool, json: bool) -> None:
    """Set the visibility of a project's sessions, and print the changes; without a pattern, print the rules.

    :raises QueryError: a pattern without a visibility.
    """
    from ..api.sesame import Sesame
    from ..errors import QueryError
    from ..rendering.sharing import change_text, changes_json, sharing_json, sharing_text
    from ..rendering.text import as_json, count, one_line

    if (pattern is None) != (visibility is None):
        raise QueryError("a pattern needs a visibility: shared, metadata, private, or default")
    level = None if visibility == "default" else visibility
    with Sesame() as sesame:
        team = sesame.team
        if pattern is None and not dry_run:
            rules = team.sharing(), team.covered(), team.audience()
            write(as_json(sharing_json(*rules)) if json else sharing_text(*rules))
            return
        changes = team.plan(None if pattern is None else team.sharing().changed(pattern, level))
        if json:
            write(as_json(changes_json(changes)))
        else:
            for change in changes:
                write(change_text(change))
            sessions = count(len(changes), "session") if changes else "no sessions"
            write(sessions + (" would change" if dry_run else " changes" if len(changes) == 1 else " change"))
        if pattern is None or dry_run:
            return
        team.share(pattern, level)
        report = sesame.index() if team.audience() else None
    for problem in report.errors if report else ():
        write_error(f"error: {one_line(problem.path)}: {one_line(problem.message)}")
    if report and report.errors:
        raise SystemExit(1)


COMMANDS = (
    Command(
        "share",
        share,
        "Set what others see of a project's sessions, and apply it at once; without a pattern, list the rules.",
        (
            Argument("pattern", "[PATTERN", "A pattern of the project's directory or repository."),
            Argument("visibility", "VISIBILITY]", "shared, metadata or private; default: no rule."),
        ),
        (
            Option("dry_run", bool, "Only list what would be sent, removed or kept here.", default=False),
            JSON,
        ),
    ),
)
