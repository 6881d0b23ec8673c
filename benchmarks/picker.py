"""Measure the picker on a terminal: from the start to the first list, and from a key to its answer.

    python benchmarks/picker.py                                   # the picker on the present configuration
    python benchmarks/picker.py --queries FILE                    # type these: JSON lines with a "query"
    python benchmarks/picker.py --beside 'fr' --beside-ready '.'  # another program in the same run, in turns

The programs are driven through pseudo-terminals.  A key is answered when its last change of the screen has come, after
which nothing comes for `QUIET` seconds: this includes the list, and the preview of the first session.  What the
terminal takes to show it does not count: this one, in Python, takes 10 ms.  Wall times tell little on a busy machine;
the CPU time of the program and its threads is next to them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from tests.picker.terminal import Terminal  # noqa: E402 - needs the path

#: Seconds without output after which a key counts as answered.
QUIET = 0.25
#: What is typed unless queries are given.
QUERIES = ("flaky publish job", "websocket migration", "order of tests", "nix infrastructure")
TICKS = os.sysconf("SC_CLK_TCK")
#: A row of a session in the picker: its age.
LISTED = r"^[> ] +(?:now|\d+(?:m|h|d|w|mo|y)) "


def cpu(pid: int) -> float:
    """Return the seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def settle(terminal: Terminal) -> float:
    """Read until nothing comes; return when the last change of the screen has come."""
    changed = last = time.perf_counter()
    pieces: list[tuple[float, bytes]] = []
    while (now := time.perf_counter()) - last < QUIET:
        if piece := terminal.receive(QUIET - (now - last)):
            last = time.perf_counter()
            pieces.append((last, piece))
    before = terminal.text
    for at, piece in pieces:
        terminal.show(piece)
        if (shown := terminal.text) != before:
            changed, before = at, shown
    return changed


def run(command: Sequence[str], ready: str, queries: Sequence[str]) -> tuple[list[float], list[tuple[float, float]]]:
    """Return the seconds to the first frame and to the first list, and of each key the wall and the CPU time."""
    began = time.perf_counter()
    with Terminal(command, columns=120, rows=40) as terminal:
        while not terminal.text.strip():
            terminal.read(0.005)
        starts = [time.perf_counter() - began]
        while not re.search(ready, terminal.text, re.MULTILINE):
            terminal.read(0.005)
        starts += [time.perf_counter() - began, cpu(terminal.pid)]
        time.sleep(2)  # what it does behind the first list
        settle(terminal)
        keys = []
        for query in queries:
            for character in query:
                used, sent = cpu(terminal.pid), time.perf_counter()
                terminal.send(character)
                keys.append((settle(terminal) - sent, cpu(terminal.pid) - used))
            terminal.send("\x15")
            settle(terminal)
        return starts, keys


def percentile(values: Sequence[float], part: float) -> float:
    """Return the smallest value that a part of the values does not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--queries", type=Path, help="JSON lines with a query each")
    parser.add_argument("--most", type=int, default=8, help="queries that are typed")
    parser.add_argument("--rounds", type=int, default=3, help="starts of each program")
    parser.add_argument("--beside", help="the command line of another program")
    parser.add_argument("--beside-ready", default=r"\S", help="pattern of a row of its list")
    given = parser.parse_args()
    queries = list(QUERIES)
    if given.queries:
        queries = [json.loads(line)["query"] for line in given.queries.read_text("utf-8").splitlines()]
        queries = queries[:: max(1, len(queries) // given.most)][: given.most]
    programs = {"sesame": ([sys.executable, "-m", "sesame_core", "pick"], LISTED)}
    if given.beside:
        programs[given.beside] = (shlex.split(given.beside), given.beside_ready)
    starts: dict[str, list[list[float]]] = {name: [] for name in programs}
    keys: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
    for number in range(given.rounds):
        for name, (command, ready) in programs.items():
            began, pressed = run(command, ready, queries[number :: given.rounds])
            starts[name].append(began)
            keys[name] += pressed
    print(f"load {os.getloadavg()[0]:.1f}, {len(next(iter(keys.values())))} keys, {given.rounds} starts; milliseconds")
    print("| program | first frame | first list | CPU to it | key p50 | key p95 | key CPU p50 | key CPU p95 |")
    print("|---|---|---|---|---|---|---|---|")
    for name in programs:
        cells = [min(column) for column in zip(*starts[name], strict=True)]
        wall, used = zip(*keys[name], strict=True)
        cells += [median(wall), percentile(wall, 0.95), median(used), percentile(used, 0.95)]
        print(f"| {name} | " + " | ".join(f"{1000 * cell:.0f}" for cell in cells) + " |")


if __name__ == "__main__":
    main()
