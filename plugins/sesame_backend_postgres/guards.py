"""What the server itself refuses: rows in another's session, values that no reader can use, names of others.

Row-level security binds everyone but the owner of the tables.  It looks at a row alone; composite keys make the row's
parent the same workstation's, which costs the writer of the row and no reader.  `CHECKS` bind the owner, too.

`STATEMENTS` belong to schema 6: a fresh schema and the migration both run them.  A later change is another migration.
"""

from __future__ import annotations

#: A time that Python can represent, too; "infinity" is none.
_TIME = "{0} BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-31 00:00:00+00'"
#: A list of one dimension without NULL.
_LIST = "array_position({0}, NULL) IS NULL AND coalesce(array_ndims({0}), 1) = 1"
#: A JSON object of numbers from 0.
_COUNTS = (
    "jsonb_typeof({0}) = 'object' AND NOT jsonb_path_exists({0}, "
    "'$.* ? (@.type() != \"number\" || !(@ >= 0 && @ <= 2147483647) || @.floor() != @)')"
)
#: Most characters of a name, of a text of a session, and of a chunk.
NAME, TEXT, CHUNK = 10_000, 4_000_000, 64_000_000
#: Most of anything that a workstation counts: a sum of many is still a number.
_MOST = 10**12
_PLACE = "{0} BETWEEN 0 AND 4194304"
_COUNT = "{0} >= 0"


def _all(pattern: str, *columns: str) -> str:
    return " AND ".join(f"({pattern.format(column)})" for column in columns)


def _at_most(length: int, *columns: str) -> str:
    return " AND ".join(f"coalesce(length({column}), 0) <= {length}" for column in columns)


#: Conditions by table and by the last part of the constraint's name.
CHECKS: dict[str, dict[str, str]] = {
    "workstations": {
        "name": "name ~ '^[A-Za-z0-9._-]{1,64}$'",
        "names": _at_most(NAME, "installation", "host", "owner", "role"),
        "time": _TIME.format("last_sync"),
        "counts": _all(
            f"{{0}} BETWEEN 0 AND {_MOST}",
            "chunks",
            "chunk_tokens",
            "sessions",
            "head_tokens",
            "conversation_tokens",
        ),
    },
    "files": {
        "names": _at_most(NAME, "parser"),
        "texts": _at_most(TEXT, "path", "error"),
        "time": _TIME.format("missing_since"),
        "counts": _all(_COUNT, "size"),
        "skipped": _COUNTS.format("skipped"),
        "lists": _LIST.format("recent_origins"),
    },
    "sessions": {
        "names": _at_most(
            NAME, "key", "session_id", "agent", "kind", "parent_id", "model", "host", "owner", "git_branch"
        ),
        "texts": _at_most(TEXT, "cwd", "repository", "title", "summary", "notes"),
        "visibility": "visibility IN ('shared', 'metadata')",
        "times": _all(_TIME, "created", "modified"),
        "counts": _all(_COUNT, "message_count", "exchange_count", "head_tokens", "conversation_tokens")
        + " AND "
        + _all(_PLACE, "chunk_count", "conversation_count")
        + f" AND chunk_tokens BETWEEN 0 AND {_MOST}",
        "tool_counts": _COUNTS.format("tool_counts"),
        "directories": _COUNTS.format("directories"),
        "lists": _LIST.format("abandoned") + " AND " + _LIST.format("prompts"),
        "prompts": f"cardinality(prompts) <= 100 AND length(array_to_string(prompts, '')) <= {TEXT}",
        # Stored as text: a value that is not JSON is refused by the conversion.
        "notes": "jsonb_typeof(notes::jsonb) = 'array' AND jsonb_array_length(notes::jsonb) >= 4 AND NOT "
        "jsonb_path_exists(notes::jsonb, '$[0 to 2] ? (@.type() != \"string\")') AND "
        "jsonb_typeof(notes::jsonb -> 3) = 'array' AND NOT "
        "jsonb_path_exists(notes::jsonb, 'strict $[3][*] ? (@.type() != \"string\")')",
    },
    "chunks": {
        "names": _at_most(NAME, "kind", "role", "source_type"),
        "texts": _at_most(TEXT, "tool_name", "call_id", "entry_id"),
        "content": _at_most(CHUNK, "content"),
        "time": _TIME.format("timestamp"),
        "place": _all(_PLACE, "seq") + " AND segment >= 0 AND cut >= 0",
    },
    "texts": {
        "counts": _all(_PLACE, "seq") + " AND class BETWEEN 0 AND 3 AND tokens >= 0 AND spoken BETWEEN 0 AND tokens",
        "names": _at_most(NAME, "role") + " AND " + _at_most(TEXT, "tool"),
    },
    "heads": {"counts": "tokens >= 0"},
    "conversations": {"place": _all(_PLACE, "part")},
    "vocabularies": {"place": _all(_PLACE, "first", "piece")},
    "commands": {"place": _all(_PLACE, "seq")},
    "paths": {"length": _at_most(NAME, "reversed")},
    "tombstones": {"names": _at_most(NAME, "agent", "session_id"), "time": _TIME.format("forgotten_at")},
}

