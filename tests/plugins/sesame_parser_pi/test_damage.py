"""Damaged and odd files: what is lost is only what is damaged."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sesame_core import Message, ParseError
from sesame_parser_pi.parser import PiParser

from .reading import HEADER, Write, line, message, own, read


def test_torn_fused_and_unicode_records_cost_only_themselves() -> None:
    reading = own("torn-and-unicode.jsonl")
    assert reading.said("user") == [
        "line\u2028separator, para\u2029graph, next\u0085line",
        "written right behind it",
        "lone surrogate \ufffd end",
        "no newline behind me",
    ]
    assert reading.said("assistant") == ["nul  inside"]
    assert [(s.reason, s.line) for s in reading.skipped] == [
        ("damaged", 4),
        ("not an object", 8),
        ("damaged", 9),
    ]
    assert reading.session.cwd is None


def test_a_record_glued_to_the_header_is_read(tmp_path: Path) -> None:
    path = tmp_path / "glued.jsonl"
    path.write_bytes(line(HEADER) + line(message("user", content="right behind the header")) + b"\n")
    assert read(path).said("user") == ["right behind the header"]


def test_a_second_header_changes_nothing(write: Write) -> None:
    reading = read(write(message("user", 1, content="a"), {**HEADER, "id": "x"}, message("user", 2, content="b")))
    assert (reading.session.id, reading.said("user"), reading.session.abandoned) == (HEADER["id"], ["a", "b"], ())


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2026-03-04T05:06:07Z", datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)),
        ("2026-03-04T05:06:07+02:00", datetime(2026, 3, 4, 3, 6, 7, tzinfo=UTC)),
        ("2026-03-04T05:06:07", datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)),
        (None, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        ("yesterday", datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        (True, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        (1e300, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
    ],
)
def test_a_message_is_dated_by_its_entry_else_by_itself(one: Any, stamp: object, expected: datetime) -> None:
    (made,) = one({**message("user", content="hello", timestamp=1000), "timestamp": stamp})
    assert made.timestamp == expected


def test_a_message_without_any_date_has_none_and_no_origin(one: Any) -> None:
    (made,) = one({**message("user", content="hello"), "timestamp": None})
    assert (made.timestamp, made.origin_id) == (None, None)


@pytest.mark.once
def test_thirty_megabytes_in_one_custom_entry_need_no_memory(write: Write) -> None:
    path = write(
        message("user", 1, content="before"),
        {"type": "custom", "id": "e0000002", "parentId": "e0000001", "data": "tide " * 6_000_000},
        message("user", 3, content="after"),
    )
    tracemalloc.start()
    reading = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 30_000_000
    assert peak < 20_000_000
    assert reading.said("user") == ["before", "after"]
    assert [s.reason for s in reading.skipped] == ["shortened"]
    assert reading.session.abandoned == ()


def test_a_screenshot_does_not_hide_the_prompt_next_to_it(one: Any) -> None:
    image = {"type": "image", "data": "iVBORw0KGgo" * 400_000, "mimeType": "image/png"}
    (made,) = one(message("user", content=[{"type": "text", "text": "what is this?"}, image]))
    assert made.text == "what is this?"


def test_the_line_limit_is_an_option(write: Write) -> None:
    path = write(message("user", 1, content="tide " * 1000), message("user", 2, content="short"))
    long, short = read(path, line_limit=2000).said("user")
    assert short == "short"
    assert len(long) < 2000 < len("tide " * 1000)


@pytest.mark.upstream(1)
@pytest.mark.parametrize(
    "odd",
    [
        {"type": "compaction", "id": "e0000002", "parentId": "e0000001"},
        message("assistant", 2, content=[{"type": "toolCall", "id": "c", "name": "ls", "arguments": None}]),
        message("assistant", 2, content=[{"type": "toolCall", "id": None, "name": 5, "arguments": [1]}, None, 3]),
        message("assistant", 2, content=[{"type": "text"}, {"type": "text", "text": None}]),
        message(None, 2),
        message(["user"], 2, content={"a": 1}),
        {"type": "message", "message": "user"},
        {"type": None, "id": 4, "parentId": {}, "timestamp": []},
        {},
    ],
)
def test_one_odd_record_does_not_lose_the_session(write: Write, odd: object) -> None:
    path = write(message("user", 1, content="before"), odd, message("user", 3, content="after"))
    assert read(path).said("user") == ["before", "after"]


@pytest.mark.upstream(1)
def test_null_arguments_are_none(one: Any) -> None:
    blocks = [
        {"type": "toolCall", "id": str(n), "name": "ls", "arguments": value}
        for n, value in enumerate([None, [1], 7, "", "[1]", '{"path": "a"}', {"path": "b"}])
    ]
    (made,) = one(message("assistant", content=blocks))
    assert [dict(c.arguments) for c in made.tool_calls] == [{}, {}, {}, {}, {}, {"path": "a"}, {"path": "b"}]


@pytest.mark.upstream(1)
@pytest.mark.parametrize("header", [{"type": "session"}, {"type": "session", "id": 5}, {"type": "session", "id": ""}])
def test_a_header_without_an_id_is_refused(write: Write, header: object) -> None:
    path = write(message("user", content="x"), header=header)
    assert not PiParser().matches(path)
    with pytest.raises(ParseError, match="no session header"):
        read(path)


@pytest.mark.upstream(2)
def test_an_edit_array_is_not_reduced_to_its_path(one: Any) -> None:
    arguments = {"path": "a.py", "edits": [{"oldText": "x", "newText": "y"}]}
    call = {"type": "toolCall", "id": "c", "name": "edit", "arguments": arguments}
    (made,) = one(message("assistant", content=[call]))
    assert made.tool_calls[0].arguments == arguments


@pytest.mark.upstream(3)
def test_content_as_a_string_and_unusual_roles_are_kept(one: Any) -> None:
    made = one(
        message("assistant", 1, content="a string"),
        message("custom", 2, content="from a hook"),
        message("toolResult", 3, content="a string result"),
    )
    assert [m.text or m.tool_results[0].text for m in made] == ["a string", "from a hook", "a string result"]


@pytest.mark.upstream(3)
def test_a_command_without_output_does_not_say_undefined(one: Any) -> None:
    (made,) = one(message("bashExecution", command="sleep 1"))
    assert (made.tool_results[0].text, made.tool_results[0].is_error) == ("", False)


@pytest.mark.upstream(6)
@pytest.mark.parametrize(
    ("parent", "expected"),
    [
        ("/gone/2026-01-02T03-04-05-678Z_my_custom_id.jsonl", "my_custom_id"),
        ("2026-01-02T03-04-05-678Z_my-custom.id_1.jsonl", "my-custom.id_1"),
        ("C:\\Users\\ann\\2026-01-02T03-04-05-678Z_0199.jsonl", "0199"),
        ("my_custom_id", "my_custom_id"),
        ("/gone/without-an-id.jsonl", None),
        ("/gone/directory", None),
        ("nonsense, with spaces", None),
        ("nul\0inside", "nulinside"),
        ("x" * 5000, "x" * 5000),
        ("", None),
        (None, None),
        (HEADER["id"], None),
    ],
)
def test_the_parent_is_found_by_name_or_by_id(write: Write, parent: object, expected: object) -> None:
    assert read(write(header={**HEADER, "parentSession": parent})).session.parent_id == expected


@pytest.mark.upstream(6)
@pytest.mark.parametrize("key", ["parentSession", "branchedFrom"])
def test_a_parent_that_exists_is_asked_for_its_id(write: Write, key: str) -> None:
    parent = write(header={**HEADER, "id": "real_id"}, name="2026-01-02T03-04-05-678Z_other.jsonl")
    for value in (str(parent), parent.name):
        assert read(write(header={**HEADER, key: value})).session.parent_id == "real_id"


@pytest.mark.upstream(7)
def test_a_header_longer_than_4096_bytes_is_seen(write: Write) -> None:
    path = write(message("user", content="x"), header={"padding": "tide " * 2000, **HEADER})
    assert PiParser().matches(path)
    assert read(path).said("user") == ["x"]


@pytest.mark.upstream(7)
@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"\n\n", b"\xef\xbb\xbf\r\n", b'{"type":"sess\n', b"\0\0\0\n"])
def test_a_bom_and_blank_or_malformed_lines_before_the_header_are_fine(tmp_path: Path, before: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(before + line(HEADER) + b"\r\n" + line(message("user", content="x")) + b"\r\n")
    assert PiParser().matches(path)
    assert read(path).said("user") == ["x"]


@pytest.mark.upstream(8)
def test_nested_flat_and_symlinked_layouts_are_recognised(write: Write, tmp_path: Path) -> None:
    nested = write(name="sessions/--home-ann--/2026-03-04T05-06-00-000Z_x.jsonl")
    flat = write(name="flat/2026-03-04T05-06-00-000Z_x.jsonl")
    deep = write(name="sessions/--home-ann--/2026-03-04T05-06-00-000Z_x/run/run-1/session.jsonl")
    (tmp_path / "link").symlink_to(flat.parent)
    (tmp_path / "file-link.jsonl").symlink_to(flat)
    linked = tmp_path / "link" / flat.name
    parser = PiParser()
    assert all(parser.matches(path) for path in (nested, flat, deep, linked, tmp_path / "file-link.jsonl"))


@pytest.mark.upstream(8)
def test_a_run_next_to_a_session_is_its_subagent(write: Write) -> None:
    write(name="sessions/--home-ann--/one.jsonl", header={**HEADER, "id": "the-parent"})
    run = read(write(name="sessions/--home-ann--/one/run/run-1/session.jsonl"))
    assert (run.session.kind, run.session.parent_id) == ("subagent", "the-parent")


@pytest.mark.upstream(10)
def test_a_line_is_read_without_the_rest_of_the_file(write: Write) -> None:
    path = write(*(message("user", n, content=f"{n} " + "tide " * 2000) for n in range(1, 2001)))
    tracemalloc.start()
    count = sum(1 for event in PiParser().parse(path) if isinstance(event, Message))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (count, path.stat().st_size > 20_000_000, peak < 8_000_000) == (2000, True, True)


@pytest.mark.upstream(12)
def test_dates_come_from_the_records_not_from_the_file(write: Write) -> None:
    reading = read(write(message("user", content="x")))
    assert reading.session.created == datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
    assert reading.messages[0].timestamp == datetime(2026, 3, 4, 5, 7, 1, tzinfo=UTC)


@pytest.mark.upstream(15)
def test_a_header_with_a_nonsense_date_is_undated(write: Write) -> None:
    assert read(write(header={**HEADER, "timestamp": "Invalid Date"})).session.created is None
