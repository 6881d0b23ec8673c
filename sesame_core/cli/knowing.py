"""`sesame who` and `sesame digest`: who worked on something, and what happened in a period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .options import INCLUDE_CURRENT, JSON, REFRESH, Argument, Command, Option, limited, narrowing
from .terminal import narrowed, write, write_report


def who(
    about: Sequence[str],
    *,
    topic: bool,
    exclude: Sequence[str],
    include_current: bool,
    limit: int,
    refresh: bool,
    json: bool,
    **narrowing: Any,
) -> None:
    """Print who worked on a file, a directory or a topic, and in which sessions.

    :param topic: it is words, even if there is a file of this name.
    :param limit: most sessions of each person.
    :param narrowing: values of `fields.FIELDS`.
    """
    import shlex

    from ..rendering.knowing import ids_of, who_json, who_text
    from ..rendering.text import as_json, one_line

    asked = narrowed(narrowing, exclude, include_current=include_current, refresh=refresh)
    with asked as (sesame, filters, refreshed, current):
        found = sesame.who(" ".join(about), filters, is_topic=topic)
        if json:
            write(as_json(who_json(found, refreshed, current, limit=limit)))
            return
        short = sesame.abbreviations(ids_of(found, limit))
    searches = one_line(f"sesame search {shlex.quote(found.about)}") if len(found.about) < 100 else ""
    write_report(who_text(found, short, refreshed, current, limit=limit, searches=searches))


def digest(
    *,
    day: bool,
    week: bool,
    since: str | None,
    by: str,
    max_bytes: int,
    md: bool,
    json: bool,
    refresh: bool,
    **narrowing: Any,
) -> None:
    """Print what happened in a period: of each project, person or day the latest sessions, with quotes of them.

    :param day: the last 24 hours.
    :param week: the last seven days; if no period is given, the seven before its end.
    :param since: a date, as `--after` takes it.
    :param by: one of `types.knowing.DigestBy`.
    :param max_bytes: most bytes of all quotes.
    :param narrowing: values of `fields.FIELDS`.
    :raises QueryError: several periods are given, or there are no such groups.
    """
    from datetime import timedelta
    from typing import get_args

    from ..dataclass import replace
    from ..errors import QueryError
    from ..rendering.digests import digest_json, digest_text, ids_of
    from ..rendering.text import as_json
    from ..types.knowing import DigestBy

    given = [flag for flag, is_given in (("--day", day), ("--week", week), ("--since", since)) if is_given]
    if len(given) > 1:
        raise QueryError(f"{' and '.join(given)}: a digest has one period")
    if md and json:
        raise QueryError("--md and --json: a digest has one format")
    if by not in get_args(DigestBy):
        raise QueryError(f"{by!r} is not a group: use {', '.join(get_args(DigestBy))}")
    narrowing["after"] = since or ("24h" if day else "7d")
    with narrowed(narrowing, refresh=refresh) as (sesame, filters, refreshed, _):
        if filters.before and not given:
            filters = replace(filters, after=filters.before - timedelta(days=7))
        found = sesame.digest(filters, by=by, max_bytes=max_bytes)  # type: ignore[arg-type]
        if json:
            write(as_json(digest_json(found, refreshed)))
            return
        short = sesame.abbreviations(ids_of(found))
    # A line of Markdown is one, and a heading ends with it.
    (write if md else write_report)(digest_text(found, short, refreshed, is_markdown=md))


COMMANDS = (
    Command(
        "who",
        who,
        "Print who worked on a file, a directory or a topic, and in which sessions: those that changed it first.",
        (
            Argument(
                "about",
                "FILE|TOPIC",
                "A path or its end, of a file that is here or that sessions name; or words to search for.",
                is_required=True,
                is_repeatable=True,
            ),
        ),
        (
            Option("topic", bool, "Take it for words, even if there is a file of this name.", default=False),
            *narrowing("cwd", "here", "repo", "branch", "agent", "model", "after", "before"),
            *narrowing("starred", "tag", "workstation", "host", "owner", "all_kinds", "exclude"),
            INCLUDE_CURRENT,
            limited("Sessions of each person at most.", 5),
            REFRESH,
            JSON,
        ),
        examples=("sesame who src/socket.ts", "sesame who reconnect backoff --after 30d"),
        is_brief=True,
    ),
    Command(
        "digest",
        digest,
        "Print what happened in a period: of each project the latest sessions, with quotes of them; for a stand-up.",
        options=(
            Option("day", bool, "The last 24 hours.", default=False),
            Option("week", bool, "The last seven days; the default.", default=False),
            Option("since", str, "Since then: yesterday, monday, 2026-11-01 …", metavar="DATE"),
            *narrowing("before"),
            Option("by", str, "project, person or day.", default="project", metavar="GROUP"),
            *narrowing("cwd", "here", "repo", "branch", "agent", "model", "starred", "tag", "workstation", "host"),
            *narrowing("owner"),
            Option("max_bytes", int, "Bytes of the quotes at most.", default=12_000, least=1_000, metavar="N"),
            Option("md", bool, "Print Markdown.", default=False),
            REFRESH,
            JSON,
        ),
        examples=("sesame digest --day", "sesame digest --since monday --here --by person --md"),
    ),
)