#: Tables whose rows belong to a row of `sessions`, in its column `session`, and of the same workstation.
OF_SESSION = ("chunks", "texts", "heads", "conversations", "vocabularies", "commands", "paths")

#: Ends a run: flushes the lists of pending index entries, and recounts words when the index has grown by a quarter, or
#: when words must go (`anew`).  One recount at a time, by a lock that only the owner can take: an advisory lock is
#: anyone's.  Words that must go while another recount does not end are left to the next one (`stale`).
TIDY = """
CREATE OR REPLACE FUNCTION tidy(anew boolean) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = {schema}, pg_catalog, pg_temp AS $f$
DECLARE
  here bigint := (SELECT least(coalesce(sum(chunks), 0), 1e18) FROM workstations);
  counted bigint := coalesce((SELECT value::bigint FROM meta WHERE key = 'counted'), 0);
  share float8 := least(100, 100.0 * 100000 / greatest(here, 1));
  old text[] := ARRAY(SELECT key FROM meta WHERE key LIKE 'stale %');
BEGIN
  PERFORM gin_clean_pending_list(index::regclass)
  FROM unnest('{{texts_words,heads_words,conversations_words,vocabularies_words,commands_words}}'::text[]) index;
  IF NOT anew AND old = '{{}}' AND here BETWEEN counted * 0.8 AND counted * 1.25 AND (here > 0) = (counted > 0) THEN
    RETURN;
  END IF;
  BEGIN
    IF anew THEN
      LOCK TABLE lexemes IN SHARE ROW EXCLUSIVE MODE;
    ELSE
      LOCK TABLE lexemes IN SHARE ROW EXCLUSIVE MODE NOWAIT;
    END IF;
  EXCEPTION WHEN lock_not_available THEN
    IF anew THEN
      INSERT INTO meta VALUES ('stale ' || gen_random_uuid(), '');
    END IF;
    RETURN;
  END;
  DELETE FROM lexemes;
  -- Of a large index a sample of about 100,000 chunks, with all its words: other spellings are found by them.
  INSERT INTO lexemes SELECT word, ceil(ndoc * 100 / share) FROM ts_stat(
    'SELECT words FROM {schema}.texts'
    || CASE WHEN share < 100 THEN format(' TABLESAMPLE SYSTEM (%s)', share) ELSE '' END
  );
  INSERT INTO meta VALUES ('counted', here::text) ON CONFLICT (key) DO UPDATE SET value = excluded.value;
  DELETE FROM meta WHERE key = ANY (old);
END $f$
"""

