"""The visibility of sessions."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from .doc import Doc
from .sessions import VersionedJson


class VisibilityJson(TypedDict):
    """The visibility of the sessions that no rule covers."""

    visibility: str
    sessions: Annotated[dict[str, int], Doc("How many it covers, by their present visibility.")]


class RuleJson(VisibilityJson):
    """The visibility of the sessions of a project."""

    pattern: str


class SharingJson(VersionedJson):
    """The rules: `sesame share`."""

    audience: Annotated[str | None, Doc("Who else reads the index.")]
    default: VisibilityJson
    rules: list[RuleJson]


class ChangeJson(TypedDict):
    """A session whose visibility will change."""

    sessionId: str
    source: str
    cwd: str | None
    repository: str | None
    file: str
    before: Annotated[str | None, Doc("null when nothing of it was sent yet.")]
    after: str


class ChangesJson(VersionedJson):
    """What the next run changes: `sesame share --dry-run`."""

    changes: list[ChangeJson]
