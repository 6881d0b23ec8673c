"""Output of language models: answers about a session, and descriptions of sessions."""

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
    """The source of a part of an answer."""

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
    """A chunk that is relevant to a question, between the chunks around it."""

    score: float
    contextBefore: list[ExcerptItemJson]
    contextAfter: list[ExcerptItemJson]


class SessionAnswerJson(VersionedJson):
    """The answer to a question about one session: `sesame ask`."""

    session: SessionJson
    question: str
    answer: Annotated[str | None, Doc("A model's answer; null when none was asked: the passages are the answer.")]
    answered: Annotated[bool | None, Doc("false: the model says that the passages do not contain it.")]
    citations: Annotated[list[CitationJson], Doc("Its sources.")]
    model: str | None
    attempts: list[AttemptJson]
    cost: Annotated[float | None, Doc("Dollars.")]
    reason: Annotated[str | None, Doc("Why there is no model's answer.")]
    basis: Annotated[str, Doc("question; or outline: no word of it was found, these are the start and the end.")]
    wordsNotFound: Annotated[list[str], Doc("Words that are not in this session.")]
    matches: int
    chunksRead: int
    passages: Annotated[list[ExcerptJson], Doc("The best first.")]


class DescriptionJson(TypedDict):
    """The result of describing one session."""

    sessionId: str
    state: Literal["described", "not due", "empty", "busy", "failed"]
    reason: Annotated[str | None, Doc("Why nothing was written, or what was wrong with the previous metadata.")]
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
    """The result of describing sessions: `sesame describe`."""

    described: int
    failed: int
    remaining: Annotated[int, Doc("Sessions without metadata that were left for another run.")]
    cost: Annotated[float | None, Doc("Dollars of all calls.")]
    sessions: list[DescriptionJson]
