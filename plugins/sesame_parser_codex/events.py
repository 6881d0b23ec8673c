"""Reads a session file as events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sesame_core import Checkpoint, Event, JsonLines, ParseError, Skipped

from .compressed import SUFFIX, plain
from .reader import RolloutReader


def events(path: Path, *, limit: int, thinking: bool) -> Iterator[Event]:
    """Yield the session, its messages in file order, the session again with all properties, and a checkpoint.

    :param limit: longest record in bytes.
    :param thinking: yield the summaries of the agent's reasoning.
    :raises ParseError: the file has neither a header nor a session's id in its name, or it cannot be decompressed.
    :raises OSError: the file cannot be read.
    """
    reader = RolloutReader(path, thinking=thinking)
    with plain(path) as source:
        lines = JsonLines(source, limit=limit)
        yield from _read(lines, reader)
        if not reader.is_introduced:
            raise ParseError(path, "no session header")
        yield from reader.finish()
        # A compressed file is read whole when it changes.
        if path.name.endswith(SUFFIX):
            yield Checkpoint(offset=0, line=0)
        else:
            yield Checkpoint(offset=lines.offset, line=lines.line, state=reader.state())


def tail_events(path: Path, checkpoint: Checkpoint, *, limit: int, thinking: bool) -> Iterator[Event]:
    """Yield the events after the checkpoint."""
    reader = RolloutReader.restore(path, checkpoint.state, thinking=thinking)
    lines = JsonLines(path, offset=checkpoint.offset, line=checkpoint.line, limit=limit)
    yield from reader.introduce()
    yield from _read(lines, reader)
    yield from reader.finish()
    yield Checkpoint(offset=lines.offset, line=lines.line, state=reader.state())


def _read(lines: JsonLines, reader: RolloutReader) -> Iterator[Event]:
    for record in lines:
        if isinstance(record, Skipped):
            reader.skip()
            yield record
        else:
            yield from reader.read(record, lines.line)
