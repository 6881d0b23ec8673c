"""Reads a session that is one JSON object, member by member of its list of messages, in bounded memory.

Versions up to 0.38 rewrite the object after every change, so it may be read while it is half written: what is complete
is yielded, and the rest is a `Skipped`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from sesame_core import Skipped
from sesame_core.sdk.json_characters import closing_quote, end_of_whole
from sesame_core.sdk.long_records import LongRecord
from sesame_core.types.transcript import SHORTENED

#: Largest file in bytes that is decoded as a whole: with Python's objects it takes about six times its size.
WHOLE = 4 << 20
#: A file that does not parse and was written within these seconds is read again, this number of times, after a wait.
JUST_WRITTEN, TRIES, WAIT = 1.0, 3, 0.05
#: Bytes read at once from a larger one.
BLOCK = 1 << 18
#: Characters of a name of a member.
NAME = 64

_MARK = re.compile(rb'["{}\[\]]')
_BOM = b"\xef\xbb\xbf"


class Member(NamedTuple):
    """A member of a list in the object: the list's name, "" if the list is all there is, and the value."""

    name: str
    value: Any


def members(path: Path, limit: int) -> Iterator[Member | dict[str, Any] | Skipped]:
    """Yield the members of the object's lists of objects, and last the object without them.

    :param limit: longest member in bytes; the middle of the longest strings of a longer one is left out.
    :raises OSError: the file cannot be read.
    """
    value = _whole(path)
    yield from _split(path, limit) if value is None else _members_of(value)


def _whole(path: Path) -> Any:
    """Return the decoded object; None if the file is too large for that, or damaged."""
    for _ in range(TRIES):
        status = path.stat()
        if status.st_size > WHOLE:
            return None
        try:
            return orjson.loads(path.read_bytes().removeprefix(_BOM))
        except orjson.JSONDecodeError:
            if time.time() - status.st_mtime > JUST_WRITTEN:
                return None
        time.sleep(WAIT)
    return None


def _members_of(value: Any) -> Iterator[Member | dict[str, Any] | Skipped]:
    rest: dict[str, Any] = {}
    for name, inner in value.items() if isinstance(value, dict) else [("", value)]:
        if isinstance(inner, list) and any(isinstance(item, dict) for item in inner):
            for number, item in enumerate(inner, 1):
                yield Member(name, item) if isinstance(item, dict) else Skipped(reason="not an object", line=number)
        elif name:
            rest[name] = inner
    yield rest


def members_in(
    path: Path, start: int, end: int, limit: int, *, closing: bytes = b""
) -> Iterator[Member | dict[str, Any] | Skipped]:
    """Yield the same of an object in a part of a file.

    :param start: where the object begins, in bytes.
    :param end: where the part ends.
    :param closing: what follows the object; anything else is a `Skipped`.
    """
    splitter = _Splitter(limit)
    with path.open("rb") as file:
        file.seek(start)
        while not splitter.is_done and (block := file.read(min(BLOCK, end - file.tell()))):
            yield from splitter.feed(block)
        after = splitter.after + file.read(max(0, min(BLOCK, end - file.tell())))
    if splitter.is_done and after.strip(b" \t\r\n\0") != closing:
        yield Skipped(reason="damaged", line=1)
    yield from splitter.finish()


def _split(path: Path, limit: int) -> Iterator[Member | dict[str, Any] | Skipped]:
    return members_in(path, 0, path.stat().st_size, limit)


class _Splitter:
    """Cuts an object into the objects of its lists and the rest, piece by piece."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: list[int] = []
        self._in_string = False
        self._name = b""
        #: The name of the list that is read.
        self._list = b""
        self._carried = b""
        self._rest = _Record(limit)
        self._member: _Record | None = None
        self._count = 0
        #: Whether the end of the object was read.
        self.is_done = False
        #: The part of the last piece that follows the object.
        self.after = b""

    def feed(self, block: bytes) -> Iterator[Member | Skipped]:
        """Yield the members that end in a block."""
        block, self._carried = self._carried + block, b""
        position = start = 0
        while position < len(block):
            if self._in_string:
                end = closing_quote(block, position)
                stop = end if end >= 0 else end_of_whole(block, position)
                if len(self._open) == 1 and len(self._name) < NAME:
                    self._name += block[position:stop]
                if end < 0:
                    self._keep(block[start:stop])
                    self._carried = block[stop:]
                    return
                self._in_string, position = False, end + 1
                continue
            found = _MARK.search(block, position)
            if found is None:
                break
            mark, position = found[0], found.end()
            if mark == b'"':
                self._in_string = True
                if len(self._open) == 1:
                    self._name = b""
            elif mark in b"{[":
                if mark == b"[" and len(self._open) < 2:
                    self._list = self._name
                if mark == b"{" and self._member is None and self._is_list_of_members():
                    self._keep(block[start : position - 1])
                    start = position - 1
                    self._member = _Record(self._limit)
                self._open.append(mark[0])
            elif self._open:
                self._open.pop()
                if self._member is not None and self._is_list_of_members():
                    self._keep(block[start:position])
                    start = position
                    yield from self._end()
                if not self._open:
                    self._keep(block[start:position])
                    self.is_done, self.after = True, block[position:]
                    return
        self._keep(block[start:])

    def finish(self) -> Iterator[dict[str, Any] | Skipped]:
        """Yield the object without the members."""
        value = self._rest.value(is_complete=self.is_done, opened=bytes(self._open[:2]))
        if not self.is_done:
            yield Skipped(reason="damaged", line=self._count + 1)
        yield value if isinstance(value, dict) else {}

    def _is_list_of_members(self) -> bool:
        return self._open == [0x5B] or (len(self._open) == 2 and self._open[1] == 0x5B and self._open[0] == 0x7B)

    def _keep(self, piece: bytes) -> None:
        (self._rest if self._member is None else self._member).add(piece)

    def _end(self) -> Iterator[Member | Skipped]:
        assert self._member is not None
        record, self._member = self._member, None
        self._count += 1
        # The place of the member in the rest.
        self._rest.add(b"0")
        value = record.value()
        if not isinstance(value, dict):
            yield Skipped(reason="damaged", line=self._count)
            return
        yield Member(self._list.decode("utf-8", "replace"), value)
        if record.is_shortened:
            yield Skipped(reason=SHORTENED, line=self._count)


class _Record:
    """The bytes of one object; cut if they are too many."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._cut: LongRecord | None = None
        self._found: bytes | None = None
        self.is_shortened = False

    def add(self, piece: bytes) -> None:
        if self._cut is None:
            self._kept += piece
            if len(self._kept) <= self._limit:
                return
            self._cut, piece = LongRecord(self._limit), bytes(self._kept)
            self._kept.clear()
        for record, bytes_cut in self._cut.feed(piece):
            self._found, self.is_shortened = record, self.is_shortened or bytes_cut > 0

    def value(self, *, is_complete: bool = True, opened: bytes = b"") -> Any:
        """Return the decoded object; None if it is not one.

        :param is_complete: whether the end of the object was read.
        :param opened: brackets that are still open.
        """
        raw = bytes(self._kept) if self._cut is None else (self._found or self._cut.rest())
        if not is_complete:
            # Complete members remain if the incomplete one at the end is cut off.
            closing = b"".join(b"]" if mark == 0x5B else b"}" for mark in reversed(opened))
            raw = raw[: raw.rfind(b",")] + closing if b"," in raw else raw + closing
        try:
            return orjson.loads(raw.removeprefix(_BOM))
        except orjson.JSONDecodeError:
            return None
