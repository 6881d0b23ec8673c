"""The versions of the schema, and limits of its values; `definition` is the present schema."""

from __future__ import annotations

from sesame_core.sdk.migrations import Migration

#: Most characters of a session's id: an index entry has at most 2,700 bytes.
LONGEST_ID = 500

#: Step n leads to schema version n; never edit a released one, add another.  No schema is older than the first.
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
        "words of sessions and of commands, indexes of failures and sizes",
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
        CREATE TABLE commands (
          session bigint NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
          seq integer NOT NULL,
          workstation integer NOT NULL REFERENCES workstations (id) ON DELETE CASCADE,
          words tsvector NOT NULL,
          PRIMARY KEY (session, seq)
        );
        INSERT INTO commands (session, seq, workstation, words)
          SELECT session, seq, workstation, words FROM texts
          WHERE class = 2 AND replace(replace(tool, '_', ''), '-', '') IN
            ('bash', 'shell', 'powershell', 'runcommand', 'execcommand', 'runshellcommand');
        CREATE INDEX commands_words ON commands USING gin (words)
          WITH (fastupdate = on, gin_pending_list_limit = 4096);
        CREATE INDEX chunks_failed ON chunks (lower(tool_name), session, tool_name) WHERE is_error;
        DROP INDEX chunks_error;
        CREATE INDEX sessions_sizes ON sessions (id DESC) INCLUDE (chunk_count, kind);
        DO $$
        DECLARE made text; given record;
        BEGIN
          FOREACH made IN ARRAY ARRAY['vocabularies', 'commands'] LOOP
            EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', made);
            EXECUTE format('CREATE POLICY reading ON %s FOR SELECT USING (true)', made);
            EXECUTE format('CREATE POLICY inserting ON %s FOR INSERT
              WITH CHECK (workstation = ANY ((SELECT my_workstations())::int[]))', made);
            EXECUTE format('CREATE POLICY updating ON %s FOR UPDATE
              USING (workstation = ANY ((SELECT my_workstations())::int[]))', made);
            EXECUTE format('CREATE POLICY deleting ON %s FOR DELETE
              USING (workstation = ANY ((SELECT my_workstations())::int[]))', made);
            -- Whoever may write one table of a session's words may write the others.
            FOR given IN
              SELECT privilege_type, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS role
              FROM pg_class, aclexplode(relacl) WHERE oid = 'conversations'::regclass
            LOOP
              EXECUTE format('GRANT %s ON %s TO %s', given.privilege_type, made, given.role);
            END LOOP;
          END LOOP;
          EXECUTE replace(
            pg_get_functiondef('tidy(boolean)'::regprocedure), 'conversations_words}',
            'conversations_words,vocabularies_words,commands_words}'
          );
        END $$
        """,
    ),
    Migration(
        "all directories of a session",
        """
        ALTER TABLE sessions ADD COLUMN directories jsonb;
        CREATE INDEX sessions_moved ON sessions (id) WHERE directories IS NOT NULL
        """,
    ),
    # Its statements: `step_6.upgrade`.
    Migration("rows below rows of the same workstation, limits of values", ""),
    # `step_7.statements`.
    Migration("parents that policies see, limits of lists", ""),
)
#: The versions whose statements are in `step_6` and `step_7`.
GUARDED, SEEING = 6, 7
