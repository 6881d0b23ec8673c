"""The schema: its tables, what they cannot say of it, and how an older database becomes a newer one.

`tables.METADATA` is the present schema: an empty database gets it at once, and `MIGRATIONS` lead older ones to it.
"""

from __future__ import annotations

from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from sesame_core.sql import Migration

from .tables import METADATA, OWNED

#: Characters of a session's id: an index entry holds 2,700 bytes.
LONGEST_ID = 500

#: What `METADATA` cannot say.  `{schema}` is the schema's name.
BEFORE = """
CREATE TEXT SEARCH DICTIONARY porter (TEMPLATE = pg_catalog.snowball, LANGUAGE = porter);
CREATE TEXT SEARCH CONFIGURATION code (PARSER = pg_catalog."default");
ALTER TEXT SEARCH CONFIGURATION code ADD MAPPING FOR asciiword, word, numword WITH porter;
ALTER TEXT SEARCH CONFIGURATION code ADD MAPPING FOR int, uint, float, sfloat, version, file, host, url, url_path,
  email, hword, asciihword, numhword, hword_part, hword_asciipart, hword_numpart WITH pg_catalog.simple
"""
AFTER = """
-- Puts word lists one behind the other; phrases end where one ends.
CREATE FUNCTION beside(one tsvector, other tsvector) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
  $$ SELECT CASE WHEN one = '' THEN other WHEN other = '' THEN one
     ELSE ts_delete(one || '''|'':1'::tsvector || other, '|') END $$;
CREATE AGGREGATE said (tsvector) (SFUNC = tsvector_concat, STYPE = tsvector, INITCOND = '');

CREATE FUNCTION my_workstations() RETURNS int[] LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = {schema}, pg_catalog, pg_temp AS
  $$ SELECT coalesce(array_agg(id), '{{}}') FROM workstations WHERE role = session_user $$;

-- Ends a run: empties the lists of index entries that wait, and counts words anew when the index has grown by a tenth.
CREATE FUNCTION tidy() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = {schema}, pg_catalog, pg_temp AS $f$
DECLARE
  here bigint := (SELECT coalesce(sum(chunks), 0) FROM workstations);
  counted bigint := coalesce((SELECT value::bigint FROM meta WHERE key = 'counted'), 0);
  share float8 := least(100, 100.0 * 50000 / greatest(here, 1));
BEGIN
  PERFORM gin_clean_pending_list(index::regclass)
  FROM unnest('{{texts_words,heads_words,conversations_words}}'::text[]) index;
  IF here BETWEEN counted * 0.9 AND counted * 1.1 AND (here > 0) = (counted > 0) THEN RETURN; END IF;
  IF NOT pg_try_advisory_xact_lock(hashtext('sesame words {schema}')) THEN RETURN; END IF;
  DELETE FROM lexemes;
  -- Of a large index a sample of about 50,000 chunks; what occurs once there is left out.
  INSERT INTO lexemes SELECT word, ceil(ndoc * 100 / share) FROM ts_stat(
    'SELECT words FROM {schema}.texts'
    || CASE WHEN share < 100 THEN format(' TABLESAMPLE SYSTEM (%s)', share) ELSE '' END
  ) WHERE ndoc > 1 OR share >= 100;
  INSERT INTO meta VALUES ('counted', here::text) ON CONFLICT (key) DO UPDATE SET value = excluded.value;
END $f$;

ALTER TABLE workstations ENABLE ROW LEVEL SECURITY;
CREATE POLICY reading ON workstations FOR SELECT USING (true);
CREATE POLICY inserting ON workstations FOR INSERT WITH CHECK (role = session_user);
CREATE POLICY updating ON workstations FOR UPDATE USING (role = session_user) WITH CHECK (role = session_user);
CREATE POLICY deleting ON workstations FOR DELETE USING (role = session_user)
"""
#: A condition on what may be read would keep PostgreSQL from using the word indexes: `@@` is not leakproof.
POLICIES = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
CREATE POLICY reading ON {table} FOR SELECT USING (true);
CREATE POLICY inserting ON {table} FOR INSERT WITH CHECK (workstation = ANY ((SELECT my_workstations())::int[]));
CREATE POLICY updating ON {table} FOR UPDATE USING (workstation = ANY ((SELECT my_workstations())::int[]));
CREATE POLICY deleting ON {table} FOR DELETE USING (workstation = ANY ((SELECT my_workstations())::int[]))
"""


#: Step n leads to schema version n; never edit one that was released, add another.  No schema is older than the first.
MIGRATIONS: tuple[Migration, ...] = (
    Migration("first schema", ""),
    Migration("what was written about a session", "ALTER TABLE sessions ADD COLUMN notes text"),
)


def definition(schema: str) -> str:
    """Return the statements that make an empty schema the present one."""
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    made = [BEFORE]
    for table in METADATA.sorted_tables:
        made.append(str(CreateTable(table).compile(dialect=dialect)))
        made += [
            str(CreateIndex(index).compile(dialect=dialect))
            for index in sorted(table.indexes, key=lambda index: str(index.name))
        ]
    made.append(AFTER.format(schema=schema))
    made += [POLICIES.format(table=table) for table in OWNED]
    return ";\n".join(made)
