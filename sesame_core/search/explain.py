"""Explains an answer: how the query was read, and how each score and the confidence were computed.

The numbers are the ranking's own; see `ranking` for the formula and its constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from ..types.evidence import (
    ChunkExplanation,
    ConfidenceExplanation,
    Explanation,
    HitExplanation,
    WordExplanation,
)
from ..types.query import AllOf, AnyOf, Has, Not
from . import ranking
from .confidence import WEAK_BELOW
from .nearness import Level

if TYPE_CHECKING:
    from ..plugin.backend import IndexReader
    from ..types.answer import Answer
    from ..types.index import Candidates
    from ..types.query import Condition, Query, Word
    from .confidence import Judgement

#: Names of the weight classes of `ranking.CLASS_WEIGHTS`.
CLASS_NAMES = ("human prompt", "text", "tool call", "tool result")

#: What a text has of the whole query, by level.
VERBATIM: dict[Level, Literal["characters", "words", "cut"] | None] = {
    Level.NONE: None,
    Level.CUT: "cut",
    Level.WORDS: "words",
    Level.CHARACTERS: "characters",
}


def explain(
    reader: IndexReader,
    candidates: Candidates,
    answer: Answer,
    ranked: Sequence[ranking.Ranked],
    judged: Judgement | None,
) -> None:
    """Set the explanations of an answer and its hits.

    :param ranked: the ranking's result for each hit.
    :param judged: what the first hit of all pages has of the query.
    """
    words = zip(answer.query.words, candidates.document_frequencies, strict=True)
    demands = list(_demands(answer.query.condition))
    required = {word for word, is_wanted in demands if is_wanted}
    answer.explanation = Explanation(
        words=tuple(
            _word(word, df, candidates.chunk_total, answer.corrections, is_required=word in required)
            for word, df in words
        ),
        excluded=tuple(word.text for word, is_wanted in demands if not is_wanted),
        candidate_chunks=len(candidates.chunks),
        candidate_heads=len(candidates.heads),
        confidence=None if judged is None else _confidence(answer.query, judged),
    )
    for hit, result in zip(answer.hits, ranked, strict=True):
        hit.explanation = _hit(reader, result, answer)


def _demands(condition: Condition | None) -> Iterator[tuple[Word, bool]]:
    """Yield the words that a session must contain (True) or must not contain (False) in any case."""
    match condition:
        case Has(word):
            yield word, True
        case Not(Has(word)):
            yield word, False
        case Not(AnyOf(parts)):
            for part in parts:
                yield from _demands(Not(part))
        case AllOf(parts):
            for part in parts:
                yield from _demands(part)


def _word(
    word: Word, frequency: int, total: int, corrections: dict[str, list[str]], *, is_required: bool
) -> WordExplanation:
    added = tuple(corrections.get(word.text, ()))
    return WordExplanation(
        text=word.text,
        alternatives=word.alternatives[: len(word.alternatives) - len(added)],
        corrections=added,
        is_required=is_required,
        document_frequency=frequency,
        idf=ranking.idf(frequency, total),
    )


def _confidence(query: Query, judged: Judgement) -> ConfidenceExplanation:
    words = [word.text for word in query.words]
    return ConfidenceExplanation(
        share=judged.share,
        found=tuple(word for place, word in enumerate(words) if place in judged.found),
        respelled=tuple(word for place, word in enumerate(words) if 0 < judged.found.get(place, 0.0) < 1),
        missing=tuple(word for place, word in enumerate(words) if place not in judged.found),
        ignored=tuple(word for place, word in enumerate(words) if place in judged.ignored),
        weak_below=WEAK_BELOW,
    )


def _hit(reader: IndexReader, result: ranking.Ranked, answer: Answer) -> HitExplanation:
    counted = sorted(result.chunks, key=lambda chunk: -chunk.score)[: ranking.BEST_CHUNKS]
    present = reader.matching(answer.query, [(chunk.session, chunk.seq) for chunk in counted])
    ids = {stored.number: stored.session.id for stored in reader.sessions({chunk.session for chunk in counted})}
    return HitExplanation(
        chunk_sum=result.chunk_sum,
        chunk_part=result.chunk_part,
        head=result.head,
        head_part=result.head_part,
        conversation=result.conversation,
        conversation_part=result.conversation_part,
        nearness=result.nearness.share,
        near_part=result.near_part,
        verbatim=VERBATIM[result.nearness.level],
        verbatim_part=result.level_part,
        chunks=tuple(
            ChunkExplanation(
                session_id=ids[chunk.session],
                position=chunk.seq,
                class_name=CLASS_NAMES[chunk.weight_class],
                weight=ranking.CLASS_WEIGHTS[chunk.weight_class],
                decay=ranking.DECAY**place,
                score=chunk.score,
                words=tuple(answer.query.words[position].text for position in sorted(words)),
            )
            for place, (chunk, words) in enumerate(zip(counted, present, strict=True))
        ),
    )
