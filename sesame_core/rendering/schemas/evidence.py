"""The optional parts of a result and of an answer: windows, passages, explanations."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from .doc import Doc


class WindowItemJson(TypedDict):
    """The start of a chunk near a passage."""

    role: str | None
    position: int
    snippet: str
    truncated: bool
    tool: str | None


class PassageJson(TypedDict):
    """One of several passages of a result."""

    snippet: str
    type: str
    role: str | None
    tool: str | None
    at: str | None
    entryId: str | None
    position: int
    subagent: Annotated[str | None, Doc("Id of the subagent session it is in.")]


#: The contribution of one chunk to a result's score.  `class` is a keyword of Python.
ScoredChunkJson = TypedDict(
    "ScoredChunkJson",
    {
        "sessionId": str,
        "position": int,
        "class": str,
        "weight": Annotated[float, Doc("The factor of its class, in the score already.")],
        "decay": Annotated[float, Doc("The factor of its rank, not in the score yet.")],
        "score": float,
        "words": list[str],
    },
)


class ScoreJson(TypedDict):
    """How a result's score was computed: it is the sum of the parts."""

    chunkSum: Annotated[float, Doc("The sum of decay × score over chunks.")]
    chunkPart: float
    headScore: Annotated[float, Doc("BM25 of title, summary and first prompts.")]
    headPart: float
    conversationScore: Annotated[float, Doc("BM25 of all that people and agents said.")]
    conversationPart: float
    nearness: Annotated[float, Doc("How near a text is to the query: words as typed, side by side.")]
    nearPart: float
    verbatim: Annotated[str | None, Doc('"characters", "words" or "cut": what a text has of the query.')]
    verbatimPart: float
    chunks: list[ScoredChunkJson]


class EvidenceJson(TypedDict, total=False):
    """Fields that a result has on request."""

    passages: Annotated[list[PassageJson], Doc("The best first, when there are several.")]
    contextBefore: list[WindowItemJson]
    contextAfter: list[WindowItemJson]
    explain: ScoreJson


class WordJson(TypedDict):
    """How one word of a query was read."""

    word: str
    alternatives: Annotated[list[str], Doc("Strings that count as the word.")]
    corrections: list[str]
    required: bool
    documentFrequency: Annotated[int, Doc("Chunks with the word or a correction.")]
    idf: float


class ConfidenceJson(TypedDict):
    """What the first result has of the query."""

    share: Annotated[float, Doc("The part of the query in its best chunk, by rarity.")]
    found: Annotated[list[str], Doc("Words in its best chunks.")]
    respelled: Annotated[list[str], Doc("Found in another spelling; counted half.")]
    missing: list[str]
    ignored: Annotated[list[str], Doc("Missing days, months and years, not counted.")]
    weakBelow: Annotated[float, Doc("Confidence below which an answer is weak.")]


class ExplanationJson(TypedDict):
    """How a query was parsed, and how far it was evaluated."""

    words: list[WordJson]
    excluded: Annotated[list[str], Doc("Excluded words.")]
    scanned: int
    truncated: bool
    candidateChunks: Annotated[int, Doc("Chunks that were ranked.")]
    candidateHeads: Annotated[int, Doc("Heads of sessions (title, summary, first prompts) that were ranked.")]
    confidence: Annotated[ConfidenceJson | None, Doc("How the confidence was computed.")]
