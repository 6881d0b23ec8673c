"""`sesame search`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..types.answer import LIMIT
from .options import COLOR, INCLUDE_CURRENT, JSON, REFRESH, Argument, Command, Option, limited, narrowing, skipping
from .terminal import has_color, narrowed, screen_of, write

if TYPE_CHECKING:
    from ..types.answer import Answer
    from ..types.report import IndexReport


def search(
    query: Sequence[str],
    *,
    exclude: Sequence[str],
    include_current: bool,
    limit: int | None,
    offset: int,
    hits: int | None,
    context: int | None,
    before_context: int | None,
    after_context: int | None,
    explain: bool,
    json: bool,
    brief: bool,
    max_bytes: int | None,
    color: str,
    refresh: bool,
    **narrowing: Any,
) -> None:
    """Print the sessions that match a query.

    :param narrowing: values of `fields.FIELDS`.
    :param brief: print what agents get, and with their defaults.
    :raises QueryError: `max_bytes` is given without `json` or `brief`, or a value is not valid.
    """
    from ..errors import QueryError
    from ..rendering import answers, text

    if max_bytes is not None and not (json or brief):
        raise QueryError("--max-bytes limits JSON; use it with --json or --brief")
    around, passage_bytes = _context(context, before_context, after_context), None
    if brief:
        from ..rendering import brief as briefly
        from ..rendering import budget

        limit, hits = limit or briefly.RESULTS, hits or briefly.PASSAGES
        around = around or (briefly.ITEMS, briefly.ITEMS)
        max_bytes, passage_bytes = briefly.BYTES if max_bytes is None else max_bytes, briefly.PASSAGE
    asked = narrowed(narrowing, exclude, include_current=include_current, refresh=refresh)
    with asked as (sesame, filters, refreshed, current):
        answer = sesame.search(
            " ".join(query),
            filters,
            limit=limit or LIMIT,
            offset=offset,
            passages=hits or 1,
            passage_bytes=passage_bytes,
            context=around,
            explain=explain,
        )
        if brief:
            value = briefly.brief_json(answer, refreshed, max_bytes=max_bytes or 0, current=current)
            write(budget.sent(value).decode())
            return
        if json:
            write(text.as_json(answers.answer_json(answer, refreshed, max_bytes=max_bytes, current=current)))
            return
        short = sesame.abbreviations(answers.shown_ids(answer))
    write_answer(answer, short, color=color, refreshed=refreshed, current=current)


def write_answer(
    answer: Answer,
    short: Mapping[str, str],
    *,
    color: str = "auto",
    refreshed: IndexReport | None = None,
    current: Sequence[str] = (),
) -> None:
    """Print an answer as it fits where it goes to.

    :param short: the abbreviation of each session that it names.
    :param color: the value of `--color`.
    :param current: ids of the caller's own sessions, which were left out.
    :raises QueryError: there is no such value.
    """
    if screen := screen_of(color):
        from ..rendering.screen.hits import answer_screen
        from .paging import page

        shown = answer_screen(answer, screen, abbreviate=short.__getitem__, refreshed=refreshed, current=current)
        page([shown], screen)
        return
    from ..rendering.answers import answer_text

    colored = has_color(color)
    write(answer_text(answer, abbreviate=short.__getitem__, refreshed=refreshed, current=current, has_color=colored))


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
            INCLUDE_CURRENT,
            limited(f"Results at most; {LIMIT}, with --brief 5.", None, most=1000),
            skipping("Results to skip."),
            Option("hits", int, "Passages of each session at most; 1, with --brief 2.", least=1, most=100),
            Option("context", int, "Show this many items around each passage.", more=("-C",), least=0),
            Option("before_context", int, "Show this many items before each passage.", more=("-B",), least=0),
            Option("after_context", int, "Show this many items after each passage.", more=("-A",), least=0),
            Option("explain", bool, "Explain how the query was read and how scores were computed.", default=False),
            COLOR,
            JSON,
            Option("brief", bool, "Print the JSON that agents get: evidence in few bytes.", default=False),
            Option("max_bytes", int, "Bytes of the JSON results at most.", least=0),
            REFRESH,
        ),
        examples=(
            "sesame search nix infrastructure simplify",
            "sesame search --here --after 'last week' flaky test",
            "sesame search --tool Bash gh pr create",
            "sesame search '\"tight loop\" -nginx' -C 2",
        ),
        is_brief=True,
    ),
)
