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
    Migration(
        "the words of each session",
        """
        CREATE TABLE vocabularies (
          session bigint NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
          first integer NOT NULL,
          piece integer NOT NULL,
          workstation integer NOT NULL REFERENCES workstations (id) ON DELETE CASCADE,
          words tsvector NOT NULL,
          PRIMARY KEY (session, first, piece)
        ) WITH (toast_tuple_target = 128);
        ALTER TABLE vocabularies ALTER words SET STORAGE EXTERNAL, ALTER words SET STATISTICS 0;
        CREATE FUNCTION vocabulary(of bigint, since int) RETURNS TABLE (piece int, words tsvector)
        LANGUAGE sql STABLE AS $$
          SELECT piece, said(words) FROM (
            SELECT ((sum(size) OVER (ORDER BY seq) - size) / 400000)::int AS piece, strip(words) AS words FROM (
              SELECT t.seq, t.words, pg_column_size(
                CASE WHEN pg_column_size(t.words) > 8000 THEN setweight(t.words, 'D', '{}') ELSE t.words END) AS size
              FROM texts AS t WHERE t.session = of AND t.seq >= since
            ) AS t
          ) AS t GROUP BY piece
        $$;
        INSERT INTO vocabularies (session, first, piece, workstation, words)
          SELECT s.id, 0, v.piece, s.workstation, v.words FROM sessions AS s, LATERAL vocabulary(s.id, 0) AS v;
        CREATE INDEX vocabularies_words ON vocabularies USING gin (words)
          WITH (fastupdate = on, gin_pending_list_limit = 4096);
        ALTER TABLE vocabularies ENABLE ROW LEVEL SECURITY;
        CREATE POLICY reading ON vocabularies FOR SELECT USING (true);
        CREATE POLICY inserting ON vocabularies FOR INSERT
          WITH CHECK (workstation = ANY ((SELECT my_workstations())::int[]));
        CREATE POLICY updating ON vocabularies FOR UPDATE
          USING (workstation = ANY ((SELECT my_workstations())::int[]));
        CREATE POLICY deleting ON vocabularies FOR DELETE
          USING (workstation = ANY ((SELECT my_workstations())::int[]));
        DO $$
        DECLARE given record;
        BEGIN
          -- Whoever may write one table of a session's words may write the other.
          FOR given IN SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS role, privilege_type
            FROM pg_class, aclexplode(relacl) WHERE oid = 'conversations'::regclass
          LOOP
            EXECUTE format('GRANT %s ON vocabularies TO %s', given.privilege_type, given.role);
          END LOOP;
          EXECUTE replace(
            pg_get_functiondef('tidy(boolean)'::regprocedure), 'conversations_words}',
            'conversations_words,vocabularies_words}'
          );
        END $$
        """,
    ),
    Migration(
        "indexes of commands, failures and sizes",
        """
        CREATE INDEX texts_commands ON texts USING gin (words) WITH (fastupdate = on, gin_pending_list_limit = 4096)
          WHERE class = 2 AND replace(replace(tool, '_', ''), '-', '') IN
            ('bash', 'shell', 'powershell', 'runcommand', 'execcommand', 'runshellcommand');
        CREATE INDEX chunks_failed ON chunks (lower(tool_name), session, tool_name) WHERE is_error;
        DROP INDEX chunks_error;
        CREATE INDEX sessions_sizes ON sessions (id DESC) INCLUDE (chunk_count, kind);
        DO $$
        BEGIN
          EXECUTE replace(
            pg_get_functiondef('tidy(boolean)'::regprocedure), '{texts_words,', '{texts_words,texts_commands,'
          );
        END $$
        """,
    ),
)
