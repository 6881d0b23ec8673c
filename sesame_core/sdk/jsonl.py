"""Reads files of JSON objects, one per line, however long or damaged the lines are.

Real session files contain records cut in the middle with the next one on the same line, runs of NUL bytes, lone
surrogates, raw U+2028 inside strings and screenshots of several megabytes.  Everything that can be recovered is
yielded; everything else becomes a `Skipped` and is counted.  Memory is bounded by the line limit plus one block,
whatever the file contains.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from ..types.transcript import LINE_LIMIT, Skipped

#: Bytes read at once.
BLOCK = 1 << 20
#: Bytes read at once when the file should be at its end, or grows while it is read.
SMALL_BLOCK = 1 << 12
#: Shortest run of base64 characters that counts as a payload in a record over the limit.
PAYLOAD = 1024
#: Number of positions in a damaged line that are tried as the start of a whole record.
RECOVERY_TRIES = 256

_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-"
_PAYLOAD = re.compile(rb"[A-Za-z0-9+/=_-]{%d,}" % PAYLOAD)
_BOM = b"\xef\xbb\xbf"
_DECODER = json.JSONDecoder(strict=False)


class JsonLines:
    """The records of one file from an offset on: iterate over it for dicts and `Skipped`.

    :param path: the file.
    :param offset: where to start: the start of a line, or the `offset` of an earlier reader.
    :param line: number of lines before the offset.
    :param limit: longest record in bytes, after payloads are removed.
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
            self._advance(size)
            yield Skipped(reason="oversized", line=self.line)
            return
        values, damaged = _rescue(raw.removeprefix(_BOM) if self.offset == 0 else raw)
        if damaged and not values and not terminated:
            return
        self._advance(size)
        for value in values:
            yield value if isinstance(value, dict) else Skipped(reason="not an object", line=self.line)
        if damaged:
            yield Skipped(reason="damaged", line=self.line)

    def _advance(self, size: int) -> None:
        self.offset += size
        self.line += not self._is_inside_line
        self._is_inside_line = False

    def _lines(self) -> Iterator[tuple[bytes | None, int, bool]]:
        """Yield (line, or None when it is too long; its size in the file in bytes; whether a newline ends it)."""
        with self._path.open("rb", buffering=0) as file:
            if self.offset:
                file.seek(self.offset - 1)
                self._is_inside_line = file.read(1) != b"\n"
            rest = b""
            long: _LongLine | None = None
            # A block is allocated before it is filled, so it should not be larger than the rest of the file.
            left = os.fstat(file.fileno()).st_size - self.offset
            while block := file.read(min(BLOCK, max(left, SMALL_BLOCK))):
                left -= len(block)
                if long is not None:
                    end = block.find(b"\n")
                    long.feed(block if end < 0 else block[:end])
                    if end < 0:
                        continue
                    yield long.content(), long.size + 1, True
                    long, block = None, block[end + 1 :]
                block, start = rest + block, 0
                # `split` examines byte after byte, `find` many at once.
                while (end := block.find(b"\n", start)) >= 0:
                    line, size, start = block[start:end], end - start + 1, end + 1
                    yield line if size <= self._limit + 1 else _shortened(line, self._limit), size, True
                rest = block[start:]
                if len(rest) > self._limit:
                    long = _LongLine(self._limit)
                    long.feed(rest)
                    rest = b""
            if long is not None:
                yield long.content(), long.size, False
            elif rest:
                yield rest, len(rest), False


class _LongLine:
    """A line over the limit, collected piece by piece without its base64 payloads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._run = b""
        self._in_payload = False
        self._is_too_long = False
        self.size = 0

    def feed(self, piece: bytes) -> None:
        self.size += len(piece)
        if self._is_too_long:
            return
        if self._in_payload:
            piece = piece.lstrip(_BASE64)
            if not piece:
                return
            self._in_payload = False
        piece = self._run + piece
        body = piece.rstrip(_BASE64)
        self._run = piece[len(body) :]
        self._kept += _PAYLOAD.sub(b"", body)
        if len(self._run) >= PAYLOAD:
            self._in_payload, self._run = True, b""
        if len(self._kept) > self._limit:
            self._is_too_long = True
            self._kept.clear()

    def content(self) -> bytes | None:
        """Return the line without its payloads; None when it is still too long."""
        if self._is_too_long:
            return None
        return bytes(self._kept + self._run)


def _shortened(line: bytes, limit: int) -> bytes | None:
    line = _PAYLOAD.sub(b"", line)
    return line if len(line) <= limit else None


def _rescue(raw: bytes) -> tuple[list[Any], bool]:
    """Return the values of a line that is not plain JSON, and whether a part of it was lost."""
    raw = raw.replace(b"\0", b"").strip()
    if not raw:
        return [], False
    try:
        return [orjson.loads(raw)], False
    except orjson.JSONDecodeError:
        return _recover(raw.decode("utf-8", "replace"))


def _recover(text: str) -> tuple[list[Any], bool]:
    """Decode what the strict decoder rejected: invalid escapes, records on one line, an incomplete record."""
    values, position = _decode_all(text, 0)
    if position >= len(text):
        return values, False
    starts = re.finditer(r'\{\s*"', text)
    tries = 0
    for start in starts:
        if start.start() <= position:
            continue
        suffix, end = _decode_all(text, start.start())
        if suffix and end >= len(text):
            return values + suffix, True
        tries += 1
        if tries == RECOVERY_TRIES:
            break
    return values, True


def _decode_all(text: str, position: int) -> tuple[list[Any], int]:
    """Decode consecutive values from a position on; return them and the position where that ended."""
    values: list[Any] = []
    while position < len(text):
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            break
        values.append(value)
        while position < len(text) and text[position].isspace():
            position += 1
    return values, position
