"""What a run does with files that grow, vanish, move or are large."""

from __future__ import annotations

import os
import sqlite3
import tracemalloc
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Sesame
from sesame_parser_pi.parser import PiParser

from ..support.transcripts import Pi, append, as_lines, found, library, pi_session, said, write


@pytest.mark.upstream(4)
def test_deleted_sessions_are_kept_and_reported_as_deleted(cli: Callable[..., Any]) -> None:
    gone, moved = pi_session("gone", "the numbat departs"), pi_session("moved", "the potoroo moves")
    with Sesame() as sesame:
        sesame.index()
        gone.unlink()
        target = moved.parent.parent / "--elsewhere--" / moved.name
        target.parent.mkdir()
        moved.rename(target)
        report = sesame.index()
        assert (report.missing, report.added) == (2, 1)
        (hit,) = sesame.search("numbat").hits
        assert hit.stored.missing_since
        # One session, and it stands where its file is now.
        (hit,) = sesame.search("potoroo").hits
        assert (hit.stored.path, hit.stored.missing_since) == (os.path.realpath(target), None)
    assert "file is gone" in cli("search", "numbat").out
    assert "file is gone" not in cli("search", "potoroo").out


@pytest.mark.upstream(9)
def test_a_newer_parser_reads_everything_again(monkeypatch: pytest.MonkeyPatch) -> None:
    path = pi_session("versions", "the first dunnart")
    before = path.stat().st_mtime_ns
    with Sesame() as sesame:
        sesame.index()
        # The modification time alone decides (INV-004), but to the nanosecond.
        path.write_bytes(path.read_bytes().replace(b"first", b"third"))
        os.utime(path, ns=(before + 1, before + 1))
        assert sesame.index().updated == 1
        assert said(sesame) == ["the third dunnart"]
        monkeypatch.setattr(PiParser, "version", PiParser.version + 1)
        assert sesame.index().updated == 1
        assert sesame.index().unchanged == 1


@pytest.mark.upstream(10)
def test_a_large_file_is_streamed(tmp_path: Path) -> None:
    pi = Pi("large")
    path = write(tmp_path / "in" / "large.jsonl", pi.header())
    with path.open("ab") as file:
        for number in range(60):
            file.write(as_lines([pi.result(f"line {number} of the log " + "yaffle " * 100_000)]))
    size = path.stat().st_size
    with library(path.parent, tmp_path / "data", parser="pi") as sesame:
        tracemalloc.start()
        try:
            assert sesame.index().added == 1
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert size > 40_000_000
        assert peak < size / 2
        assert sesame.status().chunks == 60


@pytest.mark.upstream(12)
def test_copying_or_touching_a_file_changes_no_date() -> None:
    path = pi_session("dated", "the bandicoot digs", start=datetime(2026, 2, 3, 4, 5, tzinfo=UTC))
    with Sesame() as sesame:
        sesame.index()
        os.utime(path, (2_000_000_000, 2_000_000_000))
        sesame.index()
        modified = sesame.get_session("dated").session.modified
    assert modified == datetime(2026, 2, 3, 4, 5, 1, tzinfo=UTC)


@pytest.mark.upstream(27)
def test_an_append_reads_the_tail_and_writes_only_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    pi = Pi("growing")
    write(pi.path, pi.header(), *(pi.user(f"message {number}") for number in range(50)))
    with Sesame() as sesame:
        sesame.index()
        location = sesame.status().location
    with sqlite3.connect(location) as db:
        before = db.execute("SELECT id, content FROM chunks ORDER BY id").fetchall()
        db.execute("UPDATE chunks SET source_type = 'untouched'")
    db.close()

    def parse_whole(self: PiParser, path: Path) -> Any:
        raise AssertionError(f"{path} was read from its beginning")

    monkeypatch.setattr(PiParser, "parse", parse_whole)
    size = pi.path.stat().st_size
    append(pi.path, pi.user("the appended jacana"))
    with Sesame() as sesame:
        report = sesame.index()
        assert (report.appended, report.updated, report.chunks) == (1, 0, 1)
        assert report.bytes == pi.path.stat().st_size - size
        assert found(sesame.search("jacana")) == ["growing"]
        assert sesame.get_session("growing").session.message_count == 51
    with sqlite3.connect(location) as db:
        after = db.execute("SELECT id, content FROM chunks ORDER BY id").fetchall()
        kinds = Counter(kind for (kind,) in db.execute("SELECT source_type FROM chunks"))
    db.close()
    assert after[:-1] == before
    assert kinds == {"untouched": 50, "message": 1}
