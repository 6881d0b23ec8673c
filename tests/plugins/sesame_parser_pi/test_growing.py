"""Files that grow: the tail says what the whole would have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from sesame_core import Session
from sesame_parser_pi.parser import PiParser

from .reading import DATA, HEADER, OWN, Reading, Write, message, read


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("options", [{}, {"thinking": True, "excluded_bash": True}], ids=["plain", "all"])
def test_the_tail_says_what_the_whole_would_have_at_every_line(
    tmp_path: Path, name: str, options: dict[str, bool]
) -> None:
    raw = (DATA / name).read_bytes()
    whole = read(DATA / name, **options)
    path = DATA / name
    parser = PiParser(**options)
    boundaries = [i + 1 for i, byte in enumerate(raw) if byte == 0x0A]
    assert boundaries
    prefix = tmp_path / name
    (tmp_path / "branched.jsonl").write_bytes((DATA / "branched.jsonl").read_bytes())
    for boundary in boundaries:
        prefix.write_bytes(raw[:boundary])
        reading = Reading().take(parser.parse(prefix))
        assert reading.checkpoint is not None
        assert reading.checkpoint.offset == boundary
        tail = parser.parse_tail(path, reading.checkpoint)
        assert tail is not None
        reading.take(tail)
        assert reading == whole


def test_the_tail_of_real_sessions_says_what_the_whole_would_have(shared: Path, tmp_path: Path) -> None:
    files = sorted((shared / "corpus").glob("pi*/**/*.jsonl"))
    assert len(files) > 20
    parser = PiParser()
    for number, file in enumerate(files):
        directory = tmp_path / str(number)
        directory.mkdir()
        path = directory / file.name
        reading, unknown = Reading(), 0
        for _ in whole_lines(path, file.read_bytes()):
            tail = parser.parse_tail(path, reading.checkpoint) if reading.checkpoint else None
            if tail is None:
                unknown += 1
                reading, tail = Reading(), parser.parse(path)
            reading.take(tail)
        assert reading == Reading().take(parser.parse(path)), file
        assert unknown == 1 or "openclaw" in file.name, file


def whole_lines(path: Path, raw: bytes) -> Iterator[None]:
    """Append a file's lines to a new one, one by one."""
    with path.open("wb", buffering=0) as file:
        for piece in raw.split(b"\n"):
            file.write(piece + b"\n")
            yield


def test_a_branch_off_an_entry_that_is_not_stored_is_left_to_a_full_reading(write: Write) -> None:
    records = [message("user", n, content=str(n)) for n in range(1, 301)]
    path = write(*records)
    checkpoint = read(path).checkpoint
    assert checkpoint is not None
    write(*records, message("user", 301, content="on") | {"parentId": "e0000005"})
    assert PiParser().parse_tail(path, checkpoint) is None
    write(*records, message("user", 301, content="on") | {"parentId": "e000012c"})
    assert PiParser().parse_tail(path, checkpoint) is not None


def test_an_entry_after_one_that_could_not_be_read_does_not_force_a_full_reading(write: Write) -> None:
    path = write(message("user", 1, content="a"))
    checkpoint = read(path).checkpoint
    assert checkpoint is not None
    big = {"type": "custom", "id": "e0000002", "parentId": "e0000001", "data": "tide " * 300_000}
    write(message("user", 1, content="a"), big, message("user", 3, content="b"))
    tail = PiParser().parse_tail(path, checkpoint)
    assert tail is not None
    assert Reading(session=Session(id=str(HEADER["id"]), agent="pi")).take(tail).said("user") == ["b"]


def test_a_tool_result_in_the_tail_knows_the_command_of_its_call(write: Write) -> None:
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "x" * 9000}}
    path = write(message("assistant", 1, content=[call]))
    first = read(path)
    assert first.checkpoint is not None
    write(message("assistant", 1, content=[call]), message("toolResult", 2, toolCallId="c", content="done"))
    tail = PiParser().parse_tail(path, first.checkpoint)
    assert tail is not None
    (result,) = first.take(tail).messages[-1].tool_results
    assert (result.name, result.command) == ("bash", "x" * 500)


def test_the_state_stays_small(write: Write) -> None:
    records: list[dict[str, Any]] = []
    for n in range(1, 2001):
        call = {"type": "toolCall", "id": f"c{n}", "name": "bash", "arguments": {"command": "y" * 5000}}
        records += [message("assistant", n, content=[call]), {"type": "label", "targetId": f"{n}", "label": f"l{n}"}]
    checkpoint = read(write(*records)).checkpoint
    assert checkpoint is not None
    assert len(orjson.dumps(checkpoint.state)) < 64_000
