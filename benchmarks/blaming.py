"""Measure the answers of `blame` on the index that is configured, where the sessions themselves tell the truth.

    python benchmarks/blaming.py                        # precision, recall and time over files that are replayed
    python benchmarks/blaming.py --labels blame.jsonl   # hit@1 and hit@3 of labelled lines, too

A file that a session wrote whole, and that only edits changed which fit exactly, is replayed: so each of its lines has
a session for sure.  These files are written to a directory that is deleted afterwards, at the time of their last
change.  Labels are lines of JSON: `file` below that directory, `line`, and the id of the `session`; they and the
sessions are other people's, and no part of the repository.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

from sesame_core import Sesame
from sesame_core.types.index import Chunk
from sesame_core.types.query import Filters
from sesame_core.types.questions import Blame

#: Sessions that are read at once, and letters and digits of a line that says something alone.
BATCH, TELLING = 100, 5
_CALL = re.compile(r"tool: [^\n]+\npath: (?P<path>[^\n]+)\n(?P<rest>.*)", re.DOTALL)
_READ = re.compile(r"^path: (.+)$", re.MULTILINE)
_EDIT = re.compile(r"old:[ \n](?P<old>.*?)(?:\nnew:[ \n](?P<new>.*))?", re.DOTALL)


@dataclass
class Replayed:
    """A file whose whole life is known."""

    cwd: str
    text: str = ""
    #: The session of each line.
    owners: list[str] = field(default_factory=list)
    at: datetime | None = None
    changes: int = 0
    is_known: bool = False
    is_broken: bool = False
    #: It was there before its first known change: only labelled lines are asked about.
    is_doubtful: bool = False

    def change(self, text: str, session: str, at: datetime) -> None:
        """Take the next content: lines that are there already stay their session's, whatever their white space."""
        old, new = self.text.split("\n") if self.is_known else [], text.split("\n")
        owners = [session] * len(new)
        matcher = difflib.SequenceMatcher(None, [*map(str.strip, old)], [*map(str.strip, new)], autojunk=False)
        for block in matcher.get_matching_blocks():
            owners[block.b : block.b + block.size] = self.owners[block.a : block.a + block.size]
        self.text, self.owners, self.at, self.is_known = text, owners, at, True
        self.changes += 1


def replayed(sesame: Sesame) -> dict[str, Replayed]:
    """Return the files whose whole life the index has, by the path that the calls name."""
    found: dict[str, Replayed] = {}
    for path, events in _changes(sesame).items():
        file = Replayed(cwd=events[0][3])
        for at, session, rest, _, was_read in sorted(events, key=lambda event: event[0]):
            # A file that was read before it was first written has lines that nobody is known for.
            file.is_doubtful = file.is_doubtful or (was_read and not file.is_known)
            if rest.startswith("content:\n"):
                file.change(rest.removeprefix("content:\n"), session, at)
            elif file.is_known and (edit := _EDIT.fullmatch(rest)):
                # A call with several edits does not say where one ends.
                is_several = "\nold:" in (edit["new"] or "")
                file.is_broken = file.is_broken or is_several or edit["old"] not in file.text
                file.change(file.text.replace(edit["old"], edit["new"] or "", 1), session, at)
        if file.changes > 1 and not file.is_broken and path.startswith(file.cwd):
            found[path] = file
    return found


#: A call that changed a file: its time, session, arguments and directory, and whether the file had been read before.
Change: TypeAlias = tuple[datetime, str, str, str, bool]


def _changes(sesame: Sesame) -> dict[str, list[Change]]:
    """Return by path the calls that changed it and did not fail."""
    found: dict[str, list[Change]] = defaultdict(list)
    seen: set[int] = set()
    total, offset = 1, 0
    while offset < total:
        sessions, total = sesame.list_sessions(Filters(all_kinds=True), limit=BATCH, offset=offset)
        offset += BATCH
        for stored in sessions:
            chunks = sesame.list_messages(stored)
            failed = {chunk.call_id for chunk in chunks if chunk.kind == "tool_result" and chunk.is_error}
            read: set[str] = set()
            for chunk in chunks:
                read.update(_READ.findall(chunk.text) if chunk.kind == "tool_call" and _call(chunk) is None else ())
                if (call := _call(chunk)) is None or chunk.call_id in failed or not stored.session.cwd:
                    continue
                if chunk.origin is not None and chunk.origin in seen:
                    continue
                seen.update([chunk.origin] if chunk.origin is not None else [])
                assert chunk.timestamp is not None
                path = call["path"] if call["path"][0] == "/" else f"{stored.session.cwd}/{call['path']}"
                change = (chunk.timestamp, stored.session.id, call["rest"], stored.session.cwd, call["path"] in read)
                found[path].append(change)
    return found


