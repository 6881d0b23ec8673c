"""References to sessions."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import TypedDict

from .doc import Doc
from .freshness import IndexJson
from .sessions import SessionJson, VersionedJson


class CandidateJson(TypedDict):
    """A session that a reference may mean."""

    reference: Annotated[str, Doc("A unique reference to it.")]
    sessionId: str
    source: str
    name: str
    cwd: str | None
    modified: str | None


class ReferenceJson(TypedDict):
    """The result for one reference."""

    reference: Annotated[str, Doc("As given.")]
    status: Literal["found", "ambiguous", "unknown"]
    by: Annotated[Literal["id", "name", "likeness"] | None, Doc("How it was recognised.")]
    session: SessionJson | None
    text: Annotated[str | None, Doc("The outline of the session.")]
    candidates: list[CandidateJson]
    total: Annotated[int, Doc("Sessions that it may mean, on all pages.")]
    nearest: Annotated[list[CandidateJson], Doc("If it means none, sessions with a name somewhat like it.")]


class ReferencesJson(VersionedJson):
    """The sessions that references mean: `sesame resolve`."""

    index: Annotated[IndexJson, Doc("How fresh the answer is.")]
    references: list[ReferenceJson]
