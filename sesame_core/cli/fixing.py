"""`sesame fix` and `sesame how`: what was done after an error, and how something is run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from .options import JSON, Argument, Command, Option, limited, narrowing, skipping
from .terminal import opened, write

if TYPE_CHECKING:
    from ..api.sesame import Sesame
    from ..types.fixes import Fixes, Ways
    from ..types.query import Filters
    from ..types.report import IndexReport

#: The result of the refresh before an answer, and the ids of the sessions that it leaves out.
_Known: TypeAlias = "tuple[IndexReport | None, Sequence[str]]"
#: Most characters that are read from standard input: the lines that say most are among the last of a log.
LONGEST = 1_000_000
#: The fields that narrow such an answer.
NARROWING = ("cwd", "here", "repo", "branch", "agent", "after", "before", "workstation", "host", "owner", "all_kinds")


def fix(
    error: Sequence[str],
    *,
    exclude: Sequence[str],
    include_current: bool,
    limit: int,
    offset: int,
    json: bool,
    refresh: bool,
    **narrowing: Any,
) -> None:
    """Print what was done after an error.

    :param error: words of it, or `-` for standard input.
    :param narrowing: values of `fields.FIELDS`.
    """
    from ..rendering.fixes import fixes_json, fixes_text

    text = sys.stdin.read()[-LONGEST:] if list(error) == ["-"] else " ".join(error)
    with _narrowed(exclude, narrowing, include_current=include_current, refresh=refresh) as (sesame, filters, known):
        found = sesame.fix(text, filters, limit=limit, offset=offset)
        _write(
            sesame, found, fixes_json(found, *known) if json else None, lambda short: fixes_text(found, short, *known)
        )


def how(
    command: Sequence[str],
    *,
    exclude: Sequence[str],
    include_current: bool,
    limit: int,
    offset: int,
    json: bool,
    refresh: bool,
    **narrowing: Any,
) -> None:
    """Print how something is run.

    :param command: a command, or words for a task.
    :param narrowing: values of `fields.FIELDS`.
    """
    from ..rendering.fixes import ways_json, ways_text

    with _narrowed(exclude, narrowing, include_current=include_current, refresh=refresh) as (sesame, filters, known):
        found = sesame.how(" ".join(command), filters, limit=limit, offset=offset)
        _write(sesame, found, ways_json(found, *known) if json else None, lambda short: ways_text(found, short, *known))


@contextmanager
def _narrowed(
    exclude: Sequence[str], narrowing: Mapping[str, Any], *, include_current: bool, refresh: bool
) -> Iterator[tuple[Sesame, Filters, _Known]]:
    """Yield the sessions, the filters of a question, and what its answer also says: the refresh, sessions left out."""
    from ..query.fields import gathered

    filters = gathered(narrowing)
    with opened() as sesame:
        current = () if include_current else sesame.current_sessions()
        refreshed = sesame.refresh() if refresh else sesame.as_it_is()
        yield sesame, sesame.excluding(filters, [*exclude, *current]), (refreshed, current)


def _write(
    sesame: Sesame, found: Fixes | Ways, value: object | None, as_text: Callable[[Callable[[str], str]], str]
) -> None:
    """Print an answer.

    :param value: its JSON value; None for text.
    :param as_text: returns the text, with a function that abbreviates ids.
    """
    from ..rendering.fixes import shown_ids
    from ..rendering.text import as_json

    if value is not None:
        write(as_json(value))
    else:
        write(as_text(sesame.abbreviations(shown_ids(found)).__getitem__))


def _options(what: str) -> tuple[Option, ...]:
    return (
        *narrowing(*NARROWING, "exclude"),
        Option("include_current", bool, "Do not leave out the session this was started from.", default=False),
        limited(f"{what} at most.", 5, most=100),
        skipping(f"{what} to skip."),
        JSON,
        Option("refresh", bool, "Index changes first.", more=("--no-refresh",), default=True),
    )


COMMANDS = (
    Command(
        "fix",
        fix,
        "Print what was done after an error, or one like it, and whether that held.",
        (
            Argument(
                "error",
                "ERROR...",
                "The error as it was printed, of any number of lines; - reads standard input.",
                is_required=True,
                is_repeatable=True,
            ),
        ),
        _options("Fixes"),
        examples=("sesame fix \"fatal: 'main' is already used by worktree\"", "sesame fix - < build.log"),
    ),
    Command(
        "how",
        how,
        "Print how something is run: commands that succeeded, their variants, and apart those that failed.",
        (
            Argument(
                "command",
                "COMMAND...",
                "A command or its beginning, or words for a task.",
                is_required=True,
                is_repeatable=True,
            ),
        ),
        _options("Commands"),
        examples=("sesame how cargo test", "sesame how --here run the integration tests"),
    ),
)
