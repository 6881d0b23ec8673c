"""The answer to a search, and the page of it that is requested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dataclass import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .evidence import Explanation, HitExplanation, Window
    from .index import Chunk, Freshness, StoredSession
    from .query import Filters, Query
    from .transcript import Session

#: Default number of results.
LIMIT = 10
#: The key of `Answer.left_out` for sessions that operators of the query keep out because of their words.
OPERATORS = "operators"


@dataclass(slots=True, kw_only=True)
class Passage:
    """One piece of evidence in a session."""

    #: Number of the stored session that contains it: the hit's own, a copy of it, or a subagent.
    number: int
    chunk: Chunk
    snippet: Snippet
    #: The subagent session that contains it, when that is not the hit's session.
    subagent_id: str | None = None


@dataclass(slots=True, kw_only=True)
class Hit:
    """One session that answers a query."""

    stored: StoredSession
    #: 0..1, higher is better, relative to the best hit of the answer.
    score: float
    snippet: Snippet
    #: The chunk that the snippet was taken from; None when only the title or a prompt is known to match.
    chunk: Chunk | None = None
    #: The subagent session that contains the chunk, when it is not the session itself.
    subagent_id: str | None = None
    #: Ids and files of sessions that show the same evidence: forks, resumed copies, exports.
    copies: list[tuple[str, str]] = field(default_factory=list)
    #: The evidence is on a branch that was rewound or abandoned.
    is_abandoned: bool = False
    #: The session's evidence, at most `Page.passages`, in that order; the first one is `chunk`'s.
    passages: list[Passage] = field(default_factory=list)
    #: The messages around the best passage; None unless requested.
    window: Window | None = None
    #: How the score was computed; None unless requested.
    explanation: HitExplanation | None = None

    @property
    def session(self) -> Session:
        """The session."""
        return self.stored.session


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptOut:
    """What is not in an answer: headless sessions, and of an empty or thin one what each of its conditions kept out."""

    #: A sentence for each condition, for people.
    hints: tuple[str, ...] = ()
    #: Sessions by reason: "headless" of a list, or the name of the option without which they match.
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Answer:
    """The results of a search, and how far they can be trusted."""

    query: Query
    hits: list[Hit]
    #: Sessions that match; a lower bound when `is_truncated`.
    total: int = 0
    #: "search", or "browse" when the query has no words and the newest sessions are listed.
    mode: str = "search"
    #: Number of results before the first hit: those of earlier pages.
    offset: int = 0
    #: The first hit has so little of the query that it is more likely there by chance.
    is_weak: bool = False
    #: How much the first hit has of the query, 0..1, by how many of the words and how rare they are
    #: (`sesame_core.search.confidence`); None when nothing was found.
    confidence: float | None = None
    #: Words of the query that do not occur in the index.
    words_not_found: list[str] = field(default_factory=list)
    #: Other spellings that were searched for, by word.
    corrections: dict[str, list[str]] = field(default_factory=dict)
    #: The filters, with those that the fields of the query set.
    filters: Filters | None = None
    #: Those of them that the shown hits have, as they are written there, by word: {"gradiant": ["gradient"]}.
    #: Words that only complete a beginning of a word are not among them.
    showing: dict[str, list[str]] = field(default_factory=dict)
    #: Parts of the query that were read as words although they may have been meant otherwise; the filter for a time
    #: that it names; what operators and, of an empty or thin answer, the conditions kept out.
    hints: tuple[str, ...] = ()
    #: Sessions that match but were left out, by reason: "headless", "operators" of the query, or of an empty or thin
    #: answer the name of a filter.
    left_out: dict[str, int] = field(default_factory=dict)
    #: Headless sessions are shown because nothing else matched.
    is_widened: bool = False
    #: The candidate budget ran out before every match of a common word was scored.
    is_truncated: bool = False
    #: Chunks scored, and chunks in the index.
    scanned: int = 0
    chunk_total: int = 0
    #: None when the backend cannot compute it cheaply.
    freshness: Freshness | None = None
    #: How the query was read and scored; None unless requested.
    explanation: Explanation | None = None
    #: The sessions that match, best or newest first, at most `Page.found`: to be counted.
    found: list[StoredSession] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The part of an answer that is requested, and how much detail each hit has."""

    limit: int = LIMIT
    #: Results to skip.
    offset: int = 0
    #: Most passages of each hit: the best one, the best of the other side (`search.sides`), then the rest by rank.
    passages: int = 1
    #: Bytes of UTF-8 of a passage at most; a short snippet of it when None, and nothing of its text for 0.
    passage_bytes: int | None = None
    #: Items before and after the best passage; an answer with windows has at most `MAX_HITS` results.
    context: tuple[int, int] | None = None
    #: Explain how the query was read and how each score was computed.
    explain: bool = False
    #: Sessions of `Answer.found` at most.
    found: int = 0

    @property
    def end(self) -> int:
        """Number of results up to the end of the page."""
        if self.context is None:
            return self.offset + self.limit

        return self.offset + min(self.limit, MAX_HITS)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A part of a chunk's text, on one line."""

    text: str
    #: (start, end) of each word that matched, in `text`.
    marks: tuple[tuple[int, int], ...] = ()


#: Most hits of an answer with windows, whatever limit the caller sets [seed 003].
MAX_HITS = 20
