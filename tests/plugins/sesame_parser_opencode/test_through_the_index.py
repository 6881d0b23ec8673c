"""OpenCode's sessions in an index: while it runs, after its migrations, when its database is damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Filters, Selection, Sesame, Source
from sesame_core.plugin.manager import PluginManager

from ...support.in_memory import in_memory, plugins_with_memory
from .making import JsonTree, Layout, NewDatabase, OldDatabase, answered, asked, tool


@pytest.fixture
def plugins() -> PluginManager:
    return plugins_with_memory()


@pytest.fixture
def opened(tmp_path: Path, plugins: PluginManager) -> Callable[[], Sesame]:
    """Open Sesame over everything of OpenCode's."""
    source = Source(parser=Selection(name="opencode"), path=tmp_path / "opencode")
    return lambda: in_memory([source], tmp_path / "data", plugins)


def found(sesame: Sesame, words: str) -> list[str]:
    return sorted(hit.session.id for hit in sesame.search(words, Filters(all_kinds=True)).hits)


def test_a_session_that_goes_on_is_read_again_alone(layout: Layout, opened: Callable[[], Sesame]) -> None:
    layout.write("ses_a", [asked("mend the zebra"), answered("mended")])
    layout.write("ses_b", [asked("paint the okapi")])
    with opened() as sesame:
        assert sesame.refresh(5).added == 2
        assert sesame.refresh(5).changed == 0
        layout.write("ses_c", [asked("feed the quokka")])
        report = sesame.refresh(5)
        assert (report.added, report.updated, report.unchanged) == (1, 0, 2)
        assert (found(sesame, "zebra"), found(sesame, "quokka")) == (["ses_a"], ["ses_c"])


def test_text_that_streams_into_a_part_is_found_when_the_message_is_complete(
    old: OldDatabase, opened: Callable[[], Sesame]
) -> None:
    old.write("ses_a", [asked("mend the zebra"), answered("I beg")])
    with opened() as sesame:
        sesame.refresh(5)
        old.db.execute(
            "UPDATE part SET data = replace(data, 'I beg', 'I begin with the okapi'), time_updated = time_updated + 1 "
            "WHERE data LIKE '%I beg%'"
        )
        assert sesame.refresh(5).updated == 1
        assert found(sesame, "okapi") == ["ses_a"]


def test_an_answer_that_ends_after_the_next_prompt_was_queued_is_found(
    old: OldDatabase, opened: Callable[[], Sesame]
) -> None:
    old.write("ses_a", [asked("mend the zebra"), answered("working"), asked("and then the okapi")])
    with opened() as sesame:
        sesame.refresh(5)
        old.db.execute(
            "UPDATE part SET data = replace(data, 'working', 'a quokka'), time_updated = time_updated + 9 "
            "WHERE data LIKE '%working%'"
        )
        sesame.refresh(5)
        assert found(sesame, "quokka") == ["ses_a"]


def test_messages_that_a_revert_deletes_leave_the_index(old: OldDatabase, opened: Callable[[], Sesame]) -> None:
    old.write("ses_a", [asked("mend the zebra"), answered("mended"), asked("regret the okapi")])
    with opened() as sesame:
        sesame.refresh(5)
        old.db.execute("DELETE FROM part WHERE message_id = 'msg_ses_a_002'")
        old.db.execute("DELETE FROM message WHERE id = 'msg_ses_a_002'")
        sesame.refresh(5)
        assert found(sesame, "okapi") == []
        old.db.execute('UPDATE session SET revert = \'{"messageID":"msg_ses_a_001"}\'')
        assert sesame.refresh(5).updated == 1


def test_a_new_message_in_a_tree_and_a_rewritten_one_are_found(tmp_path: Path, opened: Callable[[], Sesame]) -> None:
    tree = JsonTree(tmp_path)
    tree.write("ses_a", [asked("mend the zebra"), answered("begun")])
    with opened() as sesame:
        sesame.refresh(5)
        message = tree.place / "storage" / "message" / "ses_a" / "msg_ses_a_001.json"
        part = tree.place / "storage" / "part" / "msg_ses_a_001" / "prt_msg_ses_a_001_000.json"
        part.write_text(part.read_text().replace("begun", "done with the okapi"))
        message.write_text(message.read_text() + " ")
        assert sesame.refresh(5).updated == 1
        assert found(sesame, "okapi") == ["ses_a"]
        tree.write("ses_a", [asked("mend the zebra"), answered("done"), asked("feed the quokka")])
        assert sesame.refresh(5).updated == 1
        assert found(sesame, "quokka") == ["ses_a"]


