"""Creates and upgrades the schema.

The steps are one transaction, in one process at a time: an upgrade takes a lock that only the owner of the tables can
take, and of processes that create the same schema the server lets one through.  What has to look at every chunk comes
after it, a table at a time: meanwhile others search and index.
"""

from __future__ import annotations

import time
from typing import Any

import psycopg
from psycopg import errors

from sesame_core.errors import BackendError

from . import schema, step_6, step_7
from .opening import make_schema, version

#: Seconds to wait for a lock before others, who queue for it behind this one, may go on; and how often it is tried.
PATIENCE, TRIES = 3, 10
#: Errors of a process that creates what another one has just created.
_SECOND = (errors.UniqueViolation, errors.DuplicateTable, errors.DuplicateSchema, errors.DuplicateObject)


def upgrade(db: psycopg.Connection[Any], place: str, name: str) -> list[str]:
    """Bring the schema to the present version; return what it could not check, a line for each.

    :param name: name of the schema.
    :raises BackendError: another program holds a lock all the time, or the schema is that of a newer Sesame.
    """
    for tried in range(TRIES):
        try:
            with db.transaction():
                db.execute(f"SET LOCAL lock_timeout = '{PATIENCE}s'")
                _take_steps(db, place, name)
            break
        except _SECOND:
            if tried == TRIES - 1:
                raise
        except (errors.LockNotAvailable, errors.DeadlockDetected):
            if tried == TRIES - 1:
                raise BackendError(f"{place}: cannot be upgraded while {holders(db)}: try again later") from None
            time.sleep(PATIENCE / 3)
    return validate(db)


def validate(db: psycopg.Connection[Any]) -> list[str]:
    """Check the rows that were there before the constraints; return what does not meet them, a line for each.

    A row below another workstation's session is deleted: no client of its owner has made it.
    """
    left = []
    sql = (
        "SELECT conrelid::regclass::text, conname, contype::text FROM pg_constraint "
        "WHERE NOT convalidated AND connamespace = current_schema()::regnamespace "
        "AND pg_has_role((SELECT relowner FROM pg_class WHERE oid = conrelid), 'MEMBER') ORDER BY 1, 2"
    )
    for table, constraint, kind in db.execute(sql).fetchall():
        if kind == "f" and table in step_6.FOREIGN:
            db.execute(step_6.FOREIGN[table])
        try:
            db.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {constraint}")
        except (errors.IntegrityError, errors.DataError):
            left.append(f"{table} has rows that do not meet {constraint}")
    return left


def holders(db: psycopg.Connection[Any]) -> str:
    """Return who holds locks on the tables of the schema, for a message."""
    sql = (
        "SELECT DISTINCT format('%s (process %s)', a.usename, a.pid) FROM pg_locks AS l "
        "JOIN pg_stat_activity AS a USING (pid) JOIN pg_class AS c ON c.oid = l.relation "
        "WHERE l.granted AND a.pid <> pg_backend_pid() AND c.relnamespace = to_regnamespace(current_schema()) "
        "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY 1 LIMIT 3"
    )
    found = [who for (who,) in db.execute(sql).fetchall()]
    return f"{', '.join(found)} holds locks" if found else "another program holds locks"


def _take_steps(db: psycopg.Connection[Any], place: str, name: str) -> None:
    found = version(db, place)
    if found:
        # Not an advisory lock, which anyone can hold.
        db.execute("LOCK TABLE schema_migrations IN SHARE ROW EXCLUSIVE MODE")
        found = version(db, place)
    if found == len(schema.MIGRATIONS):
        return
    for step in _steps(db, found, name):
        db.execute(step)
    for number, migration in enumerate(schema.MIGRATIONS[found:], found + 1):
        db.execute("INSERT INTO schema_migrations VALUES (%s, %s)", (number, migration.description))


def _steps(db: psycopg.Connection[Any], found: int, name: str) -> list[str]:
    if not found:
        from .definition import definition

        make_schema(db, name)
        return [definition(name)]
    steps = [migration.sql for migration in schema.MIGRATIONS[found : schema.GUARDED - 1]]
    if found < schema.GUARDED:
        steps += step_6.upgrade(name)
    if found < schema.SEEING:
        steps += step_7.statements()
    return steps + [migration.sql for migration in schema.MIGRATIONS[max(found, schema.SEEING) :]]
