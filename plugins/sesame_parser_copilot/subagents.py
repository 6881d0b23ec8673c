"""The subagents of a session: their events are in its log, marked with an id."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from sesame_core import Session

from .facts import AGENT, TITLE_CHARS
from .values import mapping, string

#: Most stored subagents, and most of them in a checkpoint.
REMEMBERED = 1024
CARRIED = 64


class Subagents:
    """The subagents that were started, by id.

    :param state: the state of an earlier object.
    """

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        state = state or {}
        #: Title, parent and model of each.
        self._agents: OrderedDict[str, tuple[str, str, str]] = OrderedDict(
            (agent, (title, parent, model)) for agent, title, parent, model in state.get("agents", ())
        )
        #: The agent that a call has started: in older versions events name the call only.
        self._started_by: OrderedDict[str, str] = OrderedDict(state.get("calls", ()))
        self._introduced: set[str] = set()

    def start(self, event: Mapping[str, Any], task: str) -> None:
        """Read that one is started.

        :param task: the task in the call that started it.
        """
        data = mapping(event, "data")
        call = string(data, "toolCallId")
        agent = string(event, "agentId") or call
        if not agent:
            return
        title = " ".join((task or string(data, "agentDisplayName") or string(data, "agentName")).split())
        self._agents[agent] = (title[:TITLE_CHARS], string(data, "parentId"), string(data, "model"))
        self._started_by[call or agent] = agent
        for known in (self._agents, self._started_by):
            if len(known) > REMEMBERED:
                known.popitem(last=False)

    def of(self, event: Mapping[str, Any]) -> str:
        """Return the id of the subagent that an event is about; "" for the session's own."""
        if agent := string(event, "agentId"):
            return agent
        call = string(mapping(event, "data"), "parentToolCallId")
        return self._started_by.get(call, call)

    def is_introduced(self, agent: str) -> bool:
        """Return whether `introduce` was called for a subagent."""
        return agent in self._introduced

    def introduce(self, agent: str, main: Session) -> Session:
        """Return a subagent's session, before its first message.

        :param main: the session that has started it, or the one that started that.
        """
        self._introduced.add(agent)
        title, parent, model = self._agents.get(agent, ("", "", ""))
        return Session(
            id=f"{main.id}/{agent}",
            agent=AGENT,
            kind="subagent",
            parent_id=f"{main.id}/{parent}" if parent in self._agents else main.id,
            cwd=main.places[-1] if main.places else None,
            title=title or None,
            git_branch=main.git_branch,
            repository=main.repository,
            model=model or None,
        )

    def state(self) -> dict[str, Any]:
        """Return the state from which a new object continues, as JSON values."""
        return {
            "agents": [(agent, *about) for agent, about in list(self._agents.items())[-CARRIED:]],
            "calls": list(self._started_by.items())[-CARRIED:],
        }
