"""Kill `sesame index` (SIGKILL) at random points, and compare the index with one that nobody disturbed.

    python benchmarks/killed.py --kills 200

The sessions are generated, half pi's and half Claude Code's.  A run is killed after a random share of the time that a
whole one takes, and started again on what it left; every few kills a session grows or is joined by another.  A run that
ends before its time begins a new cycle from nothing, so that each state of an index meets kills.  Each end of a cycle,
and the last state after one more run, is compared: every session once, with exactly its texts.  The exit code is 1 when
a session is lost, doubled or different, or when a process outlives the one that was killed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import generate
from chaos import stored_in

from sesame_core import Sesame
from sesame_core.config.model import Config

#: Seconds within which the worker processes of a killed run must have ended.
ALONE = 10.0
#: A session grows after so many kills.
GROWS = 10


class History:
    """Generated sessions, and indexes of them.

    :param place: a directory of its own.
    """

    def __init__(self, place: Path, chunks: int, files: int) -> None:
        self.place, self.files = place, place / "files"
        shutil.rmtree(place, ignore_errors=True)
        generate.generate(self.files, chunks=chunks, seed=1, files=files)
        (place / "home").mkdir()
        (place / "home" / "config.jsonc").write_text(json.dumps({"sources": generate.sources(self.files)}))

    def start(self, name: str) -> subprocess.Popen[bytes]:
        """Begin to index into an index of this name, as the leader of a group of processes."""
        home = str(self.place / "home")
        data = str(self.place / name)
        return subprocess.Popen(
            [sys.executable, "-m", "sesame_core", "index"],
            env={**os.environ, "HOME": home, "SESAME_CONFIG_DIR": home, "SESAME_DATA_DIR": data},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def run(self, name: str) -> float:
        """Index undisturbed; return the seconds."""
        began = time.monotonic()
        assert self.start(name).wait() == 0
        return time.monotonic() - began

    def grow(self, rng: random.Random) -> None:
        """Repeat the last line of a file, in part as a record that is still being written."""
        path = rng.choice(sorted(self.files.rglob("*.jsonl")))
        last = path.read_bytes().splitlines(keepends=True)[-1]
        with path.open("ab") as file:
            file.write(last + last[: len(last) // 2] if rng.random() < 0.5 else last)

    def content(self, name: str) -> dict[tuple[str, str], str]:
        """Return what an index says, by file and id of a session: a digest of its texts."""
        with Sesame(Config(refresh_seconds=0), data_dir=self.place / name) as sesame:
            return stored_in(sesame)


def is_alone(group: int) -> bool:
    """Return whether no process of a group is left, or none is soon."""
    end = time.monotonic() + ALONE
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def main(arguments: list[str] | None = None) -> int:
    """Kill, and count; return 1 when something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--chunks", type=int, default=8_000, help="of all sessions (default: %(default)s)")
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "sesame-killed")
    options = parser.parse_args(arguments)
    rng = random.Random(options.seed)
    history = History(options.dir, options.chunks, options.files)
    whole = history.run("whole")
    kills = cycles = left = 0
    wrong: list[str] = []

    def compare() -> None:
        history.run("whole")
        mine, theirs = history.content("killed"), history.content("whole")
        keys = sorted(mine.keys() | theirs.keys())
        wrong.extend(
            f"{key}: {mine.get(key)}, not {theirs.get(key)}" for key in keys if mine.get(key) != theirs.get(key)
        )

    while kills < options.kills:
        process = history.start("killed")
        try:
            process.wait(timeout=rng.uniform(0, 1.2) * whole)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
            left += not is_alone(process.pid)
            if kills % GROWS == 0:
                history.grow(rng)
            continue
        cycles += 1
        compare()
        shutil.rmtree(history.place / "killed")
    history.run("killed")
    compare()
    print(f"{kills} kills, {cycles} whole runs among them: {len(wrong)} sessions wrong, {left} left processes behind")
    print(*wrong[:20], sep="\n")
    return 1 if wrong or left else 0


if __name__ == "__main__":
    sys.exit(main())
