"""What the server itself refuses to a role: rows in another's session, names of others, numbers it makes up.

Row-level security binds everyone but the owner of the tables.  It looks at a row alone; composite keys make the row's
parent the same workstation's, which costs the writer of the row and no reader.

They belong to schema 6: a fresh schema gets them, and `step_6` adds them to an older one.  A later change is another
migration.
"""

from __future__ import annotations

from .checks import checks

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

-- Gives the workstations of a login, with their sessions, to another one: the login was renamed, or will be dropped.
-- Their owner is then the other one's name, or what is `shown`.  For the owner of the tables; returns their number.
CREATE FUNCTION hand_over(former name, heir name, shown text DEFAULT NULL) RETURNS int LANGUAGE plpgsql
  SET search_path = {schema}, pg_catalog, pg_temp AS $$
DECLARE
  moved int[];
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = heir) THEN
    RAISE undefined_object USING MESSAGE = format('role %s does not exist', heir);
  END IF;
  WITH given AS (
    UPDATE workstations SET role = heir, owner = coalesce(shown, heir),
      host = CASE WHEN right(host, length(former) + 3) = format(' (%s)', former)
        THEN format('%s (%s)', left(host, -length(former) - 3), heir) ELSE host END
    WHERE role = former RETURNING id
  ) SELECT coalesce(array_agg(id), '{{}}') INTO moved FROM given;
  UPDATE sessions AS s SET owner = w.owner, host = w.host FROM workstations AS w
  WHERE w.id = s.workstation AND w.id = ANY (moved) AND (s.owner, s.host) IS DISTINCT FROM (w.owner, w.host);
  RETURN cardinality(moved);
END $$;

-- Grants two groups what reading and writing take, and nothing that lets them lock a table: UPDATE of columns and the
-- functions above are enough, and UPDATE or DELETE of a table allows LOCK TABLE.  For the owner; NULL leaves one out.
CREATE FUNCTION admit(readers name, writers name) RETURNS void LANGUAGE plpgsql
  SET search_path = {schema}, pg_catalog, pg_temp AS $f$
DECLARE
  owned text[] := ARRAY(SELECT relname FROM pg_class WHERE relnamespace = '{schema}'::regnamespace
    AND relkind = 'r' AND relrowsecurity ORDER BY 1);
  made text;
BEGIN
  -- Again, since a backup that is restored without privileges has lost it.
  REVOKE ALL ON FUNCTION tidy(boolean), hand_over(name, name, text) FROM PUBLIC;
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
REVOKE ALL ON FUNCTION tidy(boolean), hand_over(name, name, text) FROM PUBLIC
"""


def statements(schema: str) -> list[str]:
    """Return the statements that add what this module declares to a schema with its tables and keys."""
    return [*checks(), TIDY.format(schema=schema), FUNCTIONS.format(schema=schema)]
