"""The command line: parses, calls the library, prints, exits.  The only code that imports typer.

Exit codes: 0 done, 1 something failed (a file, the index, an unknown session), 2 wrong usage.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext


def main() -> None:
    """Run `sesame`."""
    _use_unicode()
    from ..errors import QueryError, SesameError

    try:
        _run(sys.argv[1:])
    except SesameError as error:
        from ..rendering.text import printable

        sys.stderr.write(f"sesame: {printable(str(error))}\n")
        raise SystemExit(2 if isinstance(error, QueryError) else 1) from error
    except BrokenPipeError:
        # The reader of our output is gone; nothing more can be said, and the interpreter must not try.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _run(arguments: list[str]) -> None:
    """Run the command: by the lean parser when it is sure of every word, else by typer."""
    if "_SESAME_COMPLETE" not in os.environ and _run_lean(arguments):
        return
    from .app import app
    from .parse import with_dashed_queries

    app(args=with_dashed_queries(arguments))


def _run_lean(arguments: list[str]) -> bool:
    """Run the command without typer; return whether every word was certain."""
    if arguments in (["--version"], ["-V"]):
        from .terminal import write_version

        write_version()
        return True
    from .commands import command as command_of
    from .parse import parse, with_dashed_queries

    name, *rest = with_dashed_queries(arguments) or [""]
    command = command_of(name)
    values = parse(command, rest) if command else None
    if command is None or values is None:
        return False
    with _without_cycle_collection() if command.is_brief else nullcontext():
        command.run(values)
    return True


@contextmanager
def _without_cycle_collection() -> Iterator[None]:
    """Do not search for reference cycles, now or when the interpreter ends: it takes a twentieth of a short command."""
    atexit.register(gc.freeze)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _use_unicode() -> None:
    """Let no character stop the output, whatever the locale says; file names may hold bytes that are no text."""
    import io

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
