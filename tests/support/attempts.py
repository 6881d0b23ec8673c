"""What a login may not do to an index in PostgreSQL, from the database's own catalogue.

`attempts` makes a statement for each table, column, key, function and sequence that there is; `Trial` runs one as a
login and says what it changed of what is not the login's.  A table that is added is tried without a word about it here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg

#: A value that differs from what a column has, by type.
OTHER = {
    "bigint": "{column} + 1000000",
    "integer": "{column} + 1000",
    "smallint": "({column} + 1) % 4",
    "text": "{column} || 'x'",
    "boolean": "NOT {column}",
    "timestamp with time zone": "coalesce({column}, now()) + interval '1 day'",
    "jsonb": "'{{\"x\": 1}}'::jsonb",
    "tsvector": "'poison'::tsvector",
    "bytea": "'\\x00'::bytea",
    "bigint[]": "'{{1}}'::bigint[]",
    "integer[]": "'{{1}}'::integer[]",
    "text[]": "'{{x}}'::text[]",
    "int8multirange": "'{{[1,1000000)}}'::int8multirange",
}
#: Modes of LOCK TABLE that keep others from reading or from writing.
STRONG = ("SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A statement that must change nothing of anyone else."""

    name: str
    sql: str
    #: It must fail, too: what it would do leaves no trace in the rows.
    must_fail: bool = False


@dataclass
class Catalogue:
    """The tables, keys, functions and sequences of a schema."""

    #: Columns of each table: name and type.
    tables: dict[str, dict[str, str]]
    #: Of each table: columns, the parent, the parent's columns.
    keys: dict[str, list[tuple[list[str], str, list[str]]]]
    #: Each function as "name(types)", and whether it runs as its owner.
    functions: list[tuple[str, str, bool]]
    sequences: list[str]
    primary: dict[str, list[str]]

    @classmethod
    def of(cls, db: psycopg.Connection[Any]) -> Catalogue:
        """Read the catalogue of the schema `sesame`."""
        tables: dict[str, dict[str, str]] = {}
        sql = (
            "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_class AS c "
            "JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
            "WHERE c.relnamespace = 'sesame'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f') "
            "ORDER BY c.relname, a.attnum"
        )
        for table, column, kind in db.execute(sql).fetchall():
            tables.setdefault(table, {})[column] = kind
        named = "(SELECT array_agg(attname::text ORDER BY n) FROM unnest({0}) WITH ORDINALITY AS k (num, n) JOIN "
        named += "pg_attribute ON attnum = num AND attrelid = {1})"
        keys: dict[str, list[tuple[list[str], str, list[str]]]] = {}
        sql = (
            f"SELECT r.relname, p.relname, {named.format('conkey', 'conrelid')}, "
            f"{named.format('confkey', 'confrelid')} "
            "FROM pg_constraint JOIN pg_class AS r ON r.oid = conrelid JOIN pg_class AS p ON p.oid = confrelid "
            "WHERE contype = 'f' AND connamespace = 'sesame'::regnamespace"
        )
        for table, parent, columns, referenced in db.execute(sql).fetchall():
            keys.setdefault(table, []).append((columns, parent, referenced))
        sql = (
            f"SELECT r.relname, {named.format('conkey', 'conrelid')} FROM pg_constraint "
            "JOIN pg_class AS r ON r.oid = conrelid WHERE contype = 'p' AND connamespace = 'sesame'::regnamespace"
        )
        primary = dict(db.execute(sql).fetchall())
        functions = db.execute(
            "SELECT proname, pg_get_function_identity_arguments(oid), prosecdef FROM pg_proc "
            "WHERE pronamespace = 'sesame'::regnamespace AND prokind = 'f' ORDER BY 1"
        ).fetchall()
        sequences = [
            name
            for (name,) in db.execute(
                "SELECT relname FROM pg_class WHERE relnamespace = 'sesame'::regnamespace AND relkind = 'S' ORDER BY 1"
            ).fetchall()
        ]
        return cls(tables, keys, functions, sequences, primary)


