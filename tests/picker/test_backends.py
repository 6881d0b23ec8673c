"""The picker on each kind of index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ..support.both_backends import Index
from .terminal import Terminal

pytestmark = pytest.mark.once


def test_a_session_is_found_shown_and_narrowed_on_every_index(
    index: Index, demo_sessions: Path, cli: Callable[..., Any], start: Callable[..., Terminal]
) -> None:
    index.prepare(cli)
    assert cli("index").code == 0
    terminal = start(columns=120)
    terminal.wait("9 sessions, latest first")
    terminal.wait(lambda: "indexing" not in terminal.text)
    terminal.send("websocket migration")
    terminal.wait("the websocket client?")
    assert "SQLite migration" in terminal.rows[2]
    terminal.send("\x15agent:p\t")
    terminal.wait("5 sessions, latest first")
    terminal.send("\x15branch:\t")
    terminal.wait("branch:main")
    terminal.send("\x1b")
    assert terminal.end() == 130


def test_a_server_that_is_not_there_is_told_in_place_of_the_list(home: Path, start: Callable[..., Terminal]) -> None:
    file = home / ".config" / "sesame" / "config.jsonc"
    file.parent.mkdir(parents=True)
    file.write_text(
        '{"backend": {"name": "postgres", "options": {"dsn": "postgresql://nobody:secret@127.0.0.1:9/none"}}}'
    )
    terminal = start("pick", "fox")
    terminal.wait("no answer")
    assert "secret" not in terminal.text
    terminal.send("\x1b")
    assert terminal.end() == 130
