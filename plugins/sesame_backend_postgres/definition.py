"""The statements that make the schema: its tables (`tables`), and what they cannot express."""

from __future__ import annotations

from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from . import guards, step_7
from .tables import METADATA

#: Tables whose rows a workstation owns through their column `workstation`.
OWNED = (
    "files",
    "sessions",
    "chunks",
    "texts",
    "heads",
    "conversations",
    "vocabularies",
    "commands",
    "paths",
    "tombstones",
)

#: The part of the schema that `METADATA` cannot express.  `{schema}` is the schema's name.
BEFORE = """
CREATE TEXT SEARCH DICTIONARY porter (TEMPLATE = pg_catalog.snowball, LANGUAGE = porter);
CREATE TEXT SEARCH CONFIGURATION code (PARSER = pg_catalog."default");
ALTER TEXT SEARCH CONFIGURATION code ADD MAPPING FOR asciiword, word, numword WITH porter;
ALTER TEXT SEARCH CONFIGURATION code ADD MAPPING FOR int, uint, float, sfloat, version, file, host, url, url_path,
  email, hword, asciihword, numhword, hword_part, hword_asciipart, hword_numpart WITH pg_catalog.simple
"""
AFTER = """
-- Concatenates word lists; no phrase spans two of them.
CREATE FUNCTION beside(one tsvector, other tsvector) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
  $$ SELECT CASE WHEN one = '' THEN other WHEN other = '' THEN one
     ELSE ts_delete(one || '''|'':1'::tsvector || other, '|') END $$;
CREATE AGGREGATE said (tsvector) (SFUNC = tsvector_concat, STYPE = tsvector, INITCOND = '');

-- Never compressed, which gains nothing, and never sampled, which costs seconds: no plan depends on it.
ALTER TABLE vocabularies ALTER words SET STORAGE EXTERNAL, ALTER words SET STATISTICS 0;
-- The words of a session's chunks from a position on, in pieces: a list has at most a megabyte, one chunk up to 550 KB.
CREATE FUNCTION vocabulary(of bigint, since int) RETURNS TABLE (piece int, words tsvector) LANGUAGE sql STABLE AS $$
  SELECT piece, said(words) FROM (
    SELECT ((sum(size) OVER (ORDER BY seq) - size) / 400000)::int AS piece, strip(words) AS words FROM (
      SELECT t.seq, t.words, pg_column_size(
        CASE WHEN pg_column_size(t.words) > 8000 THEN setweight(t.words, 'D', '{{}}') ELSE t.words END) AS size
      FROM texts AS t WHERE t.session = of AND t.seq >= since
    ) AS t
  ) AS t GROUP BY piece
$$;

CREATE FUNCTION my_workstations() RETURNS int[] LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = {schema}, pg_catalog, pg_temp AS
  $$ SELECT coalesce(array_agg(id), '{{}}') FROM workstations WHERE role = session_user $$;

ALTER TABLE workstations ENABLE ROW LEVEL SECURITY;
CREATE POLICY reading ON workstations FOR SELECT USING (true);
CREATE POLICY inserting ON workstations FOR INSERT WITH CHECK (role = session_user);
CREATE POLICY updating ON workstations FOR UPDATE USING (role = session_user) WITH CHECK (role = session_user);
CREATE POLICY deleting ON workstations FOR DELETE USING (role = session_user)
"""
#: A condition for reading would keep PostgreSQL from using the word indexes: `@@` is not leakproof.
POLICIES = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
CREATE POLICY reading ON {table} FOR SELECT USING (true);
CREATE POLICY inserting ON {table} FOR INSERT WITH CHECK (workstation = ANY ((SELECT my_workstations())::int[]));
CREATE POLICY updating ON {table} FOR UPDATE USING (workstation = ANY ((SELECT my_workstations())::int[]));
CREATE POLICY deleting ON {table} FOR DELETE USING (workstation = ANY ((SELECT my_workstations())::int[]))
"""


def definition(schema: str) -> str:
    """Return the statements that create the present schema in an empty one."""
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    made = [BEFORE]
    for table in METADATA.sorted_tables:
        made.append(str(CreateTable(table).compile(dialect=dialect)))
        made += [
            str(CreateIndex(index).compile(dialect=dialect))
            for index in sorted(table.indexes, key=lambda index: str(index.name))
        ]
    made.append(AFTER.format(schema=schema))
    made += guards.statements(schema)
    made += [POLICIES.format(table=table) for table in OWNED]
    made += step_7.statements()
    return ";\n".join(made)
