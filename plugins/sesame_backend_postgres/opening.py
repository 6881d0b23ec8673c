"""Checks the schema and has it created or upgraded, rejects another database's, and identifies this workstation."""

from __future__ import annotations

from typing import Any

import psycopg

from sesame_core.config import identity, paths
from sesame_core.dataclass import dataclass
from sesame_core.errors import BackendError
from sesame_core.sdk.migrations import newer

from . import schema
from .connection import Connection
from .failures import identifier

#: Oldest server with all required features [PostgreSQL 14: lz4, regular statistics of expressions].
OLDEST = 140_000


#: The file with the random number of an installation.
INSTALLATION = "installation"
#: The other workstations of an installation, which the role may write.
FORMER = "SELECT id, name FROM workstations WHERE installation = %s AND name <> %s AND role = session_user ORDER BY id"
#: The forgotten sessions of a workstation.
FORGOTTEN = (
    "SELECT t.agent, t.session_id FROM tombstones AS t JOIN workstations AS w ON w.id = t.workstation WHERE w.name = %s"
)


@dataclass(frozen=True, slots=True)
class Workstation:
    """The row of the machine that writes."""

    #: Its number in the database.
    id: int
    #: The first part of its sessions' keys.
    name: str
    #: Numbers of the rows that this installation has written under other ids.
    former: tuple[int, ...] = ()


def check_encoding(db: Connection, place: str) -> None:
    """Check that a database can store every text.

    :raises BackendError: its encoding is not UTF8; the message has the statement that makes a right one.
    """
    if db.encoding != "UTF8":
        name = identifier(f"{db.info.dbname}_utf8")
        raise BackendError(
            f"{place} has the encoding {db.encoding}, Sesame needs UTF8: use another database, such as one made by: "
            f"CREATE DATABASE {name} ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0"
        )


def version_of(name: str) -> str:
    """Return the query for the version of a schema.

    :param name: name of the schema.
    """
    return f"SELECT coalesce(max(id), 0) FROM {name}.schema_migrations"


def check_readable(db: psycopg.Connection[Any], place: str, name: str, found: int | None) -> None:
    """Check that a schema is this Sesame's.

    :param name: name of the schema.
    :param found: its version; None when it cannot be read.
    :raises BackendError: there is none, the role may not read it, or it is an older or a newer one.
    """
    present = len(schema.MIGRATIONS)
    if found == present:
        return
    from . import diagnosing

    if not found:
        raise diagnosing.unreadable(db, place, name) or BackendError(f"{place} has no version in the schema {name}")
    if found > present:
        raise newer(place, found, present)
    raise diagnosing.outdated(diagnosing.standing(db, name), place, found)


def check_writable(db: psycopg.Connection[Any], place: str, name: str, *, is_to_prepare: bool = False) -> None:
    """Check, before anything is changed, that the role may write, and make or upgrade the tables where that is due.

    :param name: name of the schema.
    :param is_to_prepare: the role need not write rows, and should be told how it can make the tables.
    :raises BackendError: it may not; the message has the statement to run.
    """
    from . import diagnosing

    standing = diagnosing.standing(db, name)
    if not standing.has_tables:
        if error := diagnosing.unmakeable(standing, place, name):
            raise error if is_to_prepare or standing.is_read_only else diagnosing.unprepared(standing, place, name)
        return
    if standing.may_use and standing.may_read and not standing.is_owner:
        found = version(db, place)
        if found < len(schema.MIGRATIONS):
            raise diagnosing.outdated(standing, place, found)
    if error := None if is_to_prepare and standing.is_owner else diagnosing.unwritable(db, standing, place, name):
        raise error


def make_schema(db: psycopg.Connection[Any], name: str) -> None:
    """Create a schema that is not there: for one that is, the server would demand the right to create another."""
    if db.execute("SELECT to_regnamespace(%s)", (name,)).fetchone() == (None,):
        db.execute(f"CREATE SCHEMA {name}")


