"""Logs as crashes and bugs of Copilot CLI leave them."""

from __future__ import annotations

import json

import pytest

from sesame_parser_copilot import lines

from .reading import ID, Write, answer, done, event, line, prompt, read, request


def test_zeros_after_a_crash_are_removed_and_the_rest_is_kept(write: Write) -> None:
    path = write(prompt("before"), b"\0" * 1728, b"\0" * 10 + line(prompt("after", 3)))
    path.write_bytes(path.read_bytes() + b"\0" * 1206)
    reading = read(path)
    assert reading.said("user") == ["before", "after"]
    assert [skipped.reason for skipped in reading.skipped if skipped.is_loss] == []


def test_a_torn_line_in_the_middle_loses_only_itself(write: Write) -> None:
    reading = read(write(prompt("before"), line(prompt("torn", 3))[:60], prompt("after", 4)))
    assert reading.said("user") == ["before", "after"]
    assert [(skipped.reason, skipped.line) for skipped in reading.skipped] == [("damaged", 3)]


def test_a_torn_line_with_the_next_event_on_it_loses_only_itself(write: Write) -> None:
    reading = read(write(prompt("before"), line(prompt("torn", 3))[:60] + line(prompt("after", 4)), prompt("last", 5)))
    assert reading.said("user") == ["before", "after", "last"]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c"])
def test_separators_of_lines_inside_a_string_divide_nothing(write: Write, separator: str) -> None:
    reading = read(write(prompt(f"one{separator}two")))
    assert (reading.said("user"), reading.skipped) == ([f"one{separator}two"], [])


@pytest.mark.parametrize(
    "text",
    [
        "one\ntwo",
        "one\n\n\ntwo\n",
        'quotes " and \\ and {\n}, "type":\n"x"',
        "one\r\ntwo\tthree",
        '{"type": "user.message"}\n{"type": "user.message"}',
        "\n" * 500,
    ],
)
def test_newlines_inside_a_string_are_joined(write: Write, text: str) -> None:
    divided = line(done("c1", "@")).replace(b"@", json.dumps(text)[1:-1].replace("\\n", "\n").encode())
    reading = read(write(answer("", 3, request("c1", "bash", command="x")), divided, prompt("after", 6), b"{torn"))
    assert [result.text for result in reading.results] == [text]
    assert reading.said("user") == ["after"]
    count = 4 + text.count("\n")
    assert [(skipped.reason, skipped.line) for skipped in reading.skipped] == [("damaged", count + 1)]


def test_lines_that_end_as_on_windows_are_read(write: Write) -> None:
    path = write(prompt("one"), line(prompt("@", 3)).replace(b"@", b"two\r\nthree"), prompt("four", 4))
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    reading = read(path)
    assert (reading.said("user"), reading.skipped) == (["one", "two\r\nthree", "four"], [])


def test_two_divided_events_in_a_row_are_both_joined(write: Write) -> None:
    divided = [line(prompt("@", n)).replace(b"@", b"one\ntwo") for n in (2, 3)]
    assert read(write(*divided, prompt("after", 4))).said("user") == ["one\ntwo", "one\ntwo", "after"]


def test_a_torn_string_does_not_join_the_events_after_it(write: Write) -> None:
    reading = read(write(line(prompt("torn here", 2))[:-90], *(prompt(f"whole {n}", n) for n in range(3, 9))))
    assert reading.said("user") == [f"whole {n}" for n in range(3, 9)]
    assert [skipped.reason for skipped in reading.skipped] == ["damaged"]


def test_thousands_of_torn_lines_are_passed_in_linear_time(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    counted = lines._ends_inside_string
    monkeypatch.setattr(lines, "_ends_inside_string", lambda *a, **more: seen.append(a) or counted(*a, **more))
    reading = read(write(*(line(prompt("torn here", n))[:70] for n in range(2, 3000)), prompt("after", 3000)))
    assert reading.said("user") == ["after"]
    assert len(reading.skipped) == 2998
    assert len(seen) < 3 * 2998


@pytest.mark.once
def test_a_divided_event_over_the_limit_is_not_joined(write: Write) -> None:
    divided = line(prompt("@")).replace(b"@", b"word\n" * 300_000)
    reading = read(write(divided, prompt("after", 3)))
    assert reading.said("user") == ["after"]
    assert reading.skipped


def test_lone_surrogates_are_replaced(write: Write) -> None:
    reading = read(write(line(prompt("a@b")).replace(b"@", rb"\ud83e"), prompt("after", 3)))
    assert reading.said("user") == ["a\ufffdb", "after"]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"type": 7, "data": {}}, "no type"),
        ({"data": {}}, "no type"),
        ({"type": "user.message"}, "no data"),
        ({"type": "user.message", "data": "text"}, "no data"),
        ([], "not an object"),
    ],
)
def test_an_invalid_event_is_skipped_with_a_reason(write: Write, record: object, reason: str) -> None:
    reading = read(write(prompt("before"), record, prompt("after", 4)))
    assert reading.said("user") == ["before", "after"]
    assert [(skipped.reason, skipped.line) for skipped in reading.skipped] == [(reason, 3)]


def test_an_event_without_id_and_time_is_read(write: Write) -> None:
    bare = {"type": "user.message", "data": {"content": "light"}}
    (message,) = read(write(bare)).messages
    assert (message.session_id, message.entry_id, message.origin_id, message.timestamp) == (ID, None, None, None)


def test_a_log_whose_first_event_is_lost_is_still_a_session(write: Write) -> None:
    reading = read(write(prompt("light"), event("session.resume", 3, context={"cwd": "/w"}), header=b'{"type": "sess'))
    assert (reading.session.id, reading.session.cwd) == (ID, "/w")
