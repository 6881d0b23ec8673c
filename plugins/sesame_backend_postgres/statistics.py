"""What the index contains, in numbers: of all workstations, of each, and of the files of this one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sesame_core.config import identity
from sesame_core.types.index import NOTES, AgentStatistics, Statistics, WorkstationStatistics

from . import schema
from .matching import TOTAL

_AGENTS = """
SELECT agent, kind, count(DISTINCT key), sum(message_count)::bigint, max(modified) FROM sessions
GROUP BY agent, kind ORDER BY agent, kind
"""
_WHOLE = f"""
SELECT (SELECT count(DISTINCT key) FROM sessions), (SELECT coalesce(sum(message_count), 0)::bigint FROM sessions),
  (SELECT {TOTAL} FROM workstations), (SELECT max(modified) FROM sessions),
  (SELECT count(*) FROM files WHERE parser <> %s), (SELECT count(*) FROM tombstones),
  (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class AS c
   WHERE c.relnamespace = to_regnamespace(current_schema()) AND c.relkind = 'r')
"""
#: The files of a workstation.
_MINE = "workstation = (SELECT id FROM workstations WHERE name = %s)"
_SKIPPED = f"""
SELECT r.key, sum(r.value::text::bigint)::bigint FROM files, jsonb_each(skipped) AS r WHERE {_MINE}
GROUP BY 1 ORDER BY 1
"""
_WORKSTATIONS = """
SELECT w.name, w.host, w.owner, count(DISTINCT s.key), max(s.modified), w.last_sync
FROM workstations AS w LEFT JOIN sessions AS s ON s.workstation = w.id
GROUP BY w.id ORDER BY w.last_sync DESC NULLS LAST, w.name
"""


def whole(ask: Callable[[str, Any], list[Any]], place: str, last_sync: datetime | None) -> Statistics:
    """Return counts of the content; missing and failed files are this workstation's.

    :param ask: returns the rows of a query, with its values, of one state of the index.
    :param place: the name of the index for people.
    :param last_sync: of this workstation.
    """
    agents, found = ask(_AGENTS, ()), ask(_WHOLE, (NOTES,))
    if not found:
        return Statistics(location=place)
    me = identity.workstation_id()
    ((missing,),) = ask(f"SELECT count(missing_since) FROM files WHERE {_MINE} AND parser <> %s", (me, NOTES))
    failed = ask(f"SELECT path, error FROM files WHERE error IS NOT NULL AND {_MINE} ORDER BY path", (me,))
    sessions, messages, chunks, newest, files, forgotten, size = found[0]
    return Statistics(
        sessions=sessions,
        chunks=chunks,
        messages=messages,
        files=files,
        size=size,
        location=place,
        schema_version=len(schema.MIGRATIONS),
        agents=tuple(
            AgentStatistics(agent=a, kind=k, sessions=n, messages=m, newest_message=t) for a, k, n, m, t in agents
        ),
        missing=missing,
        failed=tuple(failed),
        skipped=dict(ask(_SKIPPED, (me,))),
        last_sync=last_sync,
        newest_message=newest,
        forgotten=forgotten,
        workstations=tuple(workstations(ask)),
    )


def workstations(ask: Callable[[str, Any], list[Any]]) -> list[WorkstationStatistics]:
    """Return what each workstation has written, the last synchronised first.

    :param ask: returns the rows of a query, with its values.
    """
    return [
        WorkstationStatistics(id=name, host=host, owner=owner, sessions=count, newest_message=newest, last_sync=sync)
        for name, host, owner, count, newest, sync in ask(_WORKSTATIONS, ())
    ]
