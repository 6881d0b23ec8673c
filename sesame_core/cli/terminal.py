"""What commands open and where their output goes, with which colours; questions and progress bars on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..api.sesame import Sesame
    from ..rendering.screen.style import Screen
    from ..types.query import Filters
    from ..types.report import IndexReport, Progress

#: Values of `--color`.
COLORS = ("auto", "always", "never")

#: Most redraws of a bar: it moves by a thousandth of the whole.
STEPS = 1_000
#: Characters of a bar: with tens of thousands of files and gigabytes after it, it fits into 80 columns.
WIDTH = 20


@contextmanager
def opened() -> Iterator[Sesame]:
    """Open the sessions for a command that prints them: for an agent that has started it, without secrets."""
    from ..api.sesame import Sesame
    from ..integration.environment import is_for_agent

    with Sesame() as sesame:
        yield sesame.without_secrets() if is_for_agent() else sesame


@contextmanager
def narrowed(
    narrowing: Mapping[str, Any], exclude: Sequence[str] = (), *, include_current: bool = True, refresh: bool
) -> Iterator[tuple[Sesame, Filters, IndexReport | None, Sequence[str]]]:
    """Yield the sessions, a question's filters, the refresh before it, and the ids that the filters leave out unasked.

    :param narrowing: values of `fields.FIELDS`.
    :param exclude: ids of sessions to leave out, which may be abbreviated.
    :param include_current: do not leave out the session that the command was started from.
    :param refresh: index changes first.
    :raises QueryError: a value is not valid.
    """
    from ..query.fields import gathered

    filters = gathered(narrowing)
    with opened() as sesame:
        current = () if include_current else sesame.current_sessions()
        refreshed = sesame.refresh() if refresh else sesame.as_it_is()
        yield sesame, sesame.excluding(filters, [*exclude, *current]), refreshed, current


def write(text: str) -> None:
    """Print a line on standard output, and flush: the reader of a pipe need not wait for more.

    :raises BrokenPipeError: the reader of the pipe has closed it.
    :raises OutputError: it cannot be written.
    """
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        from ..errors import OutputError

        raise OutputError(f"cannot write the answer: {error.strerror or error}") from error


def write_report(text: str) -> None:
    """Print a text that people read, as `write`: on a terminal its lines are broken between words."""
    if sys.stdout.isatty():
        from ..rendering.screen.prose import fitted_lines

        text = fitted_lines(text, columns())
    write(text)


def write_error(text: str) -> None:
    """Print a line on standard error, if it can be written."""
    with suppress(OSError):  # there is no other place where this could be reported
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


def has_color(choice: str = "auto") -> bool:
    """Return whether output has colours: as `--color` says, else as the environment does, else on a terminal.

    `NO_COLOR` (no-color.org) turns them off; `FORCE_COLOR` and `CLICOLOR_FORCE` on, also in a pipe; `CLICOLOR=0` and a
    terminal called dumb off.

    :raises QueryError: there is no such choice.
    """
    if choice not in COLORS:
        from ..errors import QueryError

        raise QueryError(f"--color {choice!r}: it is one of {', '.join(COLORS)}")
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0", "false") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return os.environ.get("CLICOLOR") != "0" and os.environ.get("TERM") != "dumb" and sys.stdout.isatty()


def screen_of(choice: str = "auto") -> Screen | None:
    """Return the terminal that output goes to; None when it goes elsewhere.

    :param choice: the value of `--color`.
    :raises QueryError: there is no such choice.
    """
    colored = has_color(choice)
    if not sys.stdout.isatty():
        return None
    from shutil import get_terminal_size

    from ..rendering.screen.style import NARROWEST, Screen

    width, height = get_terminal_size()
    return Screen(width=max(width, NARROWEST), height=max(height, 5), has_color=colored)


def columns() -> int:
    """Return the columns of the terminal, 80 without one; a text for people needs some."""
    from shutil import get_terminal_size

    from ..rendering.screen.style import NARROWEST

    return max(get_terminal_size().columns, NARROWEST)


def write_version() -> None:
    """Print the version of Sesame."""
    from .. import version

    write(f"sesame {version()}")


def confirm(question: str) -> bool:
    """Ask yes or no on the terminal; without an answer (Ctrl-C, Ctrl-D) exit with 1."""
    import typer

    try:
        return typer.confirm(question)
    except typer.Abort:
        write_error("Aborted!")
        raise SystemExit(1) from None


@contextmanager
def progress_bar() -> Iterator[Callable[[Progress], None] | None]:
    """Yield a function that shows the progress of a run on a line, removed at the end; None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    import typer

    started = monotonic()

    def counts(progress: Progress | None) -> str | None:
        if progress is None:
            return None
        seconds = max(monotonic() - started, 0.001)  # a coarse clock shows no time for a small file
        return (
            f"{progress.files_done}/{progress.files_total} files  "
            f"{progress.bytes_done / 1e6:.0f}/{progress.bytes_total / 1e6:.0f} MB  "
            f"{progress.chunks / seconds:.0f} chunks/s"
        )

    bar = typer.progressbar(
        length=0,
        show_percent=False,
        item_show_func=counts,
        bar_template="[%(bar)s] %(info)s",
        width=WIDTH,
        file=sys.stderr,
    )
    done = 0

    def show(progress: Progress) -> None:
        nonlocal done
        bar.length = progress.bytes_total
        bar.update_min_steps = max(1, progress.bytes_total // STEPS)
        bar.current_item = progress
        bar.update(progress.bytes_done - done)
        done = progress.bytes_done

    try:
        with bar:
            yield show
    finally:
        sys.stderr.write("\x1b[A\x1b[K")  # the bar ends its line
        sys.stderr.flush()
