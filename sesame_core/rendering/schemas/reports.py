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
    setBack: Annotated[
        str | None,
        Doc("The last sync that the shared index no longer knew of: it was restored from a backup of before."),
    ]
    silent: Annotated[int, Doc("Sessions left out because nobody has said anything in them yet.")]
    absentRoots: Annotated[list[str], Doc("Directories of sources that do not exist.")]
    skipped: Annotated[dict[str, int], Doc("Records left out, or shortened, by reason.")]
    losses: list[FileProblemJson]
    errors: list[FileProblemJson]
    unrecognised: Annotated[list[FileProblemJson], Doc("Files with the name of a session that no parser recognises.")]
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
