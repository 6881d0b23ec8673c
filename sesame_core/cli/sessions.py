"""`sesame sessions`; `show`, `resume` and `forget`: one session, by its id or a unique prefix of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from .options import COLOR, JSON, SESSION, YES, Argument, Command, Option, limited, narrowing, skipping
from .terminal import confirm, opened, screen_of, write, write_error, write_report

if TYPE_CHECKING:
    from ..types.resumption import Resumption


def sessions(*, limit: int, offset: int, color: str, json: bool, **narrowing: Any) -> None:
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
        refreshed = sesame.as_it_is()
        if json:
            write(as_json(sessions_json(found, total, offset, kept_out, refreshed)))
            return
        abbreviate = sesame.abbreviations(stored.session.id for stored in found).__getitem__
    about: Any = {"abbreviate": abbreviate, "filters": filters, "kept_out": kept_out, "refreshed": refreshed}
    if screen := screen_of(color):
        from ..rendering.screen.sessions import sessions_screen
        from .paging import page

        page([sessions_screen(found, total, screen, offset=offset, **about)], screen)
    else:
        write(sessions_text(found, total, offset=offset, **about))


def show(
    session: str,
    *,
    offset: int,
    limit: int | None,
    around: int | None,
    query: str | None,
    full: bool,
    color: str,
    json: bool,
) -> None:
    """Print a session as a transcript, from the index.

    :param session: with a position behind it (`35ea950f:21`): that as `around`, or with `limit` as `offset`.
    :param offset: position of the first chunk.
    :param around: only the chunks around this position.
    :param query: words to mark.
    :param full: on a terminal, outputs and injected texts whole.
    :raises QueryError: two positions are given, or `around` with `limit`, or there is no such position.
    """
    from ..api.one_session import AROUND
    from ..errors import QueryError
    from ..rendering.text import as_json
    from ..rendering.transcripts import transcript_json, transcript_text

    if around is not None and (offset or limit is not None):
        raise QueryError("--around chooses the chunks itself; use it without --offset and --limit")
    with opened() as sesame:
        stored, named = sesame.get_place(session)
        if named is not None and (around is not None or offset):
            raise QueryError(f"{session!r} is a position already; use it without --around and --offset")
        marked = around if named is None else named
        if marked is not None and limit is None:
            offset = max(0, marked - AROUND)
            limit = marked + AROUND + 1 - offset
        elif marked is not None:
            offset = marked
        last = stored.chunk_count - 1
        # A program that reads page by page ends with an empty one.
        wanted = marked if marked is not None else 0 if json else offset
        if wanted > max(last, 0):
            raise QueryError(f"{stored.session.id} has no position {wanted}; its last is {last}")
        chunks = sesame.list_messages(stored, offset=offset, limit=limit)
        refreshed = sesame.as_it_is()
    if json:
        write(as_json(transcript_json(stored, chunks, refreshed)))
        return
    if not (screen := screen_of(color)):
        write(transcript_text(stored, chunks, marked))
        return
    from ..query.parser import parse
    from ..rendering.screen.transcript import transcript_screen
    from .paging import page

    words = parse(query) if query else None
    page(transcript_screen(stored, chunks, screen, marked=marked, is_full=full, query=words), screen)


def resume(session: str, *, print_: bool, json: bool) -> None:
    """Replace this process with the session's agent, in the directory and the profile of the session.

    :param print_: print the command instead.
    :raises ResumeError: the session cannot be resumed, its directory does not exist, or the agent is not installed.
    """
    import shutil

    from ..api.resuming import refusal, shell_line
    from ..api.sesame import Sesame
    from ..errors import ResumeError
    from ..rendering.resumptions import refusal_json, resumption_json
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
    if print_:
        write(shell_line(found))
        program = found.command[0]
        if shutil.which(program) is None:
            write_error(f"note: {program!r} is not on the PATH")
        return
    start(found)


def start(found: Resumption) -> NoReturn:
    """Replace this process with a session's agent.

    :raises ResumeError: the agent is not installed, or cannot be started.
    """
    import shutil

    from ..errors import ResumeError

    program = found.command[0]
    if shutil.which(program) is None:
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
        gone: list[tuple[str, str]] = []
        for stored in [sesame.get_session(name, is_certain=True) for name in session]:
            own = stored.session
            if any(own.workstation == station and f"{own.id}/".startswith(f"{one}/") for station, one in gone):
                continue  # named twice, or a subagent's that went with its parent's
            title = session_name(stored)
            if not yes:
                if not sys.stdin.isatty():
                    write_error(f"not forgotten: {stored.session.id} ({title}); confirm with --yes")
                    raise SystemExit(1)
                if not confirm(f"Forget {stored.session.id} ({title})?"):
                    continue
            sesame.forget(stored.session.id)
            gone.append((own.workstation, own.id))
            write_report(f"forgotten: {stored.session.id} ({title})")


COMMANDS = (
    Command(
        "sessions",
        sessions,
        "List sessions, the last active first, from the index as it is.",
        options=(
            *narrowing("in", "cwd", "here", "after", "before", "agent", "starred", "tag", "all_kinds"),
            limited("Sessions at most.", 50, most=1000),
            skipping("Sessions to skip."),
            COLOR,
            JSON,
        ),
        examples=(
            "sesame sessions -n 10",
            "sesame sessions --here --after monday",
        ),
        is_brief=True,
    ),
    Command(
        "show",
        show,
        "Print a session as a transcript, from the index: its file need not exist.",
        (SESSION,),
        (
            skipping("Position of the first chunk.", metavar="POSITION"),
            limited("Chunks at most.", None, least=0),
            Option("around", int, "Only the chunks around this position.", least=0, metavar="POSITION"),
            Option("query", str, "Words to mark.", metavar="WORDS"),
            Option("full", bool, "On a terminal, show outputs of tools and injected text whole.", default=False),
            COLOR,
            JSON,
        ),
        examples=(
            "sesame show 01a0b03d",
            "sesame show 01a0b03d:21 --query 'nix flake'",
            "sesame show latest --full",
        ),
        is_brief=True,
    ),
    Command(
        "resume",
        resume,
        "Resume a session in its agent, in the session's directory and profile.",
        (SESSION,),
        (Option("print_", bool, "Print the command instead of running it.", default=False), JSON),
        examples=(
            "sesame resume 01a0b03d",
            "sesame resume latest --print",
        ),
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
        examples=("sesame forget 01a0b03d",),
    ),
)
