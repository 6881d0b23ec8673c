"""Let three workstations index into one PostgreSQL while they are killed at random, then count.

    python benchmarks/chaos.py --dsn postgresql://… --minutes 10

Each workstation has a home, an id and session files of its own, which grow and are joined by new ones all the time.
Indexing processes are killed (SIGKILL) after a random time, and started again.  At the end all run once undisturbed;
then every session must be there once, with exactly the texts of its file, and belong to its workstation.  The exit
code is 1 when one is lost, doubled or foreign.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg

NAMES = ("ann", "ben", "cat")
#: Seconds an indexing process lives at most, and sessions a workstation begins with.
LIFE = 10.0
SESSIONS = 40


class Station:
    """One workstation and what its files say."""

    def __init__(self, name: str, home: Path, dsn: str, schema: str) -> None:
        self.name, self.home = name, home
        self.texts: dict[str, list[str]] = {}
        self.process: subprocess.Popen[bytes] | None = None
        self.dies_at = 0.0
        self.runs = self.kills = 0
        (home / "sessions").mkdir(parents=True)
        backend = {"name": "postgres", "options": {"dsn": dsn, "schema": schema}}
        config = {"backend": backend, "sources": [{"parser": "pi", "path": str(home / "sessions")}]}
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
        command = [sys.executable, "-m", "sesame_core", "index", *arguments]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    schema = f"chaos_{os.getpid()}"
    with tempfile.TemporaryDirectory() as directory:
        stations = [Station(name, Path(directory) / name, arguments.dsn, schema) for name in NAMES]
        end = time.monotonic() + arguments.minutes * 60
        while time.monotonic() < end:
            for station in stations:
                disturb(station, rng)
            time.sleep(0.05)
        for station in stations:
            if station.process is not None:
                station.process.kill()
                station.process.communicate()
        for station in stations:
            out, _ = station.start().communicate()
            print(f"{station.name}: {station.runs} runs, {station.kills} killed; {out.decode().splitlines()[-1]}")
        wrong = check(arguments.dsn, schema, stations)
        with psycopg.connect(arguments.dsn, autocommit=True) as db:
            db.execute(f"DROP SCHEMA {schema} CASCADE")
    texts = sum(len(said) for station in stations for said in station.texts.values())
    print(f"{sum(len(station.texts) for station in stations)} sessions, {texts} messages, {len(wrong)} wrong")
    print("\n".join(wrong[:20]))
    sys.exit(bool(wrong))


def disturb(station: Station, rng: random.Random) -> None:
    """Let the files grow, and start, kill or leave alone the indexing process."""
    station.grow(rng)
    if station.process is None:
        station.process = station.start(*(["--full"] if rng.random() < 0.1 else []))
        station.dies_at = time.monotonic() + rng.uniform(0.2, LIFE)
    elif station.process.poll() is not None:
        station.process.communicate()
        station.process = None
    elif time.monotonic() > station.dies_at:
        station.process.kill()
        station.process.communicate()
        station.process = None
        station.kills += 1


def check(dsn: str, schema: str, stations: list[Station]) -> list[str]:
    """Return what is lost, doubled, changed or foreign."""
    wrong: list[str] = []
    stored: dict[str, list[str]] = {}
    with psycopg.connect(dsn) as db:
        sql = (
            f"SELECT s.id, s.session_id, w.name, s.key, s.chunk_count FROM {schema}.sessions AS s "
            f"JOIN {schema}.workstations AS w ON w.id = s.workstation"
        )
        for number, session, workstation, key, count in db.execute(sql).fetchall():
            if session in stored:
                wrong.append(f"doubled: {session}")
            if not session.startswith(workstation) or not key.startswith(f"{workstation}:"):
                wrong.append(f"foreign: {session} at {workstation}")
            rows = db.execute(f"SELECT content FROM {schema}.chunks WHERE session = {number} ORDER BY seq").fetchall()
            listed = db.execute(f"SELECT count(*) FROM {schema}.texts WHERE session = {number}").fetchone()
            stored[session] = [content for (content,) in rows]
            if listed != (count,) or len(rows) != count:
                wrong.append(f"out of step: {session}")
        totals = db.execute(
            f"SELECT sum(chunks) = (SELECT count(*) FROM {schema}.chunks) AND "
            f"sum(chunk_tokens) = (SELECT sum(tokens) FROM {schema}.texts) AND "
            f"sum(sessions) = (SELECT count(*) FROM {schema}.sessions) FROM {schema}.workstations"
        ).fetchone()
        if totals != (True,):
            wrong.append("the workstations' counts are not those of their rows")
    for station in stations:
        for session, said in station.texts.items():
            if session not in stored:
                wrong.append(f"lost: {session}")
            elif [text.strip() for text in stored[session]] != [text.strip() for text in said]:
                wrong.append(f"changed: {session}: {len(stored[session])} of {len(said)} messages")
    return wrong


if __name__ == "__main__":
    main()
