"""Reports of runs of the indexer."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from .doc import Doc
from .sessions import VersionedJson


class FileProblemJson(TypedDict):
    """An error or a loss in one file."""

    path: str
    line: int | None
    message: str


class RootJson(TypedDict):
    """A directory or file in which session files are looked for."""

    parser: str
    path: str
    exists: bool


class UnreadRootJson(TypedDict):
    """A directory or file of an agent whose sessions no installed plugin reads."""

    agent: Annotated[str, Doc("Its name, for people.")]
    path: Annotated[str, Doc("May contain a *: a part that has any name.")]


class ReportJson(VersionedJson):
    """The report of a run; numbers are of files unless noted: `sesame index`."""

    added: int
    updated: int
    appended: int
    unchanged: int
    missing: int
    pending: int
    described: Annotated[int, Doc("Sessions whose metadata changed.")]
    withheld: Annotated[int, Doc("Files that are not in the index because all their sessions are private.")]
    silent: Annotated[int, Doc("Sessions left out because nobody has said anything in them yet.")]
    absentRoots: Annotated[list[str], Doc("Directories of sources that do not exist.")]
    skipped: Annotated[dict[str, int], Doc("Records left out, or shortened, by reason.")]
    losses: list[FileProblemJson]
    errors: list[FileProblemJson]
    unrecognised: Annotated[list[FileProblemJson], Doc("Files with the name of a session that no parser recognises.")]
    lookedIn: Annotated[list[RootJson] | None, Doc("The sources, and agents' directories; null with paths.")]
    unreadAgents: Annotated[
        list[UnreadRootJson] | None, Doc("Sessions that no installed plugin reads; null with paths.")
    ]
    chunks: int
    bytes: int
    seconds: float
    stopped: Annotated[bool, Doc("Ctrl-C or SIGTERM ended it; pending files are left to the next run.")]


class FileEventJson(TypedDict):
    """One run while watching: `sesame watch`."""

    timestamp: str
    path: Annotated[str | None, Doc("The file; null for a run over everything.")]
    added: int
    updated: Annotated[int, Doc("Files, including those that have grown.")]
    skipped: Annotated[int, Doc("Records left out.")]
    errors: int


class FailureEventJson(TypedDict):
    """A run that failed while watching: `sesame watch`."""

    timestamp: str
    path: str | None
    error: str
