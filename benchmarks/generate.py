"""Generate session files in the shapes of Claude Code and pi, the same bytes for the same seed.

    python benchmarks/generate.py OUT --chunks 100000 --seed 1
    python benchmarks/generate.py OUT --chunks 100000 --files 20000 --agents pi
    python benchmarks/generate.py OUT --one-session 20 --agents claude-code

Sessions go to OUT/claude-code/ and OUT/pi/, queries by word frequency to OUT/queries.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import orjson
from shapes import Call, ClaudeCode, Pi, Record, Writer, uuid
from words import Words

AGENTS = ("claude-code", "pi")
FIRST_DAY = datetime(2026, 1, 5, 8, tzinfo=UTC)
DAYS = 320
#: Chunks per session when the number of files is not given.
CHUNKS_PER_SESSION = 50
#: Chunks whose words are counted; more would only cost time.
SAMPLE = 20_000
#: Queries of each class.
QUERIES = 50
TOOLS = ("bash", "read", "edit", "write", "grep")
ROLES = ("user", "assistant", "tool", "metadata")

_TOKEN = re.compile(r"[^\W_]+")
#: Words that carry no topic; they are asked for only in the class `stop5`.
_STOP = frozenset(
    re.findall(
        r"\w+",
        """
        a an and any are as at be but by can do for from has have if in into is it its may more must no not
        of on one only or other should so some such that the then there these they this to up use used using
        was we when which will with you your
        """,
    )
)


class Corpus:
    """Sessions drawn from one seed, and a count of the words in them.

    :param chunks: texts in all, as the indexer will cut them, within a few percent.
    """

    def __init__(self, seed: int, chunks: int) -> None:
        self.random = Random(seed)
        self.words = Words(self.random, sentences=min(200_000, max(2_000, 2 * chunks)))
        self.projects = [f"/home/ann/code/{self.random.choice(self.words.identifiers)}" for _ in range(40)]
        self.chunks = 0
        self._stride = max(1, chunks // SAMPLE)
        self._sampled = 0
        self._frequencies: Counter[str] = Counter()
        self._said: list[str] = []

    def records(self, writer: Writer, is_over: Callable[[int], bool]) -> Iterator[Record]:
        """Yield one session's records until `is_over(its chunks)`; the current turn is finished first."""
        random, words = self.random, self.words
        topic = words.topic(random)
        before = self.chunks
        yield from writer.start()
        is_titled = random.random() < 0.7
        while True:
            yield from writer.user(self._say(random.choice((1, 1, 2, 3, 6)), topic))
            for _ in range(random.choice((1, 2, 3, 4, 6, 9))):
                if is_over(self.chunks - before):
                    break
                calls = [self._call(topic) for _ in range(random.choice((1, 1, 1, 2)))]
                text = self._say(random.randint(1, 3), topic) if random.random() < 0.4 else ""
                thinking = words.prose(random, random.randint(2, 8), topic) if random.random() < 0.3 else ""
                yield from writer.assistant(thinking, text, calls)
                for call in calls:
                    self._count(f"{call.path} {call.old} {call.text}")
                    is_error = random.random() < 0.06
                    answer = self._count(self._answer(call, is_error))
                    yield from writer.result(call, answer, is_error)
            answer = self._say(random.randint(3, 12), topic)
            yield from writer.assistant("", answer, [])
            if is_titled:
                is_titled = False
                yield from writer.title(self._count(f"{topic[0]} {topic[5]}: {words.prose(random, 1, topic)[:60]}"))
            if is_over(self.chunks - before):
                return

    def _call(self, topic: list[str]) -> Call:
        random, words = self.random, self.words
        tool = random.choices(TOOLS, (40, 25, 18, 7, 10))[0]
        path = random.choice(words.paths)
        old = ""
        match tool:
            case "bash":
                command = f"cd {path.rpartition('/')[0]} && git log --oneline -n 20 -- {random.choice(words.paths)}"
                text = random.choice((f"rg -n {random.choice(topic)} {path}", f"pytest -q {path}", command))
            case "edit":
                old = "\n".join(words.lines(random, random.randint(2, 10)))
                text = f"{old}\n# {random.choice(words.sentences)}"
            case "write":
                text = "\n".join(words.lines(random, random.randint(10, 80)))
            case "grep":
                text = random.choice((random.choice(topic), random.choice(words.identifiers)))
            case _:
                text = ""
        return Call(tool, f"toolu_{random.getrandbits(96):024x}", path, text, old)

    def _answer(self, call: Call, is_error: bool) -> str:
        random, words = self.random, self.words
        size = min(300, int(random.lognormvariate(3.4, 0.8)) + 1)
        if is_error:
            trace = "\n".join(f"  {line}" for line in words.lines(random, 4))
            return f"Exit code 1\nTraceback (most recent call last):\n{trace}\n{random.choice(words.sentences)}"
        match call.tool:
            case "read":
                return "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(words.lines(random, 2 * size), 1))
            case "edit" | "write":
                return f"The file {call.path} has been updated."
            case "grep":
                lines = words.lines(random, size)
                return "\n".join(
                    f"{path}:{n}:{line}" for n, (path, line) in enumerate(zip(words.paths, lines, strict=False), 40)
                )
        if call.text.startswith("pytest"):
            names = random.choices(words.identifiers, k=size)
            rows = [f"{call.path}::test_{name} PASSED" for name in names]
            return "\n".join([*rows, f"{size} passed in {random.uniform(0.1, 9):.2f}s"])
        sentences = random.choices(words.sentences, k=size)
        return "\n".join(f"{random.getrandbits(28):07x} {sentence}" for sentence in sentences)

    def _say(self, count: int, topic: list[str]) -> str:
        text = self.words.prose(self.random, count, topic)
        if self.chunks % self._stride == 0:
            self._said.append(text)
        return self._count(text)

    def _count(self, text: str) -> str:
        if self.chunks % self._stride == 0:
            self._sampled += 1
            self._frequencies.update(set(_TOKEN.findall(text.lower())))
        self.chunks += 1
        return text

    def queries(self) -> dict[str, list[str]]:
        """Return queries by class; words are drawn by the share of texts that hold them."""
        random = self.random
        share = {
            word: count / self._sampled
            for word, count in sorted(self._frequencies.items())
            if word.isascii() and word.isalpha() and 3 <= len(word) <= 20
        }
        content = {word: df for word, df in share.items() if word not in _STOP}
        enough = 3 / self._sampled

        def between(low: float, high: float) -> list[str]:
            found = [word for word, df in content.items() if low <= df <= high]
            return found or sorted(content, key=lambda word: abs(math.log(content[word] / math.sqrt(low * high))))[:20]

        rare, mid, common = between(enough, max(0.001, 2 * enough)), between(0.01, 0.05), between(0.15, 1)
        frequent, weights = list(content), [df**0.7 for df in content.values()]
        every, every_weight = list(share), list(share.values())
        said = [_TOKEN.findall(text) for text in random.choices(self._said, k=QUERIES)]
        choose = random.choice

        def drawn(draw: Callable[[], str]) -> list[str]:
            return [draw() for _ in range(QUERIES)]

        return {
            "rare": drawn(lambda: choose(rare)),
            "mid": drawn(lambda: choose(mid)),
            "common": drawn(lambda: choose(common)),
            "common3": drawn(lambda: " ".join(choose(common) for _ in range(3))),
            "mix3": drawn(lambda: f"{choose(rare)} {choose(mid)} {choose(common)}"),
            "natural5": drawn(lambda: " ".join(random.choices(frequent, weights, k=5))),
            "stop5": drawn(lambda: " ".join(random.choices(every, every_weight, k=5))),
            "phrase": [f'"{" ".join(words[1:4])}"' for words in said],
            "prefix": drawn(lambda: f"{choose(mid)[:4]}*"),
            "excluded": drawn(lambda: f"{choose(mid)} -{choose(mid)}"),
            "excluded_common": drawn(lambda: f"{choose(common)} -{choose(common)}"),
            "and_rare": drawn(lambda: f"{choose(rare)} AND {choose(common)}"),
            "and_common": drawn(lambda: f"{choose(common)} AND {choose(common)}"),
            "cwd": drawn(lambda: f'{choose(common)} cwd:"{choose(self.projects)}"'),
            "after": drawn(lambda: f"{choose(common)} after:{FIRST_DAY + timedelta(random.randrange(DAYS)):%Y-%m-%d}"),
            "role": drawn(lambda: f"{choose(common)} role:{choose(ROLES)}"),
            "tool": drawn(lambda: f"{choose(common)} tool:{choose(TOOLS)}"),
            "error": drawn(lambda: f"{choose(common)} tool:{choose(TOOLS)} is:error"),
            "file": drawn(lambda: f'{choose(common)} file:"{choose(self.words.paths).rpartition("/")[2]}"'),
            "cmd": drawn(lambda: f'{choose(mid)} cmd:"git log"'),
            "fields": drawn(lambda: f"tool:{choose(TOOLS)} is:error"),
        }

    def head(self) -> list[tuple[str, float]]:
        """Return the commonest words that are no stop words, each with its share of the sampled texts."""
        # By name among equals: the counter's own order is that of a set, which differs from process to process.
        ranked = sorted(self._frequencies.items(), key=lambda item: (-item[1], item[0]))[:300]
        most = [(word, n / self._sampled) for word, n in ranked if word.isalpha()]
        return [(word, round(df, 3)) for word, df in most if word not in _STOP and len(word) > 2][:30]