@dataclass
class Trial:
    """Attempts of one login against what another one, and nobody, owns."""

    owner: psycopg.Connection[Any]
    #: The connection that tries.
    login: psycopg.Connection[Any]
    #: Numbers of the workstations of who tries (0 for none), and of the other one.
    own: int
    hers: int
    log: list[str] = field(default_factory=list)

    def state(self) -> dict[str, str]:
        """Return a sum of each table's rows that are not the trying login's, and of who may do what with it."""
        found = {}
        for table, columns in Catalogue.of(self.owner).tables.items():
            place = "workstation" if "workstation" in columns else "id" if table == "workstations" else None
            where = f" WHERE {place} IS DISTINCT FROM {self.own}" if place else ""
            sql = f"SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM sesame.{table} AS t{where}"
            found[table] = str(self.owner.execute(sql).fetchone())
        layout = (
            "SELECT md5(string_agg(format('%s %s %s %s', relname, relacl, relrowsecurity, relowner), '|' "
            "ORDER BY relname)) FROM pg_class WHERE relnamespace = 'sesame'::regnamespace"
        )
        found["(layout)"] = str(self.owner.execute(layout).fetchone())
        return found

    def below_others(self, catalogue: Catalogue) -> list[str]:
        """Return the keys by which a row is below another workstation's."""
        wrong = []
        for table, keys in catalogue.keys.items():
            for columns, parent, referenced in keys:
                if "workstation" not in catalogue.tables[table]:
                    continue
                theirs = "id" if parent == "workstations" else "workstation"
                if theirs not in catalogue.tables[parent]:
                    continue
                joined = " AND ".join(f"t.{c} = p.{r}" for c, r in zip(columns, referenced, strict=True))
                sql = f"SELECT count(*) FROM sesame.{table} AS t JOIN sesame.{parent} AS p ON {joined} "
                row = self.owner.execute(sql + f"WHERE p.{theirs} <> t.workstation").fetchone()
                if row and row[0]:
                    wrong.append(f"{table} has {row[0]} rows below another's {parent}")
        posing = (
            "SELECT count(*) FROM sesame.sessions AS s JOIN sesame.workstations AS w ON w.id = s.workstation "
            "WHERE NOT starts_with(s.key, w.name || ':') OR s.owner <> w.owner OR s.host <> w.host"
        )
        row = self.owner.execute(posing).fetchone()
        if row and row[0]:
            wrong.append(f"{row[0]} sessions pose as another's")
        return wrong

    def run(self, tries: Iterator[Attempt]) -> list[str]:
        """Run attempts; return those that did what they must not."""
        failures = []
        before = self.state()
        for attempt in tries:
            told = "done without effect"
            self.login.execute("BEGIN")
            try:
                rows = self.login.execute(attempt.sql).rowcount  # type: ignore[call-overload]
                self.login.execute("COMMIT")
                is_refused = False
                told = f"no effect on others ({max(rows, 0)} own rows)"
            except psycopg.Error as error:
                self.login.execute("ROLLBACK")
                is_refused = True
                told = f"refused: {str(error).splitlines()[0][:110]}"
            after = self.state()
            changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
            wrong = self.below_others(Catalogue.of(self.owner))
            if changed or wrong or (attempt.must_fail and not is_refused):
                told = f"BROKEN: changed {changed} {wrong}" if changed or wrong else "BROKEN: was not refused"
                failures.append(f"{attempt.name}: {told}: {attempt.sql}")
                before = after
            self.log.append(f"{attempt.name}: {told}")
        return failures


def attempts(catalogue: Catalogue, own: int, hers: int) -> Iterator[Attempt]:
    """Yield the attempts of a login with a workstation (0 for none) against another's."""
    for table, columns in catalogue.tables.items():
        yield from _on_rows(catalogue, table, columns, own, hers)
        yield from _on_table(table)
    for sequence in catalogue.sequences:
        yield Attempt(f"setval {sequence}", f"SELECT setval('sesame.{sequence}', 1)", must_fail=True)
        yield Attempt(f"restart {sequence}", f"ALTER SEQUENCE sesame.{sequence} RESTART", must_fail=True)
        yield Attempt(f"drop {sequence}", f"DROP SEQUENCE sesame.{sequence} CASCADE", must_fail=True)
    yield from _of_functions(catalogue, hers)
    yield Attempt("create in the schema", "CREATE TABLE sesame.mine (x int)", must_fail=True)
    yield Attempt("drop the schema", "DROP SCHEMA sesame CASCADE", must_fail=True)
    yield Attempt("become the owner", "DO $$ BEGIN EXECUTE format('SET ROLE %I', (SELECT nspowner::regrole::text "
                  "FROM pg_namespace WHERE nspname = 'sesame')); END $$", must_fail=True)  # fmt: skip


