"""What a search answers, and which part of it is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dataclass import dataclass, field

if TYPE_CHECKING:
    from .evidence import Explanation, HitExplanation, Window
    from .index import Chunk, Freshness, StoredSession
    from .query import Query
    from .transcript import Session

#: Results when nobody says how many.
LIMIT = 10


@dataclass(slots=True, kw_only=True)
class Passage:
    """One piece of evidence in a session."""

    #: The number of the stored session it stands in: the hit's own, a copy of it, or a subagent.
    number: int
    chunk: Chunk
    snippet: Snippet
    #: The subagent session it stands in, when that is not the hit's session.
    subagent_id: str | None = None


@dataclass(slots=True, kw_only=True)
class Hit:
    """One session that answers a query."""

    stored: StoredSession
    #: 0..1, higher is better, relative to the best hit of the answer.
    score: float
    snippet: Snippet
    #: The chunk the snippet was taken from; None when only the title or a prompt is known to match.
    chunk: Chunk | None = None
    #: The subagent session that chunk stands in, when it is not the session itself.
    subagent_id: str | None = None
    #: Ids and files of sessions that show the same evidence: forks, resumed copies, exports.
    copies: list[tuple[str, str]] = field(default_factory=list)
    #: The evidence stands on a branch that was rewound or abandoned.
    is_abandoned: bool = False
    #: The session's evidence, best first, as many passages as were asked for; the first one is `chunk`'s.
    passages: list[Passage] = field(default_factory=list)
    #: What was said around the best passage; None unless asked for.
    window: Window | None = None
    #: How the score came about; None unless asked for.
    explanation: HitExplanation | None = None

    @property
    def session(self) -> Session:
        """The session."""
        return self.stored.session


@dataclass(slots=True, kw_only=True)
class Answer:
    """What a search found, and how far it can be trusted."""

    query: Query
    hits: list[Hit]
    #: Sessions that match; a lower bound when `is_truncated`.
    total: int = 0
    #: "search", or "browse" when no word was asked for and the newest sessions are listed.
    mode: str = "search"
    #: No chunk of the best hit holds most of the query, weighted by how rare the words are.
    is_weak: bool = False
    #: That share, 0..1; None when nothing was found.
    confidence: float | None = None
    #: Words of the query that occur nowhere in the index.
    words_not_found: list[str] = field(default_factory=list)
    #: Other spellings that were looked for, by word.
    corrections: dict[str, list[str]] = field(default_factory=dict)
    #: What of the query was taken for words although it was meant otherwise, perhaps.
    hints: tuple[str, ...] = ()
    #: Sessions that match but were left out, by reason: "headless".
    left_out: dict[str, int] = field(default_factory=dict)
    #: Headless sessions are shown because nothing else matched.
    is_widened: bool = False
    #: The candidate budget ran out: broad words were not followed to the end.
    is_truncated: bool = False
    #: Chunks scored, and chunks in the index.
    scanned: int = 0
    chunk_total: int = 0
    #: None when the backend cannot tell cheaply.
    freshness: Freshness | None = None
    #: How the query was read and what it was measured by; None unless asked for.
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Which part of an answer is wanted, and how much is told about each hit."""

    limit: int = LIMIT
    #: Results to pass over.
    offset: int = 0
    #: Pieces of evidence of each hit, if it has so many.
    passages: int = 1
    #: Items before and after the best passage; with a window there are `windows.MAX_HITS` results at most.
    context: tuple[int, int] | None = None
    #: Tell how the query was read and how each score came about.
    explain: bool = False

    @property
    def end(self) -> int:
        """Results up to the end of the page."""
        if self.context is None:
            return self.offset + self.limit

        return self.offset + min(self.limit, MAX_HITS)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a chunk on one line."""

    text: str
    #: (start, end) of each word that matched, in `text`.
    marks: tuple[tuple[int, int], ...] = ()


#: Hits of an answer with windows, whatever the caller asks for [seed 003].
MAX_HITS = 20
