"""pi's session files, from the file to what a search finds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from sesame_core import Filters, Sesame

from ...support.transcripts import Pi, as_lines, everything, found, said, write


@pytest.mark.upstream(1)
def test_one_odd_record_loses_only_itself(cli: Callable[..., Any]) -> None:
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


@pytest.mark.upstream(2)
def test_the_edits_of_an_edit_are_indexed() -> None:
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


@pytest.mark.upstream(3)
def test_plain_string_answers_and_unheard_of_roles_are_kept() -> None:
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


@pytest.mark.upstream(6)
@pytest.mark.parametrize("field", ["parentSession", "branchedFrom"])
def test_a_parent_with_a_custom_id_keeps_all_of_it(field: str) -> None:
    pi = Pi("child")
    parent = "/home/bo/.pi/agent/sessions/--fox--/2026-07-01T00-00-00-000Z_my_custom_id.jsonl"
    write(pi.path, pi.header(**{field: parent}), pi.user("hello"))
    with Sesame() as sesame:
        sesame.index()
        assert sesame.get_session("child").session.parent_id == "my_custom_id"


@pytest.mark.upstream(7)
@pytest.mark.parametrize("kind", ["long header", "byte order mark"])
def test_a_long_header_or_a_byte_order_mark_hides_no_file(kind: str) -> None:
    pi = Pi("hidden")
    records = [pi.header(note="x" * 9000 if kind == "long header" else ""), pi.user("the cassowary strides")]
    write(pi.path, (b"\xef\xbb\xbf" if kind == "byte order mark" else b"") + as_lines(records))
    with Sesame() as sesame:
        assert sesame.index().added == 1
        assert found(sesame.search("cassowary")) == ["hidden"]


@pytest.mark.upstream(15)
def test_an_unreadable_header_date_stops_no_output(cli: Callable[..., Any]) -> None:
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