def _on_rows(catalogue: Catalogue, table: str, columns: dict[str, str], own: int, hers: int) -> Iterator[Attempt]:
    place = "workstation" if "workstation" in columns else "id" if table == "workstations" else None
    theirs, mine = (f"{place} = {hers}", f"{place} = {own}") if place else ("true", "false")
    for column, kind in columns.items():
        value = OTHER.get(kind, "{column}").format(column=column)
        yield Attempt(
            f"update {table}.{column} of hers", f"UPDATE sesame.{table} SET {column} = {value} WHERE {theirs}"
        )
    yield Attempt(f"delete hers from {table}", f"DELETE FROM sesame.{table} WHERE {theirs}")
    yield Attempt(f"lock rows of hers in {table}", f"SELECT FROM sesame.{table} WHERE {theirs} FOR UPDATE")
    yield Attempt(f"truncate {table}", f"TRUNCATE sesame.{table} CASCADE", must_fail=True)
    names = ", ".join(columns)
    yield Attempt(
        f"insert a copy of hers into {table}",
        f"INSERT INTO sesame.{table} ({names}) OVERRIDING SYSTEM VALUE SELECT {names} FROM sesame.{table} "
        f"WHERE {theirs} LIMIT 1 ON CONFLICT DO NOTHING",
    )
    if not place:
        yield Attempt(f"insert into {table}", f"INSERT INTO sesame.{table} SELECT * FROM sesame.{table} "
                      "ON CONFLICT DO NOTHING")  # fmt: skip
        return
    yield Attempt(f"move own rows of {table} to hers", f"UPDATE sesame.{table} SET {place} = {hers} WHERE {mine}")
    if table == "workstations":
        yield from _as_her(own, hers)
        return
    moved = f"(SELECT {hers})"
    chosen = ", ".join(moved if c == "workstation" else c for c in columns)
    yield Attempt(
        f"insert own rows of {table} as hers",
        f"INSERT INTO sesame.{table} ({names}) OVERRIDING SYSTEM VALUE SELECT {chosen} FROM sesame.{table} "
        f"WHERE {mine} LIMIT 1",
    )
    for pair, parent, referenced in catalogue.keys.get(table, []):
        if parent == "workstations":
            continue
        of_hers = dict(zip(pair, referenced, strict=True))
        wanted = [c for c in pair if c != "workstation"]
        if not wanted:
            continue
        row = f"FROM sesame.{parent} WHERE workstation = {hers} LIMIT 1"
        given = ", ".join(f"{c} = (SELECT {of_hers[c]} {row})" for c in wanted)
        yield Attempt(f"put own rows of {table} below her {parent}",
                      f"UPDATE sesame.{table} SET {given} WHERE {mine}")  # fmt: skip
        for label, source in (("own", mine), ("her", theirs)):
            # Another place in the same session, so that no key of the table itself is in the way.
            parts = []
            for name, kind in columns.items():
                if name in of_hers and name != "workstation":
                    parts.append(f"(SELECT {of_hers[name]} {row})")
                elif name == "workstation":
                    parts.append(str(own))
                elif name in catalogue.primary.get(table, []) or name in ("id", "session_id"):
                    parts.append(OTHER.get(kind, "{column}").format(column=name))
                else:
                    parts.append(name)
            yield Attempt(
                f"insert a row like {label} one into {table} below her {parent}",
                f"INSERT INTO sesame.{table} ({names}) OVERRIDING SYSTEM VALUE SELECT {', '.join(parts)} "
                f"FROM sesame.{table} WHERE {source} LIMIT 1",
            )
    if table == "sessions":
        for column in ("key", "owner", "host"):
            value = f"(SELECT {column} FROM sesame.sessions WHERE workstation = {hers} LIMIT 1)"
            yield Attempt(f"take her {column}", f"UPDATE sesame.sessions SET {column} = {value} WHERE {mine}")
        numbers = {
            "far ahead": "9223372036854775807",
            "next": "(SELECT max(id) + 1 FROM sesame.sessions)",
            "of hers": f"(SELECT max(id) FROM sesame.sessions WHERE workstation = {hers})",
            "negative": "-1",
        }
        for label, number in numbers.items():
            sql = f"UPDATE sesame.sessions SET id = {number} WHERE {mine} AND id <> {number}"
            yield Attempt(f"give a session a number {label}", sql)


def _as_her(own: int, hers: int) -> Iterator[Attempt]:
    """Yield what would make a workstation look like hers."""
    for column in ("name", "owner", "host", "role"):
        value = f"(SELECT {column} FROM sesame.workstations WHERE id = {hers})"
        yield Attempt(
            f"take her workstation's {column}", f"UPDATE sesame.workstations SET {column} = {value} WHERE id = {own}"
        )
    sql = (
        "INSERT INTO sesame.workstations (name, installation, host, owner) "
        f"SELECT name || ':x', '', host, owner FROM sesame.workstations WHERE id = {hers}"
    )
    yield Attempt("a workstation named below hers", sql, must_fail=True)
    yield Attempt("rename the own workstation", f"UPDATE sesame.workstations SET name = 'other' WHERE id = {own}")


