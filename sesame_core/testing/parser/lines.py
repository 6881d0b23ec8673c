"""Conformance tests of a parser of files of lines: they grow, and some lines are damaged or very long."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

import pytest

from sesame_core.plugin.parser import Parser, TailParser
from sesame_core.types.transcript import Checkpoint, Event

from .base import ParserBase, messages


class LinesConformance(ParserBase):
    """Tests that a file in parts, or with a bad line, yields what it does whole."""

    #: Whether the damage test applies; None: if the file's name ends with `.jsonl`.
    is_line_based: ClassVar[bool | None] = None

    def test_a_checkpoint_comes_last_and_inside_the_file(self, parser: Parser, session_file: Path) -> None:
        """The position to resume from is known only at the end."""
        events = list(parser.parse(session_file))
        checkpoints = [event for event in events if isinstance(event, Checkpoint)]
        if isinstance(parser, TailParser):
            assert checkpoints, "a TailParser yields a Checkpoint"
        if checkpoints:
            assert events[-1:] == checkpoints, "there is one Checkpoint, and it is the last event"
            assert 0 <= checkpoints[0].offset <= session_file.stat().st_size, "`offset` is a byte position in the file"

    def test_head_and_tail_equal_the_whole(self, parser: Parser, session_file: Path, tmp_path: Path) -> None:
        """A file read while it grows yields the same as one read when it is complete."""
        if not isinstance(parser, TailParser):
            pytest.skip("the parser reads grown files from the start")
        lines = _lines(session_file)
        whole = _said(parser.parse(session_file))
        growing = tmp_path / "growing" / session_file.name
        growing.parent.mkdir()
        for cut in sorted({len(lines) // 3, len(lines) // 2, len(lines) - 1} - {0}):
            growing.write_bytes(b"".join(lines[:cut]))
            head = list(parser.parse(growing))
            checkpoint = head[-1]
            assert isinstance(checkpoint, Checkpoint), f"the first {cut} lines yield no checkpoint"
            growing.write_bytes(b"".join(lines))
            tail = parser.parse_tail(growing, checkpoint)
            if tail is not None:
                rest = list(tail)
                assert _said([*head, *rest]) == whole, (
                    f"`parse` of the first {cut} lines and `parse_tail` of the rest yield the same as `parse` of all, "
                    "except for the ids of calls; a result has the id of its call, also of one before the checkpoint"
                )
                assert isinstance(rest[-1], Checkpoint), "`parse_tail` yields a Checkpoint last, as `parse` does"

    @pytest.mark.parametrize(
        "damage",
        [
            b'{"type": "mess',
            b"\0\0\0\0\0\0\0\0",
            b"\xff\xfe\xfd",
            b"null",
            b"[]",
            b"42",
            b'{"type": 7}',
            b"{}",
        ],
    )
    def test_a_damaged_line_loses_no_neighbour(
        self, parser: Parser, session_file: Path, tmp_path: Path, damage: bytes
    ) -> None:
        """Every message of the undamaged lines is yielded, whatever is between them."""
        is_line_based = self.is_line_based
        if is_line_based is None:
            is_line_based = session_file.suffix == ".jsonl"
        if not is_line_based:
            pytest.skip("not a file of lines; set is_line_based to test it anyway")
        lines = _lines(session_file)
        damaged = tmp_path / "damaged" / session_file.name
        damaged.parent.mkdir()
        middle = len(lines) // 2
        damaged.write_bytes(b"".join([*lines[:middle], damage + b"\n", *lines[middle:]]))
        assert _said(parser.parse(damaged)) == _said(parser.parse(session_file)), (
            f"with the line {damage!r} in its middle, a file has the same messages, except for the ids of calls"
        )

    def test_a_record_over_the_limit_keeps_its_beginning_and_its_end(
        self, parser: Parser, session_file: Path, tmp_path: Path
    ) -> None:
        """Of a message of two megabytes both ends are yielded, and its neighbours whole.

        `sesame_core.JsonLines` does that; a parser that reads its files otherwise may keep the message whole.
        """
        is_line_based = session_file.suffix == ".jsonl" if self.is_line_based is None else self.is_line_based
        if not is_line_based:
            pytest.skip("not a file of lines; set is_line_based to test it anyway")
        text = next((m.text for m in messages(parser.parse(session_file)) if len(m.text) > 3 and m.text.isascii()), "")
        written, lines = json.dumps(text)[1:-1].encode(), _lines(session_file)
        number = next((n for n, line in enumerate(lines) if text and line.count(written) == 1), None)
        if number is None:
            pytest.skip("no line contains the text of a message as JSON writes it")
        long = written + b" sesamehead" + b" word" * 400_000 + b" sesametail"
        lines[number] = lines[number].replace(written, long)
        grown = tmp_path / "grown" / session_file.name
        grown.parent.mkdir()
        grown.write_bytes(b"".join(lines))
        said, before = messages(parser.parse(grown)), messages(parser.parse(session_file))
        assert len(said) >= len(before), "a message of two megabytes is not lost"
        for word in ("sesamehead", "sesametail"):
            assert any(word in message.text for message in said), "both ends of a long text are yielded"


def _lines(path: Path) -> list[bytes]:
    return [line + b"\n" for line in path.read_bytes().removesuffix(b"\n").split(b"\n")]


def _said(events: Iterable[Event]) -> list[tuple[object, ...]]:
    """Return the content of the messages among the events, without values that depend on the position in the file.

    Calls are compared by name and arguments.  Their ids may be line numbers: each is replaced with its rank among the
    ids so far, so that a result must still have the id of its call.
    """
    numbers: dict[str | None, int] = {}

    def number(call_id: str | None) -> int:
        return numbers.setdefault(call_id, len(numbers))

    return [
        (
            message.session_id,
            message.role,
            message.text,
            tuple((number(call.id), call.name, call.arguments) for call in message.tool_calls),
            tuple((number(result.call_id), result.text, result.is_error) for result in message.tool_results),
        )
        for message in messages(events)
    ]
