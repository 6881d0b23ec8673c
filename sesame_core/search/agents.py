"""Which agent a name means: its own name in any case, a beginning of it, or the name that `sesame integrate` takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..dataclass import replace
from ..errors import QueryError
from ..plugin.backend import IndexReader
from ..query.boolean import with_filters
from ..types.query import Filters, Query


def agent_named(name: str, known: Iterable[str], preferred: Sequence[str] = ()) -> str | None:
    """Return the one known agent that a name means; None when there is none, or several.

    :param preferred: agents that win when the name is the beginning of several.
    """
    agents = list(dict.fromkeys(known))
    if name in agents:
        return name
    small = name.casefold()
    for candidates in (preferred, agents):
        for means in (str.__eq__, lambda agent, name: agent.startswith(f"{name}-"), str.startswith):
            found = [agent for agent in agents if agent in candidates and means(agent.casefold(), small)]
            if len(found) == 1:
                return found[0]
    return None


class Agents:
    """The agents of an index and of the installed parsers.

    :param installed: returns the names of installed parsers; a name that begins several means one of them.
    """

    def __init__(self, reader: IndexReader, installed: Callable[[], Sequence[str]]) -> None:
        self._reader = reader
        self._read = installed
        self._parsers: Sequence[str] | None = None
        self._names: list[str] | None = None

    def _installed(self) -> Sequence[str]:
        if self._parsers is None:
            self._parsers = self._read()
        return self._parsers

    @property
    def names(self) -> list[str]:
        """All names."""
        if self._names is None:
            found = [agent.agent for agent in self._reader.statistics().agents]
            self._names = list(dict.fromkeys([*self._installed(), *found]))
        return self._names

    def checked(self, filters: Filters) -> Filters:
        """Return filters whose agents are known ones.

        :raises QueryError: neither a session nor an installed parser has the name.
        """
        for name in filters.agents:
            if problem := self.problem(name):
                raise QueryError(problem)
        return self.resolved(filters)

    def problem(self, name: str) -> str | None:
        """Return what is wrong with a name, and which was perhaps meant; None if it means an agent."""
        if agent_named(name, self.names, self._installed()):
            return None
        from ..plugin.agents import TUTORIAL, UNREAD
        from ..text.suggest import nearest

        if unread := [agent for agent in UNREAD if name.casefold() in (agent.casefold(), agent.split()[0].casefold())]:
            return f"no agent {name!r}: no installed plugin reads the sessions of {unread[0]}; see {TUTORIAL}"
        beginnings = [agent.partition("-")[0] for agent in self.names]
        near = nearest(name, [*self.names, *beginnings])
        near = near and agent_named(near, self.names, self._installed())
        return f"no agent {name!r}: " + (f"did you mean {near}?" if near else f"there are {', '.join(self.names)}")

    def resolved(self, filters: Filters) -> Filters:
        """Return filters with the agents that their names mean; unknown names stay."""
        if not filters.agents:
            return filters
        meant = [agent_named(name, self.names, self._installed()) or name for name in filters.agents]
        return replace(filters, agents=tuple(dict.fromkeys(meant)))

    def in_query(self, query: Query) -> Query:
        """Return a query with the agents that the names in its fields mean."""
        condition = query.condition and with_filters(query.condition, self.resolved)
        filters = self.resolved(query.filters)
        is_same = filters == query.filters and condition == query.condition
        return query if is_same else replace(query, filters=filters, condition=condition)
