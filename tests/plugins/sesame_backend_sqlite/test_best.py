"""The best of many scores, compared with sorting all of them."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from sesame_backend_sqlite.scores import best

DRAWN: dict[str, Callable[[random.Random], float]] = {
    "any scores": lambda draw: -draw.random(),
    "mostly low ones, as BM25 has them": lambda draw: -draw.expovariate(1),
    "three scores": lambda draw: -draw.choice((1.0, 2.0, 3.0)),
    "one score": lambda draw: -1.0,
}


@pytest.mark.parametrize("drawn", DRAWN.values(), ids=DRAWN.keys())
@pytest.mark.parametrize("number", [0, 1, 499, 500, 501, 700, 1_500, 12_000])
def test_the_best_are_the_first_when_all_are_sorted(drawn: Callable[[random.Random], float], number: int) -> None:
    draw = random.Random(number)
    scores = {row: drawn(draw) for row in draw.sample(range(1 << 40), number)}
    for count in (1, 500, 600):
        assert best(scores, count) == sorted(scores.items(), key=lambda entry: entry[1])[:count]


def test_the_worst_first_and_the_best_last_are_sorted_all_the_same() -> None:
    """The sample is of every sixteenth score: neither order deceives it."""
    scores = {row: -float(row) for row in range(12_000)}
    assert [row for row, _ in best(scores, 500)] == list(range(11_999, 11_499, -1))


def test_a_sample_of_outliers_is_noticed() -> None:
    """Each sampled score is far below all the others, so the estimate has fewer than are wanted."""
    scores = {row: -1_000.0 - row if row % 16 == 0 else -float(row % 7) for row in range(12_000)}
    assert best(scores, 600) == sorted(scores.items(), key=lambda entry: entry[1])[:600]
