"""Measure how well answers are ranked, on labelled queries, and what the constants owe to those queries.

    python benchmarks/quality.py                       # scores of the shipped constants
    python benchmarks/quality.py --leave-out           # and of constants chosen without the queries they are scored on

The labelled sessions are other people's and no part of the repository: `--eval` names the directory that holds them,
as described in README.md beside this file; without it there is nothing to measure, which is said and is no failure.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any

from sesame_core import Selection, Source
from sesame_core.api.sesame import Sesame
from sesame_core.query import spelling
from sesame_core.search import confidence, ranking

REPOSITORY = Path(__file__).resolve().parents[1]
#: The parser of each directory below `corpus`.
PARSERS = {"claude": "claude-code", "pi": "pi"}
LIMIT = 10
#: Resamples of the queries for an interval, and the part of them that it covers.
RESAMPLES, COVERED = 2_000, 0.95
SEED = 1


@dataclass(frozen=True, slots=True)
class Query:
    """A labelled query."""

    category: str
    text: str
    #: Ends of the paths of the sessions that answer it; none when nothing does.
    wanted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one query got."""

    query: Query
    #: Where the first session that answers it stands, from 1; None when it is not among the first ten.
    rank: int | None
    #: None when nothing was found.
    confidence: float | None

    @property
    def is_weak(self) -> bool:
        """The answer is called weak, or there is none."""
        return self.confidence is None or self.confidence < confidence.WEAK_BELOW

    @property
    def reciprocal(self) -> float:
        """One divided by the rank."""
        return 1 / self.rank if self.rank else 0.0


@dataclass(frozen=True, slots=True)
class Table:
    """Constants that were chosen together, and the values they might have had."""

    name: str
    module: ModuleType
    constants: dict[str, tuple[float, ...]]
    #: What they were chosen by.
    measure: str
    score: Callable[[Sequence[Outcome]], float]
    #: Whether other values find other sessions; otherwise they only judge the same answers.
    changes_answers: bool = True

    @property
    def shipped(self) -> tuple[float, ...]:
        """The values in the code."""
        return tuple(getattr(self.module, constant) for constant in self.constants)

    def settings(self) -> list[tuple[float, ...]]:
        """Return every combination, the shipped one first: it wins when another is only as good."""
        return list(dict.fromkeys([self.shipped, *itertools.product(*self.constants.values())]))

    @contextmanager
    def set_to(self, values: Iterable[float]) -> Iterator[None]:
        """Let the constants have other values."""
        before = self.shipped
        try:
            for constant, value in zip(self.constants, values, strict=True):
                setattr(self.module, constant, value)
            yield
        finally:
            for constant, value in zip(self.constants, before, strict=True):
                setattr(self.module, constant, value)


def mrr(outcomes: Sequence[Outcome]) -> float:
    """Return the mean reciprocal rank of the queries that have an answer."""
    return mean(outcome.reciprocal for outcome in outcomes if outcome.query.wanted)


def told_apart(outcomes: Sequence[Outcome]) -> float:
    """Return the mean of two shares: of unanswerable queries called weak, and of others not called so."""
    without = [o.is_weak for o in outcomes if not o.query.wanted]
    answerable = [not o.is_weak for o in outcomes if o.query.wanted]
    return mean(mean(part) for part in (without, answerable) if part)


TABLES = (
    Table(
        "ranking",
        ranking,
        {"DECAY": (0.4, 0.6, 0.8), "HEAD_SHARE": (0.1, 0.2, 0.3), "CONVERSATION_SHARE": (0.15, 0.3, 0.45)},
        "MRR",
        mrr,
    ),
    Table(
        "other spellings",
        spelling,
        {"RARE": (-1, 0, 1, 2), "EDITS_LONG": (1, 2), "MAX_CORRECTIONS": (1, 3, 5)},
        "MRR",
        mrr,
    ),
    Table(
        "weak",
        confidence,
        {"WEAK_BELOW": tuple(share / 100 for share in range(26, 57, 2))},
        "told apart",
        told_apart,
        changes_answers=False,
    ),
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    default = Path(os.environ.get("SESAME_SHARED") or REPOSITORY.parent / "shared") / "eval"
    parser.add_argument("--eval", type=Path, default=default, help="labelled sessions (default: %(default)s)")
    parser.add_argument("--queries", type=Path, help="labelled queries (default: queries-dev.jsonl in that directory)")
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "sesame-benchmarks")
    parser.add_argument("--leave-out", action="store_true", help="choose each constant without a part of the queries")
    parser.add_argument("--folds", type=int, default=5, help="parts of the queries (default: %(default)s)")
    parser.add_argument("--misses", action="store_true", help="print the queries that are not answered in the first 3")
    options = parser.parse_args(arguments)
    path = options.queries or options.eval / "queries-dev.jsonl"
    if not path.is_file():
        print(f"nothing to measure: there are no labelled queries at {path} (set SESAME_SHARED or --eval)")
        return 0
    queries = list(labelled(options.eval, path))
    roots = {agent: options.eval / "corpus" / agent for agent in PARSERS}
    sources = [
        Source(parser=Selection(name=PARSERS[agent]), path=root) for agent, root in roots.items() if root.is_dir()
    ]
    with Sesame(sources=sources, data_dir=options.dir / "quality") as sesame:
        report = sesame.index()
        if report.errors:
            sys.exit(f"index failed: {report.errors[0]}")
        outcomes = ask(sesame, queries)
        print("\n".join(scores(outcomes)))
        if options.misses:
            for outcome in outcomes:
                if outcome.query.wanted and (outcome.rank or LIMIT) > 3:
                    print(f"- {outcome.query.category}: {outcome.query.text!r}, rank {outcome.rank}")
        if options.leave_out:
            print("\n" + "\n".join(left_out(sesame, queries, options.folds)))
    return 0