def version(db: psycopg.Connection[Any], place: str) -> int:
    """Return the schema version; 0 when there is no schema yet.

    :raises BackendError: the schema is that of a newer Sesame.
    """
    if db.execute("SELECT to_regclass('schema_migrations')").fetchone() == (None,):
        return 0
    row = db.execute("SELECT coalesce(max(id), 0) FROM schema_migrations").fetchone()
    found = int(row[0]) if row else 0
    if found > len(schema.MIGRATIONS):
        raise newer(place, found, len(schema.MIGRATIONS))
    return found


def migrate(db: psycopg.Connection[Any], place: str, name: str) -> list[str]:
    """Upgrade the schema to the present version; return what could not be checked, a line for each.

    :param name: name of the schema.
    :raises BackendError: the server is too old, or the schema is that of a newer Sesame.
    """
    if db.info.server_version < OLDEST:
        raise BackendError(
            f"{place} is version {db.info.server_version // 10_000}; Sesame needs PostgreSQL 14 or newer"
        )
    if version(db, place) == len(schema.MIGRATIONS):
        return []
    from . import upgrading

    return upgrading.upgrade(db, place, name)


def unchecked(db: psycopg.Connection[Any]) -> list[str]:
    """Check the rows that an interrupted upgrade has left unchecked; return those that remain, a line for each."""
    from . import upgrading

    return upgrading.validate(db)


def this_workstation(db: psycopg.Connection[Any], place: str, *, claim: bool = False) -> Workstation:
    """Return this machine's row, created if it is missing.

    :param claim: take the row over from another installation of Sesame, or from the machine that this one replaces.
    :raises BackendError: another machine or person writes under the same id.
    """
    if (other := identity.id_elsewhere()) is not None:
        if not claim:
            raise BackendError(
                f"this installation of Sesame has sent sessions from another machine, as workstation {other} at {place}"
                ": if this machine replaces it, take over its sessions with: sesame workstations --claim; if this is a "
                f"copy, give it an id of its own in {identity.OVERRIDES[0]}, and delete {paths.data_dir()}"
            )
        identity.take_over()
    name, mine = identity.workstation_id(), installation()
    sql = (
        "SELECT id, installation, host, role = session_user, role, owner, row_security_active('workstations') "
        "FROM workstations WHERE name = %s"
    )
    found = db.execute(sql, (name,)).fetchone()
    host, owner = identity.host(), identity.owner()
    if found is None:
        db.execute(
            "INSERT INTO workstations (name, installation, host, owner) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
            (name, mine, host, owner),
        )
        found = db.execute(sql, (name,)).fetchone()
        assert found is not None
    number, installed, known_host, is_mine, role, known_owner, is_bound = found
    if not is_mine and not _is_superuser(db):
        from . import diagnosing

        raise diagnosing.foreign(db, place, name, role)
    if installed != mine and not claim:
        raise BackendError(
            f"workstation {name} at {place} is written by another installation of Sesame (on {known_host}): if this "
            f"machine is a copy, give it an id of its own in {identity.OVERRIDES[0]}; if it replaces the other one, "
            "take over its sessions with: sesame workstations --claim"
        )
    if is_bound:
        # As the server stores them (`guards`): the login, and a host's name that is another role's, too, with it.
        owner = role
        if known_host == f"{host} ({role})":
            host = known_host
    if (installed, known_host, known_owner) != (mine, host, owner):
        sql = "UPDATE workstations SET installation = %s, host = %s, owner = %s WHERE id = %s"
        db.execute(sql, (mine, host, owner, number))
    identity.keep_id()
    return Workstation(number, name, tuple(former for former, _ in db.execute(FORMER, (mine, name)).fetchall()))


def installation() -> str:
    """Return the random number of this installation, stored in the data directory."""
    return identity.kept_random(INSTALLATION)


def _is_superuser(db: psycopg.Connection[Any]) -> bool:
    return db.execute("SELECT current_setting('is_superuser')").fetchone() == ("on",)
