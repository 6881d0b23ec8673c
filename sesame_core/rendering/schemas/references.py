"""References to sessions."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import TypedDict

from .answers import IndexJson
from .doc import Doc
from .sessions import SessionJson, VersionedJson


class CandidateJson(TypedDict):
    """A session that a reference may mean."""

    reference: Annotated[str, Doc("What refers to it alone.")]
    sessionId: str
    source: str
    name: str
    cwd: str | None
    modified: str | None


class ReferenceJson(TypedDict):
    """What became of one reference."""

    reference: Annotated[str, Doc("As it was written.")]
    status: Literal["found", "ambiguous", "unknown"]
    by: Annotated[Literal["id", "name", "likeness"] | None, Doc("What told.")]
    session: SessionJson | None
    text: Annotated[str | None, Doc("What the session is about.")]
    candidates: list[CandidateJson]


class ReferencesJson(VersionedJson):
    """The sessions that references mean: `sesame resolve`."""

    index: Annotated[IndexJson, Doc("How fresh the answer is.")]
    references: list[ReferenceJson]