def generate(out: Path, *, chunks: int, seed: int, files: int | None = None, agents: tuple[str, ...] = AGENTS) -> int:
    """Write a corpus of about `chunks` texts in `files` sessions; return the bytes written."""
    corpus = Corpus(seed, chunks)
    random = corpus.random
    total = files or max(len(agents), chunks // CHUNKS_PER_SESSION)
    size = 0
    for index in range(total):
        start = FIRST_DAY + timedelta(days=DAYS * index / total, seconds=random.random() * 3600)
        path, writer = session(corpus, out, agents[index % len(agents)], start)
        left = (chunks - corpus.chunks) / (total - index)
        length = left if files else left * random.lognormvariate(-0.32, 0.8)
        size += write(path, corpus.records(writer, lambda n, length=length: n >= length - 2), start)  # type: ignore[misc]
        if agents[index % len(agents)] == "claude-code" and not files and random.random() < 0.04:
            size += _write_subagent(corpus, path, writer, start)
    summary = {"seed": seed, "chunks": corpus.chunks, "files": total, "bytes": size, "head": corpus.head()}
    summary |= {"projects": corpus.projects, "classes": corpus.queries()}
    (out / "queries.json").write_text(json.dumps(summary, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return size


def sources(out: Path) -> list[dict[str, str]]:
    """Return the entries of "sources" in config.jsonc for generated files."""
    return [{"parser": agent, "path": str(out / agent)} for agent in AGENTS]


def one_session(out: Path, *, megabytes: float, seed: int, agent: str) -> tuple[Path, Writer]:
    """Write one session of this size; return its file and the writer, which can go on with it."""
    corpus = Corpus(seed, SAMPLE)
    path, writer = session(corpus, out, agent, FIRST_DAY)
    limit = int(megabytes * 1_000_000)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for record in corpus.records(writer, lambda _: file.tell() >= limit):
            file.write(orjson.dumps(record) + b"\n")
    return path, writer


def session(corpus: Corpus, out: Path, agent: str, start: datetime) -> tuple[Path, Writer]:
    """Return where a new session of this agent goes, and its writer."""
    cwd, id = corpus.random.choice(corpus.projects), uuid(corpus.random)
    flat = cwd[1:].replace("/", "-")
    if agent == "pi":
        stamp = start.strftime("%Y-%m-%dT%H-%M-%S-000Z")
        writer: Writer = Pi(corpus.random, id=id, cwd=cwd, start=start)
        return out / "pi" / f"--{flat}--" / f"{stamp}_{id}.jsonl", writer
    writer = ClaudeCode(corpus.random, id=id, cwd=cwd, start=start)
    return out / "claude-code" / f"-{flat.replace('_', '-')}" / f"{id}.jsonl", writer


def append(path: Path, records: Iterable[Record]) -> None:
    """Add records to a file."""
    with path.open("ab") as file:
        file.write(b"".join(orjson.dumps(record) + b"\n" for record in records))


def write(path: Path, records: Iterable[Record], time: datetime) -> int:
    """Write records as one file, last modified at a time; return its size in bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = b"".join(orjson.dumps(record) + b"\n" for record in records)
    size = path.write_bytes(data)
    os.utime(path, (time.timestamp(), time.timestamp()))
    return size


def _write_subagent(corpus: Corpus, parent: Path, writer: Writer, start: datetime) -> int:
    """Write a subagent's file beside its parent session."""
    agent_id = f"a{corpus.random.getrandbits(64):016x}"
    cwd = corpus.random.choice(corpus.projects)
    child = ClaudeCode(corpus.random, id=parent.stem, cwd=cwd, start=start, agent_id=agent_id)
    path = parent.with_suffix("") / "subagents" / f"agent-{agent_id}.jsonl"
    return write(path, corpus.records(child, lambda n: n >= 12), start)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--files", type=int, help="sessions of equal length (default: chunks / 50, of mixed length)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--agents", default=",".join(AGENTS), help="comma-separated (default: %(default)s)")
    parser.add_argument("--one-session", type=float, metavar="MB", help="one session of this size in each shape")
    options = parser.parse_args(arguments)
    agents = tuple(options.agents.split(","))
    if unknown := set(agents) - set(AGENTS):
        parser.error(f"unknown agent {', '.join(sorted(unknown))}; known are {', '.join(AGENTS)}")
    if options.one_session:
        for agent in agents:
            path, _ = one_session(options.out, megabytes=options.one_session, seed=options.seed, agent=agent)
            print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")
        return 0
    size = generate(options.out, chunks=options.chunks, seed=options.seed, files=options.files, agents=agents)
    print(f"{options.out}  {size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
