"""How fresh an answer is: what the index lacks."""

from __future__ import annotations

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from .doc import Doc


class SourceJson(TypedDict):
    """Changed files below one source's root, as a refresh found them."""

    path: str
    parser: str
    changed: int
    pending: int


class UnreadableFileJson(TypedDict):
    """A file whose last read failed."""

    path: str
    message: str


class RefreshJson(TypedDict):
    """The result of a refresh; without one, the reason."""

    refreshed: Annotated[bool, Doc("Changes were indexed first, as far as the time allowed.")]
    reason: NotRequired[Annotated[str | None, Doc("Why not.")]]
    changed: NotRequired[int]
    pending: NotRequired[Annotated[int, Doc("New and changed files that are not indexed yet: the answer lacks them.")]]
    errors: NotRequired[int]
    notSearched: NotRequired[
        Annotated[
            list[UnreadableFileJson], Doc("What could not be read: the first three, and sources that do not exist.")
        ]
    ]
    unrecognised: NotRequired[Annotated[int, Doc("Files with the name of a session that no parser recognises.")]]
    notScanned: NotRequired[Annotated[int, Doc("Old files that were not scanned now.")]]
    scannedAt: NotRequired[Annotated[str | None, Doc("When they last were.")]]
    sources: NotRequired[list[SourceJson]]


class FreshnessJson(TypedDict, total=False):
    """The freshness of the index itself, if its backend reports it."""

    lastSync: str | None
    unreadable: int


class IndexJson(RefreshJson, FreshnessJson):
    """How fresh an answer is."""
