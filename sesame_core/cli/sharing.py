"""`sesame share`."""

from __future__ import annotations

from .options import JSON, Argument, Command, Option
from .terminal import write, write_error


def share(pattern: str | None, visibility: str | None, *, dry_run: bool, json: bool) -> None:
    """Change what others see of a project's sessions, and print what that changes; without a pattern, what holds.

    :raises QueryError: a pattern without a visibility.
    """
    from ..api.sesame import Sesame
    from ..errors import QueryError
    from ..rendering.sharing import change_text, changes_json, sharing_json, sharing_text
    from ..rendering.text import as_json, printable

    if (pattern is None) != (visibility is None):
        raise QueryError("say what others see of it: shared, metadata, private, or default")
    level = None if visibility == "default" else visibility
    with Sesame() as sesame:
        team = sesame.team
        if pattern is None and not dry_run:
            told = team.sharing(), team.covered(), team.audience()
            write(as_json(sharing_json(*told)) if json else sharing_text(*told))
            return
        changes = team.plan(None if pattern is None else team.sharing().changed(pattern, level))
        if json:
            write(as_json(changes_json(changes)))
        else:
            for change in changes:
                write(change_text(change))
            write(f"{len(changes) or 'no'} sessions" + (" would change" if dry_run else " change"))
        if pattern is None or dry_run:
            return
        team.share(pattern, level)
        report = sesame.index() if team.audience() else None
    for problem in report.errors if report else ():
        write_error(f"error: {printable(problem.path)}: {printable(problem.message)}")
    if report and report.errors:
        raise SystemExit(1)


COMMANDS = (
    Command(
        "share",
        share,
        "Say what others see of a project's sessions, and put it into effect; without a pattern, list what holds.",
        (
            Argument("pattern", "[PATTERN", "Of a project's directory or repository."),
            Argument("visibility", "VISIBILITY]", "shared, metadata or private; default: no rule."),
        ),
        (
            Option("dry_run", bool, "Only list what would be sent, taken back or kept here.", default=False),
            JSON,
        ),
    ),
)