def labelled(home: Path, path: Path) -> Iterator[Query]:
    """Yield the queries that sessions of known agents answer, or nothing does."""
    manifest = {entry["id"]: entry for entry in records(home / "MANIFEST.jsonl")}
    for record in records(path):
        relevant = [manifest[session] for session in record["relevant"]]
        wanted = tuple("/" + entry["file"] for entry in relevant if entry["agent"] in PARSERS)
        if wanted or not relevant:
            yield Query(record["category"], record["query"], wanted)


def records(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def ask(sesame: Sesame, queries: Iterable[Query]) -> list[Outcome]:
    """Return what each query gets."""
    outcomes = []
    for query in queries:
        answer = sesame.search(query.text, limit=LIMIT)
        paths = [Path(hit.stored.path).as_posix() for hit in answer.hits]
        ranks = (rank for rank, found in enumerate(paths, 1) if query.wanted and found.endswith(query.wanted))
        outcomes.append(Outcome(query, next(ranks, None), answer.confidence))
    return outcomes


def scores(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a Markdown table of the scores, by category, and the shares of weak answers."""
    answerable = [outcome for outcome in outcomes if outcome.query.wanted]
    lines = ["| queries | n | hit@1 | hit@3 | hit@10 | MRR |", "|---|---|---|---|---|---|"]
    for category in ("all", *dict.fromkeys(outcome.query.category for outcome in answerable)):
        chosen = [o for o in answerable if category in ("all", o.query.category)]
        ranks = [outcome.rank or LIMIT + 1 for outcome in chosen]
        cells = [interval([float(rank <= limit) for rank in ranks]) for limit in (1, 3, LIMIT)]
        cells.append(interval([outcome.reciprocal for outcome in chosen]))
        lines.append(f"| {category} | {len(chosen)} | {' | '.join(cells)} |")
    without = [outcome.is_weak for outcome in outcomes if not outcome.query.wanted]
    weak = [outcome.is_weak for outcome in answerable]
    lines += ["", f"weak: {sum(without)} of {len(without)} without an answer, {sum(weak)} of {len(weak)} with one"]
    return lines


def interval(values: Sequence[float]) -> str:
    """Return a mean, and between which bounds it lies when the queries are drawn again."""
    drawn = random.Random(SEED)
    means = sorted(fmean(drawn.choices(values, k=len(values))) for _ in range(RESAMPLES))
    cut = round(RESAMPLES * (1 - COVERED) / 2)
    return f"{fmean(values):.3f} [{means[cut]:.2f}, {means[-cut - 1]:.2f}]"


def mean(values: Iterable[float]) -> float:
    """Return the mean; 0 of nothing."""
    known = list(values)
    return fmean(known) if known else 0.0


def left_out(sesame: Sesame, queries: Sequence[Query], count: int) -> list[str]:
    """Return a Markdown table: each table's shipped score, the best on all queries, and the one that was left out.

    The last is what to expect of queries nobody has tuned on: the mean, over the folds, of a fold's score with the
    constants that are best on all other folds.
    """
    folds = dealt(queries, count)
    lines = [
        "| constants | by | shipped | best on all | chosen without the fold | optimism | chosen |",
        "|---|---|---|---|---|---|---|",
    ]
    for table in TABLES:
        shipped = ask(sesame, queries)
        outcomes = dict.fromkeys(table.settings(), shipped)
        for values in outcomes if table.changes_answers else ():
            with table.set_to(values):
                outcomes[values] = ask(sesame, queries)
        parts, chosen = [], []
        for fold in folds:
            rest = [number for number in range(len(queries)) if number not in fold]
            best = max(outcomes, key=lambda values: scored(table, values, outcomes[values], rest))
            chosen.append(best)
            parts.append(scored(table, best, outcomes[best], fold))
        everything = range(len(queries))
        present = scored(table, table.shipped, shipped, everything)
        most = max(scored(table, values, outcomes[values], everything) for values in outcomes)
        told = ", ".join(f"{times}× {value}" for value, times in counted(chosen))
        held = fmean(parts)
        lines.append(
            f"| {table.name}: {', '.join(table.constants)} | {table.measure} | {present:.3f} | {most:.3f} "
            f"| {held:.3f} | {most - held:+.3f} | {told} |"
        )
    return lines


def scored(table: Table, values: tuple[float, ...], outcomes: Sequence[Outcome], numbers: Iterable[int]) -> float:
    """Return the score of some queries with these constants."""
    with table.set_to(values):
        return table.score([outcomes[number] for number in numbers])


def dealt(queries: Sequence[Query], count: int) -> list[set[int]]:
    """Deal the queries to folds, each category evenly."""
    numbers = list(range(len(queries)))
    random.Random(SEED).shuffle(numbers)
    numbers.sort(key=lambda number: queries[number].category)
    return [set(numbers[first::count]) for first in range(count)]


def counted(chosen: Sequence[tuple[float, ...]]) -> list[tuple[str, int]]:
    """Return how often each combination was chosen, the most often first."""
    times = {"/".join(f"{value:g}" for value in values): chosen.count(values) for values in chosen}
    return sorted(times.items(), key=lambda item: -item[1])


if __name__ == "__main__":
    sys.exit(main())
