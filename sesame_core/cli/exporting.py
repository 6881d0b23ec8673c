"""`sesame export`, `handoff` and `open`: a session taken along, handed over, or opened as its agent wrote it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from .options import JSON, SESSION, Command, Option
from .terminal import write, write_report

if TYPE_CHECKING:
    from collections.abc import Callable


_Result = TypeVar("_Result")

NO_REDACT = Option("no_redact", bool, "Leave secrets in the text; by default placeholders replace them.", default=False)
STANDARD_OUTPUT = Path("-")
FILE = Option("output", Path, "Write to this file; - is standard output.", more=("-o",), metavar="FILE")


def export(session: str, *, md: bool, html: bool, json: bool, output: Path | None, no_redact: bool) -> None:
    """Print a session with its subagents, or write it to a file.

    :param md: as Markdown; also if nothing else is given, and the name of the file does not say.
    :param output: the file; only its owner can read it.
    :raises QueryError: several formats are given.
    :raises ConfigError: the extra that finds secrets is not installed.
    :raises SesameError: the file is that of a session.
    """
    from ..api.sesame import Sesame
    from ..errors import QueryError
    from ..rendering.export.formats import FORMATS, MARKDOWN, save, written

    wanted = [name for name, is_wanted in ((MARKDOWN, md), ("html", html), ("json", json)) if is_wanted]
    if len(wanted) > 1:
        raise QueryError(f"--{' and --'.join(wanted)}: an export has one format")
    kind = wanted[0] if wanted else FORMATS.get(output.suffix.lower() if output else "", MARKDOWN)
    with Sesame() as sesame:
        stored = sesame.get_session(session)
        made = _redacting(lambda: sesame.export(stored, redact=not no_redact))
        paths = [stored.path, *(part.stored.path for part in made.parts)]
    if output in (None, STANDARD_OUTPUT):
        for piece in written(made, kind):
            write(piece.removesuffix("\n"))
        return
    save(output, written(made, kind), paths)
    from ..rendering.text import count, one_line, size

    below = len(made.parts) - 1
    about = [size(output.stat().st_size), *([count(below, "subagent")] if below else [])]
    about += [] if made.is_redacted else ["secrets not replaced"]
    write_report(f"exported: {one_line(str(output))} ({', '.join(about)})")


def handoff(session: str, *, max_bytes: int, output: Path | None, no_redact: bool, json: bool) -> None:
    """Print what another agent must know to go on with a session.

    :param max_bytes: most bytes of the text.
    :raises ConfigError: the extra that finds secrets is not installed.
    :raises SesameError: the file is that of the session.
    """
    from ..api.sesame import Sesame
    from ..rendering.export.formats import save
    from ..rendering.export.handoff import handoff_json, handoff_text
    from ..rendering.text import as_json

    with Sesame() as sesame:
        stored = sesame.get_session(session)
        found = _redacting(lambda: sesame.handoff(stored, max_bytes=max_bytes, redact=not no_redact))
        reference = sesame.abbreviate(stored.session.id)
    text = as_json(handoff_json(found)) if json else handoff_text(found, reference)
    if output in (None, STANDARD_OUTPUT):
        write(text)
    else:
        save(output, [text + "\n"], [stored.path])


def open_(session: str, *, print_: bool) -> None:
    """Replace this process with the editor, at a session's file, and at the record of a position.

    :param session: with a position behind it (`35ea950f:21`), the line of that.
    :param print_: print the command instead.
    :raises SesameError: the file cannot be opened, or the editor not be started.
    """
    import shlex
    import shutil

    from ..api import opening
    from ..api.sesame import Sesame
    from ..errors import QueryError, SesameError

    with Sesame() as sesame:
        stored, position = sesame.get_place(session)
        if position is not None and position >= stored.chunk_count:
            raise QueryError(f"{stored.session.id} has no position {position}; its last is {stored.chunk_count - 1}")
        chunks = [] if position is None else sesame.list_messages(stored, offset=position, limit=1)
        short = sesame.abbreviate(stored.session.id)
    if reason := opening.refusal(stored.path):
        raise SesameError(f"{reason}; what is indexed of it: {_shown(short, position)}")
    entry = chunks[0].entry_id if chunks else None
    line = opening.line_of(stored.path, entry) if entry else None
    command = opening.editor()
    command += opening.at(command[0], stored.path, line)
    if print_:
        write(shlex.join(command))
        return
    if shutil.which(command[0]) is None:
        raise SesameError(f"the editor {command[0]!r} is not on the PATH: set VISUAL or EDITOR to another one")
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise SesameError(f"cannot start {command[0]!r}: {error.strerror or error}") from error


def _shown(short: str, position: int | None) -> str:
    return f"sesame show {short}" + ("" if position is None else f":{position}")


def _redacting(made: Callable[[], _Result]) -> _Result:
    """Return the result of a call that replaces secrets.

    :raises ConfigError: the extra that finds secrets is not installed; the message names the option without it.
    """
    from ..errors import ConfigError

    try:
        return made()
    except ConfigError as error:
        raise ConfigError(f"{error}; or leave secrets in the text: --no-redact") from error


COMMANDS = (
    Command(
        "handoff",
        handoff,
        "Print what another agent must know to go on: requests, answers, changes, failures, what is open.",
        (SESSION,),
        (
            Option("max_bytes", int, "Bytes at most.", default=6_000, least=1_000, metavar="N"),
            FILE,
            NO_REDACT,
            JSON,
        ),
        examples=(
            "sesame handoff 01a0b03d",
            "sesame handoff latest --max-bytes 3000",
        ),
    ),
    Command(
        "export",
        export,
        "Print a session with its subagents as Markdown, a page of HTML, or JSON, without secrets.",
        (SESSION,),
        (
            Option("md", bool, "Markdown; the default, unless the name of FILE says otherwise.", default=False),
            Option("html", bool, "One page of HTML that needs no other file.", default=False),
            JSON,
            FILE,
            NO_REDACT,
        ),
        examples=(
            "sesame export 01a0b03d -o flake.html",
            "sesame export latest --md",
        ),
    ),
    Command(
        "open",
        open_,
        "Open a session's file in $VISUAL or $EDITOR, at the line of a hit.",
        (SESSION,),
        (Option("print_", bool, "Print the command instead of running it.", default=False),),
        examples=(
            "sesame open 01a0b03d:21",
            "sesame open latest --print",
        ),
        is_brief=True,
    ),
)
