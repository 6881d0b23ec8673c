"""The answer to a search."""

from __future__ import annotations

from typing import Annotated

from typing_extensions import TypedDict

from .doc import Doc
from .evidence import EvidenceJson, ExplanationJson
from .freshness import IndexJson
from .sessions import SessionJson, VersionedJson


class CopyJson(TypedDict):
    """A session that has the same evidence as a result."""

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
    matchedPosition: Annotated[int | None, Doc("Its position: read further with list_messages.")]
    matchedSubagent: Annotated[str | None, Doc("Id of the subagent session it is in.")]
    onAbandonedBranch: bool
    copies: list[CopyJson]


class RequestedJson(TypedDict, total=False):
    """Fields that an answer has on request."""

    cutToBudget: Annotated[bool, Doc("max_bytes left something out.")]
    explain: ExplanationJson


class AnswerJson(VersionedJson, RequestedJson):
    """The answer to a search: `sesame search`."""

    query: str
    mode: Annotated[str, Doc("search, or browse when the newest are listed.")]
    resultCount: int
    total: Annotated[int, Doc("Sessions that match.")]
    totalIsLowerBound: bool
    weak: Annotated[bool, Doc("The best session may match by chance only.")]
    confidence: float | None
    wordsNotFound: Annotated[list[str], Doc("Words that do not occur in the index.")]
    corrections: Annotated[dict[str, list[str]], Doc("Other spellings that were searched.")]
    showing: Annotated[dict[str, list[str]], Doc("Words in the results, by the misspelled word they stand for.")]
    after: Annotated[str | None, Doc("Only what was said since then.")]
    before: Annotated[str | None, Doc("Only what was said until then.")]
    hints: Annotated[list[str], Doc("What may be meant otherwise, what was kept out, filters to try.")]
    leftOut: Annotated[dict[str, int], Doc("Matching sessions, by reason; if little was found, by filter.")]
    widened: Annotated[bool, Doc("Headless runs are shown because nothing else matched.")]
    truncated: Annotated[bool, Doc("Broad words were not followed to the end.")]
    scanned: Annotated[int, Doc("Chunks that were scored.")]
    chunkTotal: Annotated[int, Doc("Chunks in the index.")]
    index: Annotated[IndexJson, Doc("How fresh the answer is.")]
    currentSessions: Annotated[list[str], Doc("Ids of the sessions you are in, left out of this answer.")]
    results: list[ResultJson]
