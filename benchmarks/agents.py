"""Compare how fast the sessions of each agent are indexed: one conversation, written in each agent's format.

    python benchmarks/agents.py                                   # 20,000 chunks of each agent; some minutes
    python benchmarks/agents.py --only codex,claude-code
    python benchmarks/agents.py --from codex=~/.codex/sessions    # and real ones
    python benchmarks/agents.py --small                           # seconds: is everything found? (CI)

Everything is measured in CPU time, in processes of their own, one after the other and `--rounds` times; the smallest
counts.  Then the conversations of all agents are searched in one index, where each format must score the same.  The
exit code is 1 when a session is not found, or scores less than `FAIR` of the best one that says the same.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import generate
import machine
import more_shapes
import shapes
from generate import FIRST_DAY, Corpus

from sesame_core import Filters
from sesame_core.api.sesame import Sesame
from sesame_core.config.model import Config, Selection, Source

#: Chunks of a session.
LENGTH = 200
#: The word that each session's last prompt has.
MARK = "wombatmark"
#: Least share of the best score that the same conversation has in any format, on average.
FAIR = 0.97
#: Conversations of the index with all agents, and with `--small`.
COMPARED, FEW = 40, 10


@dataclass(frozen=True, slots=True)
class Format:
    """How an agent writes, and where."""

    writer: Callable[..., Any]
    #: The file of a session below the root, by its id, its directory and its start.
    file: Callable[[str, str, datetime], str]
    #: All sessions are in one database.
    is_database: bool = False


def _flat(cwd: str) -> str:
    return cwd.replace("/", "-")


FORMATS = {
    "claude-code": Format(shapes.ClaudeCode, lambda id, cwd, start: f"{_flat(cwd).replace('_', '-')}/{id}.jsonl"),
    "pi": Format(shapes.Pi, lambda id, cwd, start: f"-{_flat(cwd)}--/{start:%Y-%m-%dT%H-%M-%S}-000Z_{id}.jsonl"),
    "codex": Format(
        more_shapes.Codex, lambda id, cwd, start: f"{start:%Y/%m/%d}/rollout-{start:%Y-%m-%dT%H-%M-%S}-{id}.jsonl"
    ),
    "copilot": Format(more_shapes.Copilot, lambda id, cwd, start: f"{id}/events.jsonl"),
    "gemini": Format(
        more_shapes.Gemini,
        lambda id, cwd, start: f"{Path(cwd).name}/chats/session-{start:%Y-%m-%dT%H-%M}-{id[:8]}.jsonl",
    ),
    "opencode": Format(more_shapes.OpenCode, lambda id, cwd, start: "opencode.db", is_database=True),
}


def write(agent: str, root: Path, chunks: int, length: int) -> int:
    """Write sessions of one agent; return their number.  Those of each agent have the same texts."""
    # One id in two agents would be one session.
    corpus, ids = Corpus(1, chunks), Random(agent)
    count = max(1, chunks // length)
    for number in range(count):
        start = FIRST_DAY + timedelta(hours=number)
        id, cwd = shapes.uuid(ids), corpus.random.choice(corpus.projects)
        made = FORMATS[agent]
        writer = made.writer(Random(number), id=f"ses_{id}" if made.is_database else id, cwd=cwd, start=start)
        records = [*corpus.records(writer, lambda n: n >= length), *writer.user(f"{MARK} {number}")]
        path = root / made.file(id, cwd, start)
        if made.is_database:
            more_shapes.store(path, records)
        else:
            generate.write(path, records, start)
    return count


def opened(roots: Mapping[str, Path], data: str) -> Sesame:
    """Open an empty index for sessions, by agent."""
    config = Config(
        sources=tuple(Source(parser=Selection(name=agent), path=root) for agent, root in roots.items()),
        backend=Selection(name="sqlite", options={"directory": data}),
        index_workers=0,
        refresh_seconds=0,
    )
    return Sesame(config=config)


def index(agent: str, root: Path) -> dict[str, Any]:
    """Index a directory in this process, and return what it took."""
    with tempfile.TemporaryDirectory() as data, opened({agent: root}, data) as sesame:
        started = time.process_time()
        report = sesame.index()
        cpu = time.process_time() - started
        peak = machine.peak_memory()
        found = sesame.search(MARK, Filters(all_kinds=True), limit=1).total
        chunks = report.chunks
    return {"cpu": cpu, "chunks": chunks, "peak": peak, "found": found, "errors": len(report.errors)}


def shares(roots: Mapping[str, Path], most: int) -> dict[str, float]:
    """Return the mean share of the best score that each agent's copy of a conversation has, by words of its prompts.

    :param most: number of conversations.
    """
    found: dict[str, list[float]] = {agent: [] for agent in roots}
    random, all_kinds = Random(3), Filters(all_kinds=True)
    with tempfile.TemporaryDirectory() as data, opened(roots, data) as sesame:
        sesame.index()
        for stored in sesame.list_sessions(Filters(agents=(next(iter(roots)),), all_kinds=True), limit=most)[0]:
            prompts = stored.session.prompts
            words = sorted({word for text in prompts for word in text.split() if word.isalpha() and len(word) > 5})
            query = " ".join(random.sample(words, min(4, len(words))))
            hits = sesame.search(query, all_kinds, limit=8 * len(roots)).hits if query else []
            scores = {hit.session.agent: hit.score for hit in hits if hit.session.prompts == prompts}
            for agent, score in scores.items() if len(scores) == len(roots) else ():
                found[agent].append(score / max(scores.values()))
    return {agent: sum(values) / len(values) if values else 0.0 for agent, values in found.items()}


def measured(agent: str, root: Path) -> dict[str, Any]:
    """Index in a process of its own."""
    command = [sys.executable, __file__, "--index", f"{agent}={root}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{agent}: {done.stderr[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument(
        "--one", type=int, default=100_000, help="chunks of one session whose memory is measured; 0: none"
    )
    parser.add_argument("--only", default=",".join(FORMATS), help="comma-separated (default: %(default)s)")
    parser.add_argument("--from", dest="real", action="append", default=[], metavar="PARSER=DIR", help="real sessions")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--index", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.index:
        agent, _, root = options.index.partition("=")
        print(json.dumps(index(agent, Path(root))))
        return 0
    if options.small:
        options.chunks, options.one, options.rounds = 200, 0, 1
    if unknown := set(options.only.split(",")) - set(FORMATS):
        parser.error(f"unknown agent {', '.join(sorted(unknown))}; known are {', '.join(FORMATS)}")
    surroundings = machine.Surroundings()
    place = Path(tempfile.mkdtemp(prefix="sesame-agents-"))
    try:
        return _compare(place, options, surroundings)
    finally:
        shutil.rmtree(place)


def _compare(place: Path, options: argparse.Namespace, surroundings: machine.Surroundings) -> int:
    agents = [name for name in FORMATS if name in options.only.split(",")]
    problems = []
    expected = {}
    roots = {}
    for agent in agents:
        roots[agent] = place / "many" / agent
        expected[agent] = write(agent, roots[agent], options.chunks, min(LENGTH, options.chunks // 4))
    for given in options.real:
        agent, _, root = given.partition("=")
        roots[f"{agent}, {root}"] = Path(root).expanduser()
    rounds = [
        {name: measured(name.partition(",")[0], root) for name, root in roots.items()} for _ in range(options.rounds)
    ]
    print("| sessions | MB | chunks | CPU | chunks/s | MB/s | CPU of a chunk | of a MB |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    base: tuple[float, float] | None = None
    for name, root in roots.items():
        best = min((one[name] for one in rounds), key=lambda one: float(one["cpu"]))
        size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) / 1e6
        cpu, chunks = best["cpu"], best["chunks"]
        base = base or (cpu / chunks, cpu / size)
        print(
            f"| {name} | {size:.1f} | {chunks:,} | {cpu:.2f} s | {chunks / cpu:,.0f} | {size / cpu:.1f} "
            f"| {cpu / chunks / base[0]:.2f} × | {cpu / size / base[1]:.2f} × |"
        )
        if best["errors"]:
            problems.append(f"{name}: {best['errors']} files could not be read")
        if name in expected and best["found"] != expected[name]:
            problems.append(f"{name}: {best['found']} of {expected[name]} sessions are found")
    shutil.rmtree(place / "many")
    length, most = min(LENGTH, options.chunks // 4), FEW if options.small else COMPARED
    together = {agent: place / "together" / agent for agent in agents}
    for agent, root in together.items():
        write(agent, root, most * length, length)
    print("\n| the same conversation in one index | mean share of the best score |\n|---|--:|")
    for agent, share in shares(together, most).items():
        print(f"| {agent} | {share:.3f} |")
        if share < FAIR:
            problems.append(f"{agent}: a conversation scores {share:.3f} of the same one in the best format")
    if options.one:
        print("\n| one session | MB | chunks | peak memory |\n|---|--:|--:|--:|")
        for agent in agents:
            root = place / "one" / agent
            write(agent, root, options.one, options.one)
            size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) / 1e6
            one = measured(agent, root)
            print(f"| {agent} | {size:.0f} | {one['chunks']:,} | {one['peak'] / 1e6:.0f} MB |")
            shutil.rmtree(root)
    print(f"\n{surroundings.describe()}")
    for problem in problems:
        print(f"- WRONG: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
