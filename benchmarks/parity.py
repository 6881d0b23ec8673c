"""Ask two backends the same questions and compare the answers.

    python benchmarks/parity.py --one CONFIG_DIR:DATA_DIR --other CONFIG_DIR:DATA_DIR --queries queries-dev.jsonl

Each of the two is a configuration directory and a data directory with a finished index of the same files.  Prints the
overlap of the first ten results, Kendall's tau of the results both have, and each query whose overlap is below 1.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from statistics import mean, median

from sesame_core import Sesame
from sesame_core.config.file import load

TOP = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", required=True)
    parser.add_argument("--other", required=True)
    parser.add_argument("--queries", type=Path, required=True, help="JSON lines with a key 'query', or a JSON list")
    parser.add_argument("--top", type=int, default=TOP)
    parser.add_argument("--differences", action="store_true", help="list the queries whose answers differ")
    arguments = parser.parse_args()
    asked = list(queries(arguments.queries))
    one, one_times = answers(arguments.one, asked, arguments.top)
    other, other_times = answers(arguments.other, asked, arguments.top)
    overlaps = [overlap(a, b) for a, b in zip(one, other, strict=True)]
    taus = [tau(a, b) for a, b in zip(one, other, strict=True)]
    print(f"queries                  {len(asked)}")
    print(f"mean overlap of top {arguments.top}   {mean(overlaps):.3f}  (equal sets: {sum(o == 1 for o in overlaps)})")
    print(f"same order               {sum(a == b for a, b in zip(one, other, strict=True))}")
    print(f"same first result        {sum(a[:1] == b[:1] for a, b in zip(one, other, strict=True))}")
    known = [t for t in taus if t is not None]
    print(f"mean Kendall's tau       {mean(known):.3f}")
    for name, times in (("one", one_times), ("other", other_times)):
        print(
            f"{name}: median {median(times) * 1000:.1f} ms, p99 {sorted(times)[int(len(times) * 0.99)] * 1000:.1f} ms"
        )
    if arguments.differences:
        for text, a, b, shared in zip(asked, one, other, overlaps, strict=True):
            if a != b:
                print(f"{shared:.2f} {text!r}")


def queries(path: Path) -> Iterable[str]:
    """Yield the queries of a file."""
    text = path.read_text()
    if path.suffix == ".jsonl":
        yield from (json.loads(line)["query"] for line in text.splitlines())
    else:
        found = json.loads(text)
        for group in found.values() if isinstance(found, dict) else [found]:
            yield from (query for query in group if isinstance(query, str))


def answers(place: str, asked: Sequence[str], top: int) -> tuple[list[list[str]], list[float]]:
    """Return the keys of the results of each query, and how many seconds each took."""
    os.environ["SESAME_CONFIG_DIR"], os.environ["SESAME_DATA_DIR"] = place.split(":", 1)
    found, times = [], []
    with Sesame(load()) as sesame:
        sesame.search(asked[0])
        for text in asked:
            start = time.perf_counter()
            answer = sesame.search(text, limit=top)
            times.append(time.perf_counter() - start)
            found.append([hit.session.key for hit in answer.hits])
    return found, times


def overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the share of the longer list that both have."""
    longest = max(len(one), len(other))
    return len(set(one) & set(other)) / longest if longest else 1.0


def tau(one: Sequence[str], other: Sequence[str]) -> float | None:
    """Return Kendall's tau of the results both have; None of fewer than two."""
    both = [key for key in one if key in other]
    pairs = list(combinations(both, 2))
    if not pairs:
        return None
    place = {key: number for number, key in enumerate(other)}
    return sum(1 if place[a] < place[b] else -1 for a, b in pairs) / len(pairs)


if __name__ == "__main__":
    main()
