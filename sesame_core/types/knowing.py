"""Who worked on something, and what happened in a period: the answers of `sesame who` and `sesame digest`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..dataclass import dataclass, field

if TYPE_CHECKING:
    from .export import Point
    from .index import StoredSession

#: What a question "who" was taken for.
Subject: TypeAlias = Literal["file", "directory", "topic"]
#: What a digest groups sessions by.
DigestBy: TypeAlias = Literal["project", "person", "day"]


@dataclass(slots=True, kw_only=True)
class Involved:
    """One session that worked on something."""

    stored: StoredSession
    #: Calls that changed the file, and those that read or named it; of a topic 0.
    changes: int = 0
    reads: int = 0
    #: When it was changed first and last, else when it was read; of a topic, the times of the session.
    first: datetime | None = None
    last: datetime | None = None
    #: The last change, else the last call that names the file; of a topic, the best passage.  None if only the title
    #: matches.
    position: int | None = None
    #: The subagent's session that has this position, if it is not the session itself.
    subagent_id: str | None = None
    #: What is at that position, on one line.
    text: str = ""


@dataclass(slots=True, kw_only=True)
class Person:
    """One person who worked on something, and in which sessions; where all are one person's, one machine and agent."""

    #: Empty if the index does not know it, as the names of machines.
    owner: str = ""
    hosts: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    #: Those that changed it, the latest first, then the others; of a topic the best first.
    sessions: Sequence[Involved] = field(default_factory=tuple)

    @property
    def changes(self) -> int:
        """Calls that changed it."""
        return sum(one.changes for one in self.sessions)

    @property
    def reads(self) -> int:
        """Calls that read or named it."""
        return sum(one.reads for one in self.sessions)

    @property
    def changing(self) -> int:
        """Number of the sessions that changed it."""
        return sum(bool(one.changes) for one in self.sessions)

    @property
    def first(self) -> datetime | None:
        """When they worked on it first."""
        return min((one.first for one in self.sessions if one.first), default=None)

    @property
    def last(self) -> datetime | None:
        """When they worked on it last."""
        return max((one.last for one in self.sessions if one.last), default=None)


@dataclass(slots=True, kw_only=True)
class Who:
    """Who worked on a file, a directory or a topic."""

    #: As it was asked, and as it was searched for.
    about: str
    name: str
    subject: Subject
    #: Other names of the file, as git knows them.
    other_names: tuple[str, ...] = ()
    #: Those who changed it, most changes first, then those who read it; of a topic the best first.
    people: Sequence[Person] = field(default_factory=tuple)
    #: Number of all people, if these are a page of them, and of those before it.
    total: int = 0
    offset: int = 0
    #: No session of this repository names the file: these are sessions elsewhere, with a file of its name.
    is_elsewhere: bool = False
    #: The best session on a topic has little of it.
    is_weak: bool = False
    #: Of a very common name only the latest calls were counted.
    is_truncated: bool = False
    #: Sessions that name the file in calls that were not counted.
    uncounted: int = 0
    #: Sessions that were left out, by reason: "headless".
    left_out: Mapping[str, int] = field(default_factory=dict)
    #: Sessions of which only metadata is visible: whether they worked on it is not known.
    withheld: int = 0
    hints: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class DigestEntry:
    """What happened in one session, in the period."""

    stored: StoredSession
    first: datetime | None = None
    last: datetime | None = None
    #: Prompts of people.
    prompts: int = 0
    asked: Point | None = None
    #: The end of the last answer.
    concluded: Point | None = None
    changed: Sequence[Point] = field(default_factory=tuple)
    failed: Sequence[Point] = field(default_factory=tuple)
    open: Sequence[Point] = field(default_factory=tuple)
    #: Changed files, failed commands and open tasks that did not fit.
    left_out: int = 0
    #: Only its metadata is visible.
    is_withheld: bool = False


@dataclass(slots=True, kw_only=True)
class DigestGroup:
    """The sessions of one project, person or day."""

    #: "" if it is not known.
    name: str
    #: All interactive sessions, and who held them.
    sessions: int = 0
    owners: tuple[str, ...] = ()
    headless: int = 0
    subagents: int = 0
    #: The latest sessions, as far as they fit.
    entries: Sequence[DigestEntry] = field(default_factory=tuple)


@dataclass(slots=True, kw_only=True)
class Digest:
    """What happened in a period, in groups, the latest active first."""

    by: DigestBy
    #: The period; None where it has no bound.
    after: datetime | None = None
    before: datetime | None = None
    groups: Sequence[DigestGroup] = field(default_factory=tuple)
    sessions: int = 0
    headless: int = 0
    subagents: int = 0
    #: Sessions of which only metadata is visible; they are among the others.
    withheld: int = 0
    #: If there is no session in the period, when the latest one before it was last active.
    latest: datetime | None = None

    @property
    def shown(self) -> int:
        """Number of the sessions that it describes."""
        return sum(len(group.entries) for group in self.groups)