def test_a_migrated_session_is_read_once_and_one_that_was_left_behind_is_kept(
    tmp_path: Path, opened: Callable[[], Sesame]
) -> None:
    tree = JsonTree(tmp_path)
    for name in ("ses_a", "ses_b"):
        tree.write(name, [asked(f"mend the zebra of {name}")])
    database = OldDatabase(tmp_path)
    database.write("ses_a", [asked("mend the zebra of ses_a")])
    with opened() as sesame:
        assert sesame.refresh(5).added == 2
        assert found(sesame, "zebra") == ["ses_a", "ses_b"]
        assert sesame.get_session("ses_a").path == str(database.path / "ses_a")
        assert sesame.status().sessions == 2
    database.close()


def test_a_session_that_is_migrated_later_is_in_the_answers_once(tmp_path: Path, opened: Callable[[], Sesame]) -> None:
    JsonTree(tmp_path).write("ses_a", [asked("mend the zebra")])
    with opened() as sesame:
        sesame.refresh(5)
        database = OldDatabase(tmp_path)
        database.write("ses_a", [asked("mend the zebra"), answered("mended")])
        sesame.refresh(5)
        assert found(sesame, "zebra") == ["ses_a"]
        assert sesame.get_session("ses_a").path == str(database.path / "ses_a")
    database.close()


def test_a_session_of_both_tables_is_read_from_the_newer_and_has_no_text_twice(
    old: OldDatabase, tmp_path: Path, opened: Callable[[], Sesame]
) -> None:
    old.write("ses_a", [asked("mend the zebra")])
    old.write("ses_b", [asked("paint the okapi")])
    new = NewDatabase(tmp_path)
    new.write("ses_a", [asked("mend the zebra"), asked("feed the quokka")])
    with opened() as sesame:
        assert sesame.refresh(5).added == 2
        assert (found(sesame, "quokka"), found(sesame, "okapi")) == (["ses_a"], ["ses_b"])
    new.close()


def test_a_session_whose_messages_are_not_copied_yet_is_read_from_the_older_table(
    old: OldDatabase, tmp_path: Path, opened: Callable[[], Sesame]
) -> None:
    old.write("ses_a", [asked("mend the zebra")])
    new = NewDatabase(tmp_path)
    new.write("ses_a", [])
    with opened() as sesame:
        assert sesame.refresh(5).added == 1
        assert found(sesame, "zebra") == ["ses_a"]
        new.say("ses_a", 1, "user", {"text": "mend the zebra and the okapi"})
        assert sesame.refresh(5).updated == 1
        assert found(sesame, "okapi") == ["ses_a"]
    new.close()


@pytest.mark.parametrize("time", [-5, 0, 10**18, "x", None, 1.5])
def test_a_time_that_is_none_loses_no_session(old: OldDatabase, opened: Callable[[], Sesame], time: object) -> None:
    path = old.write("ses_a", [asked("mend the zebra")])
    for table in ("session", "message", "part"):
        old.db.execute(f"UPDATE {table} SET time_updated = ?1, time_created = ?1", (time,))
    assert path.name == "ses_a"
    with opened() as sesame:
        assert sesame.refresh(5).added == 1
        assert sesame.refresh(5).changed == 0
        assert found(sesame, "zebra") == ["ses_a"]


def test_the_empty_table_of_1_18_is_not_version_2(old: OldDatabase, opened: Callable[[], Sesame]) -> None:
    old.write("ses_a", [asked("mend the zebra")])
    assert old.db.execute("SELECT count(*) FROM session_message").fetchone() == (0,)
    with opened() as sesame:
        assert sesame.refresh(5).added == 1


def test_a_fresh_database_of_version_2_without_the_old_tables_is_read(
    new: NewDatabase, opened: Callable[[], Sesame]
) -> None:
    new.write("ses_a", [asked("mend the zebra")])
    with opened() as sesame:
        assert sesame.refresh(5).added == 1


def test_a_half_migrated_database_is_an_error_and_its_sessions_stay(
    old: OldDatabase, opened: Callable[[], Sesame]
) -> None:
    old.write("ses_a", [asked("mend the zebra")])
    with opened() as sesame:
        sesame.refresh(5)
        old.db.execute("ALTER TABLE part RENAME TO part_old")
        report = sesame.refresh(5)
        assert (report.missing, [error.path for error in report.errors]) == (0, [str(old.path)])
        assert "migrated" in report.errors[0].message
        assert found(sesame, "zebra") == ["ses_a"]


