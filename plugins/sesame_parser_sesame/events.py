"""Reads a session file as events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from sesame_core import Checkpoint, Event, JsonLines, ParseError, Skipped

from .header import HEADER, read_header
from .records import RecordReader

#: Bytes within which the header must end for a file to be recognised.
SNIFFED = 1 << 16


def is_session(path: Path) -> bool:
    """Return whether the file's first readable record is a header of this format.

    :raises OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(SNIFFED)
    for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        try:
            record = orjson.loads(line.replace(b"\0", b""))
        except orjson.JSONDecodeError:
            # Blank and damaged lines may precede the header.
            continue
        return isinstance(record, dict) and record.get("type") == HEADER
    return False


def events(path: Path, *, limit: int) -> Iterator[Event]:
    """Yield the session, its messages in file order, and a checkpoint.

    :param limit: longest record in bytes.
    :raises ParseError: the file has no header, or one that this program cannot read.
    :raises OSError: the file cannot be read.
    """
    lines = JsonLines(path, limit=limit)
    records = iter(lines)
    for record in records:
        if isinstance(record, Skipped):
            yield record
            continue
        if record.get("type") != HEADER:
            break
        reader = RecordReader(read_header(record, path, lines.line))
        yield from reader.introduce()
        yield from _rest(lines, records, reader)
        return
    raise ParseError(path, f'no header: the first record must be {{"type": "{HEADER}", …}}')


def tail_events(path: Path, checkpoint: Checkpoint, *, limit: int) -> Iterator[Event]:
    """Yield the events after the checkpoint."""
    lines = JsonLines(path, offset=checkpoint.offset, line=checkpoint.line, limit=limit)
    return _rest(lines, iter(lines), RecordReader.restore(checkpoint.state))


def _rest(lines: JsonLines, records: Iterator[dict[str, Any] | Skipped], reader: RecordReader) -> Iterator[Event]:
    """Yield the events of the records after the header; `lines` is the source of `records`."""
    for record in records:
        if isinstance(record, Skipped):
            yield record
        else:
            yield from reader.read(record, lines.line)
    yield Checkpoint(offset=lines.offset, line=lines.line, state=reader.state())