#: `{schema}` is the schema's name.  A function that runs as the owner has a fixed search path, and checks by itself
#: whose rows it changes: `session_user` is who has logged in, whatever SET ROLE says; `current_user` is the owner.
FUNCTIONS = """
-- Whether who has logged in may write the rows of a workstation: its role, and whoever may act for the owner.
CREATE FUNCTION is_mine(station int) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = {schema}, pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM workstations WHERE id = station
    AND (role = session_user OR pg_has_role(session_user, current_user, 'MEMBER')))
$$;

-- Reserves 64 numbers for new sessions of a workstation; `anew` returns those that were not used.  No one can take a
-- number that another has reserved, or one far ahead, which would make its session the newest.
CREATE FUNCTION reserve(station int, anew boolean) RETURNS SETOF bigint LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = {schema}, pg_catalog, pg_temp AS $$
DECLARE
  numbers bigint[];
BEGIN
  IF NOT is_mine(station) THEN
    RAISE insufficient_privilege USING MESSAGE = format('workstation %s belongs to another role', station);
  END IF;
  SELECT array_agg(nextval(pg_get_serial_sequence('sessions', 'id'))) INTO numbers FROM generate_series(1, 64);
  UPDATE workstations SET reserved = CASE WHEN anew THEN '{{}}' ELSE reserved END
    + (SELECT range_agg(int8range(n, n, '[]')) FROM unnest(numbers) AS n) WHERE id = station;
  RETURN QUERY SELECT unnest(numbers);
END $$;

-- Counts the rows of a workstation: the totals that everyone's ranking needs are never what a client says.
CREATE FUNCTION recount(station int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = {schema}, pg_catalog, pg_temp AS $$
BEGIN
  IF NOT is_mine(station) THEN
    RAISE insufficient_privilege USING MESSAGE = format('workstation %s belongs to another role', station);
  END IF;
  UPDATE workstations AS w SET (chunks, chunk_tokens, sessions, head_tokens, conversation_tokens) = (
    SELECT coalesce(sum(chunk_count), 0), coalesce(sum(chunk_tokens), 0), count(*), coalesce(sum(head_tokens), 0),
      coalesce(sum(conversation_tokens), 0) FROM sessions WHERE workstation = w.id
  ) WHERE id = station;
END $$;

-- Deleting by functions: who may delete from a table may lock it against everyone.
CREATE FUNCTION drop_sessions(numbers bigint[]) RETURNS SETOF int LANGUAGE sql SECURITY DEFINER
  SET search_path = {schema}, pg_catalog, pg_temp AS
  $$ DELETE FROM sessions WHERE id = ANY (numbers) AND is_mine(workstation) RETURNING chunk_count $$;
CREATE FUNCTION drop_files(numbers bigint[]) RETURNS void LANGUAGE sql SECURITY DEFINER
  SET search_path = {schema}, pg_catalog, pg_temp AS
  $$ DELETE FROM files WHERE id = ANY (numbers) AND is_mine(workstation) $$;
CREATE FUNCTION drop_conversations(numbers bigint[]) RETURNS void LANGUAGE sql SECURITY DEFINER
  SET search_path = {schema}, pg_catalog, pg_temp AS
  $$ DELETE FROM conversations WHERE session = ANY (numbers) AND is_mine(workstation) $$;
-- Of each session the rows from a position on.
CREATE FUNCTION drop_vocabularies(numbers bigint[], starts int[]) RETURNS void LANGUAGE sql SECURITY DEFINER
  SET search_path = {schema}, pg_catalog, pg_temp AS
  $$ DELETE FROM vocabularies AS v USING unnest(numbers, starts) AS w (session, start)
     WHERE v.session = w.session AND v.first >= w.start AND is_mine(v.workstation) $$;

CREATE FUNCTION guard_workstation() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = {schema}, pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.id := nextval(pg_get_serial_sequence('workstations', 'id'));
    NEW.reserved := '{{}}';
    NEW.chunks := 0; NEW.chunk_tokens := 0; NEW.sessions := 0; NEW.head_tokens := 0; NEW.conversation_tokens := 0;
  ELSE
    IF (NEW.id, NEW.name) IS DISTINCT FROM (OLD.id, OLD.name) THEN
      RAISE insufficient_privilege USING MESSAGE = format('workstation %s keeps its name', OLD.name);
    END IF;
    NEW.reserved := OLD.reserved;
    NEW.chunks := OLD.chunks; NEW.chunk_tokens := OLD.chunk_tokens; NEW.sessions := OLD.sessions;
    NEW.head_tokens := OLD.head_tokens; NEW.conversation_tokens := OLD.conversation_tokens;
  END IF;
  NEW.owner := session_user;
  -- Of equal names of machines that belong to two roles, the later one has its role's name with it.
  IF EXISTS (SELECT FROM workstations WHERE lower(host) = lower(NEW.host) AND role <> session_user) THEN
    NEW.host := format('%s (%s)', NEW.host, session_user);
  END IF;
  NEW.last_sync := least(NEW.last_sync, clock_timestamp());
  RETURN NEW;
END $$;
CREATE FUNCTION guard_session() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = {schema}, pg_catalog, pg_temp AS $$
DECLARE
  station workstations;
BEGIN
  SELECT * INTO station FROM workstations WHERE id = NEW.workstation;
  IF starts_with(NEW.key, station.name || ':') IS NOT TRUE THEN
    RAISE insufficient_privilege USING MESSAGE = format('key %s is not one of workstation %s', NEW.key, station.name);
  END IF;
  IF (CASE WHEN TG_OP = 'INSERT' THEN NOT station.reserved @> NEW.id ELSE NEW.id <> OLD.id END) THEN
    RAISE insufficient_privilege USING MESSAGE = format('number %s is not reserved for %s', NEW.id, station.name);
  END IF;
  NEW.host := station.host;
  NEW.owner := station.owner;
  RETURN NEW;
END $$;
CREATE FUNCTION guard_file() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = {schema}, pg_catalog, pg_temp AS $$
BEGIN
  NEW.id := CASE WHEN TG_OP = 'INSERT' THEN nextval(pg_get_serial_sequence('files', 'id')) ELSE OLD.id END;
  RETURN NEW;
END $$;

-- Like row-level security, for everyone but the owner.  The condition is that of the role that writes.
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON workstations FOR EACH ROW
  WHEN (row_security_active('{schema}.workstations'::regclass)) EXECUTE FUNCTION guard_workstation();
CREATE TRIGGER guard BEFORE INSERT OR UPDATE OF id, workstation, key, host, owner ON sessions FOR EACH ROW
  WHEN (row_security_active('{schema}.sessions'::regclass)) EXECUTE FUNCTION guard_session();
CREATE TRIGGER guard BEFORE INSERT OR UPDATE OF id ON files FOR EACH ROW
  WHEN (row_security_active('{schema}.files'::regclass)) EXECUTE FUNCTION guard_file();

-- Grants two groups what reading and writing take, and nothing that lets them lock a table: UPDATE of columns and the
-- functions above are enough, and UPDATE or DELETE of a table allows LOCK TABLE.  For the owner; NULL leaves one out.
CREATE FUNCTION admit(readers name, writers name) RETURNS void LANGUAGE plpgsql
  SET search_path = {schema}, pg_catalog, pg_temp AS $f$
DECLARE
  owned text[] := ARRAY(SELECT relname FROM pg_class WHERE relnamespace = '{schema}'::regnamespace
    AND relkind = 'r' AND relrowsecurity ORDER BY 1);
  made text;
BEGIN
  IF readers IS NOT NULL THEN
    EXECUTE format('GRANT USAGE ON SCHEMA {schema} TO %I', readers);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO %I', readers);
    EXECUTE format('ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO %I', readers);
  END IF;
  IF writers IS NOT NULL THEN
    EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA {schema} FROM %I', writers);
    EXECUTE format('GRANT EXECUTE ON FUNCTION tidy(boolean) TO %I', writers);
    FOREACH made IN ARRAY owned LOOP
      EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON %I FROM %I', made, writers);
      EXECUTE format('GRANT INSERT ON %I TO %I', made, writers);
    END LOOP;
    FOREACH made IN ARRAY ARRAY['workstations', 'files', 'sessions', 'heads'] LOOP
      EXECUTE format('GRANT UPDATE (%s) ON %I TO %I', (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum)
        FROM pg_attribute WHERE attrelid = made::regclass AND attnum > 0 AND NOT attisdropped), made, writers);
    END LOOP;
  END IF;
END $f$;
REVOKE ALL ON FUNCTION tidy(boolean) FROM PUBLIC
"""


