"""What others see of a session is its owner's choice, and may change: looked for in every table of the server."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sesame_core.config import paths
from sesame_core.metadata.files import Metadata, MetadataFiles
from sesame_core.types.index import IndexedFile
from sesame_core.types.transcript import Session

from ..support.transcripts import Claude, Pi, append, write

pytestmark = pytest.mark.once

#: Words that are in every text of a session, in tests' order: prompt, answer, title, output, path, branch.
WORDS = ("lighthouse", "keeper", "barnacle", "seagull", "harbour", "driftwood")


def text_of(dsn: str) -> dict[str, str]:
    """Return every row of each table of the schema."""
    with psycopg.connect(dsn) as db:
        tables = [name for (name,) in db.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'sesame'")]
        return {
            name: "\n".join(row for (row,) in db.execute(f"SELECT t::text FROM sesame.{name} AS t"))  # type: ignore[arg-type]
            for name in tables
        }


@pytest.fixture
def server(home: Path, database: str) -> Callable[[], dict[str, str]]:
    """The content of the server that this workstation is configured to write to."""
    configure(database)
    return lambda: text_of(database)


def configure(dsn: str, **settings: Any) -> None:
    file = paths.config_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"backend": {"name": "postgres", "options": {"dsn": dsn}}, **settings}))


def session(name: str, cwd: str, *, suffix: str = "") -> Path:
    """Write a session of Claude Code with each word of `WORDS` in a place of its own."""
    prompt, answer, title, output, path, branch = (word + suffix for word in WORDS)
    made = Claude(name, cwd)
    fields = {"gitBranch": branch}
    return write(
        made.path,
        made.user(f"the {prompt} prompt", **fields),
        made.answer(f"an {answer} answer", **fields),
        made.answer({"type": "tool_use", "id": "1", "name": "Read", "input": {"file_path": f"/{path}.txt"}}, **fields),
        made.result(f"some {output} output", "1") | fields,
        made.note("custom-title", customTitle=f"{title} title"),
    )


def seen(server: dict[str, str], *words: str) -> set[tuple[str, str]]:
    """Return in which tables which words are; words may be stemmed."""
    stems = {word: word[:6] if word.isalpha() else word for word in words}
    return {(table, word) for table, text in server.items() for word, stem in stems.items() if stem in text.lower()}


ONE, TWO, THREE = (f"{n}{n}{n}{n}{n}{n}{n}{n}-1111-4111-8111-111111111111" for n in (1, 2, 3))


def levels(dsn: str) -> dict[str, str]:
    with psycopg.connect(dsn) as db:
        return dict(db.execute("SELECT session_id, visibility FROM sesame.sessions").fetchall())


def test_nothing_of_a_private_session_is_in_any_table(cli: Any, server: Any, database: str) -> None:
    assert cli("share", "/home/bo/diary", "private").code == 0
    session(ONE, "/home/bo/diary/2026")
    session(TWO, "/home/bo/work", suffix="x")
    report = cli("index", "--json").json
    assert report["errors"] == []
    assert levels(database) == {TWO: "shared"}
    assert seen(server(), "diary", ONE) == set()
    # The next run knows the file without reading it.
    assert cli("index", "--json").json["unchanged"] == 2


def test_a_run_says_how_many_files_are_private(cli: Any, server: Any) -> None:
    cli("share", "/home/bo/diary", "private")
    session(ONE, "/home/bo/diary")
    path = session(TWO, "/home/bo/diary/old", suffix="x")
    session(THREE, "/home/bo/work", suffix="y")
    report = cli("index", "--json").json
    assert (report["added"], report["withheld"]) == (3, 2)
    assert cli("index").out.startswith("3 unchanged, 2 withheld (private); 0 chunks")
    assert cli("index", "--full", "--json").json["withheld"] == 2
    path.unlink()
    assert cli("index", "--json").json["withheld"] == 1
    cli("share", "/home/bo/diary", "default")
    assert cli("index", "--json").json["withheld"] == 0


def test_of_a_session_that_shows_metadata_no_text_is_in_any_table(cli: Any, server: Any, database: str) -> None:
    cli("share", "/home/bo/work", "metadata")
    path = session(ONE, "/home/bo/work")
    cli("index")
    assert levels(database) == {ONE: "metadata"}
    assert seen(server(), *WORDS) == set()
    (found,) = cli("sessions", "--json").json["sessions"]
    assert (found["cwd"], found["messageCount"], found["toolCounts"]) == ("/home/bo/work", 3, {"Read": 1})
    assert (found["name"], found["firstPrompt"], found["gitBranch"], found["chunkCount"]) == (None, None, None, 0)
    assert cli("index", "--json").json["unchanged"] == 1
    append(path, Claude(ONE, "/home/bo/work").user("a lighthouse again", uuid="fox"))
    assert cli("index", "--json").json["updated"] == 1
    assert seen(server(), *WORDS) == set()
    assert cli("sessions", "--json").json["sessions"][0]["messageCount"] == 4


@pytest.mark.parametrize("full", [False, True])
def test_a_session_that_turns_private_is_removed_and_one_that_turns_shared_is_sent(
    full: bool, cli: Any, server: Any, database: str
) -> None:
    index = ["index", "--full"] if full else ["index"]
    session(ONE, "/home/bo/work")
    cli("index")
    assert {word for _, word in seen(server(), *WORDS)} == set(WORDS)
    cli("share", "/home/bo/work", "private")
    cli(*index)
    assert levels(database) == {}
    assert seen(server(), "/home/bo/work", ONE, *WORDS) == set()
    cli("share", "/home/bo/work", "metadata")
    cli(*index)
    assert levels(database) == {ONE: "metadata"}
    assert seen(server(), *WORDS) == set()
    cli("share", "/home/bo/work", "shared")
    cli(*index)
    assert levels(database) == {ONE: "shared"}
    assert {word for _, word in seen(server(), *WORDS)} == set(WORDS)
    cli("share", "/home/bo/work", "metadata")
    assert levels(database) == {ONE: "metadata"}
    assert seen(server(), *WORDS) == set()
    assert cli("share", "/home/bo/work", "default").code == 0
    assert cli("search", "lighthouse", "--json").json["resultCount"] == 1


def test_the_configured_default_applies_where_no_rule_does_and_when_it_changes(
    cli: Any, server: Any, database: str
) -> None:
    session(ONE, "/home/bo/work")
    session(TWO, "/home/bo/open", suffix="x")
    configure(database, share="private")
    cli("share", "/home/bo/open", "shared")
    cli("index")
    assert levels(database) == {TWO: "shared"}
    configure(database, share="metadata")
    cli("index")
    assert levels(database) == {ONE: "metadata", TWO: "shared"}
    configure(database, share="private")
    cli("index", "--full")
    assert levels(database) == {TWO: "shared"}
    assert seen(server(), "/home/bo/work") == set()


def test_a_session_whose_file_is_deleted_is_removed_too(cli: Any, server: Any, database: str) -> None:
    files = [session(ONE, "/home/bo/one"), session(TWO, "/home/bo/two")]
    cli("index")
    for file in files:
        file.unlink()
    cli("index")
    cli("share", "/home/bo/one", "private")
    assert levels(database) == {TWO: "shared"}
    cli("share", "/home/bo/two", "metadata")
    assert levels(database) == {TWO: "metadata"}
    assert seen(server(), *WORDS, "/home/bo/one") == set()
    (found,) = cli("sessions", "--json").json["sessions"]
    assert (found["messageCount"], bool(found["missingSince"])) == (3, True)
    # What was taken back cannot come again, and nobody is told that it would.
    assert cli("share", "--dry-run").out == "no sessions would change\n"
    assert cli("share", "/home/bo/two", "shared").out == "no sessions change\n"


def test_a_dry_run_prints_the_changes_and_makes_none(cli: Any, server: Any, database: str) -> None:
    session(ONE, "/home/bo/one")
    session(TWO, "/home/bo/two", suffix="x")
    cli("share", "*/two", "metadata")
    dry = cli("share", "--dry-run", "--json").json["changes"]
    assert levels(database) == {ONE: "shared", TWO: "metadata"}
    planned = cli("share", "*/one", "private", "--dry-run", "--json").json["changes"]
    assert dry == []
    assert [(change["sessionId"], change["before"], change["after"]) for change in planned] == [
        (ONE, "shared", "private")
    ]
    before = server()
    session(THREE, "/home/bo/one/new", suffix="y")
    planned = cli("share", "*/one", "private", "--dry-run", "--json").json["changes"]
    assert server() == before
    assert {(change["sessionId"], change["before"], change["after"]) for change in planned} == {
        (ONE, "shared", "private"),
        (THREE, None, "private"),
    }
    told = cli("share", "--dry-run").out
    assert told.splitlines()[0].split()[:2] == ["send", THREE]
    cli("share", "*/one", "private")
    assert levels(database) == {TWO: "metadata"}


def test_before_the_first_run_a_dry_run_lists_all_and_the_server_gets_nothing(cli: Any, empty_database: str) -> None:
    session(ONE, "/home/bo/one")
    configure(empty_database, share="metadata")
    (change,) = cli("share", "--dry-run", "--json").json["changes"]
    assert (change["sessionId"], change["before"], change["after"]) == (ONE, None, "metadata")
    assert text_of(empty_database) == {}


def test_rules_are_listed_with_what_they_cover(cli: Any, server: Any, database: str) -> None:
    session(ONE, "/home/bo/diary")
    session(TWO, "/home/bo/work", suffix="x")
    cli("share", "*/work", "metadata")
    cli("share", "/home/bo/diary/", "private")
    told = cli("share").out.splitlines()
    assert told[0].startswith("Others read this index: ")
    assert [line.split() for line in told[1:]] == [
        ["private", "/home/bo/diary", "1", "private"],
        ["metadata", "*/work", "1", "metadata"],
        ["shared", "everything", "else"],
    ]
    listed = cli("share", "--json").json
    assert listed["rules"][0] == {"pattern": "*/work", "visibility": "metadata", "sessions": {"metadata": 1}}
    assert listed["default"] == {"visibility": "shared", "sessions": {}}


def test_a_rule_may_name_a_repository_and_the_last_match_applies(cli: Any) -> None:
    from sesame_core.sharing.rules import Rule, Sharing

    rules = Sharing((), "metadata")
    for pattern, level in (("github.com/acme", "private"), ("*/acme/site", "shared"), ("/home/bo", "metadata")):
        rules = rules.changed(pattern, level)
    seen = Session(id="s", agent="a", cwd="/srv/x", repository="github.com/acme/site")
    assert rules.level(seen) == "shared"
    assert rules.level(Session(id="s", agent="a", repository="github.com/acme/core")) == "private"
    assert rules.level(Session(id="s", agent="a", cwd="/home/bo/x", repository="github.com/acme/core")) == "metadata"
    assert rules.level(Session(id="s", agent="a")) == "metadata"
    again = rules.changed("github.com/acme", "shared")
    assert again.rules[-1] == Rule("github.com/acme", "shared")
    assert len(again.rules) == 3


def test_a_session_that_turns_out_to_be_private_while_it_is_read_does_not_pass(
    cli: Any, server: Any, database: str
) -> None:
    cli("share", "/home/bo/diary", "private")
    made = Claude(ONE, "/home/bo/work")
    path = write(made.path, made.user("the lighthouse prompt", cwd=""), made.user("next", cwd="/home/bo/diary"))
    cli("index")
    assert seen(server(), ONE, "lighthouse") == set()
    assert levels(database) == {}
    assert path.exists()


def test_a_file_that_cannot_be_read_is_stored_on_the_server_only_when_everything_is_shared(
    cli: Any, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("share", "*/other", "private")
    pi = Pi("fox", "/home/bo/diary")
    write(pi.path, pi.header(), pi.user("hello"))

    def fail(*_: object) -> None:
        raise OSError(5, "broken lighthouse")

    monkeypatch.setattr("sesame_parser_pi.parser.PiParser.parse", fail)
    assert len(cli("index", "--json").json["errors"]) == 1
    assert seen(server(), "diary", "lighthouse") == set()
    cli("share", "*/other", "default")
    assert seen(server(), "lighthouse") == {("files", "lighthouse")}
    assert cli("status", "--json").json["failedFiles"][0]["message"] == "broken lighthouse"


def notes(cwd: str, name: str, description: str, summary: str, tag: str) -> Path:
    """Write a metadata file of session `ONE`; return its directory."""
    files = MetadataFiles(paths.data_dir() / "sessions-meta")
    files.directory.mkdir(parents=True)
    files.write(
        Metadata(
            session_id=ONE,
            session_file="/x.jsonl",
            name=name,
            description=description,
            summary=summary,
            tags=(tag,),
            cwd=cwd,
            created_at="2026-08-01T10:00:00Z",
            updated_at="2026-08-01T10:00:00Z",
            model="fox",
            last_indexed_leaf_id="a",
        )
    )
    return files.directory


@pytest.mark.parametrize("level", ["private", "metadata"])
def test_notes_are_not_more_visible_than_their_session(level: str, cli: Any, server: Any, database: str) -> None:
    notes("/home/bo/work", "lighthouse", "keeper", "barnacle", "seagull")
    made = Claude(ONE, "/home/bo/work")
    write(made.path, made.user("hello"))
    cli("index")
    assert {word for _, word in seen(server(), "seagull", "lighthouse")} == {"seagull", "lighthouse"}
    cli("share", "/home/bo/work", level)
    assert seen(server(), *WORDS) == set()
    assert {table for table, _ in seen(server(), ONE)} <= ({"files", "sessions"} if level == "metadata" else set())
    cli("index", "--full")
    assert seen(server(), *WORDS) == set()
    cli("share", "/home/bo/work", "shared")
    assert {word for _, word in seen(server(), "seagull", "lighthouse")} == {"seagull", "lighthouse"}


#: A subagent's session, which works for session `ONE`.
HELPER = f"{ONE}/a1b2c3d"


def subagent(parent: Path, cwd: str, *, seconds: int) -> Path:
    """Write a subagent's session in a directory of its own, last written so many seconds after its parent's file."""
    made = Claude(ONE, cwd)
    fields = {"isSidechain": True, "agentId": "a1b2c3d"}
    path = write(
        parent.with_suffix("") / "subagents" / "agent-a1b2c3d.jsonl",
        made.user("the lighthouse prompt", **fields),
        made.answer("a keeper answer", **fields),
    )
    time = parent.stat().st_mtime_ns + seconds * 10**9
    os.utime(path, ns=(time, time))
    return path


@pytest.mark.parametrize("level", ["private", "metadata"])
@pytest.mark.parametrize("read", ["after", "before", "in an earlier run"])
def test_a_subagent_shows_no_more_than_the_session_it_works_for_whichever_is_read_first(
    read: str, level: str, cli: Any, server: Any, database: str
) -> None:
    cli("share", "/home/bo/diary", level)
    parent = session(ONE, "/home/bo/diary", suffix="x")
    child = subagent(parent, "/home/bo/work", seconds=9 if read == "after" else -9)
    if read == "in an earlier run":
        aside = parent.rename(parent.with_suffix(".aside"))
        cli("index")
        assert levels(database) == {HELPER: "shared"}
        aside.rename(parent)
    planned = cli("share", "--dry-run", "--json").json["changes"]
    before = "shared" if read == "in an earlier run" else None
    assert {(change["sessionId"], change["before"], change["after"]) for change in planned} == {
        (ONE, None, level),
        (HELPER, before, level),
    }
    shown = {} if level == "private" else {ONE: level, HELPER: level}
    assert cli("index", "--json").json["errors"] == []
    assert levels(database) == shown
    assert seen(server(), *WORDS) == set()
    assert cli("index", "--json").json["unchanged"] == 2
    assert cli("share", "--dry-run").out == "no sessions would change\n"
    more = Claude(ONE, "/home/bo/work").user("a seagull", uuid="fox", isSidechain=True, agentId="a1b2c3d")
    append(child, more)
    for index in (["index"], ["index", "--full"]):
        assert cli(*index, "--json").json["errors"] == []
        assert levels(database) == shown
        assert seen(server(), *WORDS) == set()
    cli("share", "/home/bo/diary", "shared")
    assert levels(database) == {ONE: "shared", HELPER: "shared"}
    assert {word for _, word in seen(server(), "lighthouse", "seagull")} == {"lighthouse", "seagull"}
    cli("share", "/home/bo/diary", level)
    assert levels(database) == shown
    assert seen(server(), *WORDS) == set()


class Rehearsed:
    """A writer that keeps to rules, and where it writes to."""

    def __init__(self, *rules: tuple[str, str], default: str) -> None:
        from sesame_core.sharing.inheritance import VisibilityResolver
        from sesame_core.sharing.private_files import PrivateFiles
        from sesame_core.sharing.rehearsal import Rehearsal
        from sesame_core.sharing.rules import Rule, Sharing
        from sesame_core.sharing.visibility_writer import VisibilityWriter

        kin = VisibilityResolver(Sharing(tuple(Rule(*rule) for rule in rules), default), lambda _: (), lambda: ())
        self.stored, self.withheld = Rehearsal(), PrivateFiles(None)
        self._writer = VisibilityWriter(self.stored, kin, self.withheld)

    def read(self, *told: Session) -> int:
        """Read a file that tells this of a session; return how often it was read."""
        from sesame_core.indexing.content import Replayed

        for times in range(1, 4):
            file = IndexedFile(path=f"/{told[0].id}", parser="p", parser_version=1, mtime_ns=1, size=1)
            try:
                self._writer.replace(file, told)
            except Replayed:
                continue
            return times
        raise AssertionError("it is read again and again")


def test_a_subagent_of_a_subagent_shows_no_more_than_the_first_session() -> None:
    rehearsed = Rehearsed(("/home/bo/diary", "private"), default="shared")
    work = {"agent": "a", "kind": "subagent", "cwd": "/home/bo/work"}
    assert rehearsed.read(Session(id="third", parent_id="second", **work)) == 1
    assert rehearsed.read(Session(id="second", parent_id="first", **work)) == 1
    assert rehearsed.stored.sessions.keys() == {"/third", "/second"}
    assert rehearsed.read(Session(id="first", agent="a", cwd="/home/bo/diary")) == 2
    assert rehearsed.stored.sessions == {}
    assert {session.id for _, session in rehearsed.withheld.sessions()} == {"first", "second", "third"}


def test_sessions_that_work_for_each_other_show_what_the_stricter_rule_says() -> None:
    rehearsed = Rehearsed(("/home/bo/diary", "private"), default="shared")
    assert rehearsed.read(Session(id="a", agent="a", kind="subagent", parent_id="b", cwd="/home/bo/work")) == 1
    assert rehearsed.read(Session(id="b", agent="a", kind="subagent", parent_id="a", cwd="/home/bo/diary")) == 2
    assert rehearsed.stored.sessions == {}


def test_a_session_with_a_late_directory_gets_the_stricter_of_two_rules() -> None:
    rehearsed = Rehearsed(("/home/bo/open", "shared"), default="private")
    told = Session(id="a", agent="a"), Session(id="a", agent="a", cwd="/home/bo/open")
    assert rehearsed.read(*told) == 2
    assert [session.id for _, session in rehearsed.withheld.sessions()] == ["a"]


def test_rules_that_cannot_be_read_stop_everything(cli: Any, server: Any) -> None:
    session(ONE, "/home/bo/diary")
    cli("share", "*/diary", "private")
    file = paths.config_dir() / "sharing.json"
    if os.name != "nt":
        assert file.stat().st_mode & 0o077 == 0
    for text in ("{", "[]", '{"rules": [{"pattern": "a", "visibility": "hidden"}]}'):
        file.write_text(text)
        failed = cli("index")
        assert failed.code == 1
        assert "sharing.json" in failed.err
        assert failed.err.count("\n") == 1
    assert seen(server(), "diary") == set()


def test_a_damaged_list_of_private_files_is_rebuilt(cli: Any, server: Any, database: str) -> None:
    session(ONE, "/home/bo/diary")
    cli("share", "*/diary", "private")
    (paths.data_dir() / "withheld.json").write_text('{"version": 1, "files": 7}')
    assert cli("index").code == 0
    assert levels(database) == {}
    assert cli("index", "--json").json["unchanged"] == 1


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["*/x"], 2, "a pattern needs a visibility"),
        (["*/x", "hidden"], 2, "'hidden' is not a visibility"),
        (["", "private"], 2, "a pattern of sessions cannot be empty"),
        (["*/x", "default"], 1, "there is no rule for '*/x'"),
    ],
)
def test_a_rule_that_means_nothing_is_reported(words: list[str], code: int, told: str, cli: Any, server: Any) -> None:
    failed = cli("share", *words)
    assert failed.code == code
    assert told in failed.err


def test_rules_have_no_effect_where_no_one_else_reads_the_index(cli: Any, demo_sessions: Path) -> None:
    cli("index")
    assert cli("share", "*", "private").out == "no sessions change\n"
    assert cli("share").out.splitlines()[0] == "This index is yours alone: nothing is sent."
    assert cli("search", "nix", "--json").json["resultCount"] == 1


MARKS = ("pelican", "quay", "schooner")


def mark(cli: Any) -> None:
    tag, name, note = MARKS
    cli("star", ONE)
    cli("tag", ONE, tag)
    cli("rename", ONE, name)
    cli("note", ONE, note)


def test_own_marks_are_in_no_table_unless_they_are_shared(cli: Any, server: Any, database: str) -> None:
    session(ONE, "/home/bo/work")
    cli("index")
    before = server()["files"]
    mark(cli)
    cli("index")
    assert seen(server(), *MARKS, "marks.json") == set()
    assert server()["files"] == before
    (found,) = cli("search", "is:starred tag:pelican", "--json").json["results"]
    assert (found["sessionId"], found["name"], found["note"], found["starred"]) == (ONE, "quay", "schooner", True)
    configure(database, describe={"shareMarks": True})
    cli("index")
    assert {word for _, word in seen(server(), *MARKS)} == set(MARKS)
    assert "starred" not in "".join(server().values())
    assert [one["sessionId"] for one in cli("search", "schooner", "--json").json["results"]] == [ONE]
    configure(database)
    cli("index")
    assert seen(server(), *MARKS, "marks.json") == set()


@pytest.mark.parametrize("level", ["private", "metadata"])
def test_shared_marks_are_not_more_visible_than_their_session(level: str, cli: Any, server: Any, database: str) -> None:
    configure(database, describe={"shareMarks": True})
    session(ONE, "/home/bo/work")
    cli("index")
    mark(cli)
    assert {word for _, word in seen(server(), *MARKS)} == set(MARKS)
    cli("share", "/home/bo/work", level)
    assert seen(server(), *MARKS) == set()
    cli("index", "--full")
    assert seen(server(), *MARKS) == set()
    assert cli("sessions", "--starred", "--json").json["total"] == (1 if level == "metadata" else 0)


def test_a_session_of_another_workstation_is_marked_here_and_survives_its_runs(
    cli: Any, server: Any, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session(ONE, "/home/bo/work")
    monkeypatch.setenv("WORKSTATION_ID", "desk")
    cli("index")
    monkeypatch.setenv("WORKSTATION_ID", "lap")
    session(TWO, "/home/bo/other")
    mark(cli)
    for workstation in ("desk", "lap"):
        monkeypatch.setenv("WORKSTATION_ID", workstation)
        cli("index", "--full")
        for found in cli("sessions", "--tag", "pelican", "--starred", "--json").json["sessions"]:
            assert (found["sessionId"], found["name"], found["tags"]) == (ONE, "quay", ["pelican"])
        assert found
    assert seen(server(), *MARKS) == set()
