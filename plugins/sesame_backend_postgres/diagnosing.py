"""Finds out why a schema cannot be used, and names the statement to run.

The catalogue can be read without any right: it tells a missing schema from a missing right, and which roles have it.
"""

from __future__ import annotations

from typing import Any

import psycopg

from sesame_core.config import identity
from sesame_core.dataclass import dataclass
from sesame_core.errors import BackendError, UnpreparedError

from .failures import PREPARE

_STANDING = """
SELECT n.oid IS NOT NULL, coalesce(has_schema_privilege(n.oid, 'USAGE'), false),
  coalesce(has_schema_privilege(n.oid, 'CREATE'), false), quote_ident(pg_get_userbyid(n.nspowner)),
  c.oid IS NOT NULL, quote_ident(pg_get_userbyid(c.relowner)), coalesce(pg_has_role(c.relowner, 'USAGE'), false),
  coalesce(has_table_privilege(m.oid, 'SELECT') AND has_table_privilege(c.oid, 'SELECT'), false),
  coalesce(has_table_privilege(c.oid, 'INSERT'), false),
  has_database_privilege(current_database(), 'TEMPORARY'), has_database_privilege(current_database(), 'CREATE'),
  quote_ident(current_database()), quote_ident(current_user),
  pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean
FROM (VALUES (%s)) AS asked (name) LEFT JOIN pg_namespace AS n ON nspname = name
LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = 'sessions' AND c.relkind = 'r'
LEFT JOIN pg_class AS m ON m.relnamespace = n.oid AND m.relname = 'schema_migrations' AND m.relkind = 'r'
"""
#: Groups that have a right that this role does not have by them, those with the least rights first; whether it is a
#: member, which does not inherit what they have.
_GROUPS = """
SELECT quote_ident(rolname), pg_has_role(r.oid, 'MEMBER')
FROM pg_roles AS r, pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_class AS m ON m.relnamespace = n.oid AND m.relname = 'schema_migrations'
WHERE n.nspname = %s AND c.relname = 'sessions' AND NOT rolcanlogin AND NOT rolsuper AND left(rolname, 3) <> 'pg_'
  AND NOT pg_has_role(r.oid, 'USAGE') AND has_schema_privilege(r.oid, n.oid, 'USAGE')
  AND has_table_privilege(r.oid, m.oid, 'SELECT') AND has_table_privilege(r.oid, c.oid, 'SELECT')
  AND has_table_privilege(r.oid, c.oid, %s) AND NOT pg_has_role(r.oid, c.relowner, 'USAGE')
ORDER BY has_table_privilege(r.oid, c.oid, 'INSERT'), length(rolname), rolname LIMIT 1
"""
#: The first version in which each membership says whether what the group has is inherited.
_INHERITS_BY_GRANT = 160_000


@dataclass(frozen=True, slots=True)
class Standing:
    """What there is of a schema, and what the connected role may do with it; names are quoted for SQL."""

    has_schema: bool
    may_use: bool
    may_create_in: bool
    schema_owner: str | None
    has_tables: bool
    owner: str | None
    is_owner: bool
    may_read: bool
    may_write: bool
    may_stage: bool
    may_create: bool
    database: str
    role: str
    is_read_only: bool


def standing(db: psycopg.Connection[Any], schema: str) -> Standing:
    """Return how a schema and the connected role stand."""
    row = db.execute(_STANDING, (schema,)).fetchone()
    assert row is not None
    return Standing(*row)


def unreadable(db: psycopg.Connection[Any], place: str, schema: str) -> BackendError | None:
    """Return why the tables of a schema cannot be read; None when they can."""
    found = standing(db, schema)
    if not found.has_tables:
        return unprepared(found, place, schema)
    if found.may_use and found.may_read:
        return None
    what = f"read the schema {schema}" if found.may_use else f"use the schema {schema}"
    return _lacking(db, found, place, schema, what, "SELECT")


