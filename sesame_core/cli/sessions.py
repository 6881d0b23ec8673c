"""`sesame show`, `resume` and `forget`: one session, by its id or the beginning of it."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Annotated

import typer

Session = Annotated[str, typer.Argument(metavar="SESSION", help="A session's id, or the beginning of it.")]


def add_to(app: typer.Typer) -> None:
    """Add these commands to the application."""
    for command in (show, resume, forget):
        app.command()(command)


def show(
    session: Session,
    around: Annotated[int | None, typer.Option("--around", min=0, help="Only the chunks around this position.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print a session as a transcript, from the index: its file need not exist any more."""
    from .. import rendering
    from ..library import AROUND, Sesame

    with Sesame() as sesame:
        stored = sesame.session(session)
        first = 0 if around is None else max(0, around - AROUND)
        limit = None if around is None else around + AROUND + 1 - first
        chunks = sesame.messages(stored, offset=first, limit=limit)
    if json:
        value = {**rendering.session_json(stored), "chunks": [rendering.chunk_json(chunk) for chunk in chunks]}
        typer.echo(rendering.as_json({"schemaVersion": rendering.SCHEMA_VERSION, **value}))
    else:
        typer.echo(rendering.transcript_text(stored, chunks, around))


def resume(
    session: Session,
    print_only: Annotated[bool, typer.Option("--print", help="Print the command instead of running it.")] = False,
) -> None:
    """Resume a session in its agent, in the directory it was held in."""
    from ..errors import SesameError
    from ..library import Sesame

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
    sessions: Annotated[list[str], typer.Argument(metavar="SESSION...", help="Ids, or their beginnings.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete sessions from the index for good, with their copies and subagents.  Their files are not touched."""
    from .. import rendering
    from ..library import Sesame

    with Sesame() as sesame:
        for stored in [sesame.session(session) for session in sessions]:
            name = rendering.session_name(stored)
            if not yes:
                if not sys.stdin.isatty():
                    typer.echo(f"not forgotten: {stored.session.id} ({name}); confirm with --yes", err=True)
                    raise typer.Exit(1)
                if not typer.confirm(f"Forget {stored.session.id} ({name})?"):
                    continue
            sesame.forget(stored.session.id)
            typer.echo(f"forgotten: {stored.session.id} ({name})")
