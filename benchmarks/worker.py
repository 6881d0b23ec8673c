"""One measurement in a fresh process: `python benchmarks/worker.py TASK key=value…` prints a JSON object.

The only place that touches Sesame's library.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import floor
import generate
import machine

from sesame_core.api.sesame import Sesame
from sesame_core.config.model import Config, Selection, Source
from sesame_core.plugin.manager import PluginManager
from sesame_core.text.tokens import subwords
from sesame_core.types.transcript import Message

Report = dict[str, Any]


def open_index(corpus: Path, data: Path, dsn: str = "") -> Sesame:
    """Open the index of a corpus; searching does not refresh it.

    :param dsn: the address of a PostgreSQL that holds it, instead of `data`.
    """
    roots = [corpus / agent for agent in generate.AGENTS if (corpus / agent).exists()]
    sources = tuple(Source(parser=Selection(name=root.name), path=root) for root in roots)
    backend = Selection(name="sqlite", options={"directory": str(data)})
    if dsn:
        backend = Selection(name="postgres", options={"dsn": dsn})
    return Sesame(config=Config(sources=sources, backend=backend, refresh_seconds=0))


def index(corpus: str, data: str, dsn: str = "") -> Report:
    """Index what is new or changed."""
    with open_index(Path(corpus), Path(data), dsn) as sesame:
        cpu, wall = _cpu(), time.perf_counter()
        report = sesame.index()
        cpu, wall = _cpu() - cpu, time.perf_counter() - wall
    found = {"chunks": report.chunks, "bytes": report.bytes, "errors": len(report.errors)}
    return {"cpu": cpu, "wall": wall, "peak": machine.peak_memory(), **found}


def _cpu() -> float:
    """Return the CPU seconds of this process, and of those that it started and that have ended: the workers."""
    return sum(os.times()[:4])


def measure_floor(corpus: str, database: str) -> Report:
    """Measure the least CPU that indexing the corpus can cost."""
    files = sorted(Path(corpus).rglob("*.jsonl"))
    result = floor.measure(files, _rows(Path(corpus)), Path(database))
    parts = {"read": result.read, "decode": result.decode, "insert": result.insert}
    return {"cpu": result.cpu, "chunks": result.chunks, "bytes": result.bytes, **parts}


def search(corpus: str, data: str, queries: str, repeat: str, dsn: str = "", server: str = "") -> Report:
    """Time the queries of every class in one process, in mixed order: milliseconds of wall and CPU by class.

    :param queries: how many of a class are asked.
    :param server: the number of a process, the CPU of whose children is told too.
    """
    summary = json.loads((Path(corpus) / "queries.json").read_text("utf-8"))
    classes: dict[str, list[str]] = summary["classes"]
    wall: dict[str, list[float]] = {name: [] for name in classes}
    cpu: dict[str, list[float]] = {name: [] for name in wall}
    of_server: dict[str, list[float]] = {name: [] for name in wall}
    found = dict.fromkeys(wall, 0)

    def timed(name: str, text: str) -> None:
        start_server = machine.children_cpu(int(server)) if server else 0.0
        start, start_cpu = time.perf_counter(), time.process_time()
        answer = sesame.search(text, limit=10)
        wall[name].append((time.perf_counter() - start) * 1000)
        cpu[name].append((time.process_time() - start_cpu) * 1000)
        if server:
            of_server[name].append((machine.children_cpu(int(server)) - start_server) * 1000)
        found[name] += bool(answer.hits)

    with open_index(Path(corpus), Path(data), dsn) as sesame:
        sesame.search("warm up")
        for _ in range(int(repeat)):
            for position in range(int(queries)):
                for name, texts in classes.items():
                    timed(name, texts[position])
    return {"wall": wall, "cpu": cpu, "server": of_server, "found": found}


def first_search(corpus: str, data: str, text: str, dsn: str = "") -> Report:
    """Time the first query of a process, from opening the index on."""
    start = time.perf_counter()
    with open_index(Path(corpus), Path(data), dsn) as sesame:
        sesame.search(text, limit=10)
        return {"ms": (time.perf_counter() - start) * 1000}


def append(corpus: str, data: str, agent: str, megabytes: str, count: str) -> Report:
    """Append messages to one session, one by one, and index after each: CPU milliseconds."""
    path, writer = generate.one_session(Path(corpus), megabytes=float(megabytes), seed=7, agent=agent)
    times, chunks = [], []
    with open_index(Path(corpus), Path(data)) as sesame:
        sesame.index()
        for number in range(int(count)):
            # A file's time has the resolution of the kernel's tick; two appends in one tick are one change.
            time.sleep(0.02)
            generate.append(path, writer.user(f"appended{number:04} please look at this once more"))
            start = time.process_time()
            report = sesame.index()
            times.append((time.process_time() - start) * 1000)
            chunks.append(report.chunks)
        found = bool(sesame.search(f"appended{int(count) - 1:04}", limit=1).hits)
    return {"ms": times, "chunks": chunks, "found": found, "bytes": path.stat().st_size}


def _rows(corpus: Path) -> Iterator[tuple[str, str]]:
    """Yield what the indexer would insert for every file."""
    plugins = PluginManager()
    formatter = plugins.formatter("default")
    for agent in generate.AGENTS:
        for path in sorted((corpus / agent).rglob("*.jsonl")):
            for event in plugins.parser(agent).parse(path):
                if isinstance(event, Message):
                    yield from ((chunk.text, subwords(chunk.text)) for chunk in formatter.format(event))


TASKS: dict[str, Callable[..., Report]] = {
    "index": index,
    "floor": measure_floor,
    "search": search,
    "first_search": first_search,
    "append": append,
}


if __name__ == "__main__":
    arguments = dict(argument.split("=", 1) for argument in sys.argv[2:])
    print(json.dumps(TASKS[sys.argv[1]](**arguments)))
