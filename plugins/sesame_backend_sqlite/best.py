"""The best of many scores."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter

#: Of many scores, one of this number is sampled to estimate the worst of the best.
SAMPLED = 16
#: How many times as many as are wanted are compared, so that the estimate is seldom too strict.
MARGIN = 1.5
#: Least sampled scores among the best, below which an estimate would be a guess.
LEAST = 12

_score = itemgetter(1)


def best(scores: Mapping[int, float], count: int) -> list[tuple[int, float]]:
    """Return the entries with the lowest scores, best first, and of equal ones the first ones first.

    As `sorted` does, in a third of the time: of 12,000 scores most are only compared with an estimate of the worst one
    that is wanted.
    """
    sample = sorted(list(scores.values())[::SAMPLED])
    place = int(count / SAMPLED * MARGIN) + LEAST
    if place < len(sample):
        worst = sample[place]
        few = [entry for entry in scores.items() if entry[1] <= worst]
        if len(few) >= count:
            return sorted(few, key=_score)[:count]
    return sorted(scores.items(), key=_score)[:count]
