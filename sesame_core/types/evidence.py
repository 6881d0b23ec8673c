"""What an answer shows beyond its hits when it is asked to: windows around passages, and explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ..dataclass import dataclass

if TYPE_CHECKING:
    from .transcript import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowItem:
    """The beginning of one chunk."""

    role: Role | None
    #: The chunk's position in its session.
    position: int
    snippet: str
    #: The chunk's text is longer than the snippet.
    is_truncated: bool
    tool: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A chunk and its neighbours in the same session, in order."""

    match: WindowItem
    before: tuple[WindowItem, ...] = ()
    after: tuple[WindowItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WordExplanation:
    """How one word of the query was read."""

    text: str
    #: Texts that count as the word, corrections left out.
    alternatives: tuple[str, ...]
    #: Other spellings that were looked for because hardly any chunk has the word.
    corrections: tuple[str, ...]
    is_required: bool
    #: Chunks with the word or a correction (exact up to the backend's bound).
    document_frequency: int
    #: What a chunk with the word gains by it, before term frequency and length count.
    idf: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceExplanation:
    """How the confidence came about: what the first hit has of the query."""

    #: The query's words in its best chunk, weighted by how rare they are, 0..1; a word in another spelling counts half.
    share: float
    #: Words in its notes and its best chunk; where that has at most two of them, in its best chunks.
    found: tuple[str, ...]
    #: Those of `found` of which only another spelling is there.
    respelled: tuple[str, ...]
    #: Words in none of them.
    missing: tuple[str, ...]
    #: Those of `missing` that do not count: days, months and years.
    ignored: tuple[str, ...]
    #: Confidence below which the answer is weak.
    weak_below: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """How a query was read, and how far it was followed."""

    words: tuple[WordExplanation, ...]
    #: Words that must not be there.
    excluded: tuple[str, ...]
    #: Scored chunks and sessions' heads that the backend handed to the ranking.
    candidate_chunks: int
    candidate_heads: int
    #: None when nothing was found, or a session by its id.
    confidence: ConfidenceExplanation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkExplanation:
    """What one chunk gives to its session's score."""

    #: Id of the session that contains it.
    session_id: str
    position: int
    class_name: str
    #: The class's factor, already in `score`.
    weight: float
    #: The factor of its place among the session's chunks, not in `score`.
    decay: float
    score: float
    #: Words of the query that it contains.
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HitExplanation:
    """How a score came about: the sum of its parts."""

    #: The sum over `chunks` of decay · score, and its share of the final score.
    chunk_sum: float
    chunk_part: float
    #: BM25 of title, summary and first prompts, and its share of the final score.
    head: float
    head_part: float
    #: BM25 of all that people and agents said, and its share of the final score.
    conversation: float
    conversation_part: float
    #: How near its nearest text is to the query (`search.nearness`), 0..1, and its share of the final score.
    nearness: float
    near_part: float
    #: What a text has of the whole query, word for word ("cut": the first or last word is a part of a longer one), and
    #: its share of the final score.
    verbatim: Literal["characters", "words", "cut"] | None
    verbatim_part: float
    chunks: tuple[ChunkExplanation, ...]
