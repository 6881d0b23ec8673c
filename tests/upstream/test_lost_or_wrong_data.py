"""§4.1 of the list of upstream's weaknesses: data that got lost or wrong."""

from __future__ import annotations

import os
import sqlite3
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Filters, Sesame
from sesame_core.query.dates import parse_date
from sesame_parser_pi.parser import PiParser

from ..support.transcripts import Pi, append, as_lines, everything, found, library, pi_session, said, write


def test_weakness_01_one_odd_record_loses_only_itself(cli: Callable[..., Any]) -> None:
    pi = Pi("odd")
    write(
        pi.path,
        pi.header(),
        pi.user("the wombat before"),
        pi.entry("compaction", firstKeptEntryId="x", tokensBefore=1),
        pi.answer({"type": "toolCall", "id": "call_1", "name": "bash", "arguments": None}),
        pi.entry("message", message=None),
        b'{"type": "message", "mess\n',
        pi.user("the wombat after"),
    )
    no_id = Pi("no-id")
    header = no_id.header()
    del header["id"]
    write(no_id.path, header, no_id.user("nobody's wombat"))
    first = cli("index", "--json")
    assert first.code == 0
    assert first.json["errors"] == []
    assert (first.json["added"], first.json["skipped"]) == (1, {"damaged": 1})
    with Sesame() as sesame:
        assert said(sesame, "user") == ["the wombat before", "the wombat after"]
    again = cli("index", "--json").json
    assert (again["unchanged"], again["added"], again["errors"]) == (1, 0, [])


def test_weakness_02_the_edits_of_an_edit_are_indexed() -> None:
    pi = Pi("edits")
    edits = [
        {"oldText": "retry_budget = 3", "newText": "retry_budget = 7"},
        {"oldText": "flip", "newText": "flop_the_gasket"},
    ]
    write(pi.path, pi.header(), pi.user("please edit"), pi.call("edit", path="src/net.py", edits=edits))
    with Sesame() as sesame:
        sesame.index()
        (chunk,) = [chunk for chunk in everything(sesame) if chunk.kind == "tool_call"]
        assert "retry_budget = 3" in chunk.text
        assert "flop_the_gasket" in chunk.text
        assert found(sesame.search("flop_the_gasket", Filters(tool="edit"))) == ["edits"]


def test_weakness_03_plain_string_answers_and_unheard_of_roles_are_kept() -> None:
    pi = Pi("roles")
    write(
        pi.path,
        pi.header(),
        pi.message("assistant", "a plain quokka answers"),
        pi.message("custom", "a custom quokka", customType="hook"),
        pi.message("oracle", "an oracular quokka"),
        pi.entry("message", message={"role": "bashExecution", "command": "touch quokka", "exitCode": 0}),
    )
    with Sesame() as sesame:
        sesame.index()
        texts = [chunk.text for chunk in everything(sesame)]
        assert texts[:3] == ["a plain quokka answers", "a custom quokka", "an oracular quokka"]
        assert texts[3:] == ["tool: bash\ncommand: touch quokka"]
        assert not sesame.search("undefined").hits


def test_weakness_04_deleted_sessions_are_kept_and_said_to_be_gone(cli: Callable[..., Any]) -> None:
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


def test_weakness_05_one_session_in_two_files_is_stable_and_one_hit() -> None:
    path = pi_session("twice", "the bilby sleeps")
    write(path.parent / "copy.jsonl", path.read_bytes())
    with Sesame() as sesame:
        assert sesame.index().added == 2
        again = sesame.index()
        assert (again.unchanged, again.changed) == (2, 0)
        answer = sesame.search("bilby")
        assert (found(answer), answer.total) == (["twice"], 1)


@pytest.mark.parametrize("field", ["parentSession", "branchedFrom"])
def test_weakness_06_a_parent_with_a_custom_id_keeps_all_of_it(field: str) -> None:
    pi = Pi("child")
    parent = "/home/bo/.pi/agent/sessions/--fox--/2026-07-01T00-00-00-000Z_my_custom_id.jsonl"
    write(pi.path, pi.header(**{field: parent}), pi.user("hello"))
    with Sesame() as sesame:
        sesame.index()
        assert sesame.get_session("child").session.parent_id == "my_custom_id"


@pytest.mark.parametrize("kind", ["long header", "byte order mark"])
def test_weakness_07_a_long_header_or_a_byte_order_mark_hides_no_file(kind: str) -> None:
    pi = Pi("hidden")
    records = [pi.header(note="x" * 9000 if kind == "long header" else ""), pi.user("the cassowary strides")]
    write(pi.path, (b"\xef\xbb\xbf" if kind == "byte order mark" else b"") + as_lines(records))
    with Sesame() as sesame:
        assert sesame.index().added == 1
        assert found(sesame.search("cassowary")) == ["hidden"]


