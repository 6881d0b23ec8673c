"""A workstation that shares a database with others: a home, an identity and a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...support import forked


@dataclass
class Workstation:
    """A machine, as far as Sesame can tell: a home directory, and what the environment says."""

    name: str
    home: Path
    dsn: str
    environment: dict[str, str] = field(default_factory=dict)
    #: What stands before the command, to run it on another machine.
    before: tuple[str, ...] = ()

    def configure(self, **options: object) -> None:
        """Write config.jsonc with the database, and more options of the backend."""
        backend = {"name": "postgres", "options": {"dsn": self.dsn, **options}}
        sources = [{"parser": "pi", "path": str(self.home / "sessions")}]
        (self.home / "sessions").mkdir(parents=True, exist_ok=True)
        config = self.home / "config" / "config.jsonc"
        config.parent.mkdir(exist_ok=True)
        config.write_text(json.dumps({"backend": backend, "sources": sources}))

    def write(self, session: str, *texts: str) -> Path:
        """Write a session of pi: its texts are said by user and agent in turn."""
        time = "2026-03-04T05:06:00.000Z"
        records: list[dict[str, Any]] = [
            {"type": "session", "version": 3, "id": session, "timestamp": time, "cwd": f"/home/{self.name}/work"}
        ]
        for number, text in enumerate(texts):
            role = "assistant" if number % 2 else "user"
            message = {"role": role, "content": [{"type": "text", "text": text}]}
            # Equal ids would make messages of two workstations copies of one.
            ids = [f"{self.home.name}-{session}-{n}" for n in (number, number - 1)]
            parent = ids[1] if number else None
            records.append({"type": "message", "id": ids[0], "parentId": parent, "timestamp": time, "message": message})
        path = self.home / "sessions" / f"{session}.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    def command(self, *arguments: object) -> tuple[list[str], dict[str, str]]:
        """Return a command line and its environment; who indexes here has agreed to send what the rules allow."""
        arguments = (*arguments, "--yes") if arguments[:1] == ("index",) else arguments
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("SESAME_", "PG"))}
        environment |= {
            "HOME": str(self.home),
            "SESAME_CONFIG_DIR": str(self.home / "config"),
            "SESAME_DATA_DIR": str(self.home / "data"),
            **self.environment,
        }
        return [*self.before, *forked.OWN, *map(str, arguments)], environment

    def run(self, *arguments: object, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Run a command of Sesame on this workstation."""
        command, environment = self.command(*arguments)
        return forked.run(command, environment, self.home, timeout)

    def ok(self, *arguments: object) -> str:
        """Run a command that must succeed; return what it printed."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def fails(self, *arguments: object) -> str:
        """Run a command that must fail with one line; return the line."""
        done = self.run(*arguments)
        assert done.returncode == 1, done.stdout + done.stderr
        assert done.stdout == "", done.stdout
        assert done.stderr.count("\n") == 1, done.stderr
        return done.stderr

    def json(self, *arguments: object) -> Any:
        """Run a command; return the value it printed."""
        return json.loads(self.ok(*arguments, "--json"))

    def found(self, *words: str) -> set[str]:
        """Search without indexing; return the keys that were found."""
        return {result["key"] for result in self.json("search", *words, "--no-refresh")["results"]}
