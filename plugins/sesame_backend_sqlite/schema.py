"""The tables, and the migrations of older indexes.

A chunk's row id encodes its place: `session number << 24 | position << 2 | weight class`.  A session's chunks are
one range in reading order, the chunks around one are found without an index, and filters on session or class cost
nothing (`rowid >> 24`, `rowid & 3`).  The full-text tables store no copy of the text; no trigger updates them,
because inside a trigger every row becomes an FTS5 segment: `writer` inserts and deletes in both.
"""

from __future__ import annotations

import sqlite3

from sesame_core.errors import BackendError
from sesame_core.sdk.ingest import MAX_CHUNKS
from sesame_core.sdk.migrations import Migration, newer

#: Bits of a row id below the session's number: 22 for the position, 2 for the weight class.
SESSION_SHIFT = (MAX_CHUNKS - 1).bit_length() + 2
#: Marks the file as Sesame's ("SESM").
APPLICATION_ID = 0x5345534D

#: The full-text tables.
FULL_TEXT = ("chunks_fts", "heads_fts", "conversations_fts")

_FIRST = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE schema_migrations (id INTEGER PRIMARY KEY, description TEXT NOT NULL, applied_at TEXT NOT NULL);
CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  parser TEXT NOT NULL,
  parser_version INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  size INTEGER NOT NULL,
  missing_since INTEGER,            -- all times: milliseconds since 1970, UTC
  error TEXT,
  skipped TEXT NOT NULL,            -- JSON: reason -> count
  head_hash BLOB NOT NULL,
  tail_hash BLOB NOT NULL,
  recent_origins BLOB NOT NULL,     -- 64-bit integers, little-endian
  checkpoint TEXT                   -- JSON: [offset, line, parser state]
);
-- Each search asks what is known of all files; their rows are long.
CREATE INDEX files_known ON files (path, mtime_ns, parser, parser_version, missing_since, error);
CREATE INDEX files_failed ON files (path) WHERE error IS NOT NULL;
CREATE INDEX files_skipping ON files (id) WHERE skipped <> '{}';
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,                -- workstation:project:session
  session_id TEXT NOT NULL,
  file INTEGER NOT NULL REFERENCES files (id),
  agent TEXT NOT NULL,
  kind TEXT NOT NULL,
  parent_id TEXT,
  cwd TEXT,
  repository TEXT,
  git_branch TEXT,
  model TEXT,
  created INTEGER,
  modified INTEGER NOT NULL,
  message_count INTEGER NOT NULL,
  exchange_count INTEGER NOT NULL,
  chunk_count INTEGER NOT NULL,
  conversation_count INTEGER NOT NULL, -- chunks that the row in conversations_fts holds …
  conversation_title TEXT NOT NULL,    -- … and the title
  tool_counts TEXT NOT NULL,        -- JSON: tool -> calls
  abandoned TEXT NOT NULL,          -- JSON: segments off the active branch
  first_origin INTEGER,
  title TEXT,
  summary TEXT,
  prompts TEXT,                     -- the first two, separated by U+001E
  UNIQUE (file, session_id)
);
CREATE INDEX sessions_key ON sessions (key);
CREATE INDEX sessions_session_id ON sessions (session_id);
CREATE INDEX sessions_modified ON sessions (modified);
CREATE INDEX sessions_counted ON sessions (agent, kind, key, message_count, modified);
CREATE INDEX sessions_parent ON sessions (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX sessions_behind ON sessions (modified) WHERE chunk_count > conversation_count;
CREATE INDEX sessions_headless ON sessions (id) WHERE kind = 'headless';
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  role TEXT,
  tool_name TEXT,
  call_id TEXT,
  entry_id TEXT,
  origin INTEGER,
  segment INTEGER NOT NULL,
  timestamp INTEGER,
  is_error INTEGER NOT NULL,
  source_type TEXT NOT NULL,
  cut INTEGER NOT NULL,
  subwords TEXT NOT NULL,
  content TEXT NOT NULL
);
CREATE INDEX chunks_error ON chunks (id, tool_name) WHERE is_error;
CREATE TABLE paths (session INTEGER NOT NULL, path TEXT NOT NULL, PRIMARY KEY (session, path)) WITHOUT ROWID;
CREATE TABLE tombstones (
  agent TEXT NOT NULL, session_id TEXT NOT NULL, forgotten_at INTEGER NOT NULL, PRIMARY KEY (agent, session_id)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE chunks_fts USING fts5 (
  content, subwords, content = 'chunks', content_rowid = 'id', tokenize = 'porter unicode61'
);
CREATE VIRTUAL TABLE heads_fts USING fts5 (
  title, summary, prompts, content = 'sessions', content_rowid = 'id', tokenize = 'porter unicode61'
);
CREATE VIRTUAL TABLE conversations_fts USING fts5 (
  title, user, assistant, content = '', tokenize = 'porter unicode61'
);
INSERT INTO meta VALUES ('chunks', 0);
"""

_SECOND = """
ALTER TABLE sessions ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN visibility TEXT NOT NULL DEFAULT 'shared';
"""

# The ranked columns of a session itself are its title or the name in its notes, its summary with the rest of the
# notes, and its prompts.
_THIRD = """
ALTER TABLE sessions ADD COLUMN notes TEXT;     -- JSON: [name, description, summary, [tag, …], parts of their words]
DROP TABLE heads_fts;
CREATE VIEW heads AS SELECT
  id,
  coalesce(nullif(title, ''), json_extract(notes, '$[0]'), '') AS title,
  coalesce(summary, '') || iif(notes IS NULL, '', char(10) || json_extract(notes, '$[1]') || char(10)
    || json_extract(notes, '$[2]') || char(10) || json_extract(notes, '$[3]') || char(10)
    || json_extract(notes, '$[4]')) AS summary,
  coalesce(prompts, '') AS prompts
  FROM sessions;
CREATE VIRTUAL TABLE heads_fts USING fts5 (
  title, summary, prompts, content = 'heads', content_rowid = 'id', tokenize = 'porter unicode61'
);
INSERT INTO heads_fts (heads_fts, rank) VALUES ('hashsize', 4194304);
INSERT INTO heads_fts (heads_fts, rank) VALUES ('automerge', 8);
INSERT INTO heads_fts (heads_fts) VALUES ('rebuild');
"""

# The columns that a filter on tool or role reads of every match; the rows themselves are long.
_FOURTH = """
CREATE INDEX chunks_facts ON chunks (id, role, tool_name);
"""

# JSON: directory -> position; NULL for a session that stayed in its first one.
_FIFTH = """
ALTER TABLE sessions ADD COLUMN directories TEXT;
CREATE INDEX sessions_moved ON sessions (id) WHERE directories IS NOT NULL;
"""


#: Step n leads to schema version n; never edit a released one, add another.
MIGRATIONS: tuple[Migration, ...] = (
    Migration("first schema", _FIRST),
    Migration("who indexed a session, and where", _SECOND),
    Migration("what was written about a session", _THIRD),
    Migration("roles and tools of chunks beside their texts", _FOURTH),
    Migration("all directories of a session", _FIFTH),
)


def version(db: sqlite3.Connection) -> int:
    """Return the schema version of an open index; 0 for an empty file.

    :raises BackendError: the file belongs to another program or to a newer Sesame.
    """
    # In one transaction: another process may make the tables meanwhile.
    is_ours = not db.in_transaction
    if is_ours:
        db.execute("BEGIN")
    try:
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (found,) = db.execute("PRAGMA user_version").fetchone()
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    finally:
        if is_ours:
            db.execute("ROLLBACK")
    if application != APPLICATION_ID and (application or found or tables):
        raise BackendError("it is a database of another program")
    if found > len(MIGRATIONS):
        raise newer("it", found, len(MIGRATIONS))
    return int(found)


def migrate(db: sqlite3.Connection) -> int:
    """Upgrade an open index to the present schema, all steps in one transaction; return the number of steps."""
    first = version(db)
    if first == len(MIGRATIONS):
        return 0
    with transaction(db):
        for number, migration in enumerate(MIGRATIONS[first:], first + 1):
            for statement in statements(migration.sql):
                db.execute(statement)
            db.execute(
                "INSERT INTO schema_migrations VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
                (number, migration.description),
            )
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {number}")
    return len(MIGRATIONS) - first


def statements(sql: str) -> list[str]:
    """Split a script into statements (`executescript` would commit the open transaction)."""
    found, rest = [], ""
    for part in sql.split(";"):
        rest += part + ";"
        if sqlite3.complete_statement(rest):
            found.append(rest.strip())
            rest = ""
    return [statement for statement in found if statement != ";"]


class transaction:
    """A write transaction that commits at the end of the block and rolls back when it raises."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._db.execute("COMMIT")
        elif self._db.in_transaction:
            self._db.execute("ROLLBACK")
