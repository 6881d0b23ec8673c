"""Ranks sessions by their scored chunks: the formula, in one place.

    A(s)  = Σ i=0..2 DECAY^i · weight · bm25(i-th best chunk of s)
    H(s)  = bm25(head row of s: title, summary, first two human prompts)
    C(s)  = bm25(conversation row of s: all that people and agents said)
    first = (A / max A + HEAD_SHARE · H / max H + CONVERSATION_SHARE · C / max C) / their sum
    ties: newer first; a part that no session has does not count

The best sessions are looked at again, with the texts of their best chunks: N and the level are their nearest's
(`nearness`), and whatever has a query word for word is before all others:

    score = (level + (first + NEAR_SHARE · N) / (1 + NEAR_SHARE)) / (1 + max level), relative to the best

Measured on 284 labelled queries over 807 real sessions: one best chunk finds 87 % in the top three, three
chunks with these weights and the head row 93 %; on 58 fresh queries 72 % and 86 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias

from ..dataclass import dataclass, field
from ..types.index import Candidates, ScoredChunk
from .nearness import Nearness

#: Factor on a chunk's BM25 by weight class: human prompt, other text, tool call, tool result.
CLASS_WEIGHTS = (1.2, 1.0, 0.85, 0.7)
#: Chunks of a session that count, and the factor from each to the next.
BEST_CHUNKS = 3
DECAY = 0.6
#: Weight of the head row, relative to the chunks' part; with .3, two of a hundred of LoCoMo's questions are lost at
#: rank 1, whose sessions begin with greetings.
HEAD_SHARE = 0.2
#: Weight of the conversation row, likewise: hit@1 .60 without it, .69 with it on the fresh queries.
CONVERSATION_SHARE = 0.3
#: Weight of the nearness of the texts, relative to all of these: with .2 and this share of pairs, .938 of 112 labelled
#: queries and .714 of LoCoMo's 997 questions are answered at rank 1; 40 other mixes answer .91 to .94 and .70 to .72.
NEAR_SHARE = 0.2
#: Sessions that are looked at again: a page of ten reads their texts anyway, and with 8 to 40 the labelled queries are
#: ranked alike.
LOOKED_AT = 11

#: The factors of a session's best chunks.
_DECAYS = tuple(DECAY**place for place in range(BEST_CHUNKS))
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class Ranked:
    """A session with its score and evidence."""

    #: The caller's identifier of the session.
    group: int
    #: 0..1, higher is better, relative to the best of the same answer.
    score: float = 0.0
    #: The session's matching chunks with weighted scores, best first.
    chunks: list[ScoredChunk] = field(default_factory=list)
    #: A, H and C of the formula, and the contribution of each to the score, which is the sum of all of them unless the
    #: session was searched for by its id.
    chunk_sum: float = 0.0
    head: float = 0.0
    conversation: float = 0.0
    chunk_part: float = 0.0
    head_part: float = 0.0
    conversation_part: float = 0.0
    #: How near its nearest text is to the query, and what share and level contribute to the score.
    nearness: Nearness = Nearness()
    near_part: float = 0.0
    level_part: float = 0.0


class Ranking:
    """The sessions that a backend found, with their parts of the formula: to be ordered, and ranked in groups."""

    def __init__(self, candidates: Candidates) -> None:
        #: Each session's chunks, best first.
        self._chunks: dict[int, list[_Weighted]] = {}
        for chunk in candidates.chunks:
            entry = (-chunk.score * CLASS_WEIGHTS[chunk.weight_class], chunk.session, chunk.seq, chunk)
            self._chunks.setdefault(chunk.session, []).append(entry)
        for found in self._chunks.values():
            found.sort()
        #: A, H and C of the formula, by session.
        self._parts: list[Mapping[int, float]] = [
            {session: _chunk_sum(found) for session, found in self._chunks.items()},
            candidates.heads,
            candidates.conversations,
        ]

    def order(self, *, named: int | None = None) -> list[int]:
        """Return the numbers of the sessions, as `rank` orders them without groups and times."""
        totals = _totals(_shares(self._parts))
        numbers = [number for _, number in sorted(((round(t, 9), n) for n, t in totals.items()), reverse=True)]
        return numbers if named is None else [named, *(number for number in numbers if number != named)]

    def rank(
        self,
        groups: Mapping[int, int] | None = None,
        *,
        modified: Mapping[int, datetime | None] | None = None,
        named: int | None = None,
    ) -> list[Ranked]:
        """Rank groups of sessions.

        :param groups: the group of each session, without which a session is left out; None for each its own.
        :param modified: modified time of each group, for ties.
        :param named: the session that was searched for by its id; it is first, with the full score, with or without
            chunks.
        """
        if groups is None:
            groups = {session: session for part in self._parts for session in part}
        members: dict[int, list[int]] = {}
        for session, group in groups.items():
            members.setdefault(group, []).append(session)
        chunks = {group: found for group, sessions in members.items() if (found := self._chunks_of(sessions))}
        sums = {group: _chunk_sum(found) for group, found in chunks.items()}
        parts = [sums, *(_best(part, members) for part in self._parts[1:])]
        shares = _shares(parts)
        totals = _totals(shares)
        times = modified or {}
        ordered = sorted(totals, key=lambda g: (round(totals[g], 9), times.get(g) or _LONG_AGO, g), reverse=True)
        if named is not None and (first := groups.get(named)) is not None:
            totals[first] = 1.0
            ordered = [first, *(group for group in ordered if group != first)]
        return [
            Ranked(
                group=group,
                score=totals[group],
                chunks=[_weighted(chunk, -score) for score, _, _, chunk in chunks.get(group, ())],
                chunk_sum=parts[0].get(group, 0.0),
                head=parts[1].get(group, 0.0),
                conversation=parts[2].get(group, 0.0),
                chunk_part=shares[0].get(group, 0.0),
                head_part=shares[1].get(group, 0.0),
                conversation_part=shares[2].get(group, 0.0),
            )
            for group in ordered
        ]

    def _chunks_of(self, sessions: Sequence[int]) -> list[_Weighted]:
        """Return the chunks of a group, best first."""
        if len(sessions) == 1:
            return self._chunks.get(sessions[0], [])
        return _without_repeats(sorted(entry for session in sessions for entry in self._chunks.get(session, ())))


def look_again(ranked: Iterable[Ranked], near: Mapping[int, Nearness]) -> list[Ranked]:
    """Rank the sessions of a first look again.

    :param near: how near the session's nearest text is, by group; the others are behind those with the same level.
    """
    levels = 1 + max((found.level for found in near.values()), default=0)
    part = 1 / (1 + NEAR_SHARE) / levels
    looked_at = list(ranked)
    for result in looked_at:
        result.nearness = near.get(result.group, Nearness())
        result.near_part = part * NEAR_SHARE * result.nearness.share
        result.chunk_part *= part
        result.head_part *= part
        result.conversation_part *= part
        result.level_part = result.nearness.level / levels
        result.score = result.level_part + part * result.score + result.near_part
    looked_at.sort(key=lambda result: -round(result.score, 9))
    best = looked_at[0].score if looked_at else 0.0
    for result in looked_at if best else ():
        result.score /= best
        for name in ("chunk_part", "head_part", "conversation_part", "near_part", "level_part"):
            setattr(result, name, getattr(result, name) / best)
    return looked_at


#: The sort key of a chunk in its group (minus its weighted score, session, position), and the chunk.
_Weighted: TypeAlias = tuple[float, int, int, ScoredChunk]


def _chunk_sum(chunks: Sequence[_Weighted]) -> float:
    """Return A of the formula.

    :param chunks: best first.
    """
    return -sum(decay * entry[0] for decay, entry in zip(_DECAYS, chunks, strict=False))


def _shares(parts: Sequence[Mapping[int, float]]) -> list[dict[int, float]]:
    """Return the contributions of A, H and C to the score, by group."""
    weights = (1.0, HEAD_SHARE, CONVERSATION_SHARE)
    whole = sum(weight for weight, part in zip(weights, parts, strict=True) if part) or 1.0
    shares = []
    for weight, part in zip(weights, parts, strict=True):
        best = max(part.values(), default=0.0) or 1.0
        shares.append({group: weight / whole * value / best for group, value in part.items()})
    return shares


def _totals(shares: Iterable[Mapping[int, float]]) -> dict[int, float]:
    totals: dict[int, float] = {}
    for share in shares:
        for group, value in share.items():
            totals[group] = totals.get(group, 0.0) + value
    return totals


def idf(document_frequency: int, total: int) -> float:
    """Return BM25's inverse document frequency of a word, never below FTS5's floor of 1e-6."""
    return max(1e-6, math.log((total - document_frequency + 0.5) / (document_frequency + 0.5)))


def _best(scores: Mapping[int, float], members: Mapping[int, Sequence[int]]) -> dict[int, float]:
    """Return each group's best score.

    :param members: the sessions of each group.
    """
    best: dict[int, float] = {}
    for group, sessions in members.items():
        if found := [scores[session] for session in sessions if session in scores]:
            best[group] = max(found)
    return best


def _without_repeats(chunks: list[_Weighted]) -> list[_Weighted]:
    """Drop chunks that a second file of the same session repeats: equal texts have exactly equal scores."""
    kept: list[_Weighted] = []
    for chunk in chunks:
        if not kept or chunk[0] != kept[-1][0] or chunk[1] == kept[-1][1]:
            kept.append(chunk)
    return kept


def _weighted(chunk: ScoredChunk, score: float) -> ScoredChunk:
    return ScoredChunk(session=chunk.session, seq=chunk.seq, weight_class=chunk.weight_class, score=score)