def _call(chunk: Chunk) -> re.Match[str] | None:
    if chunk.kind != "tool_call" or chunk.timestamp is None:
        return None
    found = _CALL.fullmatch(chunk.text)
    return found if found and found["rest"].startswith(("content:\n", "old: ", "old:\n")) else None


def placed(files: Mapping[str, Replayed], place: Path) -> Iterator[tuple[Path, Replayed]]:
    """Write files below a directory, each in a checkout of the directory's name; yield their paths."""
    for path, file in sorted(files.items()):
        root = place / re.sub(r"\W+", "_", file.cwd) / Path(file.cwd).name
        target = root / path.removeprefix(file.cwd).lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        (root / ".git").mkdir(exist_ok=True)
        target.write_text(file.text + "\n", encoding="utf-8")
        assert file.at is not None
        os.utime(target, (file.at.timestamp(), file.at.timestamp()))
        yield target, file


def writers(found: Blame) -> dict[int, list[str]]:
    """Return by number of a line the sessions that wrote it, and those with the same call, the likeliest first."""
    return {
        line: [name for one in run.writers for name in (one.stored.session.id, *one.copies)]
        for run in found.runs
        for line in range(run.first, run.last + 1)
    }


def judge(found: Blame, file: Replayed, counts: Counter[str]) -> None:
    """Count how the lines of an answer are."""
    named = writers(found)
    for line, (text, owner) in enumerate(zip(found.text, file.owners, strict=False), found.first):
        if sum(map(str.isalnum, text)) >= TELLING:
            names = named.get(line, [])
            counts["right" if names[:1] == [owner] else "wrong" if names else "missed"] += 1
            counts["one"] += len(next(run for run in found.runs if run.first <= line <= run.last).writers) == 1


def asked(sesame: Sesame, label: Mapping[str, Any], place: Path) -> list[bool]:
    """Ask about a labelled line, and return for each session that is named whether it is right."""
    found = sesame.blame(f"{place / label['file']}:{label['line']}")
    return [writer.stored.session.id == label["session"] for run in found.runs for writer in run.writers]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=Path)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    times: list[float] = []
    with tempfile.TemporaryDirectory() as directory, Sesame() as sesame:
        place = Path(directory)
        placed_files = list(placed(replayed(sesame), place))
        files = [(path, file) for path, file in placed_files if not file.is_doubtful]
        for path, file in files:
            start = time.process_time()
            found = sesame.blame(str(path))
            times.append(time.process_time() - start)
            judge(found, file, counts)
        lines = counts["right"] + counts["wrong"] + counts["missed"]
        print(f"files {len(files)}, lines {lines}")
        if lines:
            precision = counts["right"] / max(1, counts["right"] + counts["wrong"])
            recall, one = counts["right"] / lines, counts["one"] / lines
            print(f"precision {precision:.3f}, recall {recall:.3f}, one session {one:.3f}")
            print(f"CPU ms of a file: median {1000 * median(times):.0f}, most {1000 * max(times):.0f}")
        if options.labels:
            report([asked(sesame, json.loads(line), place) for line in options.labels.read_text().splitlines()])


def report(right: Sequence[Sequence[bool]]) -> None:
    """Print the figures of labelled lines."""
    first = sum(one[:1] == [True] for one in right) / len(right)
    three = sum(any(one[:3]) for one in right) / len(right)
    print(f"labels {len(right)}, hit@1 {first:.3f}, hit@3 {three:.3f}")


if __name__ == "__main__":
    main()