@pytest.mark.parametrize("content", [b"SQLite format 3\0" + b"\x99" * 5000, b"not a database at all" * 300])
def test_a_damaged_database_is_an_error_and_its_sessions_stay(
    old: OldDatabase, opened: Callable[[], Sesame], content: bytes
) -> None:
    old.write("ses_a", [asked("mend the zebra")])
    with opened() as sesame:
        sesame.refresh(5)
        old.close()
        for log in old.place.glob("*.db-*"):
            log.unlink()
        old.path.write_bytes(content)
        report = sesame.refresh(5)
        assert (report.missing, [error.path for error in report.errors]) == (0, [str(old.path)])
        assert found(sesame, "zebra") == ["ses_a"]


def test_a_fork_and_its_source_are_one_hit(old: OldDatabase, opened: Callable[[], Sesame]) -> None:
    messages = [asked("mend the zebra of the exporter"), answered("mended")]
    old.write("ses_a", messages)
    old.write("ses_b", [*messages, asked("and now the okapi")])
    with opened() as sesame:
        sesame.refresh(5)
        (hit,) = sesame.search("zebra exporter").hits
        assert len(hit.copies) == 1


def test_files_commands_failures_and_tools_are_filters(layout: Layout, opened: Callable[[], Sesame]) -> None:
    calls = [
        tool("edit", {"filePath": "/w/app/zebra.py", "oldString": "a", "newString": "b"}, "ok", call="c1"),
        tool("bash", {"command": "npm run okapi"}, "bad", metadata={"exit": 1}, call="c2"),
    ]
    layout.write("ses_a", [asked("mend the thing"), answered(*calls)])
    layout.write("ses_b", [asked("mend the thing as well"), answered("done")])
    with opened() as sesame:
        sesame.refresh(5)
        for query in ("thing file:zebra.py", 'thing cmd:"npm run okapi"', "zebra tool:edit", "okapi role:tool_call"):
            assert found(sesame, query) == ["ses_a"], query
        assert found(sesame, "agent:open thing") == ["ses_a", "ses_b"]


def test_the_command_line_finds_opencode_without_configuration(home: Path, cli: Callable[..., Any]) -> None:
    place = home / ".local" / "share"
    place.mkdir(parents=True)
    database = OldDatabase(place)
    path = database.write("ses_a", [asked("mend the zebra"), answered("mended")], title="A zebra", directory=str(home))
    assert cli("index").code == 0
    answer = cli("search", "zebra", "--json").json
    (result,) = answer["results"]
    assert result["sessionId"] == "ses_a"
    (session,) = cli("sessions", "--json", "--agent", "opencode").json["sessions"]
    assert session["sessionId"] == "ses_a"
    assert cli("show", "ses_a").code == 0
    assert cli("show", str(path)).code == 0
    assert cli("index", str(path)).code == 0
    assert cli("index", f"{database.path}-wal").code == 0
    assert cli("status").code == 0
    database.close()


def test_a_shared_index_follows_the_rules_for_the_directories_of_a_databases_sessions(
    home: Path, database: str, cli: Callable[..., Any]
) -> None:
    config = home / ".config" / "sesame" / "config.jsonc"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"backend": {"name": "postgres", "options": {"dsn": database}}}))
    place = home / ".local" / "share"
    place.mkdir(parents=True, exist_ok=True)
    opencode = OldDatabase(place)
    opencode.write("ses_a", [asked("mend the zebra"), answered("with an okapi")], directory="/w/open")
    opencode.write("ses_b", [asked("mend the quokka"), answered("with one okapi more")], directory="/w/secret")

    def stored(*rule: str) -> list[str]:
        assert cli("share", *rule).code == 0
        assert cli("index", "--yes").code == 0
        return sorted(one["sessionId"] for one in cli("search", "okapi", "--json").json["results"])

    assert stored("/w/secret", "private") == ["ses_a"]
    assert stored("/w/secret", "shared") == ["ses_a", "ses_b"]
    assert stored("/w/open", "metadata") == ["ses_b"]
    assert stored("/w/open", "shared") == ["ses_a", "ses_b"]
    opencode.close()
