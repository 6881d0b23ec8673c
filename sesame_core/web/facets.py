"""What the sessions of an answer have in common: links that narrow it, each with the number of its sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from ..dataclass import dataclass
from ..rendering.text import day, project

if TYPE_CHECKING:
    from ..types.answer import Answer
    from .asking import Asked
    from .desk import Desk

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
    #: Each value with its number of sessions, None if nobody has counted them, and the link that narrows the answer.
    values: list[tuple[str, int | None, str]]


def facets(answer: Answer, asked: Asked, desk: Desk) -> list[Facet]:
    """Return the properties of the sessions of an answer."""
    found, filters = answer.found, answer.filters or asked.filters
    sessions = [stored.session for stored in found]
    by_agent = _most(session.agent for session in sessions)
    by_project = _most((one.repository or "", one.cwd or "" if not one.repository else "") for one in sessions)
    by_tool = _most(tool for session in sessions for tool in {name.lower() for name in session.tool_counts})
    days = Counter(day(session.modified) for session in sessions if session.modified)
    failing = None if filters.is_error else desk.failing()
    # With a tool, it is a call of that tool that failed.
    failed = None if filters.tool or failing is None else sum(stored.number in failing for stored in found)
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
        _tools(answer, asked, desk, [] if filters.tool else by_tool),
        Facet(
            "Failed",
            "Sessions in which something failed",
            [("something failed", failed, asked.url(error="1"))] if failing is not None and failed != 0 else [],
        ),
    ]
    return [facet for facet in made if facet.values]


def _tools(answer: Answer, asked: Asked, desk: Desk, by_tool: Sequence[tuple[str, int]]) -> Facet:
    """Return the tools of an answer: with words, a tool means its calls with these, which only searches count.

    :param by_tool: the tools that sessions called, none where one is set: another would take its place.
    """
    if answer.mode != "search":
        return Facet("Tool", "Sessions that called each tool", [(name, n, asked.url(tool=name)) for name, n in by_tool])
    values: list[tuple[str, int | None, str]] = []
    if asked.counts_calls:
        for name, _ in by_tool:
            if total := desk.sesame.search(asked.q, asked.filters_with(tool=name), limit=1).total:
                values.append((name, total, asked.url(tool=name)))
    elif by_tool:
        values = [("count them by tool", None, asked.url(count="tool"))]
    return Facet("Calls with these words", "Of all sessions, those with such a call", values)


def _most(values: Iterable[_Value]) -> list[tuple[_Value, int]]:
    return Counter(values).most_common(VALUES)
