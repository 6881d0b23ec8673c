"""The step from schema 5 to 6, which adds `guards` to an index with rows in it.

It looks at no row of a chunk: keys and checks hold for new rows at once, and `upgrading.validate` looks at the others
after the step.  What a role has made up in small tables is corrected first: totals, owners, hosts, keys, times, broken
notes.
"""

from __future__ import annotations

from . import checks, guards


def upgrade(schema: str) -> list[str]:
    """Return the statements of the migration to schema 6: short ones, which look at no row of a chunk."""
    keys = [
        "ALTER TABLE workstations ADD COLUMN reserved int8multirange NOT NULL DEFAULT '{}'",
        "ALTER TABLE sessions ADD CONSTRAINT sessions_id_workstation_key UNIQUE (id, workstation)",
        "ALTER TABLE files ADD CONSTRAINT files_id_workstation_key UNIQUE (id, workstation)",
        "ALTER TABLE sessions DROP CONSTRAINT sessions_file_fkey",
        _key("sessions", "file", "files"),
    ]
    for table in guards.OF_SESSION:
        keys.append(
            f"ALTER TABLE {table} DROP CONSTRAINT {table}_session_fkey, DROP CONSTRAINT {table}_workstation_fkey"
        )
        keys.append(_key(table, "session", "sessions"))
    return [*REPAIRS, *keys, *guards.statements(schema), "SELECT recount(id) FROM workstations", ADMISSIONS]


def _key(table: str, column: str, parent: str) -> str:
    return (
        f"ALTER TABLE {table} ADD CONSTRAINT {table}_{column}_workstation_fkey FOREIGN KEY ({column}, workstation) "
        f"REFERENCES {parent} (id, workstation) ON DELETE CASCADE NOT VALID"
    )


#: Roles that row-level security binds, for the repairs.
_BOUND = "pg_roles AS r WHERE r.rolname = w.role AND NOT pg_has_role(r.oid, current_user, 'MEMBER')"
#: What the migration corrects in small tables: totals, names and times that a role made up.
REPAIRS = (
    # They are counted at the end.
    "UPDATE workstations SET chunks = 0, chunk_tokens = 0, sessions = 0, head_tokens = 0, conversation_tokens = 0",
    "UPDATE workstations SET last_sync = NULL WHERE NOT (" + checks.TIME.format("last_sync") + ")",
    f"UPDATE workstations AS w SET owner = w.role FROM {_BOUND} AND w.owner <> w.role",
    "UPDATE sessions SET modified = least(greatest(modified, '1970-01-01 00:00:00+00'), '9999-12-31 00:00:00+00') "
    "WHERE NOT (" + checks.TIME.format("modified") + ")",
    "UPDATE sessions SET created = NULL WHERE NOT (" + checks.TIME.format("created") + ")",
    f"UPDATE sessions AS s SET host = w.host, owner = w.owner FROM workstations AS w, {_BOUND} "
    "AND s.workstation = w.id AND (s.host, s.owner) IS DISTINCT FROM (w.host, w.owner)",
    "UPDATE sessions AS s SET key = concat_ws(':', w.name, split_part(s.key, ':', 2), s.session_id) "
    f"FROM workstations AS w, {_BOUND} AND s.workstation = w.id AND NOT starts_with(s.key, w.name || ':')",
    "UPDATE sessions SET chunk_count = least(greatest(chunk_count, 0), 4194304), "
    "conversation_count = least(greatest(conversation_count, 0), 4194304), "
    f"chunk_tokens = least(greatest(chunk_tokens, 0), {checks.MOST}), head_tokens = greatest(head_tokens, 0), "
    "conversation_tokens = greatest(conversation_tokens, 0), message_count = greatest(message_count, 0), "
    "exchange_count = greatest(exchange_count, 0) "
    f"WHERE NOT ({checks.CHECKS['sessions']['counts']})",
    # One that is not JSON stops a condition on all of them.
    f"""DO $$
    DECLARE one record; is_valid boolean;
    BEGIN
      FOR one IN SELECT id, notes FROM sessions WHERE notes IS NOT NULL LOOP
        BEGIN
          is_valid := (SELECT {checks.CHECKS["sessions"]["notes"]} FROM (SELECT one.notes) AS s (notes));
        EXCEPTION WHEN data_exception THEN
          is_valid := false;
        END;
        IF is_valid IS NOT TRUE THEN
          UPDATE sessions SET notes = NULL WHERE id = one.id;
        END IF;
      END LOOP;
    END $$""",
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
    **{
        table: f"DELETE FROM {table} AS t USING sessions AS s WHERE s.id = t.session AND s.workstation <> t.workstation"
        for table in guards.OF_SESSION
    },
    "sessions": "DELETE FROM sessions AS t USING files AS f WHERE f.id = t.file AND f.workstation <> t.workstation",
}
