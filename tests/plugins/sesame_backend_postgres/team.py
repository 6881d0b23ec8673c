"""A team on one database, one of whom is hostile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg

from tests.support.attempts import Trial

from .workstation import Workstation


@dataclass
class Team:
    """Ann, who works; Ben, who is hostile; Cat, who reads; and the database's owner."""

    ann: Workstation
    ben: Workstation
    cat: Workstation
    owner: psycopg.Connection[Any]
    #: Ben's connection, and a reader's.
    his: psycopg.Connection[Any]
    reader: psycopg.Connection[Any]

    def station(self, name: str) -> int:
        row = self.owner.execute("SELECT id FROM sesame.workstations WHERE name = %s", (name,)).fetchone()
        assert row
        return int(row[0])

    def session(self, name: str) -> int:
        sql = "SELECT max(id) FROM sesame.sessions WHERE workstation = %s"
        row = self.owner.execute(sql, (self.station(name),)).fetchone()
        assert row
        return int(row[0])

    def key(self, name: str) -> str:
        row = self.owner.execute("SELECT key FROM sesame.sessions WHERE id = %s", (self.session(name),)).fetchone()
        assert row
        return str(row[0])

    def trial(self, login: psycopg.Connection[Any], own: str | None = None) -> Trial:
        return Trial(self.owner, login, self.station(own) if own else 0, self.station("ann"))

    def refused(self, sql: str) -> str:
        """Run a statement of Ben's, and roll it back; return why it was refused, "" if it was not."""
        self.his.execute("BEGIN")
        try:
            self.his.execute(sql)  # type: ignore[call-overload]
        except psycopg.Error as error:
            return str(error).splitlines()[0]
        finally:
            self.his.execute("ROLLBACK")
        return ""


def a_call(station: Workstation, session: str) -> None:
    """Add a call of a shell that names a file to a session of pi."""
    path = station.home / "sessions" / f"{session}.jsonl"
    record = (
        '{"type":"message","id":"c-%s-%s","parentId":null,"timestamp":"2026-03-04T05:06:00.000Z","message":{"role":'
        '"assistant","content":[{"type":"toolCall","id":"t1","name":"bash","arguments":{"command":"cat lamp.txt"}},'
        '{"type":"toolCall","id":"t2","name":"read","arguments":{"path":"/w/lamp.txt"}}]}}\n'
    )
    path.write_text(path.read_text() + record % (station.name, session))
