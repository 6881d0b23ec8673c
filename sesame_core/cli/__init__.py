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
        # The reader of the output closed the pipe; the interpreter must not try to flush the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _run(arguments: list[str]) -> None:
    """Run the command: with the lean parser if it recognises every argument, else with typer."""
    if "_SESAME_COMPLETE" not in os.environ and _run_lean(arguments):
        return
    from .app import app
    from .parse import with_dashed_queries

    app(args=with_dashed_queries(arguments))


def _run_lean(arguments: list[str]) -> bool:
    """Run the command without typer; return False, without running it, if an argument is not certain."""
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
    """Turn the garbage collector off, also at exit: it takes a twentieth of the time of a short command."""
    atexit.register(gc.freeze)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _use_unicode() -> None:
    """Make every character printable, whatever the locale is; file names may contain bytes that are not UTF-8."""
    import io

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
