"""Logs that grow: the tail says what the whole would have."""

from __future__ import annotations

from pathlib import Path

import pytest

from sesame_parser_copilot.parser import CopilotParser

from .reading import EVERY, FLAT, HISTORY, Reading, Write, answer, line, prompt, read


@pytest.mark.parametrize("file", [EVERY, FLAT], ids=["every", "flat"])
@pytest.mark.parametrize("thinking", [False, True])
def test_the_tail_says_what_the_whole_would_have_at_every_line(tmp_path: Path, file: Path, thinking: bool) -> None:
    raw, parser = file.read_bytes(), CopilotParser(thinking=thinking)
    path = tmp_path / file.relative_to(file.parents[1])
    path.parent.mkdir(parents=True)
    if file is EVERY:
        (path.parent / "workspace.yaml").write_bytes((file.parent / "workspace.yaml").read_bytes())
    path.write_bytes(raw)
    whole = read(path, thinking=thinking)
    boundaries = [i + 1 for i, byte in enumerate(raw) if byte == 0x0A]
    for boundary in boundaries:
        path.write_bytes(raw[:boundary])
        reading = Reading().take(parser.parse(path))
        assert reading.checkpoint is not None
        assert reading.checkpoint.offset == boundary
        path.write_bytes(raw)
        tail = parser.parse_tail(path, reading.checkpoint)
        assert tail is not None
        reading.take(tail)
        assert reading == whole, boundary


def test_a_name_that_is_given_later_is_read_with_the_next_events(write: Write) -> None:
    parser = CopilotParser()
    path = write(prompt("light the lamp"), answer("lit"), workspace="name: light the lamp\nuser_named: false\n")
    reading = read(path)
    assert (reading.session.title, reading.checkpoint is None) == (None, False)
    write(prompt("light the lamp"), answer("lit"), prompt("thanks", 4), workspace="name: Lamps\nuser_named: true\n")
    assert reading.checkpoint is not None
    tail = parser.parse_tail(path, reading.checkpoint)
    assert tail is not None
    reading.take(tail)
    assert reading.session.title == "Lamps"
    assert reading.said("metadata") == ["Lamps"]


def test_a_result_in_the_tail_knows_the_call_before_it(write: Write) -> None:
    whole = EVERY.read_bytes().split(b"\n")
    first = next(number for number, raw in enumerate(whole) if b'"tool.execution_complete"' in raw)
    path = write(*whole[1:first], header=whole[0])
    head = read(path)
    assert head.checkpoint is not None
    path.write_bytes(path.read_bytes() + b"\n".join(whole[first:]))
    tail = CopilotParser().parse_tail(path, head.checkpoint)
    assert tail is not None
    assert [(r.name, r.command) for r in Reading(sessions=head.sessions).take(tail).results][:2] == [
        ("view", ""),
        ("bash", "pytest -q tests/test_sail.py"),
    ]


def test_an_event_that_is_half_written_is_read_when_it_is_whole(write: Write) -> None:
    raw = line(prompt("half written", 3))
    path = write(prompt("before"), raw[:50])
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    head = read(path)
    assert (head.said("user"), head.skipped) == (["before"], [])
    path.write_bytes(path.read_bytes() + raw[50:] + b"\n")
    assert head.checkpoint is not None
    tail = CopilotParser().parse_tail(path, head.checkpoint)
    assert tail is not None
    assert head.take(tail).said("user") == ["before", "half written"]


def test_a_checkpoint_stays_small_however_long_the_session_is(write: Write) -> None:
    records = [
        answer("", n, {"toolCallId": f"c{n}", "name": "bash", "arguments": {"command": "x" * 2000}})
        for n in range(2, 300)
    ]
    checkpoint = read(write(*records)).checkpoint
    assert checkpoint is not None
    assert len(line(checkpoint.state)) < 50_000


def test_a_single_json_object_is_always_read_whole() -> None:
    checkpoint = read(HISTORY).checkpoint
    assert checkpoint is not None
    assert CopilotParser().parse_tail(HISTORY, checkpoint) is None
