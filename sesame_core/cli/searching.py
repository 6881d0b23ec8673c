"""`sesame search`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

_OPTION_WITH_VALUE = re.compile(r"--[a-z-]+=")
#: An excluded word; options of one dash have one letter, with a number behind it at most.
_EXCLUDED_WORD = re.compile(r"-[^\W\d_]{2}")


def add_to(app: typer.Typer) -> None:
    """Add this command to the application."""
    app.command()(search)


def with_dashed_queries(arguments: Sequence[str]) -> list[str]:
    """Return a command line in which queries that begin with a dash stand behind `--`.

    An argument with a space in it, such as "--prune --map negative tests", is a query and no option; so is
    an excluded word, `-draft`.
    """
    given = list(arguments)
    if given[:1] != ["search"] or "--" in given:
        return given
    queries = [
        a
        for a in given
        if _EXCLUDED_WORD.match(a) or (a.startswith("-") and " " in a.strip() and not _OPTION_WITH_VALUE.match(a))
    ]
    return [*(a for a in given if a not in queries), "--", *queries] if queries else given


def search(
    query: Annotated[
        list[str] | None,
        typer.Argument(metavar="[QUERY]...", help='Words, "a phrase", +required, -excluded, pre*; none or *: newest.'),
    ] = None,
    cwd: Annotated[str | None, typer.Option("--cwd", help="Only sessions in this directory or below it.")] = None,
    after: Annotated[str | None, typer.Option("--after", help="Last active then or later: 7d, 2026-11-01 …")] = None,
    before: Annotated[
        str | None, typer.Option("--before", help="Last active then or earlier; a day counts whole.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="Results at most.")] = 10,
    tools: Annotated[bool, typer.Option("--tools", help="Search only tool calls and their results.")] = False,
    tool: Annotated[str | None, typer.Option("--tool", help="Search only calls of this tool.")] = None,
    path: Annotated[
        str | None, typer.Option("--path", help="Only sessions in which a tool call named this file.")
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option("--exclude", help="Leave out this session; repeatable.")] = None,
    agent: Annotated[list[str] | None, typer.Option("--agent", help="Only sessions of this agent; repeatable.")] = None,
    all_kinds: Annotated[bool, typer.Option("--all-kinds", help="Headless runs too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    refresh: Annotated[bool, typer.Option("--refresh/--no-refresh", help="Index what changed first.")] = True,
) -> None:
    """Find the sessions a text is about.  Words need no quotes."""
    import os

    from .. import rendering
    from ..dates import parse_date
    from ..library import Sesame
    from ..query import Filters

    filters = Filters(
        cwd=os.path.abspath(os.path.expanduser(cwd)) if cwd else None,
        after=parse_date(after) if after else None,
        before=parse_date(before, is_end=True) if before else None,
        tools_only=tools,
        tool=tool,
        path=path,
        agents=tuple(agent or ()),
        all_kinds=all_kinds,
    )
    with Sesame() as sesame:
        refreshed = sesame.refresh() if refresh else None
        filters = sesame.excluding(filters, exclude or ())
        answer = sesame.search(" ".join(query or ()), filters, limit=limit)
        if json:
            typer.echo(rendering.as_json(rendering.answer_json(answer, refreshed)))
        else:
            terminal = sys.stdout.isatty()
            typer.echo(
                rendering.answer_text(answer, abbreviate=sesame.abbreviate, refreshed=refreshed, is_terminal=terminal)
            )
