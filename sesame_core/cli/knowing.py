"""`sesame who` and `sesame digest`: who worked on something, and what happened in a period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .options import JSON, Argument, Command, Option, limited, narrowing
from .terminal import opened, write

REFRESH = Option("refresh", bool, "Index changes first.", more=("--no-refresh",), default=True)


def who(about: Sequence[str], *, topic: bool, limit: int, refresh: bool, json: bool, **narrowing: Any) -> None:
    """Print who worked on a file, a directory or a topic, and in which sessions.

    :param topic: it is words, even if there is a file of this name.
    :param limit: most sessions of each person.
    :param narrowing: values of `fields.FIELDS`.
    """
    import shlex

    from ..query.fields import gathered
    from ..rendering.knowing import ids_of, who_json, who_text
    from ..rendering.text import as_json, one_line

    filters = gathered(narrowing)
    with opened() as sesame:
        refreshed = sesame.refresh() if refresh else sesame.as_it_is()
        found = sesame.who(" ".join(about), filters, is_topic=topic)
        if json:
            write(as_json(who_json(found, limit, refreshed)))
            return
        short = sesame.abbreviations(ids_of(found, limit))
    searches = one_line(f"sesame search {shlex.quote(found.about)}") if len(found.about) < 100 else ""
    write(who_text(found, limit, short, refreshed, searches=searches))


COMMANDS = (
    Command(
        "who",
        who,
        "Who worked on a file, a directory or a topic, and in which sessions: those that changed it first.",
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
            *narrowing("starred", "tag", "workstation", "host", "owner", "all_kinds"),
            limited("Sessions of each person at most.", 5),
            REFRESH,
            JSON,
        ),
        examples=("sesame who src/socket.ts", "sesame who reconnect backoff --after 30d"),
        is_brief=True,
    ),
)
