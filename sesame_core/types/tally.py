"""Counts of sessions, in groups: by day, by agent …"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from ..dataclass import dataclass, field

#: What sessions are grouped by.
By: TypeAlias = Literal["day", "week", "agent", "project", "tool"]


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of some sessions."""

    #: A day (`2026-11-05`), a week (`2026-W45`), an agent, a repository or directory, a tool; "" if it is not known.
    group: str = ""
    sessions: int = 0
    messages: int = 0
    #: Prompts of people.
    prompts: int = 0
    calls: int = 0
    #: Chunks with an error, and files that tool calls named, each session's own; None if the index does not count them,
    #: or not in these groups.
    failures: int | None = None
    files: int | None = None


@dataclass(slots=True, kw_only=True)
class Tallies:
    """Counts of all sessions that filters select, and of each group of them."""

    by: By
    total: Tally
    groups: Sequence[Tally] = field(default_factory=tuple)
    #: When something was first and last said in them.
    first: datetime | None = None
    last: datetime | None = None
