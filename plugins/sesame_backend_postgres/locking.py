"""The lock that allows one writer per workstation.

Anyone may take an advisory lock of any number, so a lock whose number others know would let them stop a writer.  Each
writer takes one with a random number in the workstation's range of numbers and looks for others in it: only those of
roles that may write count.  It then confirms with a second one.  Of two that begin at once neither is confirmed yet,
and both try again.
"""

from __future__ import annotations

import random
import time
from typing import Any

import psycopg

from sesame_core.errors import LockedError

from .opening import Workstation

#: Tries of writers that begin at once, and the most seconds between two.
_TRIES, _PAUSE = 20, 0.1

#: The upper half of the key of an advisory lock, of those that have begun and of those that are confirmed.
_RANGE = "hashtext(format('sesame %%s %%s %%s', {}, current_schema(), %s::text))"
_BEGIN = f"SELECT pg_advisory_lock({_RANGE.format(1)}, %s)"
_CONFIRM = f"SELECT pg_advisory_lock({_RANGE.format(2)}, %s)"
_OTHERS = f"""
SELECT a.application_name, bool_or(l.classid::bigint::bit(32)::int = {_RANGE.format(2)}) AS is_confirmed
FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid) JOIN pg_roles AS r ON r.oid = a.usesysid
WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND l.pid <> pg_backend_pid()
  AND l.classid::bigint::bit(32)::int IN ({_RANGE.format(1)}, {_RANGE.format(2)})
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (r.rolname = (SELECT role FROM workstations WHERE id = %s)
    OR pg_has_role(r.oid, (SELECT relowner FROM pg_class WHERE oid = 'workstations'::regclass), 'MEMBER'))
GROUP BY a.pid, a.application_name ORDER BY 2 DESC LIMIT 1
"""


def lock(db: psycopg.Connection[Any], workstation: Workstation) -> None:
    """Take the write lock of a workstation's rows; the server releases it when the connection ends.

    :raises LockedError: another process holds it.
    """
    holder: tuple[Any, ...] | None = None
    for tried in range(_TRIES):
        number = random.getrandbits(31)
        db.execute(_BEGIN, (workstation.name, number))
        holder = db.execute(_OTHERS, (*[workstation.name] * 3, workstation.id)).fetchone()
        if holder is None:
            db.execute(_CONFIRM, (workstation.name, number))
            return
        db.execute("SELECT pg_advisory_unlock_all()")
        if holder[1]:
            break
        time.sleep(random.uniform(0, _PAUSE) * (tried + 1) / 4)
    who = holder[0] if holder and holder[0] else "another process"
    raise LockedError(f"workstation {workstation.name} is being written by {who}; try again when it is done")
