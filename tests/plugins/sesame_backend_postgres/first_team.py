"""A team after its first runs, copied for each test: made anew it takes nine commands."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from ...support.postgres_server import a_database, copy
from .logins import logins
from .team import a_call
from .workstation import Workstation


@dataclass
class FirstTeam:
    """The machines of a team, and the address of its database as owner and as reader."""

    ann: Workstation
    ben: Workstation
    cat: Workstation
    owner: str
    reader: str
    #: The superuser, who makes databases.
    server: str
    #: The machines' homes.
    homes: Path

    @contextmanager
    def copied(self) -> Iterator[str]:
        """Put a copy of it in its place for the time of a test, with the times of the files: the owner's address."""
        name = conninfo_to_dict(self.owner)["dbname"]
        shutil.copytree(self.saved, self.homes)
        with psycopg.connect(self.server, autocommit=True) as db:
            copy(db, str(name), f"{name}_first")
            yield self.owner
            db.execute(f"DROP DATABASE {name} WITH (FORCE)")  # type: ignore[arg-type]
        shutil.rmtree(self.homes)

    @property
    def saved(self) -> Path:
        return self.homes.with_name("first")

    def swap(self, before: str, after: str) -> None:
        """Rename the database, to the name of a template or back."""
        name = conninfo_to_dict(self.owner)["dbname"]
        with psycopg.connect(self.server, autocommit=True) as db:
            db.execute(f"ALTER DATABASE {name}{before} RENAME TO {name}{after}")  # type: ignore[arg-type]


@contextmanager
def a_first_team(server: str, homes: Path) -> Iterator[FirstTeam]:
    """Make a team: Ann and Ben have two sessions each and have forgotten a third; Cat has none."""
    with a_database(server) as database, logins(database) as login:

        def machine(name: str, dsn: str) -> Workstation:
            home = homes / name
            home.mkdir(parents=True)
            made = Workstation(name, home, dsn, {"SESAME_WORKSTATION_ID": name})
            made.configure()
            return made

        machine("owner", database).ok("workstations", "--prepare")
        ann, ben, cat = (machine(name, login("writer")) for name in ("ann", "ben", "cat"))
        for one in (ann, ben):
            one.write("s1", f"the lighthouse keeper of {one.name}", "found it")
            a_call(one, "s1")
            one.write("s2", f"a lamp of {one.name}", "lit")
            one.write("s3", "forget me")
            one.ok("index")
            one.ok("forget", "--yes", "s3")
        made = FirstTeam(ann, ben, cat, database, login("reader"), server, homes)
        homes.rename(made.saved)
        made.swap("", "_first")
        yield made
        made.swap("_first", "")