def test_weakness_08_every_depth_and_linked_directories_are_found_whoever_looks(tmp_path: Path) -> None:
    main = pi_session("main", "the main echidna")
    sub = Pi("sub")
    nested = write(main.with_suffix("") / "run" / "run-1" / "session.jsonl", sub.header(), sub.user("a nested echidna"))
    linked = Pi("linked")
    write(tmp_path / "elsewhere" / "a.jsonl", linked.header(), linked.user("a linked echidna"))
    (linked.root / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    with Sesame() as sesame:
        assert sesame.index().added == 3
        assert sorted(stored.session.id for stored in sesame.list_sessions()[0]) == ["linked", "main", "sub"]
        assert sesame.get_session("sub").session.parent_id == "main"
        # What `sesame watch` does for a changed file leads to the same.
        append(nested, sub.user("and more"))
        assert sesame.index([nested]).appended == 1
        assert sesame.index().changed == 0


def test_weakness_09_a_newer_parser_reads_everything_again(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_weakness_10_a_large_file_is_streamed(tmp_path: Path) -> None:
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


def test_weakness_11_a_day_counts_whole_and_zones_are_heeded(cli: Callable[..., Any]) -> None:
    zone = datetime(2026, 5, 8, 12).astimezone().tzinfo
    pi_session("noon", "the same kookaburra", start=datetime(2026, 5, 8, 12, tzinfo=zone))
    pi_session("next", "the same kookaburra", start=datetime(2026, 5, 9, 0, 30, tzinfo=zone))
    offset = Pi("offset", start=datetime(2026, 5, 8, 23, 0, tzinfo=UTC))
    entry = offset.user("an offset kookaburra")
    entry["timestamp"] = "2026-05-10T01:30:00.000+02:00"
    write(offset.path, offset.header(), entry)
    with Sesame() as sesame:
        sesame.index()

    def ids(*arguments: str) -> set[str]:
        return {result["sessionId"] for result in cli("search", "kookaburra", "--json", *arguments).json["results"]}

    assert ids("--before", "2026-05-08") == {"noon"}
    assert ids("--after", "2026-05-08", "--before", "2026-05-08") == {"noon"}
    assert ids("--after", "2026-05-09T23:29:00+00:00") == {"offset"}
    assert ids("--after", "2026-05-09T23:31:00+00:00") == set()
    now = datetime(2026, 3, 31, 15, 20, tzinfo=timezone(timedelta(hours=5)))
    assert parse_date("1m", now=now) == now.replace(month=2, day=28)
    assert parse_date("24h", now=now) == now - timedelta(days=1)


def test_weakness_12_copying_or_touching_a_file_changes_no_date() -> None:
    path = pi_session("dated", "the bandicoot digs", start=datetime(2026, 2, 3, 4, 5, tzinfo=UTC))
    with Sesame() as sesame:
        sesame.index()
        os.utime(path, (2_000_000_000, 2_000_000_000))
        sesame.index()
        modified = sesame.get_session("dated").session.modified
    assert modified == datetime(2026, 2, 3, 4, 5, 1, tzinfo=UTC)


def test_weakness_13_path_means_the_path_argument_in_search_and_when_browsing() -> None:
    named = Pi("named")
    write(named.path, named.header(), named.user("fix it"), named.call("edit", path="src/my_file.py", old="a", new="b"))
    content = Pi("content")
    call = content.call("write", path="notes.md", content="see src/my_file.py and src/myXfile.py")
    write(content.path, content.header(), content.user("fix it"), call)
    lookalike = Pi("lookalike")
    write(lookalike.path, lookalike.header(), lookalike.user("fix it"), lookalike.call("read", path="src/myXfile.py"))
    with Sesame() as sesame:
        sesame.index()
        for query in ("", "*", "fix"):
            for path in ("src/my_file.py", "my_file.py"):
                assert found(sesame.search(query, Filters(path=path))) == ["named"]
            assert found(sesame.search(query, Filters(path="my%"))) == []


def test_weakness_14_a_directory_means_itself_and_what_is_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path, cli: Callable[..., Any]
) -> None:
    pi_session("app", "same words", cwd="/w/a_p")
    pi_session("below", "same words", cwd="/w/a_p/src")
    pi_session("sibling", "same words", cwd="/w/a_p-v2")
    pi_session("lookalike", "same words", cwd="/w/axp")
    pi_session("here", "same words", cwd=str(tmp_path))
    pi_session("home", "same words", cwd=str(home / "project"))
    with Sesame() as sesame:
        sesame.index()

    def ids(cwd: str) -> set[str]:
        return {result["sessionId"] for result in cli("search", "same", "--json", "--cwd", cwd).json["results"]}

    assert ids("/w/a_p") == ids("/w/a_p/") == {"app", "below"}
    assert ids("/w/%") == set()
    assert ids("~/project") == {"home"}
    monkeypatch.chdir(tmp_path)
    assert ids(".") == {"here"}


def test_weakness_15_an_unreadable_header_date_stops_no_output(cli: Callable[..., Any]) -> None:
    pi = Pi("undated")
    entry = pi.user("the undated galah")
    entry["timestamp"] = "when the moon was full"
    write(pi.path, pi.header(timestamp="not a date"), entry)
    for arguments in (("search", "galah"), ("search",), ("show", "undated"), ("status",)):
        done = cli(*arguments)
        assert (done.code, done.err) == (0, "")
        assert "galah" in done.out or arguments == ("status",)
    with Sesame() as sesame:
        location = sesame.status().location
    with sqlite3.connect(location) as db:
        (modified,) = db.execute("SELECT modified FROM sessions").fetchone()
    db.close()
    assert abs(modified / 1000 - pi.path.stat().st_mtime) < 1
