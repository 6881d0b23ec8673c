"""Measure `sesame who` on labelled questions: hit@1 and hit@3, which sessions changed a file, and times.

    python benchmarks/knowing.py --labels who.json --data-dir DIR            # an index of the labelled sessions
    python benchmarks/knowing.py --labels who.json --dsn postgresql://…
    python benchmarks/knowing.py --about README.md --data-dir DIR            # times of questions, without labels
    python benchmarks/knowing.py --digest 7 --data-dir DIR                   # of a digest of the last days of the index

The labels are a list of `{"kind": …, "about": …, "sessions": [ends of paths, without their suffix]}`; "nobody" is the
kind of a question that no session answers.  The labelled sessions are other people's, and no part of the repository.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from sesame_core.api.sesame import Sesame
from sesame_core.config.model import Config, Selection
from sesame_core.types.knowing import Digest, Who
from sesame_core.types.query import Filters

REPEATS = 5
T = TypeVar("T")


def opened(args: argparse.Namespace) -> Sesame:
    """Return Sesame on the index that the arguments name, which is only read."""
    if args.dsn:
        return Sesame(Config(backend=Selection(name="postgres", options={"dsn": args.dsn})))
    return Sesame(Config(backend=Selection(name="sqlite", options={"directory": str(args.data_dir)})))


def asked(sesame: Sesame, about: str) -> tuple[Who, float, float]:
    """Return who worked on something, with the times of `timed`."""
    return timed(lambda: sesame.who(about))


def recent(sesame: Sesame, days: int) -> tuple[Digest, float, float]:
    """Return what happened in the last days of an index, with the times of `timed`."""
    (latest,), _ = sesame.list_sessions(limit=1)
    assert latest.session.modified is not None
    filters = Filters(after=latest.session.modified - timedelta(days=days))
    return timed(lambda: sesame.digest(filters))


def timed(call: Callable[[], T]) -> tuple[T, float, float]:
    """Return a result, with the CPU time of this process for it and its wall time, in milliseconds: the least."""
    cpu, wall = [], []
    for _ in range(REPEATS):
        started, clock = time.process_time(), time.perf_counter()
        found = call()
        cpu.append((time.process_time() - started) * 1_000)
        wall.append((time.perf_counter() - clock) * 1_000)
    return found, min(cpu), min(wall)


def score(found: Who, label: dict[str, Any]) -> tuple[bool, bool, int, int, int]:
    """Return hit@1 and hit@3, and of sessions that changed the file how many are told, labelled, and both."""
    involved = [one for person in found.people for one in person.sessions]
    ids = [str(Path(one.stored.path).with_suffix("")) for one in involved]
    changed = {path for path, one in zip(ids, involved, strict=True) if one.changes}

    def is_wanted(path: str) -> bool:
        return any(path.endswith(end) for end in label["sessions"])

    both = sum(map(is_wanted, changed))
    if label["kind"] == "nobody":
        return not changed, not changed, len(changed), 0, 0
    return any(map(is_wanted, ids[:1])), any(map(is_wanted, ids[:3])), len(changed), len(label["sessions"]), both


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--about", action="append", default=[])
    parser.add_argument("--digest", type=int, action="append", default=[], metavar="DAYS")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--dsn")
    args = parser.parse_args()
    if not (args.dsn or args.data_dir) or not (args.labels or args.about or args.digest):
        parser.error("name an index (--data-dir or --dsn), and questions (--labels, --about or --digest)")
    labels = json.loads(args.labels.read_text("utf-8")) if args.labels else []
    with tempfile.TemporaryDirectory() as empty, opened(args) as sesame:
        os.chdir(empty)  # no file that is here is asked about
        for about in args.about:
            found, cpu, wall = asked(sesame, about)
            sessions = sum(len(person.sessions) for person in found.people)
            print(f"| {about} | {found.subject} | {sessions} sessions | {cpu:.0f} ms CPU | {wall:.0f} ms |")
        for days in args.digest:
            happened, cpu, wall = recent(sesame, days)
            shown = f"{happened.shown} of {happened.sessions} sessions"
            print(f"| digest of {days} days | {shown} | {cpu:.0f} ms CPU | {wall:.0f} ms |")
        if not labels:
            return
        kinds: dict[str, list[tuple[bool, bool, int, int, int]]] = {}
        times: list[tuple[float, float]] = []
        for label in labels:
            found, cpu, wall = asked(sesame, label["about"])
            times.append((cpu, wall))
            for kind in (label["kind"], "all"):
                kinds.setdefault(kind, []).append(score(found, label))
    print("| kind | questions | hit@1 | hit@3 | changed: precision | recall |\n|---|---|---|---|---|---|")
    for kind, scores in kinds.items():
        first, third, told, wanted, both = (sum(column) for column in zip(*scores, strict=True))
        of_files = f"{both / told:.3f} | {both / wanted:.3f}" if both else "- | -"
        if kind == "all":  # topics have no changes
            of_files = "| "
        print(f"| {kind} | {len(scores)} | {first / len(scores):.3f} | {third / len(scores):.3f} | {of_files} |")
    cpu, wall = (sorted(column) for column in zip(*times, strict=True))
    print(
        f"CPU ms: median {median(cpu):.0f}, most {cpu[-1]:.0f}; wall ms: median {median(wall):.0f}, most {wall[-1]:.0f}"
    )


if __name__ == "__main__":
    main()
