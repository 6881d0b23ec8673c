"""`sesame stats`: counts of sessions by day, week, agent, project or tool."""

from __future__ import annotations

import sys
from typing import Any, get_args

from .options import COLOR, JSON, Command, Option, limited, narrowing
from .terminal import has_color, screen_of, write

#: Rows and columns of the text where there is no terminal.
COLUMNS, ROWS = 80, 24


def stats(*, by: str, limit: int, color: str, json: bool, **narrowing: Any) -> None:
    """Print counts of sessions, from the index as it is.

    :param by: one of `types.tally.By`.
    :param limit: most groups.
    :param narrowing: values of `fields.FIELDS`.
    :raises QueryError: there are no such groups.
    """
    from ..api.sesame import Sesame
    from ..errors import QueryError
    from ..query.fields import gathered
    from ..rendering.screen.style import Screen
    from ..rendering.tallies import tallies_json, tallies_text
    from ..rendering.text import as_json
    from ..types.tally import By

    if by not in get_args(By):
        raise QueryError(f"{by!r} is not a group: use {', '.join(get_args(By))}")
    with Sesame() as sesame:
        found = sesame.stats(gathered(narrowing), by=by)  # type: ignore[arg-type]
    if json:
        write(as_json(tallies_json(found, limit)))
        return
    terminal = screen_of(color)
    screen = terminal or Screen(width=COLUMNS, height=ROWS, has_color=has_color(color))
    write(tallies_text(found, limit, screen, _bar(), is_wrapped=terminal is not None))


def _bar() -> str:
    """Return the character of bars: a block, unless the output cannot have one."""
    try:
        "█".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return "#"
    return "█"


COMMANDS = (
    Command(
        "stats",
        stats,
        "Count sessions, messages, prompts, tool calls, failures and files, from the index as it is.",
        options=(
            Option("by", str, "day, week, agent, project or tool.", default="day", metavar="GROUP"),
            *narrowing("in", "cwd", "here", "repo", "branch", "agent", "model", "after", "before"),
            *narrowing("path", "cmd", "error"),
            *narrowing("starred", "tag", "workstation", "host", "owner", "all_kinds"),
            limited("Groups at most.", 30),
            COLOR,
            JSON,
        ),
        examples=("sesame stats --by week --here", "sesame stats --by tool --after 30d"),
    ),
)
