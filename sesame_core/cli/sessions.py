"""`sesame sessions`; `show`, `resume` and `forget`: one session, by its id or the beginning of it."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Annotated

import typer

Session = Annotated[str, typer.Argument(metavar="SESSION", help="A session's id, or the beginning of it.")]


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application."""
    for command in (sessions, show, resume, forget, workstations):
        app.command()(command)


def sessions(
    cwd: Annotated[str | None, typer.Option("--cwd", help="Only sessions in this directory or below it.")] = None,
    after: Annotated[str | None, typer.Option("--after", help="Last active then or later: 7d, 2026-11-01 …")] = None,
    before: Annotated[
        str | None, typer.Option("--before", help="Last active then or earlier; a day counts whole.")
    ] = None,
    agent: Annotated[list[str] | None, typer.Option("--agent", help="Only of this agent; repeatable.")] = None,
    all_kinds: Annotated[bool, typer.Option("--all-kinds", help="Headless runs too.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="Sessions at most.")] = 50,
    offset: Annotated[int, typer.Option("--offset", min=0, help="Sessions to pass over.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List sessions, the last active first, from the index as it is."""
    from ..api.sesame import Sesame
    from ..query.dates import parse_date
    from ..rendering.sessions import sessions_json, sessions_text
    from ..rendering.text import as_json
    from ..types.query import Filters

    filters = Filters(
        cwd=os.path.abspath(os.path.expanduser(cwd)) if cwd else None,
        after=parse_date(after) if after else None,
        before=parse_date(before, is_end=True) if before else None,
        agents=tuple(agent or ()),
        all_kinds=all_kinds,
    )
    with Sesame() as sesame:
        found, total = sesame.list_sessions(filters, limit=limit, offset=offset)
        if json:
            output = as_json(sessions_json(found, total, offset))
        else:
            output = sessions_text(found, total, abbreviate=sesame.abbreviate)
    typer.echo(output)


def show(
    session: Session,
    offset: Annotated[int, typer.Option("--offset", min=0, help="Position to begin at.")] = 0,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=0, help="Chunks at most.")] = None,
    around: Annotated[int | None, typer.Option("--around", min=0, help="Only the chunks around this position.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print a session as a transcript, from the index: its file need not exist any more."""
    from ..api.sesame import AROUND, Sesame
    from ..errors import QueryError
    from ..rendering.sessions import transcript_json, transcript_text
    from ..rendering.text import as_json

    if around is not None:
        if offset or limit is not None:
            raise QueryError("--around chooses the chunks itself; it goes without --offset and --limit")
        offset = max(0, around - AROUND)
        limit = around + AROUND + 1 - offset
    with Sesame() as sesame:
        stored = sesame.get_session(session)
        chunks = sesame.list_messages(stored, offset=offset, limit=limit)
    if json:
        typer.echo(as_json(transcript_json(stored, chunks)))
    else:
        typer.echo(transcript_text(stored, chunks, around))


def resume(
    session: Session,
    print_only: Annotated[bool, typer.Option("--print", help="Print the command instead of running it.")] = False,
) -> None:
    """Resume a session in its agent, in the directory it was held in."""
    from ..api.sesame import Sesame
    from ..errors import SesameError

    with Sesame() as sesame:
        command, cwd = sesame.resume_command(session)
    if print_only:
        typer.echo((f"cd {shlex.quote(cwd)} && " if cwd else "") + shlex.join(command))
        return
    if cwd and not os.path.isdir(cwd):
        raise SesameError(
            f"the session's directory is gone: {cwd}; see the command with: sesame resume --print {session}"
        )
    try:
        if cwd:
            os.chdir(cwd)
        os.execvp(command[0], command)
    except OSError as error:
        raise SesameError(f"cannot start {command[0]!r}: {error.strerror or error}") from error


def forget(
    session: Annotated[list[str], typer.Argument(metavar="SESSION...", help="Ids, or their beginnings.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete sessions from the index for good, with their copies and subagents.  Their files are not touched."""
    from ..api.sesame import Sesame
    from ..rendering.text import session_name

    with Sesame() as sesame:
        for stored in [sesame.get_session(name) for name in session]:
            title = session_name(stored)
            if not yes:
                if not sys.stdin.isatty():
                    typer.echo(f"not forgotten: {stored.session.id} ({title}); confirm with --yes", err=True)
                    raise typer.Exit(1)
                if not typer.confirm(f"Forget {stored.session.id} ({title})?"):
                    continue
            sesame.forget(stored.session.id)
            typer.echo(f"forgotten: {stored.session.id} ({title})")


def workstations(
    claim: Annotated[
        bool, typer.Option("--claim", help="This machine took the place of the one that indexed under its id so far.")
    ] = False,
    prepare: Annotated[
        bool, typer.Option("--prepare", help="Make or upgrade the tables first; index nothing.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the workstations that share the index: whose they are, and how fresh."""
    from ..api.sesame import Sesame
    from ..rendering.status import workstations_json, workstations_text
    from ..rendering.text import as_json

    with Sesame() as sesame:
        if prepare:
            sesame.team.prepare()
        if claim:
            sesame.team.claim()
        found = sesame.team.workstations()
    if json:
        typer.echo(as_json(workstations_json(found)))
    else:
        typer.echo(workstations_text(found))
