"""An answer tells how fresh it is: by source, since when, and what could not be read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from sesame_core.api.sesame import Sesame
from sesame_core.demo import sessions_dir
from sesame_core.plugin.backend import TracksFiles
from sesame_core.types.index import Freshness


@pytest.mark.usefixtures("patient")
def test_each_source_reports_its_changes(demo_sessions: Path, cli: Any) -> None:
    first = cli("search", "nix", "--json").json["index"]
    counts = {source["parser"]: (source["changed"], source["pending"]) for source in first["sources"]}
    files = {name: len(list((sessions_dir() / name).rglob("*.jsonl"))) for name in ("claude-code", "pi")}
    assert counts == {name: (count, 0) for name, count in files.items()}
    assert sum(changed for changed, _ in counts.values()) == first["changed"]
    assert all(Path(source["path"]).is_dir() for source in first["sources"])

    changed = next((demo_sessions / ".pi").rglob("*.jsonl"))
    os.utime(changed, ns=(1, 1))
    second = cli("search", "nix", "--json").json["index"]
    assert {source["parser"]: source["changed"] for source in second["sources"]} == {"claude-code": 0, "pi": 1}
    assert second["lastSync"] > first["lastSync"]


def test_what_was_not_reached_in_time_counts_for_its_source(demo_sessions: Path) -> None:
    with Sesame() as sesame:
        report = sesame.index(seconds=0)
        assert report.pending > 0
        assert sum(source.pending for source in report.sources) == report.pending
        assert [source.changed for source in report.sources] == [0, 0]


def test_without_a_refresh_an_answer_still_reports_its_freshness(demo_sessions: Path, cli: Any) -> None:
    assert cli("search", "nix", "--json", "--no-refresh").json["index"] == {
        "refreshed": False,
        "lastSync": None,
        "unreadable": 0,
    }
    assert cli("index").code == 0
    index = cli("search", "nix", "--json", "--no-refresh").json["index"]
    assert index.keys() == {"refreshed", "lastSync", "unreadable"}
    assert index["lastSync"] == cli("status", "--json").json["lastSync"]


def test_a_file_that_could_not_be_read_is_counted(demo_sessions: Path, cli: Any) -> None:
    assert cli("index").code == 0
    next((demo_sessions / ".pi").rglob("*.jsonl")).write_text("no session\n")
    assert cli("index").code == 1
    assert len(cli("status", "--json").json["failedFiles"]) == 1
    assert cli("search", "nix", "--json", "--no-refresh").json["index"]["unreadable"] == 1


def test_an_index_that_is_not_there_yet_has_no_date(home: Path) -> None:
    with Sesame() as sesame:
        reader = sesame._index.reader()
        assert isinstance(reader, TracksFiles)
        assert reader.freshness() == Freshness()
