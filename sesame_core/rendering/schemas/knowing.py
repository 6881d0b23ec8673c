"""Who worked on something, and what happened in a period: `sesame who` and `sesame digest`."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from .doc import Doc
from .exports import PointJson
from .freshness import IndexJson
from .sessions import VersionedJson


class InvolvedJson(TypedDict):
    """A session that worked on something."""

    sessionId: str
    source: Annotated[str, Doc("The agent.")]
    cwd: str | None
    name: Annotated[str, Doc("Its title, or the one made from its prompts.")]
    kind: Annotated[str | None, Doc("interactive, subagent or headless.")]
    changes: Annotated[int, Doc("Calls that changed the file; of a topic 0.")]
    reads: Annotated[int, Doc("Other calls that name it.")]
    first: Annotated[str | None, Doc("When it was changed first, else read; of a topic, the session's start.")]
    last: str | None
    position: Annotated[int | None, Doc("The last change, else the last call; of a topic, the best passage.")]
    subagentId: Annotated[str | None, Doc("The subagent with this position, if it is not the session itself.")]
    text: Annotated[str, Doc("What is there, on one line.")]


class PersonJson(TypedDict):
    """A person who worked on something; where all sessions are one person's, one machine and agent."""

    owner: str | None
    hosts: list[str]
    agents: list[str]
    changes: int
    reads: int
    first: str | None
    last: str | None
    sessionCount: int
    changedIn: Annotated[int, Doc("How many of the sessions changed it.")]
    sessions: Annotated[list[InvolvedJson], Doc("Those that changed it, the latest first, then the others.")]


class WhoJson(VersionedJson):
    """Who worked on a file, a directory or a topic: `sesame who --json`."""

    about: str
    name: Annotated[str, Doc("The path that was searched for.")]
    subject: Annotated[str, Doc("What it was taken for: file, directory or topic.")]
    otherNames: Annotated[list[str], Doc("Other names of the file, as git knows them.")]
    elsewhere: Annotated[bool, Doc("No session of this repository names it; these are of others.")]
    weak: Annotated[bool, Doc("No session has much of the topic.")]
    truncated: Annotated[bool, Doc("Of a very common name only the latest calls were counted.")]
    uncounted: Annotated[int, Doc("Sessions that name it in calls that were not counted.")]
    total: Annotated[int, Doc("All people.")]
    offset: Annotated[int, Doc("People before the first one.")]
    sessionCount: int
    changes: int
    people: list[PersonJson]
    leftOut: Annotated[dict[str, int], Doc("Sessions that were left out, by reason.")]
    withheld: Annotated[int, Doc("Sessions of which only metadata is visible.")]
    hints: list[str]
    index: IndexJson
    currentSessions: Annotated[list[str], Doc("The caller's own sessions, which were left out.")]


class DigestEntryJson(TypedDict):
    """What happened in one session, in the period."""

    sessionId: str
    source: Annotated[str, Doc("The agent.")]
    cwd: str | None
    owner: str | None
    name: Annotated[str | None, Doc("Null if only metadata is visible.")]
    first: str | None
    last: str | None
    prompts: int
    asked: PointJson | None
    concluded: Annotated[PointJson | None, Doc("The end of the last answer.")]
    changed: Annotated[list[PointJson], Doc("Files.")]
    failed: Annotated[list[PointJson], Doc("Commands whose last run failed.")]
    open: Annotated[list[PointJson], Doc("Tasks that are not done, and a request without an answer.")]
    leftOut: Annotated[int, Doc("Files, commands and tasks that did not fit.")]
    withheld: Annotated[bool, Doc("Only metadata is visible.")]


class DigestGroupJson(TypedDict):
    """The sessions of one project, person or day."""

    name: Annotated[str, Doc("Empty if it is not known.")]
    owners: list[str]
    sessionCount: int
    headless: int
    subagents: int
    sessions: Annotated[list[DigestEntryJson], Doc("The latest ones, as far as they fit.")]


class DigestJson(VersionedJson):
    """What happened in a period: `sesame digest --json`."""

    by: str
    after: str | None
    before: str | None
    sessionCount: int
    shown: Annotated[int, Doc("How many of them are described.")]
    headless: int
    subagents: int
    withheld: Annotated[int, Doc("Sessions of which only metadata is visible.")]
    latest: Annotated[str | None, Doc("If there are none: when the latest one before was last active.")]
    groups: list[DigestGroupJson]
    index: IndexJson