def unwritable(db: psycopg.Connection[Any], found: Standing, place: str, schema: str) -> BackendError | None:
    """Return why a role cannot write to the tables of a schema; None when it can."""
    if found.is_read_only:
        return BackendError(f"{place} is read-only (a replica?): index into the primary server")
    if not (found.may_use and found.may_write):
        error = _lacking(db, found, place, schema, f"write to the schema {schema}", "INSERT")
        return (
            BackendError(f'{error} (a role that only searches sets "refreshSeconds": 0)') if found.may_read else error
        )
    if not found.may_stage:
        return BackendError(
            f"role {found.role} may not make temporary tables at {place}, which writing needs: as the database's "
            f"owner run: GRANT TEMPORARY ON DATABASE {found.database} TO {found.role}"
        )
    return None


def unprepared(found: Standing, place: str, schema: str) -> BackendError:
    """Return the error for a schema without Sesame's tables."""
    what = "has no schema" if not found.has_schema else "has none of Sesame's tables in the schema"
    by = f" ({found.schema_owner})" if found.schema_owner else ""
    return UnpreparedError(
        f"{place} {what} {schema}: check the name of the database, or let its owner{by} make the tables with: {PREPARE}"
    )


def unmakeable(found: Standing, place: str, schema: str) -> BackendError | None:
    """Return why a role cannot make the tables, with the statement that an administrator runs; None when it can."""
    if found.is_read_only:
        return BackendError(f"{place} is read-only (a replica?): make the tables on the primary server")
    if not found.has_schema and not found.may_create:
        return BackendError(
            f"role {found.role} may not make the schema {schema} at {place}: as an administrator run: "
            f"CREATE SCHEMA {schema} AUTHORIZATION {found.role}"
        )
    if found.has_schema and not found.has_tables and not found.may_create_in:
        return BackendError(
            f"role {found.role} may not make tables in the schema {schema} at {place}: as {found.schema_owner} run: "
            f"GRANT USAGE, CREATE ON SCHEMA {schema} TO {found.role}"
        )
    return None


def outdated(found: Standing, place: str, version: int) -> BackendError:
    """Return the error for a schema that only the owner of its tables can upgrade."""
    return BackendError(
        f"{place} has an older schema ({version}): its owner upgrades it with: {PREPARE} (as {found.owner})"
    )


def foreign(db: psycopg.Connection[Any], place: str, workstation: str, role: str) -> BackendError:
    """Return the error for a workstation that belongs to another role, or to one that was renamed or dropped."""
    sql = (
        "SELECT pg_get_userbyid(relowner), relnamespace::regnamespace::text, session_user::text FROM pg_class "
        "WHERE oid = to_regclass('workstations') AND NOT EXISTS (SELECT FROM pg_roles WHERE rolname = %s)"
    )
    found = db.execute(sql, (role,)).fetchone()
    if found is None:
        return BackendError(
            f"workstation {workstation} at {place} belongs to role {role!r}: connect as that role, or give this "
            f"machine an id of its own in {identity.OVERRIDES[0]}"
        )
    from . import monitoring

    owner, schema, me = found
    return BackendError(
        f"workstation {workstation} at {place} belongs to {role!r}, which is no longer a role: if that was your name, "
        f"let {owner} run: {monitoring.hand_over(schema, role, me)}"
    )


def _lacking(
    db: psycopg.Connection[Any], found: Standing, place: str, schema: str, what: str, right: str
) -> BackendError:
    (login,) = db.execute("SELECT quote_ident(session_user)").fetchone() or ("",)
    if login != found.role:
        return BackendError(
            f"role {login} acts as {found.role}, which may not {what} at {place}: take role={found.role} out of the "
            f"dsn, or as an administrator run: ALTER ROLE {login} RESET role"
        )
    row = db.execute(_GROUPS, (schema, right)).fetchone()
    if row is not None and row[1]:
        statement = (
            f"GRANT {row[0]} TO {found.role} WITH INHERIT TRUE"
            if db.info.server_version >= _INHERITS_BY_GRANT
            else f"ALTER ROLE {found.role} INHERIT"
        )
    elif row is not None:
        statement = f"GRANT {row[0]} TO {found.role}"
    elif right == "SELECT":
        statement = (
            f"GRANT USAGE ON SCHEMA {schema} TO {found.role}; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} "
            f"TO {found.role}"
        )
    else:
        statement = "the statements of docs/team.md, 3. Roles"
    return BackendError(f"role {found.role} may not {what} at {place}: as {found.owner} run: {statement}")
