"""A hostile teammate, with exactly the guide's grants, changes nothing but his own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.attempts import Catalogue, attempts, audit

from .team import Team

pytestmark = pytest.mark.once

# -- from the catalogue -----------------------------------------------------------------------------------


def keep(log: list[str], name: str) -> None:
    """Write the attempts and their results where they are asked for."""
    place = os.environ.get("ISOLATION_ATTEMPTS")
    if place:
        (Path(place) / f"{name}.txt").write_text("".join(line + "\n" for line in log))


def test_every_table_has_rows_of_both_to_try_it_with(team: Team) -> None:
    catalogue = Catalogue.of(team.owner)
    for table, columns in catalogue.tables.items():
        for name in ("ann", "ben"):
            if "workstation" in columns:
                sql = f"SELECT count(*) FROM sesame.{table} WHERE workstation = %s"
                row = team.owner.execute(sql, (team.station(name),)).fetchone()  # type: ignore[call-overload]
                assert row
                assert row[0], f"no row of {name} in {table}"


def test_a_writer_changes_nothing_of_another_s_by_any_table_key_function_or_sequence(team: Team) -> None:
    trial = team.trial(team.his, "ben")
    assert trial.run(attempts(Catalogue.of(team.owner), trial.own, trial.hers)) == []
    assert len(trial.log) > 400
    keep(trial.log, "writer")
    # Everyone goes on.
    team.ann.write("s4", "the lighthouse again")
    assert "1 added" in team.ann.ok("index")
    assert team.cat.found("lighthouse", "workstation:ann")


def test_a_writer_with_the_grants_of_the_guide_before_changes_no_row_of_another_s(team: Team) -> None:
    catalogue = Catalogue.of(team.owner)
    written = [t for t, columns in catalogue.tables.items() if "workstation" in columns or t == "workstations"]
    for table in written:
        team.owner.execute(f"GRANT INSERT, UPDATE, DELETE ON sesame.{table} TO {team.his.info.user}")  # type: ignore[call-overload]
    team.owner.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA sesame TO {team.his.info.user}")  # type: ignore[call-overload]
    trial = team.trial(team.his, "ben")
    # UPDATE of a table allows LOCK TABLE, which is why the guide has changed.
    rows = (each for each in attempts(catalogue, trial.own, trial.hers) if not each.name.startswith("lock "))
    assert trial.run(rows) == []
    keep(trial.log, "writer-of-before")


def test_a_row_below_another_s_is_refused_before_a_key_has_it(team: Team) -> None:
    # A foreign key is looked at when the statement ends: until then others would wait for the row's unique keys.
    catalogue = Catalogue.of(team.owner)
    below = [
        each
        for each in attempts(catalogue, team.station("ben"), team.station("ann"))
        if each.name.startswith("insert a row like ") or each.name in ("put own rows of heads below her sessions",)
    ]
    assert len(below) > 14
    told = {each.name: team.refused(each.sql) for each in below}
    free = f"(SELECT max(n) FROM sesame.reserve({team.station('ben')}, false) AS n)"
    told["a session with a number of his own"] = team.refused(
        next(each.sql for each in below if each.name == "insert a row like own one into sessions below her files")
        .replace("id + 1000000", free)
    )  # fmt: skip
    refused = ("row-level security policy", "is not one of workstation", "is not reserved")
    assert {name: why for name, why in told.items() if not any(part in why for part in refused)} == {}
    assert "row-level security policy" in told["a session with a number of his own"]


def test_a_reader_changes_nothing_by_any_table_key_function_or_sequence(team: Team) -> None:
    trial = team.trial(team.reader)
    assert trial.run(attempts(Catalogue.of(team.owner), trial.own, trial.hers)) == []
    keep(trial.log, "reader")


def test_the_catalogue_has_policies_keys_and_search_paths_everywhere(team: Team) -> None:
    assert audit(team.owner) == []


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("CREATE TABLE sesame.extra (workstation int, x text)", "table extra has rows of workstations and no policies"),
        (
            "CREATE TABLE sesame.extra (workstation int, x text); ALTER TABLE sesame.extra ENABLE ROW LEVEL SECURITY; "
            "CREATE POLICY reading ON sesame.extra FOR SELECT USING (true)",
            "table extra has rows of workstations and no policies",
        ),
        (
            "CREATE TABLE sesame.extra (workstation int, session bigint REFERENCES sesame.sessions (id))",
            "the key ['session'] of table extra does not contain the workstation",
        ),
        ("CREATE TABLE sesame.extra (x text); GRANT UPDATE ON sesame.extra TO PUBLIC", "belongs to no workstation"),
        (
            "CREATE FUNCTION sesame.extra() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
            "function extra runs as its owner",
        ),
    ],
)
def test_a_table_or_function_that_is_added_without_its_guards_is_reported(team: Team, sql: str, told: str) -> None:
    team.owner.execute(sql)  # type: ignore[call-overload]
    assert any(told in line for line in audit(team.owner))


def test_the_attempts_get_through_a_table_that_is_added_without_a_policy(team: Team) -> None:
    team.owner.execute("CREATE TABLE sesame.extra (workstation int, session bigint REFERENCES sesame.sessions (id))")
    for name in ("ann", "ben"):
        values = (team.station(name), team.session(name))
        team.owner.execute("INSERT INTO sesame.extra VALUES (%s, %s)", values)
    team.owner.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON sesame.extra TO PUBLIC")
    trial = team.trial(team.his, "ben")
    catalogue = Catalogue.of(team.owner)
    catalogue.tables = {"extra": catalogue.tables["extra"]}
    failed = {line.split(":")[0] for line in trial.run(attempts(catalogue, trial.own, trial.hers))}
    assert failed >= {
        "update extra.session of hers",
        "delete hers from extra",
        "put own rows of extra below her sessions",
        "lock extra in access exclusive mode",
        "insert a row like own one into extra below her sessions",
        "move own rows of extra to hers",
    }
