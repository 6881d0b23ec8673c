"""Sessions that leave the index: exports and handoffs."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from .doc import Doc
from .sessions import ChunkJson, SessionJson, VersionedJson


class PartJson(SessionJson):
    """One session of an export."""

    summary: str | None
    startedBy: Annotated[str | None, Doc("Of a subagent: the session of the export that started it.")]
    startedAt: Annotated[int | None, Doc("The position there.")]
    chunks: list[ChunkJson]


class ExportJson(VersionedJson):
    """A session with its subagents: `sesame export --json`."""

    redacted: Annotated[bool, Doc("Secrets are replaced with placeholders.")]
    sessions: Annotated[list[PartJson], Doc("The session itself, then its subagents.")]


class PointJson(TypedDict):
    """An entry of a handoff."""

    position: int
    text: str


class HandoffJson(VersionedJson):
    """What another agent must know to go on: `sesame handoff --json`."""

    sessionId: str
    source: Annotated[str, Doc("The agent.")]
    cwd: str | None
    gitBranch: str | None
    name: Annotated[str, Doc("Its title, or the one made from its prompts.")]
    modified: str | None
    redacted: Annotated[bool, Doc("Secrets are replaced with placeholders.")]
    asked: list[PointJson]
    decided: list[PointJson]
    changed: list[PointJson]
    failed: list[PointJson]
    open: list[PointJson]
    leftOut: Annotated[int, Doc("Entries that did not fit.")]
