"""`sesame share`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .options import JSON, Argument, Command, Option
from .terminal import confirm, write, write_error, write_report

if TYPE_CHECKING:
    from ..api.sesame import Sesame


def share(pattern: str | None, visibility: str | None, *, dry_run: bool, json: bool) -> None:
    """Set the visibility of a project's sessions, and print the changes; without a pattern, print the rules.

    The rule is written first: it is kept when the server cannot be reached, and applied by whatever runs next.  Before
    the first run to an index nothing is sent to it.

    :raises QueryError: a pattern without a visibility.
    """
    from ..api.sesame import Sesame
    from ..errors import BackendError, QueryError, SesameError
    from ..rendering.sharing import changes_json, changes_text, sharing_json, sharing_text
    from ..rendering.text import as_json, one_line

    if (pattern is None) != (visibility is None):
        raise QueryError("a pattern needs a visibility: shared, metadata, private, or default")
    level = None if visibility == "default" else visibility
    with Sesame() as sesame:
        team = sesame.team
        if pattern is None and not dry_run:
            rules = team.sharing(), team.covered(), team.audience()
            if json:
                write(as_json(sharing_json(*rules)))
            else:
                write_report(sharing_text(*rules))
            return
        if dry_run or pattern is None:
            changes = team.plan(None if pattern is None else team.sharing().changed(pattern, level))
            if json:
                write(as_json(changes_json(changes)))
            else:
                write_report(changes_text(changes, "would change"))
            return
        team.share(pattern, level)
        try:
            changes, is_agreed = team.plan(), team.is_agreed()
            does = (
                ("changes" if len(changes) == 1 else "change")
                if is_agreed
                else "would change; nothing is sent before you run: sesame index"
            )
            if json:
                write(as_json(changes_json(changes)))
            else:
                write_report(changes_text(changes, does))
            if level is not None and not team.has_matched(changes):
                write_error(f"note: no session of this machine matches {one_line(pattern or '')} yet")
            report = sesame.index() if team.audience() and is_agreed else None
        except BackendError as error:
            raise SesameError(f"{error}\nThe rule is kept; the next search or run applies it") from error
    for problem in report.errors if report else ():
        write_error(f"error: {one_line(problem.path)}: {one_line(problem.message)}")
    if report and report.errors:
        raise SystemExit(1)


def agree(sesame: Sesame, *, yes: bool) -> None:
    """Before the first run to an index that others read, show what it sends, and ask.

    :param yes: do not ask.
    :raises SystemExit: the answer is no, or there is no terminal to ask on.
    """
    from ..rendering.sharing import changes_text

    team = sesame.team
    if team.is_agreed():
        return
    if not yes:
        write_error(f"{team.audience()} gets sessions of this machine for the first time:")
        write_error(changes_text(team.plan(), "in all"))
        if not sys.stdin.isatty():
            write_error("nothing was sent; confirm with: sesame index --yes")
            raise SystemExit(1)
        if not confirm("Send this, and what is new from now on?"):
            write_error("nothing was sent; rules for what others see: sesame share --help")
            raise SystemExit(1)
    team.agree()


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
        examples=(
            "sesame share '~/diary' private",
            "sesame share",
        ),
    ),
)