def checks() -> list[str]:
    """Return the statements that add the checks, for new rows only: `VALIDATE` looks at those that are there."""
    return [
        f"ALTER TABLE {table} ADD CONSTRAINT {table}_{name} CHECK ({condition}) NOT VALID"
        for table, conditions in CHECKS.items()
        for name, condition in conditions.items()
    ]


def statements(schema: str) -> list[str]:
    """Return the statements that add what this module declares to a schema with its tables and keys."""
    return [*checks(), TIDY.format(schema=schema), FUNCTIONS.format(schema=schema)]


def upgrade(schema: str) -> list[str]:
    """Return the statements of the migration to schema 6: short ones, which look at no row of a chunk."""
    keys = [
        "ALTER TABLE workstations ADD COLUMN reserved int8multirange NOT NULL DEFAULT '{}'",
        "ALTER TABLE sessions ADD CONSTRAINT sessions_id_workstation_key UNIQUE (id, workstation)",
        "ALTER TABLE files ADD CONSTRAINT files_id_workstation_key UNIQUE (id, workstation)",
        "ALTER TABLE sessions DROP CONSTRAINT sessions_file_fkey",
        _key("sessions", "file", "files"),
    ]
    for table in OF_SESSION:
        keys.append(
            f"ALTER TABLE {table} DROP CONSTRAINT {table}_session_fkey, DROP CONSTRAINT {table}_workstation_fkey"
        )
        keys.append(_key(table, "session", "sessions"))
    return [*keys, *statements(schema), *REPAIRS, ADMISSIONS]


