"""Measure the answers of `fix`, `how`, `who` and `blame` on labelled questions, and the time of `digest`.

    python benchmarks/questions.py labels/                  # hit@1, hit@3, and the time of each verb
    python benchmarks/questions.py labels/ --misses         # and the questions whose first answer is wrong
    python benchmarks/questions.py --replay                 # blame: precision and recall over files that are replayed
    python benchmarks/questions.py --about README.md --digest 7   # times of `who`, and of a digest of the last days
    python benchmarks/questions.py … --data-dir DIR         # of another index than the configured one, or --dsn DSN

The directory has a file for each verb (`fix.jsonl`, `how.jsonl`, `who.jsonl`, `blame.jsonl`) with a question a line, as
README.md beside it describes.  Labels quote other people's sessions, so that none is part of the repository.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any, TypeAlias

from replaying import judge, placed, replayed

from sesame_core import Sesame
from sesame_core.config.model import Config, Selection
from sesame_core.query.fields import gathered
from sesame_core.types.fixes import Fix, Way
from sesame_core.types.query import Filters

#: One line of a file of labels.
Label: TypeAlias = Mapping[str, Any]
#: Answers that are looked at, and times that each question is asked.
LOOKED_AT, REPEATS = 3, 2


@dataclass
class Judged:
    """The answers to one question."""

    #: Whether each is right, the first one first.
    right: Sequence[bool]
    #: Of `who`: sessions that are told to have changed the file, that did, and that are both.
    told: int = 0
    wanted: int = 0
    both: int = 0


@dataclass
class Taken:
    """What calls took, in milliseconds: the least of each."""

    wall: list[float] = field(default_factory=list)
    #: Of this process: that of a server of the index is not in it.
    cpu: list[float] = field(default_factory=list)

    def of(self, call: Callable[[], Any]) -> Any:
        """Return what a call returns, and keep its times."""
        wall, cpu = [], []
        for _ in range(REPEATS):
            start, before = time.perf_counter(), time.process_time()
            found = call()
            wall.append((time.perf_counter() - start) * 1000)
            cpu.append((time.process_time() - before) * 1000)
        self.wall.append(min(wall))
        self.cpu.append(min(cpu))
        return found


def fixes(sesame: Sesame, label: Label, filters: Filters) -> Judged:
    """Ask how an error was fixed."""
    return Judged([is_right_fix(fix, label) for fix in sesame.fix(label["about"], filters, limit=LOOKED_AT).fixes])


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


def ways(sesame: Sesame, label: Label, filters: Filters) -> Judged:
    """Ask how something is run."""
    return Judged([is_right_way(way, label) for way in sesame.how(label["about"], filters, limit=LOOKED_AT).ways])


def is_right_way(way: Way, label: Label) -> bool:
    """Return whether a command succeeded that matches the label's pattern."""
    return way.succeeded > 0 and any(
        re.search(label["command"], text) for text in (way.text, *(variant.text for variant in way.variants))
    )


def people(sesame: Sesame, label: Label, filters: Filters) -> Judged:
    """Ask who worked on something; "nobody" is the kind of a question that no session answers."""
    found = sesame.who(label["about"], filters)
    involved = [one for person in found.people for one in person.sessions]
    ids = [str(Path(one.stored.path).with_suffix("")) for one in involved]
    changed = {path for path, one in zip(ids, involved, strict=True) if one.changes}
    if label["kind"] == "nobody":
        return Judged([not changed], told=len(changed))
    right = [any(path.endswith(end) for end in label["sessions"]) for path in ids]
    both = sum(any(path.endswith(end) for end in label["sessions"]) for path in changed)
    if label["kind"] == "topic":
        return Judged(right)
    return Judged(right, len(changed), len(label["sessions"]), both)


def lines(sesame: Sesame, label: Label, filters: Filters) -> Judged:
    """Ask who wrote a line of a replayed file, in whose directory this process is."""
    found = sesame.blame(f"{label['file']}:{label['line']}", filters)
    writers = [writer for run in found.runs for writer in run.writers]
    return Judged([writer.stored.session.id == label["session"] for writer in writers])


#: The verbs, each with what asks one of its questions.
VERBS: dict[str, Callable[[Sesame, Label, Filters], Judged]] = {
    "fix": fixes,
    "how": ways,
    "who": people,
    "blame": lines,
}


