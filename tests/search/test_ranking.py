"""The formula, against numbers that were worked out by hand."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import pytest

from sesame_core.search.ranking import Ranked, Ranking, idf
from sesame_core.types.index import Candidates, ScoredChunk


def candidates(*chunks: tuple[int, int, int, float], heads: dict[int, float] | None = None, **more: Any) -> Candidates:
    """Return candidates; each chunk is (session, seq, weight class, score)."""
    values: dict[str, Any] = {"document_frequencies": [], "chunk_total": 0, "session_total": 0, "left_out": {}, **more}
    return Candidates(
        chunks=[ScoredChunk(session=s, seq=q, weight_class=w, score=b) for s, q, w, b in chunks],
        heads=heads or {},
        **values,
    )


def rank(found: Candidates, groups: dict[int, int] | None = None, **options: Any) -> list[Ranked]:
    return Ranking(found).rank(groups, **options)


def scores(found: Candidates, **options: Any) -> list[tuple[int, float]]:
    return [(ranked.group, round(ranked.score, 6)) for ranked in rank(found, **options)]


def test_nothing_ranks_nothing() -> None:
    assert rank(candidates()) == []


def test_one_chunk_and_its_head_are_the_measure_of_all() -> None:
    assert scores(candidates((1, 0, 1, 5.0), heads={1: 2.0})) == [(1, 1.0)]


def test_a_part_that_no_session_has_does_not_count() -> None:
    assert scores(candidates((1, 0, 1, 5.0))) == [(1, 1.0)]


def test_the_conversation_counts_more_than_the_head() -> None:
    found = candidates((1, 0, 1, 5.0), (2, 0, 1, 5.0), heads={1: 2.0})
    found.conversations = {2: 7.0, 1: 3.5}
    assert scores(found) == [(1, round((1 + 0.2 + 0.15) / 1.5, 6)), (2, round((1 + 0.3) / 1.5, 6))]


def test_the_formula() -> None:
    """A(1) = 1.2·10 + 0.6·0.85·10 = 17.1; A(2) = 12 + 0.6·6 + 0.36·3 = 16.68; heads 4 and 2."""
    found = candidates(
        (1, 0, 0, 10.0),
        (1, 1, 2, 10.0),
        (2, 0, 1, 12.0),
        (2, 1, 1, 6.0),
        (2, 2, 1, 3.0),
        (2, 3, 1, 3.0),
        heads={1: 2.0, 2: 4.0, 3: 1.0},
    )
    assert scores(found) == [
        (2, round((16.68 / 17.1 + 0.2 * 4 / 4) / 1.2, 6)),
        (1, round((17.1 / 17.1 + 0.2 * 2 / 4) / 1.2, 6)),
        (3, round(0.2 * 1 / 4 / 1.2, 6)),
    ]


@pytest.mark.parametrize(("weight_class", "weight"), [(0, 1.2), (1, 1.0), (2, 0.85), (3, 0.7)])
def test_what_people_say_weighs_more_than_what_tools_answer(weight_class: int, weight: float) -> None:
    found = candidates((1, 0, 1, 10.0), (2, 0, weight_class, 1.0))
    assert dict(scores(found))[2] == round(weight / 10, 6)


def test_evidence_comes_best_first_with_its_weight() -> None:
    (ranked,) = rank(candidates((1, 7, 3, 10.0), (1, 3, 1, 8.0), (1, 1, 1, 8.0)))
    assert [(chunk.seq, chunk.score) for chunk in ranked.chunks] == [(1, 8.0), (3, 8.0), (7, 7.0)]


def test_ranking_leaves_the_candidates_as_they_were() -> None:
    found = candidates((1, 0, 0, 10.0))
    rank(found)
    assert found.chunks[0].score == 10.0


def test_of_equals_the_newer_comes_first_then_the_higher_number() -> None:
    found = candidates(*[(number, 0, 1, 5.0) for number in (1, 2, 3, 4)])
    modified = {1: datetime(2026, 5, 8, tzinfo=UTC), 2: datetime(2026, 5, 9, tzinfo=UTC), 3: None}
    assert [group for group, _ in scores(found, modified=modified)] == [2, 1, 4, 3]


def test_sessions_of_one_group_unite_their_evidence() -> None:
    """The best chunks of both count; of two heads the better one."""
    found = candidates((1, 0, 1, 10.0), (2, 0, 1, 5.0), (3, 0, 1, 12.0), heads={1: 1.0, 2: 3.0})
    grouped = rank(found, groups={1: 1, 2: 1, 3: 3})
    assert [ranked.group for ranked in grouped] == [1, 3]
    assert grouped[0].score == 1.0
    assert [(chunk.session, chunk.seq) for chunk in grouped[0].chunks] == [(1, 0), (2, 0)]
    assert round(grouped[1].score, 6) == round(12 / 13 / 1.2, 6)


def test_a_session_without_a_group_is_left_out() -> None:
    found = candidates((1, 0, 1, 10.0), (2, 0, 1, 20.0), heads={2: 1.0})
    assert scores(found, groups={1: 1}) == [(1, 1.0)]


def test_a_score_of_nothing_divides_by_nothing() -> None:
    assert scores(candidates((1, 0, 1, 0.0), heads={1: 0.0})) == [(1, 0.0)]


def test_a_rare_word_tells_more_than_a_common_one() -> None:
    assert idf(1, 100) == pytest.approx(math.log(99.5 / 1.5))
    assert idf(1, 100) > idf(10, 100) > idf(49, 100) > idf(51, 100) == idf(100, 100) == 1e-6
