"""What a history says about an error, and about how something is run: `sesame fix`, `sesame how`."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import TypedDict

from .doc import Doc
from .freshness import IndexJson
from .sessions import VersionedJson


class SeenJson(TypedDict):
    """Where something happened."""

    sessionId: str
    position: int
    at: str | None


class SeenSessionJson(SeenJson):
    """Where something happened, with the session."""

    title: str
    source: str
    cwd: str | None
    owner: str | None
    host: str | None


class StepJson(TypedDict):
    """An edit or a command between an error and its end."""

    position: int
    type: Literal["edit", "command"]
    text: Annotated[str, Doc("As people write it; of a long one the beginning.")]
    path: Annotated[str | None, Doc("The file that was edited.")]


class FixJson(SeenSessionJson):
    """What was done after an error."""

    error: Annotated[str, Doc("The line of the error, as it was there.")]
    same: Annotated[bool, Doc("False for an error that is only like the given one.")]
    command: Annotated[str | None, Doc("The command that failed.")]
    outcome: Annotated[
        Literal["verified", "passed", "replaced", "unresolved"],
        Doc(
            "verified: the same command succeeded; passed: it failed with another error; replaced: something else was "
            "done, and the error did not come back in the session; unresolved: none of these."
        ),
    ]
    held: Annotated[bool, Doc("It ended, and did not come back in this project.")]
    steps: Annotated[list[StepJson], Doc("What ended it; of an unresolved one what was tried.")]
    why: Annotated[str | None, Doc("What the agent said about it.")]
    whyPosition: int | None
    ended: Annotated[SeenJson | None, Doc("Where it ended.")]
    cameBack: Annotated[list[SeenJson], Doc("Where it occurred again afterwards in this project, at most five.")]
    cameBackCount: int
    others: Annotated[list[SeenJson], Doc("Other occurrences with this remedy, newest first, at most five.")]
    otherCount: int


class KnownJson(VersionedJson):
    """What an answer from the history is based on."""

    about: str
    resultCount: int
    total: Annotated[int, Doc("Results on all pages.")]
    sessionCount: Annotated[int, Doc("Sessions that have it, of those that were read.")]
    searched: Annotated[int | None, Doc("Sessions that the filters select, if nothing was found.")]
    truncated: Annotated[bool, Doc("There is more than was read: the newest and the best were.")]
    leftOut: Annotated[dict[str, int], Doc("Sessions that were not searched, by reason.")]
    withheld: Annotated[int, Doc("If nothing was found: sessions whose texts their owners do not share.")]
    hints: list[str]
    index: Annotated[IndexJson, Doc("How fresh the answer is.")]
    currentSessions: Annotated[list[str], Doc("Ids of the sessions you are in, left out of this answer.")]


class FixesJson(KnownJson):
    """How an error was fixed: `sesame fix`."""

    lines: Annotated[list[str], Doc("The lines of the error that were looked for.")]
    occurrences: Annotated[int, Doc("Times that the same error occurred, in what was read.")]
    fixes: list[FixJson]


class VariantJson(SeenJson):
    """One way in which a command was written: its last run that succeeded."""

    command: str
    count: int


class FailedRunJson(SeenJson):
    """Runs that failed with one error: the last one."""

    error: str | None
    command: str
    count: int


class DirectoryCountJson(TypedDict):
    """A directory in which a command succeeded."""

    cwd: str
    count: int


class WayJson(TypedDict):
    """A command as it was run."""

    name: Annotated[str, Doc("The words that all variants share.")]
    command: Annotated[str, Doc("As it last succeeded, or, if it never did, as it was last run.")]
    here: Annotated[bool, Doc("In the repository around the present directory.")]
    succeeded: int
    failed: int
    last: Annotated[SeenSessionJson | None, Doc("The last run that succeeded.")]
    variants: list[VariantJson]
    directories: list[DirectoryCountJson]
    failures: list[FailedRunJson]


class WaysJson(KnownJson):
    """How something is run: `sesame how`."""

    runs: Annotated[int, Doc("Calls that were read.")]
    ways: list[WayJson]
