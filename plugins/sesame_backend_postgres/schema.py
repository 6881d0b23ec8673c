"""The versions of the schema, and the limits of what it holds; `tables` tells what it looks like."""

from __future__ import annotations

from sesame_core.sql import Migration

#: Characters of a session's id: an index entry holds 2,700 bytes.
LONGEST_ID = 500

#: Step n leads to schema version n; never edit one that was released, add another.  No schema is older than the first.
MIGRATIONS: tuple[Migration, ...] = (
    Migration("first schema", ""),
    Migration("what was written about a session", "ALTER TABLE sessions ADD COLUMN notes text"),
    Migration(
        "an index for every filter",
        """
        CREATE INDEX sessions_cwd ON sessions (cwd);
        CREATE INDEX sessions_agent ON sessions (agent);
        CREATE INDEX sessions_owner ON sessions (lower(owner));
        CREATE INDEX sessions_host ON sessions (lower(host));
        CREATE INDEX texts_tool ON texts (tool, class) WHERE tool IS NOT NULL;
        CREATE INDEX texts_prompts ON texts (session) WHERE class = 0
        """,
    ),
)
