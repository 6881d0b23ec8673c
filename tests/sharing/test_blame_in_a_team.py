"""Blame names no session that others may not see, and counts those whose texts it cannot read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ..support.histories import History
from ..support.transcripts import Claude, write
from .test_team_database import ONE, THREE, TWO, configure

pytestmark = pytest.mark.once


def test_sessions_that_are_hidden_from_others(cli: Any, home: Path, database: str, tmp_path: Path) -> None:
    configure(database)
    history = History(tmp_path)
    history.put("a.py", "retries_before_giving_up = 12\nport_of_the_server = 8080\n")
    history.commit("person")
    history.save()
    lines = history.read("a.py").splitlines()
    for name, below, line in ((ONE, "one", lines[0]), (TWO, "two", lines[0]), (THREE, "three", lines[1])):
        made = Claude(name, str(history.root / below))
        call = made.call("Write", file_path=str(history.root / "a.py"), content=line)
        write(made.path, made.user("write it"), call, made.result("ok"))
    assert cli("share", str(history.root / "one"), "private").code == 0
    assert cli("share", str(history.root / "two"), "metadata").code == 0
    cli("index")
    found = cli("blame", str(history.root / "a.py"), "--json").json
    assert [(run["first"], [one["sessionId"] for one in run["writers"]]) for run in found["runs"]] == [
        (1, []),
        (2, [THREE]),
    ]
    assert (found["unknown"], found["withheld"]) == (1, 1)
    assert found["hints"] == ["1 session of this repository without visible text"]
    text = cli("blame", str(history.root / "a.py"), "--no-refresh").out
    assert "1 session of this repository without visible text" in text
    assert ONE[:8] not in text
    assert TWO[:8] not in text
