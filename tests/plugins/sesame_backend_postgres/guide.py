"""A team that was set up by the blocks of docs/team.md, on a server of its own, and runs those of docs/operating.md."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from ...support.pages import Block, blocks
from ...support.postgres_server import Server
from .workstation import Workstation

DOCS = Path(__file__).resolve().parents[3] / "docs"
TEAM, OPERATING = DOCS / "team.md", DOCS / "operating.md"
#: Who logs in without a password on the test's server; everyone else has one.
TRUSTED = ("postgres", "sesame_owner", "other_owner")
HBA = "".join(f"host all {role} 127.0.0.1/32 trust\n" for role in TRUSTED) + "host all all 127.0.0.1/32 scram-sha-256\n"
#: The password of ann in the guide's `CREATE ROLE`.
HERS = "a password of her own"


def sections(page: Path, language: str, heading: str) -> list[Block]:
    """Return the blocks of one language in one section; there is at least one."""
    found = [block for block in blocks(page) if (block.heading, block.language) == (heading, language)]
    assert found, f"{page.name} has no block of {language} in {heading!r}"
    return found


@dataclass
class Guide:
    """A server, its programs, and the machines of the guide's people."""

    server: Server
    programs: Path
    place: Path
    stations: dict[str, Workstation] = field(default_factory=dict)

    # -- connections --------------------------------------------------------------------------------------

    def dsn(self, role: str = "postgres", database: str = "sesame", **more: str) -> str:
        return make_conninfo(self.server.dsn, user=role, dbname=database, **more)

    def sql(self, statements: str, role: str = "postgres", database: str = "sesame") -> list[tuple[Any, ...]]:
        """Run statements, each in a transaction of its own; return the rows of the last."""
        with psycopg.connect(self.dsn(role, database), autocommit=True) as db:
            cursor = db.execute("SELECT")
            for statement in split(statements):
                cursor = db.execute(statement)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    def run(self, block: Block, role: str, database: str = "sesame") -> list[tuple[Any, ...]]:
        """Run a block of SQL as a role."""
        assert block.language == "sql"
        return self.sql(block.text, role, database)

    def shell(self, block: Block, station: Workstation | None = None, **environment: str) -> str:
        """Run a block of commands in a shell, on a machine or as the owner; return what it printed."""
        done = self.try_shell(block, station, **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def try_shell(
        self, block: Block, station: Workstation | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a block of commands in a shell."""
        station = station or self.owner()
        lines = [self.here(command) for command in block.commands]
        _, variables = station.command()
        variables |= self._libpq() | environment
        variables["PATH"] = os.pathsep.join([str(self._bin()), str(self.programs), os.environ["PATH"]])
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
            env=variables,
            cwd=self.place,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def here(self, text: str) -> str:
        """Return a text of the guide with the test's server in place of the guide's."""
        text = text.replace("db.example.org:5432", f"127.0.0.1:{self.server.port}")
        text = text.replace("@db.example.org/", f"@127.0.0.1:{self.server.port}/").replace(
            "db.example.org", "127.0.0.1"
        )
        text = text.replace("sslmode=verify-full", "sslmode=disable").replace("her password", HERS)
        # There is no one to ask; and what is installed is what is tested.
        return re.sub(r"^sesame index$", "sesame index --yes", re.sub(r"^pip install ", "true ", text))

    # -- machines -----------------------------------------------------------------------------------------

    def owner(self) -> Workstation:
        """The owner's machine, which has no sessions."""
        if "owner" not in self.stations:
            self.stations["owner"] = self._machine("owner", {"backend": "postgres", "sources": [self._source("owner")]})
            self.stations["owner"].environment["SESAME_POSTGRES_DSN"] = self.dsn("sesame_owner")
        return self.stations["owner"]

    def machine(self, login: str, name: str, password: str = HERS) -> Workstation:
        """A machine as section 4 sets it up: the configuration of the guide, and a password file."""
        (config,) = sections(TEAM, "jsonc", "4. Workstations")
        text = self.here(config.text).replace("//ann@", f"//{login}@")
        made = self._machine(name, text.rstrip().rstrip("}") + f'"sources": [{json.dumps(self._source(name))}]\n}}\n')
        made.dsn = self.dsn(login, password=password)
        (made.home / ".pgpass").write_text(f"127.0.0.1:{self.server.port}:*:{login}:{password}\n")
        (made.home / ".pgpass").chmod(0o600)
        self.stations[name] = made
        return made

    def _machine(self, name: str, config: Any) -> Workstation:
        home = self.place / name
        (home / "sessions").mkdir(parents=True)
        (home / "config").mkdir()
        text = config if isinstance(config, str) else json.dumps(config)
        (home / "config" / "config.jsonc").write_text(text)
        return Workstation(name, home, "", {"SESAME_WORKSTATION_ID": name})

    def _source(self, name: str) -> dict[str, str]:
        return {"parser": "pi", "path": str(self.place / name / "sessions")}

    def _libpq(self) -> dict[str, str]:
        return {
            "PGPORT": str(self.server.port),
            "PGHOST": "127.0.0.1",
            "PGUSER": "sesame_owner",
            "PGDATABASE": "sesame",
        }

    def _bin(self) -> Path:
        """A directory with the command `sesame` of this checkout."""
        place = self.place / "bin"
        if not place.exists():
            place.mkdir()
            (place / "sesame").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m sesame_core "$@"\n')
            (place / "sesame").chmod(0o755)
        return place


def split(statements: str) -> list[str]:
    """Return the statements of a text, without a function's body being torn apart."""
    parts, open_ = [""], False
    for piece in re.split(r"(\$\$|;)", statements):
        if piece == "$$":
            open_ = not open_
        if piece == ";" and not open_:
            parts.append("")
        else:
            parts[-1] += piece
    return [part.strip() for part in parts if part.strip()]
