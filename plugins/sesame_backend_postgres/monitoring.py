"""The state of the server, and what someone should do something about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg import sql

from sesame_core.types.server import ServerState, Transaction

from .failures import PREPARE

#: An open transaction that is listed, and one that is a problem: `VACUUM` removes nothing that is newer than it.
#: Half of an hour is ten times what a rebuild of a workstation with 20,000 sessions takes.
LISTED, LONG = timedelta(minutes=1), timedelta(minutes=30)
#: The part of `max_connections` from which on newcomers may be refused: three are reserved for superusers.
FULL = 0.9
#: Most transactions that are listed.
MOST = 20

_FACTS = """
SELECT current_setting('server_version'), current_user, current_schema(), pg_database_size(current_database()),
  pg_is_in_recovery(), pg_last_xact_replay_timestamp(),
  (SELECT sum(numbackends)::bigint FROM pg_stat_database), current_setting('max_connections')::int,
  current_setting('is_superuser')::boolean OR pg_has_role('pg_read_all_stats', 'USAGE'),
  pg_get_userbyid((SELECT relowner FROM pg_class WHERE oid = to_regclass('workstations')))
"""
_TRANSACTIONS = f"""
SELECT a.usename, a.pid, a.xact_start, coalesce(array_agg(DISTINCT c.relname::text ORDER BY c.relname::text)
  FILTER (WHERE c.relname IS NOT NULL), '{{}}')
FROM pg_stat_activity AS a
LEFT JOIN pg_locks AS l ON l.pid = a.pid AND l.granted AND l.locktype = 'relation' AND l.database = a.datid
  AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
LEFT JOIN pg_class AS c ON c.oid = l.relation AND c.relnamespace = to_regnamespace(current_schema())
  AND c.relkind = 'r'
WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.usename IS NOT NULL
GROUP BY 1, 2, 3 HAVING a.xact_start < clock_timestamp() - %s OR count(c.relname) > 0
ORDER BY a.xact_start NULLS LAST, a.pid LIMIT {MOST}
"""
_UNVALIDATED = """
SELECT format('%%s.%%s', conrelid::regclass, conname) FROM pg_constraint
WHERE NOT convalidated AND connamespace = to_regnamespace(current_schema()) ORDER BY 1
"""
_ORPHANS = """
SELECT name, role FROM workstations AS w
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = w.role) ORDER BY 1
"""


def state(ask: Callable[[str, Any], list[Any]]) -> ServerState:
    """Return the state of the server.

    :param ask: returns the rows of a query, with its values.
    """
    ((version, role, schema, size, is_replica, replayed, connections, most, sees_all, owner),) = ask(_FACTS, ())
    transactions = tuple(
        Transaction(role=role, process=process, since=since, tables=tuple(tables))
        for role, process, since, tables in ask(_TRANSACTIONS, (LISTED,))
    )
    unvalidated = tuple(name for (name,) in ask(_UNVALIDATED, ()))
    orphans = tuple((name, role) for name, role in ask(_ORPHANS, ()))
    return ServerState(
        version=version.partition(" ")[0],
        role=role,
        schema=schema,
        size=size,
        is_replica=is_replica,
        replayed_at=replayed if is_replica else None,
        connections=connections or 0,
        max_connections=most,
        transactions=transactions,
        sees_all=sees_all,
        unvalidated=unvalidated,
        orphans=orphans,
        problems=(
            *_of_schema(unvalidated, orphans, schema, owner),
            *_of_transactions(transactions),
            *([f"{connections} of {most} connections are in use"] if connections >= most * FULL else []),
        ),
    )


def hand_over(schema: str, former: str, heir: str) -> str:
    """Return the statement that gives one login's workstations to another one; see `guards`."""
    return f"SELECT {schema}.hand_over({sql.quote(former)}, {sql.quote(heir)})"


def _of_schema(
    unvalidated: tuple[str, ...], orphans: tuple[tuple[str, str], ...], schema: str, owner: str
) -> Iterator[str]:
    if unvalidated:
        yield (
            f"stored rows are not checked against {len(unvalidated)} rules of the schema ({unvalidated[0]} …): "
            f"as {owner} run: {PREPARE}"
        )
    for name, role in orphans:
        yield (
            f"workstation {name} belongs to {role!r}, which is not a role; whoever gets this name owns its sessions: "
            f"as {owner} run: {hand_over(schema, role, owner)}, or with a renamed login's new name"
        )


def _of_transactions(transactions: tuple[Transaction, ...]) -> Iterator[str]:
    for one in transactions:
        if one.since is not None and datetime.now(UTC) - one.since > LONG:
            yield (
                f"process {one.process} of {one.role} has had a transaction open since {one.since:%Y-%m-%d %H:%M} UTC, "
                f"which keeps VACUUM from removing anything: SELECT pg_terminate_backend({one.process})"
            )
