"""Reads files of JSON objects, one per line, however long or damaged the lines are.

Real session files contain records cut in the middle with the next one on the same line, runs of NUL bytes, lone
surrogates, raw U+2028 inside strings and screenshots of several megabytes.  Everything that can be recovered is
yielded; everything else becomes a `Skipped` and is counted.  Memory is bounded by a multiple of the line limit,
whatever the file contains.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import orjson

from ..types.transcript import LINE_LIMIT, SHORTENED, Skipped
from .long_lines import LongLine
from .recovery import recovered

#: Bytes read at once.
BLOCK = 1 << 20
#: Called before each block that is read, so that the reading of a long record can be stopped: it raises then.
BEFORE_BLOCK: ContextVar[Callable[[], None]] = ContextVar("BEFORE_BLOCK", default=lambda: None)
#: Bytes read at once when the file should be at its end, or grows while it is read.
SMALL_BLOCK = 1 << 12
#: Brackets from which a line that cannot be decoded may be nested too deeply: Python's decoder reads 1,000 levels.
NESTED = 900
_BOM = b"\xef\xbb\xbf"


class JsonLines:
    """The records of one file from an offset on: iterate over it for dicts and `Skipped`.

    :param path: the file.
    :param offset: where to start: the start of a line, or the `offset` of an earlier reader.
    :param line: number of lines before the offset.
    :param limit: longest record in bytes, after payloads are removed; a longer one is yielded without the middle of
        its longest strings, followed by a `Skipped` with the reason `SHORTENED`.
    :raises OSError: the file cannot be read.

    A last line without a newline is yielded if it parses, and left for the next read if it does not.
    """

    def __init__(self, path: Path, *, offset: int = 0, line: int = 0, limit: int = LINE_LIMIT) -> None:
        self._path = path
        self._limit = limit
        #: Bytes consumed: the end of the last record that was yielded or skipped.
        self.offset = offset
        #: Number of the last line read, from 1, in the whole file.
        self.line = line
        # The record before the offset was the last one and had no newline yet: the rest of the line follows.
        self._is_inside_line = False
        #: The line over the limit that is being read, and the last record of it with the number of bytes cut out.
        self._long: LongLine | None = None
        self._part = (b"", 0)

    def __iter__(self) -> Iterator[dict[str, Any] | Skipped]:
        loads = orjson.loads
        for raw, size, terminated in self._lines():
            if raw is not None:
                try:
                    record = loads(raw)
                except orjson.JSONDecodeError:
                    record = None
                if record.__class__ is dict:
                    self._advance(size)
                    yield record
                    continue
            yield from self._odd(raw, size, terminated=terminated)

    def _odd(self, raw: bytes | None, size: int, *, terminated: bool) -> Iterator[dict[str, Any] | Skipped]:
        """Yield the records of a line that is not a plain record, or `Skipped`."""
        if raw is None:
            yield from self._long_line(size, terminated=terminated)
            return
        values, damaged = _rescue(raw.removeprefix(_BOM) if self.offset == 0 else raw)
        if damaged and not values and raw.count(b"[") + raw.count(b"{") >= NESTED:
            yield from self._nested_line(raw, size, terminated=terminated)
            return
        if damaged and not values and not terminated:
            return
        self._advance(size)
        yield from self._rescued(values, damaged=damaged)

    def _rescued(self, values: list[Any], *, damaged: bool) -> Iterator[dict[str, Any] | Skipped]:
        for value in values:
            yield value if isinstance(value, dict) else Skipped(reason="not an object", line=self.line)
        if damaged:
            yield Skipped(reason="damaged", line=self.line)

    def _nested_line(self, raw: bytes, size: int, *, terminated: bool) -> Iterator[dict[str, Any] | Skipped]:
        """Yield the records of a line that is nested deeper than a decoder reads, without what is too deep."""
        self._long = LongLine(self._limit, is_cut=True)
        for records in (self._long.feed(raw), self._long.last()):
            for self._part in records:
                yield from self._long_line(0, terminated=terminated)
        yield from self._long_line(size, terminated=terminated)
        self._long = None

    def _long_line(self, size: int, *, terminated: bool) -> Iterator[dict[str, Any] | Skipped]:
        """Yield a record of a line over the limit, or what remains at its end.

        :param size: the line's size at its end; 0 before.
        """
        assert self._long is not None
        if not size:
            raw, cut = self._part
            self._advance(0)
            self._is_inside_line = True
            values, damaged = _rescue(raw)
            yield from self._rescued(values, damaged=damaged)
            if cut:
                yield Skipped(reason=SHORTENED, line=self.line)
            return
        values, damaged = _rescue(self._long.rest())
        damaged = damaged or self._long.is_damaged
        if damaged and not values and not terminated and not self._long.is_hopeless and not self._is_inside_line:
            return
        self._advance(size)
        if self._long.is_hopeless:
            yield Skipped(reason="oversized", line=self.line)
        yield from self._rescued(values, damaged=damaged and not self._long.is_hopeless)

    def _advance(self, size: int) -> None:
        self.offset += size
        self.line += not self._is_inside_line
        self._is_inside_line = False

    def _lines(self) -> Iterator[tuple[bytes | None, int, bool]]:
        """Yield (line, its size in the file in bytes, whether a newline ends it).

        For a line over the limit, each record in it comes as (None, 0, False), and its end as (None, size, …).
        """
        with self._path.open("rb", buffering=0) as file:
            if self.offset:
                file.seek(self.offset - 1)
                self._is_inside_line = file.read(1) != b"\n"
            rest = b""
            # A block is allocated before it is filled, so it should not be larger than the rest of the file.
            left = os.fstat(file.fileno()).st_size - self.offset
            before_block = BEFORE_BLOCK.get()
            while block := file.read(min(BLOCK, max(left, SMALL_BLOCK))):
                before_block()
                left -= len(block)
                if self._long is not None:
                    end = block.find(b"\n")
                    yield from self._parts(self._long.feed(block if end < 0 else block[:end]))
                    if end < 0:
                        continue
                    yield from self._end(self._long, terminated=True)
                    block = block[end + 1 :]
                block, start = rest + block, 0
                # `split` examines byte after byte, `find` many at once.
                while (end := block.find(b"\n", start)) >= 0:
                    line, size, start = block[start:end], end - start + 1, end + 1
                    if size <= self._limit + 1:
                        yield line, size, True
                    else:
                        long = self._long = LongLine(self._limit)
                        yield from self._parts(long.feed(line))
                        yield from self._end(long, terminated=True)
                rest = block[start:]
                if len(rest) > self._limit:
                    self._long = LongLine(self._limit)
                    yield from self._parts(self._long.feed(rest))
                    rest = b""
            if self._long is not None:
                yield from self._end(self._long, terminated=False)
            elif rest:
                yield rest, len(rest), False

    def _parts(self, records: Iterator[tuple[bytes, int]]) -> Iterator[tuple[None, int, bool]]:
        for self._part in records:
            yield None, 0, False

    def _end(self, long: LongLine, *, terminated: bool) -> Iterator[tuple[bytes | None, int, bool]]:
        size = long.size + terminated
        yield from self._parts(long.last())
        yield long.content(), size, terminated
        self._long = None


def _rescue(raw: bytes) -> tuple[list[Any], bool]:
    """Return the values of a line that is not plain JSON, and whether a part of it was lost."""
    raw = raw.replace(b"\0", b"").strip()
    if not raw:
        return [], False
    try:
        return [orjson.loads(raw)], False
    except orjson.JSONDecodeError:
        return recovered(raw.decode("utf-8", "replace"))
