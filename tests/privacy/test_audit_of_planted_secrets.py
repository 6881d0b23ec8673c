"""Secrets of every kind in every place of a session: none is in any column of the index, on either backend."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sesame_core.config import paths

from ..support.planted import claude_records, made, plain, secrets, traces
from ..support.transcripts import Claude, Pi, append, write

Dump = Callable[[], str]
PLANTED = secrets()


def sqlite_dump() -> str:
    """Every value of every table, the words of the full-text tables, and the bytes of the file."""
    (file,) = paths.data_dir().glob("index*.sqlite")
    told: list[str] = []
    with closing(sqlite3.connect(file)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            told += [str(value) for row in db.execute(f"SELECT * FROM {table}") for value in row]
        for table in [table for table in tables if table.endswith("_fts")]:
            db.execute(f"CREATE VIRTUAL TABLE temp.v_{table} USING fts5vocab (main, {table}, row)")
            told += [term for (term,) in db.execute(f"SELECT term FROM temp.v_{table}")]
    files = paths.data_dir().glob("index*.sqlite*")
    return "\n".join([*told, *(path.read_bytes().decode("latin-1") for path in files)]).lower()


def postgres_dump(dsn: str) -> str:
    """Every row of every table of the schema, as text."""
    import psycopg

    with psycopg.connect(dsn) as db:
        tables = [name for (name,) in db.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'sesame'")]
        assert len(tables) > 10
        rows = [row for name in tables for (row,) in db.execute(f"SELECT t::text FROM sesame.{name} AS t")]  # type: ignore[arg-type]
    return "\n".join(rows).lower()


def configure(**settings: Any) -> None:
    """Write config.jsonc."""
    file = paths.config_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings))


@pytest.fixture(params=["sqlite", "postgres"])
def dump(request: pytest.FixtureRequest, home: Path) -> Iterator[Dump]:
    """A backend that takes secrets out: SQLite because it was told to, PostgreSQL because others read it."""
    if request.param == "sqlite":
        configure(redact=True)
        yield sqlite_dump
        return
    dsn = request.getfixturevalue("database")
    configure(backend={"name": "postgres", "options": {"dsn": dsn}})
    yield lambda: postgres_dump(dsn)


def leaked(dump: str, planted: dict[str, str]) -> set[str]:
    """Return the kinds of which something is in a dump."""
    return {kind for kind, text in planted.items() if any(trace in dump for trace in traces(text))}


def test_no_secret_in_any_column_when_indexed_appended_replaced_and_rebuilt(cli: Any, dump: Dump) -> None:
    session = Claude(cwd=f"/home/bo/{plain(PLANTED['aws-access-key'])}")
    records = claude_records([plain(text) for text in PLANTED.values()], session)
    write(session.path, *records)
    pi = Pi("s-" + plain(PLANTED["npm-token"]), cwd="/home/bo/" + plain(PLANTED["github-token"]))
    write(pi.path, pi.header(), pi.user(f"use {plain(PLANTED['openai-key'])}"), pi.call("bash", command="ls"))
    indexed = cli("index", "--json").json
    assert (indexed["added"], indexed["errors"]) == (2, [])
    held = dump()
    assert leaked(held, PLANTED) == set()
    assert {kind for kind in PLANTED if f"[redacted:{kind}:" in held} == set(PLANTED)

    second = secrets()
    append(session.path, *claude_records([plain(text) for text in second.values()], session))
    append(pi.path, pi.result(plain(second["stripe-key"])), pi.answer(f"got {plain(second['age-key'])}"))
    assert cli("index", "--json").json["errors"] == []
    assert leaked(dump(), PLANTED | second) == set()
    assert cli("search", "got", "--json").json["resultCount"] > 0

    third = secrets()
    write(session.path, *claude_records([plain(text) for text in third.values()], Claude(cwd=session.cwd)))
    assert cli("index", "--json").json["updated"] == 1
    assert leaked(dump(), PLANTED | second | third) == set()

    assert cli("index", "--full", "--json").json["errors"] == []
    held = dump()
    assert leaked(held, PLANTED | second | third) == set()
    assert "[redacted:github-token:" in held
    audit = cli("audit")
    assert (audit.code, audit.err) == (0, "")
    assert re.search(r"^none of \d+ known kinds of secrets in 2 sessions, \d+ chunks$", audit.out, re.MULTILINE)


def test_names_of_branches_agents_and_titles_are_scanned(cli: Any, dump: Dump) -> None:
    token = PLANTED["gitlab-token"]
    session = Claude()
    branch = {"gitBranch": f"fix/{plain(token)}"}
    records = [
        session.user("hello fox", **branch),
        session.answer({"type": "tool_use", "id": "1", "name": f"mcp__{plain(token)}__x", "input": {}}, **branch),
        session.result("oops", "1", is_error=True) | branch,
        session.note("custom-title", customTitle=plain(token)),
        session.note("tag", tag=plain(token)),
    ]
    write(session.path, *records)
    cli("index")
    assert leaked(dump(), {"gitlab-token": token}) == set()
    (found,) = cli("search", "fox", "--json").json["results"]
    assert found["gitBranch"].startswith("fix/[redacted:gitlab-token:")
    assert found["name"].startswith("[redacted:gitlab-token:")


def test_a_file_whose_name_contains_a_secret_is_recognised(cli: Any, dump: Dump) -> None:
    token = PLANTED["aws-access-key"]
    pi = Pi("fox", cwd=f"/home/{plain(token)}")
    write(pi.path, pi.header(), pi.user("the first fox"))
    assert plain(token) in str(pi.path)
    assert cli("index", "--json").json["added"] == 1
    again = cli("index", "--json").json
    assert (again["unchanged"], again["added"], again["missing"]) == (1, 0, 0)
    append(pi.path, pi.user("another hare"))
    assert cli("index", "--json").json["updated"] == 1
    assert cli("index", "--full", "--json").json["added"] == 1
    assert cli("search", "hare", "--json").json["resultCount"] == 1
    pi.path.unlink()
    assert cli("index", "--json").json["missing"] == 1
    assert cli("search", "hare", "--json").json["results"][0]["missingSince"]
    assert leaked(dump(), {"aws-access-key": token}) == set()


def test_a_search_sees_that_nothing_has_changed_below_a_name_with_a_secret(
    cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(redact=True)
    pi = Pi("fox", cwd=f"/home/{plain(PLANTED['aws-access-key'])}")
    write(pi.path, pi.header(), pi.user("the first fox"))
    cli("index")
    monkeypatch.setattr("sesame_core.api.sesame.Sesame.index", lambda *_, **__: pytest.fail("it was indexed again"))
    assert cli("search", "fox", "--json").json["resultCount"] == 1


@pytest.mark.parametrize("kind", ["github-token", "private-key"])
def test_a_secret_that_is_cut_in_two_leaves_no_half(kind: str, cli: Any, dump: Dump) -> None:
    planted = {str(number): secrets()[kind] for number in range(3)}
    first, second, third = map(plain, planted.values())
    half = len(first) // 2
    hares = " hare" * 9_000
    session = Claude()
    write(
        session.path,
        # Of a session's first prompts 2,000 characters are kept, of a result 12 KiB from its beginning, 4 from its end.
        session.user(("fox " * 500)[: 2_000 - half] + " " + first),
        session.call("Bash", command="ls"),
        session.result(("fox " * 4_000)[: 12_288 - half] + second + hares),
        session.call("Bash", "toolu_2", command="ls"),
        session.result(hares + third + ("fox " * 1_024)[: 4_096 - half], "toolu_2"),
    )
    assert cli("index", "--json").json["errors"] == []
    held = dump()
    beginnings = {number: traces(text)[-1][:12] for number, text in planted.items()}
    ends = {number: traces(text)[-1][-12:] for number, text in planted.items()}
    assert [number for parts in (beginnings, ends) for number, part in parts.items() if part in held] == []


def test_a_secret_typed_into_a_search_does_not_find_it_but_its_mark_does(cli: Any, dump: Dump) -> None:
    session = Claude()
    write(session.path, session.user(f"deploy with {plain(PLANTED['npm-token'])} now"))
    cli("index")
    assert cli("search", plain(PLANTED["npm-token"]), "--json").json["resultCount"] == 0
    (result,) = cli("search", "deploy", "--json").json["results"]
    fingerprint = result["matchedSnippet"].partition("[redacted:npm-token:")[2][:8]
    assert cli("search", fingerprint, "--json").json["resultCount"] == 1


def test_a_pattern_and_an_exception_of_ones_own_hold_from_the_next_full_run_on(cli: Any, dump: Dump) -> None:
    token, ticket = plain(PLANTED["npm-token"]), "ACME-12345678"
    session = Claude()
    write(session.path, session.user(f"deploy {token} for {ticket}"))
    cli("index")
    assert "acme-12345678" in dump()
    config = json.loads(paths.config_file().read_text())
    configure(**config | {"redact": {"enabled": True, "patterns": {"ticket": r"ACME-\d+"}, "keep": ["npm_.*"]}})
    assert cli("audit").code == 1
    cli("index", "--full")
    held = dump()
    assert "acme-12345678" not in held
    assert "[redacted:ticket:" in held
    assert token.lower() in held
    assert cli("audit").code == 0


def test_without_redaction_secrets_are_stored_and_the_audit_prints_where_but_not_what(cli: Any) -> None:
    session = Claude(cwd=f"/home/{plain(PLANTED['aws-access-key'])}")
    write(session.path, session.user("a fox"), session.answer(f"use {plain(PLANTED['npm-token'])}"))
    cli("index")
    text, json_ = cli("audit"), cli("audit", "--json")
    assert (text.code, json_.code) == (1, 1)
    assert leaked((text.out + json_.out + text.err).lower(), PLANTED) == set()
    places = {(found["field"], found["position"], found["kind"]) for found in json_.json["secrets"]}
    assert places == {("file", None, "aws-access-key"), ("cwd", None, "aws-access-key"), ("text", 1, "npm-token")}
    assert {found["sessionId"] for found in json_.json["secrets"]} == {session.session}
    assert "position 1, text: npm-token" in text.out
    assert text.out.endswith("3 secrets in 1 session, 2 chunks\n")
    assert len({found["fingerprint"] for found in json_.json["secrets"]}) == 2


def test_a_file_that_could_not_be_read_is_part_of_the_audit(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pi = Pi("fox", cwd=f"/home/{plain(PLANTED['aws-access-key'])}")
    write(pi.path, pi.header(), pi.user(made(30)))
    failing = f"cannot read {plain(PLANTED['npm-token'])}"

    def fail(*_: object) -> None:
        raise OSError(5, failing)

    monkeypatch.setattr("sesame_parser_pi.parser.PiParser.parse", fail)
    cli("index")
    found = cli("audit", "--json").json["secrets"]
    assert {(one["sessionId"], one["field"], one["kind"]) for one in found} == {
        (None, "file", "aws-access-key"),
        (None, "error", "npm-token"),
    }


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_full_run_masks_sessions_stored_before_masking_was_on_whose_files_cannot_be_read_any_more(
    is_gone: bool, cli: Any, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Claude(cwd=f"/home/bo/{plain(PLANTED['aws-access-key'])}")
    write(session.path, *claude_records([plain(text) for text in PLANTED.values()], session))
    cli("index")
    assert leaked(sqlite_dump(), PLANTED) == set(PLANTED)
    configure(redact=True)
    if is_gone:
        session.path.unlink()
    else:
        reason = plain(PLANTED["npm-token"])
        monkeypatch.setattr("sesame_parser_claude_code.parser.ClaudeCodeParser.parse", lambda *_: 1 / int(reason))
    assert cli("index", "--full", "--json").json["added"] == 0
    held = sqlite_dump()
    assert leaked(held, PLANTED) == set()
    assert {kind for kind in PLANTED if f"[redacted:{kind}:" in held} == set(PLANTED)
    (found,) = cli("sessions", "--json").json["sessions"]
    assert bool(found["missingSince"]) == is_gone
    assert cli("search", "--no-refresh", "[redacted:npm-token", "--json").json["resultCount"] == 1
    assert cli("audit").code == 0
