"""What schema 7 adds: policies that see a row's parent, and limits of lists.

A foreign key looks at a row after its unique keys have it, at the end of the statement.  Until then whoever stores a
row with the same key waits, so that a statement that does not end would stop the parent's owner.  A policy refuses the
row before.
"""

from __future__ import annotations

from .checks import TEXT
from .guards import OF_SESSION

#: Each table whose rows are below another one's: the column that names the parent, and its table.
PARENTS = {"sessions": ("file", "files"), **dict.fromkeys(OF_SESSION, ("session", "sessions"))}
#: Most elements of a list that every reader of a session gets.
LONGEST_LIST = 100_000
_POLICIES = """
ALTER POLICY inserting ON {table} WITH CHECK ({condition});
ALTER POLICY updating ON {table} WITH CHECK ({condition})
"""
#: A subquery without EXISTS: that could be a table of all parents, which is made anew for each statement.
_CONDITION = (
    "workstation = ANY ((SELECT my_workstations())::int[]) AND "
    "workstation = (SELECT p.workstation FROM {parent} AS p WHERE p.id = {table}.{column})"
)
_LIMITS = f"""
ALTER TABLE sessions ADD CONSTRAINT sessions_maps CHECK (
  octet_length(tool_counts::text) <= {TEXT} AND coalesce(octet_length(directories::text), 0) <= {TEXT}
  AND cardinality(abandoned) <= {LONGEST_LIST}
) NOT VALID
"""


def statements() -> list[str]:
    """Return the statements, for a schema of version 6 and for a fresh one."""
    policies = [
        _POLICIES.format(table=table, condition=_CONDITION.format(table=table, column=column, parent=parent))
        for table, (column, parent) in PARENTS.items()
    ]
    return [*policies, _LIMITS]
