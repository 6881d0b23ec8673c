"""What a language model writes: answers about a session, and descriptions of sessions."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import TypedDict

from .doc import Doc
from .sessions import SessionJson, VersionedJson


class AttemptJson(TypedDict):
    """One call of a model."""

    model: str
    error: str | None
    seconds: float
    inputTokens: int | None
    outputTokens: int | None
    cost: float | None


class CitationJson(TypedDict):
    """Where a part of an answer stands."""

    position: int
    entryId: str | None


class ExcerptItemJson(TypedDict):
    """A chunk of a session, or the part of one that is returned."""

    position: int
    entryId: str | None
    type: str
    role: str | None
    tool: str | None
    at: str | None
    text: str
    truncated: bool


class ExcerptJson(ExcerptItemJson):
    """A chunk that bears on a question, between its neighbours."""

    score: float
    contextBefore: list[ExcerptItemJson]
    contextAfter: list[ExcerptItemJson]


class SessionAnswerJson(VersionedJson):
    """The answer to a question about one session: `sesame ask`."""

    session: SessionJson
    question: str
    answer: Annotated[str | None, Doc("A model's answer; null when none was asked: the passages are the answer.")]
    answered: Annotated[bool | None, Doc("false: the model says that the passages do not hold it.")]
    citations: Annotated[list[CitationJson], Doc("Where it stands.")]
    model: str | None
    attempts: list[AttemptJson]
    cost: Annotated[float | None, Doc("Dollars.")]
    reason: Annotated[str | None, Doc("Why there is no model's answer.")]
    basis: Annotated[str, Doc("question; or outline: no word of it was found, these are the beginning and the end.")]
    wordsNotFound: Annotated[list[str], Doc("Words that are not in this session.")]
    matches: int
    chunksRead: int
    passages: Annotated[list[ExcerptJson], Doc("The best first.")]


class DescriptionJson(TypedDict):
    """What became of describing one session."""

    sessionId: str
    state: Literal["described", "not due", "empty", "busy", "failed"]
    reason: Annotated[str | None, Doc("Why nothing was written, or what was wrong with what was there before.")]
    file: str | None
    name: str | None
    description: str | None
    summary: str | None
    tags: list[str]
    model: str | None
    updatedAt: str | None
    cost: Annotated[float | None, Doc("Dollars.")]
    attempts: list[AttemptJson]


class DescriptionsJson(VersionedJson):
    """What became of describing sessions: `sesame describe`."""

    described: int
    failed: int
    remaining: Annotated[int, Doc("Sessions without metadata that were left for another run.")]
    cost: Annotated[float | None, Doc("Dollars of all calls.")]
    sessions: list[DescriptionJson]
