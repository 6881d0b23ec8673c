"""`sesame search`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .options import JSON, Argument, Command, Option, limited, narrowing, skipping
from .terminal import opened, write


def search(
    query: Sequence[str],
    *,
    exclude: Sequence[str],
    include_current: bool,
    limit: int,
    offset: int,
    hits: int,
    context: int | None,
    before_context: int | None,
    after_context: int | None,
    explain: bool,
    json: bool,
    max_bytes: int | None,
    refresh: bool,
    **narrowing: Any,
) -> None:
    """Print the sessions that match a query.

    :param narrowing: values of `fields.FIELDS`.
    :raises QueryError: `max_bytes` is given without `json`, or a value is not valid.
    """
    from ..errors import QueryError
    from ..query.fields import gathered
    from ..rendering import answers, text

    if max_bytes is not None and not json:
        raise QueryError("--max-bytes limits JSON; use it with --json")
    filters = gathered(narrowing)
    with opened() as sesame:
        current = () if include_current else sesame.current_sessions()
        refreshed = sesame.refresh() if refresh else sesame.as_it_is()
        filters = sesame.excluding(filters, [*exclude, *current])
        answer = sesame.search(
            " ".join(query),
            filters,
            limit=limit,
            offset=offset,
            passages=hits,
            context=_context(context, before_context, after_context),
            explain=explain,
        )
        if json:
            output = text.as_json(answers.answer_json(answer, refreshed, max_bytes=max_bytes, current=current))
        else:
            output = answers.answer_text(
                answer,
                abbreviate=sesame.abbreviations(hit.session.id for hit in answer.hits).__getitem__,
                refreshed=refreshed,
                current=current,
                is_terminal=sys.stdout.isatty(),
            )
    write(output)


def _context(around: int | None, before: int | None, after: int | None) -> tuple[int, int] | None:
    """Return the items before and after a passage: a side's own option wins, and one alone gives one side only."""
    if around is before is after is None:
        return None
    sides = (side if side is not None else around or 0 for side in (before, after))
    return next(sides), next(sides)


COMMANDS = (
    Command(
        "search",
        search,
        "Find sessions by what was said in them.  Words need no quotes.",
        (
            Argument(
                "query",
                "[QUERY]...",
                'Words, "a phrase", AND, OR, NOT, ( ), pre*, field:value; none or *: newest.',
                is_repeatable=True,
            ),
        ),
        (
            *narrowing(),
            Option("include_current", bool, "Do not leave out the session this was started from.", default=False),
            limited("Results at most.", 10, most=1000),
            skipping("Results to skip."),
            Option("hits", int, "Passages of each session at most.", default=1, least=1, most=100),
            Option("context", int, "Show this many items around each passage.", more=("-C",), least=0),
            Option("before_context", int, "Show this many items before each passage.", more=("-B",), least=0),
            Option("after_context", int, "Show this many items after each passage.", more=("-A",), least=0),
            Option("explain", bool, "Explain how the query was read and how scores were computed.", default=False),
            JSON,
            Option("max_bytes", int, "Bytes of the JSON results at most.", least=0),
            Option("refresh", bool, "Index changes first.", more=("--no-refresh",), default=True),
        ),
        is_brief=True,
    ),
)
