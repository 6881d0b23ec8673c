"""`sesame fix` and `sesame how`: what was done after an error, and how something is run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .options import INCLUDE_CURRENT, JSON, REFRESH, Argument, Command, Option, limited, narrowing, skipping
from .terminal import narrowed, write, write_report

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
    from ..rendering.fixes import fixes_json, fixes_text, shown_ids
    from ..rendering.text import as_json

    text = sys.stdin.read()[-LONGEST:] if list(error) == ["-"] else " ".join(error)
    asked = narrowed(narrowing, exclude, include_current=include_current, refresh=refresh)
    with asked as (sesame, filters, refreshed, current):
        found = sesame.fix(text, filters, limit=limit, offset=offset)
        if json:
            write(as_json(fixes_json(found, refreshed, current)))
            return
        short = sesame.abbreviations(shown_ids(found))
    write_report(fixes_text(found, short.__getitem__, refreshed, current))


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
    from ..rendering.fixes import shown_ids, ways_json, ways_text
    from ..rendering.text import as_json

    asked = narrowed(narrowing, exclude, include_current=include_current, refresh=refresh)
    with asked as (sesame, filters, refreshed, current):
        found = sesame.how(" ".join(command), filters, limit=limit, offset=offset)
        if json:
            write(as_json(ways_json(found, refreshed, current)))
            return
        short = sesame.abbreviations(shown_ids(found))
    write_report(ways_text(found, short.__getitem__, refreshed, current))


def _options(what: str) -> tuple[Option, ...]:
    return (
        *narrowing(*NARROWING, "exclude"),
        INCLUDE_CURRENT,
        limited(f"{what} at most.", 5, most=100),
        skipping(f"{what} to skip."),
        JSON,
        REFRESH,
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
