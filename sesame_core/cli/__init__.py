"""The command line: parses, calls the library, prints, exits.  The only code that imports typer.

Exit codes: 0 done, 1 something failed (a file, the index, an unknown session), 2 wrong usage.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from .options import Command


def main() -> None:
    """Run `sesame`."""
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from .closed import replace_closed

        replace_closed()
    _use_unicode()
    from ..errors import QueryError, SesameError

    try:
        _run(sys.argv[1:])
    except BrokenPipeError:
        _drop_output()
        raise SystemExit(1) from None
    except SesameError as error:
        _fail(str(error), code=2 if isinstance(error, QueryError) else 1, reason=error)
    except OSError as error:
        # A disk that is full, a directory that was deleted: nothing that a traceback explains.
        about = f"{error.filename}: " if error.filename else ""
        if isinstance(error, FileNotFoundError) and not about:
            about = "the current directory does not exist: "
        _fail(f"{about}{error.strerror or error}", code=1, reason=error)
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _fail(message: str, *, code: int, reason: Exception | None) -> NoReturn:
    """Print an error as one line, and exit."""
    from ..errors import OutputError
    from ..rendering.text import printable
    from .terminal import write_error

    write_error(f"sesame: {printable(message)}")
    if isinstance(reason, (OutputError, OSError)):
        _drop_output()
    raise SystemExit(code) from reason


def _drop_output() -> None:
    """Discard what is buffered for standard output: the interpreter must not try to write it again at exit."""
    with suppress(OSError, ValueError):  # it is not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> None:
    """Run the command: with the lean parser if it recognises every argument, else with typer."""
    if arguments[:1] == ["help"] and len(arguments) <= 2:
        arguments = [*(name for name in arguments[1:] if name not in ("help", "--help", "-h")), "--help"]
    if "_SESAME_COMPLETE" not in os.environ and _run_lean(arguments):
        return
    from .parse import with_dashed_queries
    from .typed import run

    if wrong := run(with_dashed_queries(arguments)):
        _fail(wrong, code=2, reason=None)


def _run_lean(arguments: list[str]) -> bool:
    """Run the command without typer; return False, without running it, if an argument is not certain."""
    if arguments in (["--version"], ["-V"]):
        from .terminal import write_version

        write_version()
        return True
    if not arguments:
        from .picking import is_wanted

        if not is_wanted():
            return False
        arguments = ["pick"]
    from .commands import command as command_of
    from .parse import parse, with_dashed_queries

    name, *rest = with_dashed_queries(arguments)
    command = command_of(name)
    if (wanted := _help(command, arguments)) is not None:
        from .terminal import write

        write(wanted)
        return True
    values = parse(command, rest) if command else None
    if command is None or values is None:
        return False
    with _without_cycle_collection() if command.is_brief else nullcontext():
        command.run(values)
    return True


def _help(command: Command | None, arguments: list[str]) -> str | None:
    """Return the help that a command line asks for, and nothing else; None when it does not."""
    if arguments[-1:] not in (["--help"], ["-h"]) or len(arguments) != (1 if command is None else 2):
        return None
    from .help import command_help, program_help
    from .terminal import columns

    return command_help(command, columns()) if command else program_help(columns())


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
            stream.reconfigure(errors=_handler(stream.encoding))


def _handler(encoding: str) -> str:
    """Return the name of the handler of characters that an encoding does not have."""
    if encoding.lower().startswith("utf"):
        return "backslashreplace"
    from .signs import HANDLER

    return HANDLER