def main() -> None:
    """Print the figures of each verb."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path, nargs="?")
    parser.add_argument("--misses", action="store_true", help="also print the questions whose first answer is wrong")
    parser.add_argument("--replay", action="store_true", help="blame files that are replayed")
    parser.add_argument("--about", action="append", default=[], help="time who of a file or a topic")
    parser.add_argument("--digest", type=int, action="append", default=[], metavar="DAYS")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--dsn")
    options = parser.parse_args()
    if not (options.labels or options.replay or options.about or options.digest):
        parser.error("name a directory of labels, --replay, --about or --digest")
    labels = read(options.labels.resolve()) if options.labels else {}
    with tempfile.TemporaryDirectory() as directory, opened(options) as sesame:
        os.chdir(directory)  # no file that is here is asked about
        sesame.status()
        if labels:
            print("verb   kind       questions  hit@1  hit@3  median ms  p95 ms  CPU ms")
        for verb in ("fix", "how", "who"):
            if verb in labels:
                report(sesame, verb, labels[verb], has_misses=options.misses)
        if "blame" in labels or options.replay:
            files = list(placed(replayed(sesame), Path(directory)))
            if "blame" in labels:
                report(sesame, "blame", labels["blame"], has_misses=options.misses)
            if options.replay:
                replay(sesame, [(path, file) for path, file in files if not file.is_doubtful])
        for about in options.about:
            taken = Taken()
            found = taken.of(lambda about=about: sesame.who(about))
            count = sum(len(person.sessions) for person in found.people)
            print(f"who {about}: {found.subject}, {count} sessions, {taken.cpu[0]:.0f} ms CPU, {taken.wall[0]:.0f} ms")
        for days in options.digest:
            digest(sesame, days)


def read(directory: Path) -> dict[str, list[Label]]:
    """Return the labels of each verb."""
    files = ((verb, directory / f"{verb}.jsonl") for verb in VERBS)
    return {verb: list(map(json.loads, file.read_text("utf-8").splitlines())) for verb, file in files if file.exists()}


def opened(options: argparse.Namespace) -> Sesame:
    """Return Sesame on the index that the arguments name, which is only read."""
    if options.dsn:
        return Sesame(Config(backend=Selection(name="postgres", options={"dsn": options.dsn})))
    if options.data_dir:
        return Sesame(Config(backend=Selection(name="sqlite", options={"directory": str(options.data_dir.resolve())})))
    return Sesame()


def report(sesame: Sesame, verb: str, labels: Sequence[Label], *, has_misses: bool) -> None:
    """Ask each question, and print the figures of a verb, and of each kind of its questions."""
    taken = Taken()
    judged = []
    for label in labels:
        filters = gathered(label.get("filters", {}))
        judged.append(taken.of(lambda label=label, filters=filters: VERBS[verb](sesame, label, filters)))
    p95 = quantiles(taken.wall, n=20)[-1] if len(labels) > 1 else taken.wall[0]
    times = f"  {median(taken.wall):>9.0f}  {p95:>6.0f}  {fmean(taken.cpu):>6.0f}"
    print(figures(verb, "all", judged) + times)
    for kind in dict.fromkeys(label["kind"] for label in labels if "kind" in label):
        print(figures(verb, kind, [one for one, label in zip(judged, labels, strict=True) if label["kind"] == kind]))
    told, wanted, both = (sum(getattr(one, name) for one in judged) for name in ("told", "wanted", "both"))
    if both:
        print(f"{verb}: of sessions that changed it precision {both / told:.3f}, recall {both / wanted:.3f}")
    if has_misses:
        for label, one in zip(labels, judged, strict=True):
            if one.right[:1] != [True]:
                print(f"       {label.get('id', '')} {label.get('about', label)!r:.100} {list(one.right[:LOOKED_AT])}")


def figures(verb: str, kind: str, judged: Sequence[Judged]) -> str:
    """Return the row of some questions of a verb."""
    first = sum(one.right[:1] == [True] for one in judged) / len(judged)
    any_of = sum(any(one.right[:LOOKED_AT]) for one in judged) / len(judged)
    return f"{verb:<5}  {kind:<9}  {len(judged):>9}  {first:>5.3f}  {any_of:>5.3f}"


def replay(sesame: Sesame, files: Sequence[tuple[Path, Any]]) -> None:
    """Blame all lines of replayed files, and print the figures."""
    counts: Counter[str] = Counter()
    times: list[float] = []
    for path, file in files:
        start = time.process_time()
        found = sesame.blame(str(path))
        times.append(time.process_time() - start)
        judge(found, file, counts)
    total = counts["right"] + counts["wrong"] + counts["missed"]
    print(f"blame: {len(files)} replayed files, {total} lines")
    if total:
        precision = counts["right"] / max(1, counts["right"] + counts["wrong"])
        recall, one = counts["right"] / total, counts["one"] / total
        print(f"blame: precision {precision:.3f}, recall {recall:.3f}, one session {one:.3f}")
        print(f"blame: CPU ms of a file: median {1000 * median(times):.0f}, most {1000 * max(times):.0f}")


def digest(sesame: Sesame, days: int) -> None:
    """Print what a digest of the last days of an index takes."""
    (latest,), _ = sesame.list_sessions(limit=1)
    assert latest.session.modified is not None
    filters = Filters(after=latest.session.modified - timedelta(days=days))
    taken = Taken()
    found = taken.of(lambda: sesame.digest(filters))
    shown = f"{found.shown} of {found.sessions} sessions"
    print(f"digest of {days} days: {shown}, {taken.cpu[0]:.0f} ms CPU, {taken.wall[0]:.0f} ms")


if __name__ == "__main__":
    main()
