"""`sesame search`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

_OPTION_WITH_VALUE = re.compile(r"--[a-z-]+=")
#: An excluded word, phrase or group; options of one dash have one letter, with a number behind it at most.
_EXCLUDED_WORD = re.compile(r"-(?:[^\W\d_]{2}|[(\"])")


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
    query: Sequence[str],
    *,
    cwd: str | None,
    repo: str | None,
    branch: str | None,
    after: str | None,
    before: str | None,
    limit: int,
    offset: int,
    tools: bool,
    tool: str | None,
    role: str | None,
    path: str | None,
    cmd: str | None,
    error: bool,
    model: str | None,
    workstation: str | None,
    host: str | None,
    owner: str | None,
    exclude: Sequence[str],
    include_current: bool,
    agent: Sequence[str],
    all_kinds: bool,
    hits: int,
    context: int | None,
    before_context: int | None,
    after_context: int | None,
    explain: bool,
    json: bool,
    max_bytes: int | None,
    refresh: bool,
) -> None:
    """Find the sessions a text is about.  Words need no quotes."""
    from ..api.sesame import Sesame
    from ..errors import QueryError
    from ..integration.environment import current_sessions
    from ..query import fields
    from ..rendering import answers, text
    from ..types.query import Filters

    if max_bytes is not None and not json:
        raise QueryError("--max-bytes limits JSON; it goes with --json")
    given = {
        "cwd": cwd, "repo": repo, "branch": branch, "after": after, "before": before, "tool": tool, "role": role,
        "path": path, "cmd": cmd, "is": "error" if error else None, "model": model,
        "workstation": workstation, "host": host, "owner": owner,
    }  # fmt: skip
    filters = fields.gathered(given, Filters(tools_only=tools, agents=tuple(agent), all_kinds=all_kinds))
    current = () if include_current else current_sessions()
    with Sesame() as sesame:
        refreshed = sesame.refresh() if refresh else None
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
                abbreviate=sesame.abbreviate,
                refreshed=refreshed,
                current=current,
                is_terminal=sys.stdout.isatty(),
            )
    sys.stdout.write(output + "\n")


def _context(around: int | None, before: int | None, after: int | None) -> tuple[int, int] | None:
    """Return how much is shown before and after a passage: a side's own option wins, and one alone is one side."""
    if around is before is after is None:
        return None
    sides = (side if side is not None else around or 0 for side in (before, after))
    return next(sides), next(sides)
