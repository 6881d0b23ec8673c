"""What a run leaves in the index, by the command line and on both backends: invariants and edge cases."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sesame_parser_claude_code.parser import ClaudeCodeParser

from ..support.both_backends import Index, Run, found, sessions, texts, the_session, write_at
from ..support.transcripts import CLAUDE_ID, OTHER_CLAUDE_ID, Claude, append, write


@pytest.mark.seed("004", "INV-004")
def test_what_changes_without_its_modification_time_is_not_indexed_again(index: Index, cli: Run) -> None:
    claude = Claude()
    first = claude.user("the quick fox")
    path = write_at(claude.path, 10**18, first)
    assert cli("index").code == 0
    write_at(path, 10**18, Claude().user("the lazy owls"))
    assert cli("index").code == 0
    assert (found(cli, "fox"), found(cli, "owl")) == ([CLAUDE_ID], [])
    # GOTCHA-001: touching the file is what helps.
    os.utime(path, ns=(10**18 + 1, 10**18 + 1))
    assert cli("index").code == 0
    assert (found(cli, "fox"), found(cli, "owl")) == ([], [CLAUDE_ID])


@pytest.mark.seed("004", "INV-005")
def test_what_is_indexed_is_plain_text(index: Index, cli: Run) -> None:
    claude = Claude()
    said = ['look at <b class="fox">bold</b> & {"owl": ["one"]}', "line one\nline two"]
    write(claude.path, claude.user(said[0]), claude.answer(said[1]))
    assert cli("index").code == 0
    assert texts(cli, CLAUDE_ID) == said
    assert sorted(text for (text,) in index.rows("SELECT content FROM chunks")) == sorted(said)
    for word in ("bold", "fox", "owl", "class"):
        assert found(cli, word) == [CLAUDE_ID]


@pytest.mark.seed("004", "INV-006")
def test_a_line_of_more_than_a_megabyte_is_shortened_with_a_warning(index: Index, cli: Run) -> None:
    claude = Claude()
    huge = claude.user("narwhal " + "unicorn " * 150_000 + "zebra")
    assert len(json.dumps(huge)) > 1 << 20
    write(claude.path, claude.user("the quick fox"), huge, claude.user("a lazy owl"))
    done = cli("index", "--json")
    assert done.code == 0
    assert done.json["skipped"] == {"shortened": 1}
    assert found(cli, "narwhal") == found(cli, "zebra") == [CLAUDE_ID]
    assert found(cli, "fox") == found(cli, "owl") == [CLAUDE_ID]
    warned = cli("status")
    assert "Shortened records: 1, too long to be indexed whole" in warned.out


@pytest.mark.seed("004", "INV-007")
def test_tool_counts_are_json_in_one_column(index: Index, cli: Run) -> None:
    claude = Claude()
    calls = [claude.call("Bash", "toolu_1", command="ls"), claude.call("Bash", "toolu_2", command="pwd")]
    write(claude.path, claude.user("why"), *calls, claude.call("Read", "toolu_3", file_path="/w/a.py"))
    assert cli("index").code == 0
    ((counts,),) = index.rows("SELECT tool_counts FROM sessions")
    assert (json.loads(counts) if isinstance(counts, str) else counts) == {"Bash": 2, "Read": 1}
    assert the_session(cli)["toolCounts"] == {"Bash": 2, "Read": 1}


@pytest.mark.seed("004")
def test_exchanges_and_the_times_of_first_and_last_message_are_kept(index: Index, cli: Run) -> None:
    claude = Claude()
    write(claude.path, claude.user("why"), claude.answer("because"), claude.user("and then"), claude.answer("the end"))
    assert cli("index").code == 0
    session = the_session(cli)
    assert session["exchangeCount"] == 2
    assert session["created"] == "2026-08-01T10:00:01.000Z"
    assert session["modified"] == "2026-08-01T10:00:04.000Z"
    assert index.rows("SELECT exchange_count FROM sessions") == [(2,)]


@pytest.mark.seed("004", "edge case")
def test_an_empty_file_is_a_session_in_which_nothing_was_said(index: Index, cli: Run) -> None:
    write(Claude().path)
    assert cli("index").code == 0
    assert sessions(cli) == []
    shown = cli("show", CLAUDE_ID)
    assert shown.code == 1
    assert f"nobody has said anything in session {CLAUDE_ID}" in shown.err


@pytest.mark.seed("004", "edge case")
def test_a_malformed_line_is_skipped_with_a_warning(index: Index, cli: Run) -> None:
    claude = Claude()
    write(claude.path, claude.user("the quick fox"), b'{"type": "user", "mess\n', claude.user("a lazy owl"))
    done = cli("index", "--json")
    assert done.code == 0
    assert done.json["skipped"] == {"damaged": 1}
    assert found(cli, "fox") == found(cli, "owl") == [CLAUDE_ID]


@pytest.mark.seed("004", "edge case")
def test_a_missing_session_id_is_taken_from_the_file_name(index: Index, cli: Run) -> None:
    claude = Claude()
    record = claude.user("the quick fox")
    del record["sessionId"]
    write(claude.path, record)
    assert cli("index").code == 0
    assert the_session(cli)["sessionId"] == CLAUDE_ID


@pytest.mark.seed("004", "edge case")
def test_a_file_deleted_between_scan_and_parse_is_an_error_and_skipped(
    index: Index, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, kept = Claude(), Claude(OTHER_CLAUDE_ID)
    write(gone.path, gone.user("the quick fox"))
    write(kept.path, kept.user("a lazy owl"))
    parse = ClaudeCodeParser.parse

    def too_late(self: ClaudeCodeParser, path: Path) -> Any:
        if path.name == gone.path.name:
            path.unlink()
        return parse(self, path)

    monkeypatch.setattr(ClaudeCodeParser, "parse", too_late)
    done = cli("index", "--json")
    assert [error["path"] for error in done.json["errors"]] == [str(gone.path)]
    assert [session["sessionId"] for session in sessions(cli)] == [OTHER_CLAUDE_ID]
    assert found(cli, "owl") == [OTHER_CLAUDE_ID]


@pytest.mark.seed("004", "edge case")
def test_a_file_that_grows_without_another_time_is_read_again(index: Index, cli: Run) -> None:
    claude = Claude()
    path = write_at(claude.path, 10**18, claude.user("the quick fox"))
    assert cli("index").code == 0
    append(path, claude.user("a lazy owl"))
    os.utime(path, ns=(10**18, 10**18))
    assert cli("index").code == 0
    assert found(cli, "owl") == [CLAUDE_ID]


@pytest.mark.seed("004", "edge case")
def test_a_sessions_dir_that_is_not_there_is_not_an_error(
    index: Index, cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESSIONS_DIR", str(index.home / "nowhere"))
    done = cli("index")
    assert done.code == 0
    assert sessions(cli) == []
