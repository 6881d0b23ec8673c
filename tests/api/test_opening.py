"""A session's file in an editor, at the line of a record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesame_core.api.opening import line_of

from ..support.transcripts import CLAUDE_ID, Claude, Pi, write


@pytest.fixture
def opened(home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that prints the command for a place in a session of four records."""
    session = Claude()
    snapshot = session.note("file-history-snapshot", snapshot={}, messageId="")
    records = [session.user("one"), session.answer("two"), session.user("three"), session.answer("four")]
    snapshot["messageId"] = records[2]["uuid"]
    write(session.path, records[0], snapshot, *records[1:])
    assert cli("index").code == 0
    monkeypatch.delenv("VISUAL", raising=False)

    def run(place: str, editor: str) -> Any:
        monkeypatch.setenv("EDITOR", editor)
        return cli("open", place, "--print")

    return run


@pytest.mark.parametrize(
    ("editor", "arguments"),
    [
        ("vi", "vi +4 {}"),
        ("/usr/bin/vim", "/usr/bin/vim +4 {}"),
        ("nvim -R", "nvim -R +4 {}"),
        ("nano", "nano +4 {}"),
        ("emacsclient -nw", "emacsclient -nw +4 {}"),
        ("code --wait", "code --wait --goto {}:4"),
        ("hx", "hx {}:4"),
        ("subl", "subl {}:4"),
        ("zed", "zed {}:4"),
        ("unknown-editor", "unknown-editor {}"),
    ],
)
def test_each_editor_gets_the_line_in_its_own_way(opened: Callable[..., Any], editor: str, arguments: str) -> None:
    assert opened(f"{CLAUDE_ID}:2", editor).out.strip() == arguments.format(Claude().path)


def test_without_a_position_the_file_is_opened_as_such(opened: Callable[..., Any]) -> None:
    assert opened(CLAUDE_ID, "vi").out.strip() == f"vi {Claude().path}"


def test_visual_goes_before_editor(opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "hx")
    assert opened(CLAUDE_ID, "vi").out.startswith("hx ")


def test_a_position_that_the_session_does_not_have_is_an_error(opened: Callable[..., Any]) -> None:
    ran = opened(f"{CLAUDE_ID}:99", "vi")
    assert (ran.code, ran.out) == (2, "")
    assert "has no position 99; its last is 3" in ran.err


def test_a_file_that_is_gone_is_an_error_that_names_show(opened: Callable[..., Any]) -> None:
    Claude().path.unlink()
    ran = opened(f"{CLAUDE_ID[:8]}:2", "vi")
    assert ran.code == 1
    assert ran.err.strip().endswith("does not exist any more; what is indexed of it: sesame show 11111111:2")


def test_a_file_that_is_not_text_is_an_error(opened: Callable[..., Any]) -> None:
    Claude().path.write_bytes(b"\x28\xb5\x2f\xfd\x00\x00binary")
    ran = opened(CLAUDE_ID, "vi")
    assert ran.code == 1
    assert "is not text" in ran.err


def test_a_row_of_a_database_is_an_error_that_names_the_database(tmp_path: Path) -> None:
    from sesame_core.api.opening import refusal

    (tmp_path / "sessions.db").write_bytes(b"SQLite format 3\0")
    assert refusal(str(tmp_path / "sessions.db" / "ses_1")) == (
        f"the session is a row of a database: {tmp_path / 'sessions.db'}"
    )


def test_an_editor_that_is_not_installed_is_an_error(
    opened: Callable[..., Any], cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "no-such-editor")
    ran = cli("open", CLAUDE_ID)
    assert ran.code == 1
    assert ran.err.strip().endswith(
        "the editor 'no-such-editor' is not on the PATH: set VISUAL or EDITOR to another one"
    )


def test_a_variable_with_an_open_quote_is_an_error(opened: Callable[..., Any]) -> None:
    ran = opened(CLAUDE_ID, "vi 'open")
    assert ran.code == 1
    assert "$EDITOR is not a command" in ran.err


def test_the_editor_takes_the_place_of_the_process(
    opened: Callable[..., Any], sesame: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "vim"
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(fake))
    assert sesame("open", f"{CLAUDE_ID}:2").stdout.splitlines() == ["+4", str(Claude().path)]


def test_a_record_is_found_by_its_own_id_and_else_by_what_mentions_it(tmp_path: Path) -> None:
    pi = Pi()
    file = write(tmp_path / "a.jsonl", pi.header(), pi.user("one"), pi.answer("two"))
    assert line_of(str(file), str(pi.last)) == 3
    file.write_text('{"ref": "fox"}\n{"x": 1}\n{"ids": ["fox"]}\n')
    assert line_of(str(file), "fox") == 1
    assert line_of(str(file), "wolf") is None
