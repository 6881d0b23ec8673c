"""An index on either backend, filled by the command line, and its content."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from .transcripts import Record, write

Run = Callable[..., Any]


class Index:
    """An index on one of the backends, and its rows."""

    def __init__(self, backend: str, home: Path, dsn: str | None) -> None:
        self.backend, self.home, self.dsn = backend, home, dsn
        if dsn is not None:
            file = home / ".config" / "sesame" / "config.jsonc"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps({"backend": {"name": "postgres", "options": {"dsn": dsn}}}))

    def prepare(self, cli: Run) -> None:
        """Make the tables of a shared index, as its owner does before the first search."""
        if self.dsn is not None:
            assert cli("workstations", "--prepare").code == 0

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Query the database directly."""
        if self.dsn is None:
            (file,) = (self.home / ".local" / "share").rglob("index*.sqlite")
            db = sqlite3.connect(file)
            try:
                return db.execute(sql).fetchall()
            finally:
                db.close()
        with psycopg.connect(self.dsn) as postgres:
            postgres.execute("SET search_path = sesame")
            return postgres.execute(sql).fetchall()  # type: ignore[arg-type]


def sessions(cli: Run) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cli("sessions", "--json").json["sessions"]
    return found


def the_session(cli: Run) -> dict[str, Any]:
    (found,) = sessions(cli)
    return found


def found(cli: Run, *words: str) -> list[str]:
    return [result["sessionId"] for result in cli("search", *words, "--json", "--no-refresh").json["results"]]


def texts(cli: Run, session: str) -> list[str]:
    return [chunk["text"] for chunk in cli("show", session, "--json").json["chunks"]]


def write_at(path: Path, time: int, *records: Record | bytes) -> Path:
    """Write a file whose modification time is known."""
    write(path, *records)
    os.utime(path, ns=(time, time))
    return path
