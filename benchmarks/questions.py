"""Measure the answers of `fix` and `how`, on labelled questions over the index that is configured.

    python benchmarks/questions.py labels/             # hit@1, hit@3, and the time of each verb
    python benchmarks/questions.py labels/ --misses    # and the questions whose first answer is wrong

The directory has a file for each verb, `fix.jsonl` and `how.jsonl`, with a question a line, as README.md beside it
describes.  Labels quote other people's sessions, so that none is part of the repository.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any, TypeAlias

from sesame_core import Sesame
from sesame_core.query.fields import gathered
from sesame_core.types.fixes import Fix, Way
from sesame_core.types.query import Filters

#: One line of a file of labels.
Label: TypeAlias = Mapping[str, Any]
#: Answers that are looked at.
LOOKED_AT = 3


def fixes(sesame: Sesame, label: Label, filters: Filters) -> list[bool]:
    """Ask how an error was fixed, and return whether each answer is right."""
    return [is_right_fix(fix, label) for fix in sesame.fix(label["about"], filters, limit=LOOKED_AT).fixes]


def is_right_fix(fix: Fix, label: Label) -> bool:
    """Return whether a fix is one of those that the label names: a session, and a range of positions.

    Of an error with many occurrences the label names its line instead, and how far the remedy is behind it.
    """
    ends = [fix.ended.position] if fix.ended else []
    why = [fix.why_position] if fix.why_position is not None else []
    positions = [*(step.position for step in fix.steps), *why, *ends]
    if "near" in label:
        after = range(fix.seen.position + 1, fix.seen.position + label["within"] + 2)
        return label["near"].lower() in fix.line.lower() and any(position in after for position in positions)
    session = fix.seen.stored.session.id
    return any(
        session.startswith(prefix) and any(first <= position <= last for position in positions)
        for prefix, first, last in label["answers"]
    )


def ways(sesame: Sesame, label: Label, filters: Filters) -> list[bool]:
    """Ask how something is run, and return whether each answer is right."""
    return [is_right_way(way, label) for way in sesame.how(label["about"], filters, limit=LOOKED_AT).ways]


def is_right_way(way: Way, label: Label) -> bool:
    """Return whether a command succeeded that matches the label's pattern."""
    return way.succeeded > 0 and any(
        re.search(label["command"], text) for text in (way.text, *(variant.text for variant in way.variants))
    )


#: The verbs, each with what asks one of its questions.
VERBS: dict[str, Callable[[Sesame, Label, Filters], Sequence[bool]]] = {"fix": fixes, "how": ways}


def main() -> None:
    """Print the figures of each verb."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--misses", action="store_true", help="also print the questions whose first answer is wrong")
    options = parser.parse_args()
    print("verb  questions  hit@1  hit@3  median ms  p95 ms  CPU ms")
    with Sesame() as sesame:
        sesame.status()
        for verb, ask in VERBS.items():
            if (file := options.labels / f"{verb}.jsonl").exists():
                labels = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
                report(sesame, verb, ask, labels, has_misses=options.misses)


def report(
    sesame: Sesame,
    verb: str,
    ask: Callable[[Sesame, Label, Filters], Sequence[bool]],
    labels: Sequence[Label],
    *,
    has_misses: bool,
) -> None:
    """Ask each question twice, and print the figures of a verb; the smaller time of each counts.

    The CPU is the mean of this process: that of a server of the index is not in it.
    """
    right: list[Sequence[bool]] = []
    times: list[float] = []
    cpu: list[float] = []
    for label in labels:
        filters = gathered(label.get("filters", {}))
        taken, used = [], []
        for _ in range(2):
            start, before = time.perf_counter(), time.process_time()
            found = ask(sesame, label, filters)
            taken.append((time.perf_counter() - start) * 1000)
            used.append((time.process_time() - before) * 1000)
        right.append(found)
        times.append(min(taken))
        cpu.append(min(used))
    first = sum(found[:1] == [True] for found in right)
    any_of = sum(any(found[:LOOKED_AT]) for found in right)
    p95 = quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
    print(
        f"{verb:<4}  {len(labels):>9}  {first / len(labels):>5.3f}  {any_of / len(labels):>5.3f}"
        f"  {median(times):>9.0f}  {p95:>6.0f}  {fmean(cpu):>6.0f}"
    )
    if has_misses:
        for label, found in zip(labels, right, strict=True):
            if found[:1] != [True]:
                print(f"      {label['id']}: {label['about'][:80]!r} {list(found)}")


if __name__ == "__main__":
    main()
