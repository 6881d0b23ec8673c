"""`sesame share`."""

from __future__ import annotations

from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(share)


def share(
    pattern: Annotated[
        str | None, typer.Argument(metavar="[PATTERN", help="Of a project's directory or repository.")
    ] = None,
    visibility: Annotated[
        str | None, typer.Argument(metavar="VISIBILITY]", help="shared, metadata or private; default: no rule.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list what would be sent, taken back or kept here.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what others see of a project's sessions, and put it into effect; without a pattern, list what holds."""
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
            typer.echo(as_json(sharing_json(*told)) if json else sharing_text(*told))
            return
        changes = team.plan(None if pattern is None else team.sharing().changed(pattern, level))
        if json:
            typer.echo(as_json(changes_json(changes)))
        else:
            for change in changes:
                typer.echo(change_text(change))
            typer.echo(f"{len(changes) or 'no'} sessions" + (" would change" if dry_run else " change"))
        if pattern is None or dry_run:
            return
        team.share(pattern, level)
        report = sesame.index() if team.audience() else None
    for problem in report.errors if report else ():
        typer.echo(f"error: {printable(problem.path)}: {printable(problem.message)}", err=True)
    if report and report.errors:
        raise typer.Exit(1)