def _on_table(table: str) -> Iterator[Attempt]:
    for mode in STRONG:
        yield Attempt(
            f"lock {table} in {mode.lower()} mode", f"LOCK TABLE sesame.{table} IN {mode} MODE NOWAIT", must_fail=True
        )
    yield Attempt(f"lock {table} through a view", f"CREATE TEMP VIEW seen AS SELECT * FROM sesame.{table}; "
                  "LOCK TABLE seen IN ACCESS EXCLUSIVE MODE NOWAIT", must_fail=True)  # fmt: skip
    for what, sql in {
        "let rows of {} out": "ALTER TABLE sesame.{} DISABLE ROW LEVEL SECURITY",
        "add a policy to {}": "CREATE POLICY mine ON sesame.{} USING (true)",
        "add a column to {}": "ALTER TABLE sesame.{} ADD COLUMN mine int",
        "add a trigger to {}": "CREATE TRIGGER mine BEFORE INSERT ON sesame.{} "
        "EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "add a rule to {}": "CREATE RULE mine AS ON INSERT TO sesame.{} DO INSTEAD NOTHING",
        "index {}": "CREATE INDEX ON sesame.{} ((1))",
        "refer to {}": "CREATE TEMP TABLE below (LIKE sesame.{}); ALTER TABLE below ADD CHECK (true); "
        "CREATE TABLE public.mine (x int REFERENCES sesame.{})",
        "grant {}": "GRANT ALL ON sesame.{} TO PUBLIC",
        "own {}": "ALTER TABLE sesame.{} OWNER TO CURRENT_USER",
        "drop {}": "DROP TABLE sesame.{} CASCADE",
    }.items():
        # A GRANT without the right to grant is a warning; what it leaves is looked at.
        yield Attempt(what.format(table), sql.replace("{}", table), must_fail=what[0] != "g")


def _of_functions(catalogue: Catalogue, hers: int) -> Iterator[Attempt]:
    """Yield calls of every function with what is hers, with nothing, and with NULL."""
    session, file = (f"(SELECT max(id) FROM sesame.{t} WHERE workstation = {hers})" for t in ("sessions", "files"))
    of_hers = {
        "bigint": session,
        "integer": str(hers),
        "boolean": "true",
        "bigint[]": f"ARRAY[{session}, {file}]",
        "integer[]": "ARRAY[0, 0]",
        "name": "'public'",
    }
    of_file = {"bigint[]": f"ARRAY[{file}]", "boolean": "false"}
    for name, arguments, _ in catalogue.functions:
        types = [part.split(" ", 1)[1] for part in arguments.split(", ")] if arguments else []
        for label, values in (("hers", of_hers), ("her file", of_file), ("NULL", {})):
            given = ", ".join(f"{values.get(kind, 'NULL')}::{kind}" for kind in types)
            yield Attempt(f"call {name} with {label}", f"SELECT sesame.{name}({given})")
        yield Attempt(
            f"replace {name}", f"ALTER FUNCTION sesame.{name}({', '.join(types)}) SECURITY INVOKER", must_fail=True
        )


def audit(db: psycopg.Connection[Any]) -> list[str]:
    """Return what the catalogue lacks: policies, keys with the workstation, search paths of functions."""
    wrong = []
    catalogue = Catalogue.of(db)
    for table, columns in catalogue.tables.items():
        sql = (
            "SELECT relrowsecurity, ARRAY(SELECT polcmd::text FROM pg_policy WHERE polrelid = c.oid) "
            "FROM pg_class AS c WHERE oid = %s::regclass"
        )
        is_secured, policies = db.execute(sql, (f"sesame.{table}",)).fetchone() or (False, [])
        if "workstation" in columns or table == "workstations":
            if not is_secured or not {"r", "a", "w", "d"} <= set(policies):
                wrong.append(f"table {table} has rows of workstations and no policies")
            for pair, parent, _ in catalogue.keys.get(table, []):
                if parent != "workstations" and "workstation" not in pair:
                    wrong.append(f"the key {pair} of table {table} does not contain the workstation")
        else:
            sql = (
                "SELECT DISTINCT grantee::regrole::text FROM pg_class AS c, aclexplode(relacl) "
                "WHERE c.oid = %s::regclass AND grantee <> relowner AND privilege_type <> 'SELECT'"
            )
            for (who,) in db.execute(sql, (f"sesame.{table}",)).fetchall():
                wrong.append(f"table {table}, which belongs to no workstation, can be written by {who}")
    sql = (
        "SELECT proname FROM pg_proc WHERE pronamespace = 'sesame'::regnamespace AND prosecdef "
        "AND NOT coalesce(proconfig @> ARRAY['search_path=sesame, pg_catalog, pg_temp'], false)"
    )
    wrong += [f"function {name} runs as its owner with any search path" for (name,) in db.execute(sql).fetchall()]
    return wrong
