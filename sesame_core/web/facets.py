"""What the sessions of an answer have in common: links that narrow it, each with the number of its sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, TypeVar

from ..dataclass import dataclass
from ..rendering.text import day, project

if TYPE_CHECKING:
    from ..types.index import StoredSession
    from .asking import Asked

#: Sessions that are counted at most, the best or the newest; each takes about 20 µs.
COUNTED = 1_000
#: Values of a facet with a link.
VALUES = 8


_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Facet:
    """A property, and the most frequent values of it."""

    name: str
    #: What it counts, for people.
    help: str
    #: Each value with its number of sessions and the link that narrows the answer to it.
    values: list[tuple[str, int, str]]


def facets(
    found: Collection[StoredSession], asked: Asked, failing: Collection[int] | None, *, has_words: bool
) -> list[Facet]:
    """Return the properties of sessions.

    :param has_words: the query has words: a tool then means calls with these words, which nobody has counted.
    :param failing: numbers of the sessions in which something failed; None if nobody counts them.
    """
    sessions = [stored.session for stored in found]
    by_agent = _most(session.agent for session in sessions)
    by_project = _most((one.repository or "", one.cwd or "" if not one.repository else "") for one in sessions)
    tools = () if has_words else ({tool.lower() for tool in session.tool_counts} for session in sessions)
    by_tool = _most(tool for of_session in tools for tool in of_session)
    days = Counter(day(session.modified) for session in sessions if session.modified)
    failed = sum(stored.number in failing for stored in found) if failing is not None else 0
    made = [
        Facet("Agent", "Sessions of each agent", [(name, n, asked.url(agent=name)) for name, n in by_agent]),
        Facet(
            "Project",
            "Sessions of each repository, or directory without one",
            [
                (project(repo or cwd), n, asked.url(repo=repo) if repo else asked.url(cwd=cwd))
                for (repo, cwd), n in by_project
                if repo or cwd
            ],
        ),
        Facet(
            "Day",
            "Sessions by the day on which they were last active",
            [(name, n, asked.url(after=name, before=name)) for name, n in sorted(days.items(), reverse=True)[:VALUES]],
        ),
        Facet("Tool", "Sessions that called each tool", [(name, n, asked.url(tool=name)) for name, n in by_tool]),
        Facet(
            "Failed",
            "Sessions in which something failed",
            [("something failed", failed, asked.url(error="1"))] if failed else [],
        ),
    ]
    return [facet for facet in made if facet.values]


def _most(values: Iterable[_Value]) -> list[tuple[_Value, int]]:
    return Counter(values).most_common(VALUES)