def _key(table: str, column: str, parent: str) -> str:
    return (
        f"ALTER TABLE {table} ADD CONSTRAINT {table}_{column}_workstation_fkey FOREIGN KEY ({column}, workstation) "
        f"REFERENCES {parent} (id, workstation) ON DELETE CASCADE NOT VALID"
    )


#: Roles that row-level security binds, for the repairs.
_BOUND = "pg_roles AS r WHERE r.rolname = w.role AND NOT pg_has_role(r.oid, current_user, 'MEMBER')"
#: What the migration corrects in small tables: totals, names and times that a role made up.
REPAIRS = (
    "UPDATE workstations SET last_sync = NULL WHERE NOT (" + _TIME.format("last_sync") + ")",
    f"UPDATE workstations AS w SET owner = w.role FROM {_BOUND} AND w.owner <> w.role",
    "UPDATE sessions SET modified = least(greatest(modified, '1970-01-01 00:00:00+00'), '9999-12-31 00:00:00+00') "
    "WHERE NOT (" + _TIME.format("modified") + ")",
    "UPDATE sessions SET created = NULL WHERE NOT (" + _TIME.format("created") + ")",
    f"UPDATE sessions AS s SET host = w.host, owner = w.owner FROM workstations AS w, {_BOUND} "
    "AND s.workstation = w.id AND (s.host, s.owner) IS DISTINCT FROM (w.host, w.owner)",
    "UPDATE sessions AS s SET key = concat_ws(':', w.name, split_part(s.key, ':', 2), s.session_id) "
    f"FROM workstations AS w, {_BOUND} AND s.workstation = w.id AND NOT starts_with(s.key, w.name || ':')",
    "UPDATE sessions SET chunk_count = least(greatest(chunk_count, 0), 4194304), "
    "conversation_count = least(greatest(conversation_count, 0), 4194304), "
    f"chunk_tokens = least(greatest(chunk_tokens, 0), {_MOST}), head_tokens = greatest(head_tokens, 0), "
    "conversation_tokens = greatest(conversation_tokens, 0), message_count = greatest(message_count, 0), "
    "exchange_count = greatest(exchange_count, 0) "
    f"WHERE NOT ({CHECKS['sessions']['counts']})",
    # One that is not JSON stops a condition on all of them.
    f"""DO $$
    DECLARE one record; is_valid boolean;
    BEGIN
      FOR one IN SELECT id, notes FROM sessions WHERE notes IS NOT NULL LOOP
        BEGIN
          is_valid := (SELECT {CHECKS["sessions"]["notes"]} FROM (SELECT one.notes) AS s (notes));
        EXCEPTION WHEN data_exception THEN
          is_valid := false;
        END;
        IF is_valid IS NOT TRUE THEN
          UPDATE sessions SET notes = NULL WHERE id = one.id;
        END IF;
      END LOOP;
    END $$""",
    "SELECT recount(id) FROM workstations",
)
#: Whoever could delete from a table may still write, without the right to lock it.
ADMISSIONS = """
DO $$
DECLARE given oid;
BEGIN
  FOR given IN SELECT DISTINCT grantee FROM pg_class, aclexplode(relacl) WHERE oid = 'sessions'::regclass
    AND privilege_type = 'DELETE' AND grantee NOT IN (0, relowner)
  LOOP
    PERFORM admit(NULL, (SELECT rolname FROM pg_roles WHERE oid = given));
  END LOOP;
END $$
"""
#: Rows that another workstation's role has put below a session or a file.
FOREIGN = {
    **{table: f"DELETE FROM {table} AS t USING sessions AS s WHERE s.id = t.session AND s.workstation <> t.workstation"
       for table in OF_SESSION},
    "sessions": "DELETE FROM sessions AS t USING files AS f WHERE f.id = t.file AND f.workstation <> t.workstation",
}
