"""Reads a session file as events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sesame_core import Checkpoint, Event, JsonLines, ParseError, Skipped
from sesame_core.dataclass import replace
from sesame_core.types.transcript import SHORTENED

from .headers import describe, is_header
from .reader import SessionReader


def events(path: Path, roots: Sequence[Path], *, limit: int, **options: bool) -> Iterator[Event]:
    """Yield the session, its messages in file order, the session again with all properties, and a checkpoint.

    :param roots: pi's session directories.
    :param limit: longest record in bytes.
    :param options: options of `SessionReader`.
    :raises ParseError: the file has no session header.
    :raises OSError: the file cannot be read.
    """
    lines = JsonLines(path, limit=limit)
    records = iter(lines)
    for record in records:
        if isinstance(record, Skipped):
            yield record
        elif is_header(record):
            session = describe(record, path, roots)
            break
        else:
            yield Skipped(reason="before the header", line=lines.line)
    else:
        raise ParseError(path, "no session header")
    yield from _rest(lines, records, SessionReader(session, **options))


def tail_events(path: Path, checkpoint: Checkpoint, *, limit: int, **options: bool) -> Iterator[Event] | None:
    """Yield the events after the checkpoint; None when they branch off an entry that is not stored."""
    reader = SessionReader.restore(checkpoint.state, **options)
    if not reader.tree.knows_parents(_lines_after(path, checkpoint, limit)):
        return None
    lines = _lines_after(path, checkpoint, limit)
    return _rest(lines, iter(lines), reader)


def _lines_after(path: Path, checkpoint: Checkpoint, limit: int) -> JsonLines:
    return JsonLines(path, offset=checkpoint.offset, line=checkpoint.line, limit=limit)


def _rest(lines: JsonLines, records: Iterator[dict[str, Any] | Skipped], reader: SessionReader) -> Iterator[Event]:
    """Yield the events of the records after the header; `lines` is the source of `records`."""
    yield replace(reader.session)
    for record in records:
        if isinstance(record, Skipped):
            if record.reason != SHORTENED:
                reader.tree.skip()
            yield record
        else:
            yield from reader.read(record)
    yield reader.finish()
    yield Checkpoint(offset=lines.offset, line=lines.line, state=reader.state())
