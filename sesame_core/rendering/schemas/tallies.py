"""Counts of sessions: `sesame stats`."""

from __future__ import annotations

from typing_extensions import TypedDict

from .sessions import VersionedJson


class TallyJson(TypedDict):
    """Counts of some sessions."""

    #: Day, week, agent, repository or directory, or tool; empty for all sessions, or if it is not known.
    group: str
    sessions: int
    messages: int
    prompts: int
    toolCalls: int
    #: None if the index does not count them, or not by tool.
    failures: int | None
    files: int | None


class TalliesJson(VersionedJson):
    """Counts of all sessions that the options select, and of groups of them: `sesame stats`."""

    by: str
    first: str | None
    last: str | None
    total: TallyJson
    #: Number of all groups.
    groupCount: int
    groups: list[TallyJson]
