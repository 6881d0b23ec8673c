"""The answer to a search, and how fresh it is."""

from __future__ import annotations

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from .doc import Doc
from .evidence import EvidenceJson, ExplanationJson
from .sessions import SessionJson, VersionedJson


class SourceJson(TypedDict):
    """What a refresh found below one source's root."""

    path: str
    parser: str
    changed: int
    pending: int


class RefreshJson(TypedDict):
    """How a refresh went; without one it says so, and no more."""

    refreshed: Annotated[bool, Doc("What changed was indexed first, as far as the time allowed.")]
    reason: NotRequired[Annotated[str | None, Doc("Why not.")]]
    changed: NotRequired[int]
    pending: NotRequired[Annotated[int, Doc("Changed files that are not indexed yet.")]]
    errors: NotRequired[int]
    notScanned: NotRequired[Annotated[int, Doc("Old files that were not scanned now.")]]
    scannedAt: NotRequired[Annotated[str | None, Doc("When they last were.")]]
    sources: NotRequired[list[SourceJson]]


class FreshnessJson(TypedDict, total=False):
    """What the index knows of its own freshness, where its backend can tell."""

    lastSync: str | None
    unreadable: int


class IndexJson(RefreshJson, FreshnessJson):
    """How fresh an answer is."""


class CopyJson(TypedDict):
    """A session that shows the same evidence as a result."""

    sessionId: str
    path: str


class ResultJson(SessionJson, EvidenceJson):
    """A session that answers a query."""

    score: Annotated[float, Doc("0 to 1, relative to the best possible.")]
    matchedSnippet: Annotated[str, Doc("The passage.")]
    matchedType: str | None
    matchedRole: str | None
    matchedTool: str | None
    matchedAt: str | None
    matchedEntryId: str | None
    matchedPosition: Annotated[int | None, Doc("Its position: read on with list_messages.")]
    matchedSubagent: Annotated[str | None, Doc("Id of the subagent session it stands in.")]
    onAbandonedBranch: bool
    copies: list[CopyJson]


class RequestedJson(TypedDict, total=False):
    """What an answer has when it was asked for."""

    cutToBudget: Annotated[bool, Doc("max_bytes left something out.")]
    explain: ExplanationJson


class AnswerJson(VersionedJson, RequestedJson):
    """What a search found: `sesame search`."""

    query: str
    mode: Annotated[str, Doc("search, or browse when the newest are listed.")]
    resultCount: int
    total: Annotated[int, Doc("Sessions that match.")]
    totalIsLowerBound: bool
    weak: Annotated[bool, Doc("No passage of the best session has most of the words.")]
    confidence: float | None
    wordsNotFound: Annotated[list[str], Doc("Words that are nowhere in the index.")]
    corrections: Annotated[dict[str, list[str]], Doc("Other spellings that were searched.")]
    hints: Annotated[list[str], Doc("What of the query was read otherwise than meant, perhaps.")]
    leftOut: Annotated[dict[str, int], Doc("Matching sessions, by why.")]
    widened: Annotated[bool, Doc("Headless runs are shown because nothing else matched.")]
    truncated: Annotated[bool, Doc("Broad words were not followed to the end.")]
    scanned: Annotated[int, Doc("Chunks that were scored.")]
    chunkTotal: Annotated[int, Doc("Chunks in the index.")]
    index: Annotated[IndexJson, Doc("How fresh the answer is.")]
    currentSessions: Annotated[list[str], Doc("Ids of the sessions you are in, left out of this answer.")]
    results: list[ResultJson]
