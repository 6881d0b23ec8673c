"""The versions of the schema, and the limits of what it holds; `tables` tells what it looks like."""

from __future__ import annotations

from sesame_core.sql import Migration

#: Characters of a session's id: an index entry holds 2,700 bytes.
LONGEST_ID = 500
#: Chunks per session: as many as the SQLite backend takes.
MAX_CHUNKS = 1 << 22

#: Step n leads to schema version n; never edit one that was released, add another.  The first is what was released
#: first, and stands in `tables` as long as there is no second.
MIGRATIONS: tuple[Migration, ...] = (Migration("first schema", ""),)
