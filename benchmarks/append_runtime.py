"""Measure what `Runtime.append_message` costs, and how much of it is indexing.

    python benchmarks/append_runtime.py --size 100k

The index holds the generated corpus of that size (`run.py` keeps and shares it); messages go to one new session,
in turns with and without indexing.  The exit code is 1 when the last message is not found.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import machine
import run
import worker

from sesame_core import Runtime
from sesame_core.runtime.session_files import SessionFiles

#: Appends before the clock counts: plugins are loaded, caches are warm.
WARM_UP = 20


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--size", choices=run.SIZES, default="100k", help="chunks in the index (default: %(default)s)")
    parser.add_argument("--appends", type=int, default=1000, help="messages of each kind (default: %(default)s)")
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "sesame-benchmarks")
    options = parser.parse_args(arguments)
    bench = run.Bench(run.Scale(chunks=run.SIZES[options.size]), options.dir)
    surroundings = machine.Surroundings()
    data = bench.home / "append-runtime"
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(bench.indexed(), data)
    indexed, written = measure(bench, data, options.appends)
    for clock, with_index, without in zip(("CPU", "wall"), indexed, written, strict=True):
        bench.row(f"append_message: {clock}", with_index, "ms")
        bench.row(f"… the file alone: {clock}", without, "ms")
        bench.row(f"… added by indexing: {clock}", [median(with_index) - median(without)], "ms", target="≤ 1 ms")
    print("\n".join(run.table(bench.rows)), end="\n\n")
    print(surroundings.describe())
    for claim in bench.wrong:
        print(f"- WRONG: {claim}")
    return 1 if bench.wrong else 0


def measure(bench: run.Bench, data: Path, count: int) -> tuple[tuple[list[float], ...], tuple[list[float], ...]]:
    """Return CPU and wall milliseconds of each append: with indexing, and of the file alone."""
    os.environ["SESAME_DATA_DIR"] = str(data)
    files = SessionFiles(data / "unindexed")
    files.create("alone", {"id": "alone", "agent": "benchmark"})
    indexed: tuple[list[float], ...] = ([], [])
    written: tuple[list[float], ...] = ([], [])
    with worker.open_index(bench.corpus(), data) as sesame:
        runtime = Runtime(sesame, data / "sessions")
        session = runtime.new_session("benchmark", "nobody")
        for number in range(WARM_UP + count):
            text = f"appended{number:05} please look at this once more"
            record = {"type": "message", "id": f"{number:032x}", "role": "user", "text": text}
            with_index = timed(lambda text=text: runtime.append_message(session, "user", text))  # type: ignore[misc]
            without = timed(lambda record=record: files.append("alone", record))  # type: ignore[misc]
            if number >= WARM_UP:
                for values, value in zip((*indexed, *written), (*with_index, *without), strict=True):
                    values.append(value)
        hits = sesame.search(f"appended{WARM_UP + count - 1:05}", limit=1).hits
        bench.check([hit.session.id for hit in hits] == [session], "the last message is not found")
    return indexed, written


def timed(step: Callable[[], object]) -> tuple[float, float]:
    """Return the CPU and wall milliseconds that a step takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    step()
    return (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000


if __name__ == "__main__":
    sys.exit(main())
