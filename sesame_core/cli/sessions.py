"""`sesame sessions`; `show`, `resume` and `forget`: one session, by its id or a unique prefix of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from .options import JSON, SESSION, YES, Argument, Command, Option, limited, narrowing, skipping
from .terminal import confirm, opened, write, write_error


def sessions(*, limit: int, offset: int, json: bool, **narrowing: Any) -> None:
    """Print sessions, the last active first, from the index as it is.

    :param narrowing: values of `fields.FIELDS`.
    """
    from ..query.fields import gathered
    from ..rendering.sessions import sessions_json, sessions_text
    from ..rendering.text import as_json

    filters = gathered(narrowing)
    with opened() as sesame:
        found, total = sesame.list_sessions(filters, limit=limit, offset=offset)
        kept_out = sesame.kept_out(filters, total)
        if json:
            output = as_json(sessions_json(found, total, offset, kept_out, sesame.as_it_is()))
        else:
            output = sessions_text(
                found,
                total,
                abbreviate=sesame.abbreviations(stored.session.id for stored in found).__getitem__,
                offset=offset,
                filters=filters,
                kept_out=kept_out,
                refreshed=sesame.as_it_is(),
            )
    write(output)


def show(session: str, *, offset: int, limit: int | None, around: int | None, json: bool) -> None:
    """Print a session as a transcript, from the index.

    :param offset: position of the first chunk.
    :param around: only the chunks around this position.
    :raises QueryError: `around` is given with `offset` or `limit`.
    """
    from ..api.one_session import AROUND
    from ..errors import QueryError
    from ..rendering.sessions import transcript_json, transcript_text
    from ..rendering.text import as_json

    if around is not None:
        if offset or limit is not None:
            raise QueryError("--around chooses the chunks itself; use it without --offset and --limit")
        offset = max(0, around - AROUND)
        limit = around + AROUND + 1 - offset
    with opened() as sesame:
        stored = sesame.get_session(session)
        chunks = sesame.list_messages(stored, offset=offset, limit=limit)
        refreshed = sesame.as_it_is()
    if json:
        write(as_json(transcript_json(stored, chunks, refreshed)))
    else:
        write(transcript_text(stored, chunks, around))


def resume(session: str, *, print_: bool, json: bool) -> None:
    """Replace this process with the session's agent, in the directory and the profile of the session.

    :param print_: print the command instead.
    :raises ResumeError: the session cannot be resumed, its directory does not exist, or the agent is not installed.
    """
    import shutil

    from ..api.resuming import refusal, shell_line
    from ..api.sesame import Sesame
    from ..errors import ResumeError
    from ..rendering.sessions import refusal_json, resumption_json
    from ..rendering.text import as_json

    with Sesame() as sesame:
        stored = sesame.get_session(session)
        try:
            found = sesame.resumption(stored)
        except ResumeError as error:
            if json:
                write(as_json(refusal_json(stored, str(error))))
            raise
    reason = refusal(found)
    if json:
        write(as_json(resumption_json(stored, found, None if reason else shell_line(found))))
    if reason:
        raise ResumeError(reason)
    if json:
        return
    program = found.command[0]
    is_missing = shutil.which(program) is None
    if print_:
        write(shell_line(found))
        if is_missing:
            write_error(f"note: {program!r} is not on the PATH")
        return
    if is_missing:
        raise ResumeError(f"{program!r} is not on the PATH: install it, or print the command with --print")
    for name, value in found.environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    try:
        if found.directory:
            os.chdir(found.directory)
            # A program takes the directory from there, as a shell sets it.
            os.environ["PWD"] = found.directory
        os.execvp(program, list(found.command))
    except OSError as error:
        raise ResumeError(f"cannot start {program!r} in {found.directory}: {error.strerror or error}") from error


def forget(session: Sequence[str], *, yes: bool) -> None:
    """Delete sessions from the index for good after a confirmation; without a terminal exit with 1.

    :param yes: do not ask.
    """
    from ..api.sesame import Sesame
    from ..rendering.text import session_name

    with Sesame() as sesame:
        for stored in [sesame.get_session(name, is_certain=True) for name in session]:
            title = session_name(stored)
            if not yes:
                if not sys.stdin.isatty():
                    write_error(f"not forgotten: {stored.session.id} ({title}); confirm with --yes")
                    raise SystemExit(1)
                if not confirm(f"Forget {stored.session.id} ({title})?"):
                    continue
            sesame.forget(stored.session.id)
            write(f"forgotten: {stored.session.id} ({title})")


COMMANDS = (
    Command(
        "sessions",
        sessions,
        "List sessions, the last active first, from the index as it is.",
        options=(
            *narrowing("cwd", "here", "after", "before", "agent", "all_kinds"),
            limited("Sessions at most.", 50, most=1000),
            skipping("Sessions to skip."),
            JSON,
        ),
        is_brief=True,
    ),
    Command(
        "show",
        show,
        "Print a session as a transcript, from the index: its file need not exist.",
        (SESSION,),
        (
            skipping("Position of the first chunk."),
            limited("Chunks at most.", None, least=0),
            Option("around", int, "Only the chunks around this position.", least=0),
            JSON,
        ),
        is_brief=True,
    ),
    Command(
        "resume",
        resume,
        "Resume a session in its agent, in the session's directory and profile.",
        (SESSION,),
        (Option("print_", bool, "Print the command instead of running it.", default=False), JSON),
        is_brief=True,
    ),
    Command(
        "forget",
        forget,
        "Delete sessions from the index for good, with their copies and subagents.  Their files are not touched.",
        (
            Argument(
                "session",
                "SESSION...",
                "Ids or prefixes of them, or names.",
                is_required=True,
                is_repeatable=True,
            ),
        ),
        (YES,),
    ),
)
